#!/usr/bin/env python3
"""Draws the learning curve of a run as SVG: docs/figures/learning_curve.py RUN > FILE.svg

The points are the evaluations on the validation text in the run's log.jsonl, the line across is the result on the test
text. Colours are legible on a light and on a dark page.
"""
import json
import pathlib
import sys
import tomllib

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 60, 20, 40, 50


def round_steps(low, high):
    """Multiples of 0.05, 0.1, 0.2, ... that cover [low, high]: at most seven."""
    step = next(s for s in (0.05, 0.1, 0.2, 0.5, 1, 2, 5) if high - low < 5 * s)
    return [i * step for i in range(int(low / step), int(high / step) + 2)]


run = pathlib.Path(sys.argv[1])
name = tomllib.loads((run / "config.toml").read_text())["recipe"]["name"]
log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
valid = [(line["epoch"], line["bits"]) for line in log if line.get("split") == "valid"]
test = next(line["bits"] for line in log if line.get("split") == "test")

ticks = round_steps(min(test, *(bits for _, bits in valid)), max(bits for _, bits in valid))
last = valid[-1][0]


def x(epoch):
    return LEFT + (WIDTH - LEFT - RIGHT) * epoch / last


def y(bits):
    return TOP + (HEIGHT - TOP - BOTTOM) * (ticks[-1] - bits) / (ticks[-1] - ticks[0])


def text(at_x, at_y, words, anchor="middle", extra=""):
    return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}"{extra}>{words}</text>'


def line(x1, y1, x2, y2, style):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
       'font-size="13" fill="#808080">',
       text(WIDTH / 2, 20, f"{name}: bits per symbol after each epoch", extra=' font-size="15"')]
for bits in ticks:
    svg += [line(LEFT, y(bits), WIDTH - RIGHT, y(bits), 'stroke="#808080" stroke-opacity="0.3"'),
            text(LEFT - 8, y(bits) + 4, f"{bits:.2f}", "end")]
for epoch in range(0, last + 1, max(1, last // 10)):
    svg.append(text(x(epoch), HEIGHT - BOTTOM + 20, str(epoch)))
svg += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "epoch"),
        line(LEFT, y(test), WIDTH - RIGHT, y(test), 'stroke="#d9822b" stroke-width="2" stroke-dasharray="6 4"'),
        text(LEFT + 8, y(test) - 6, f"test text, best model: {test:.3f}", "start", ' fill="#d9822b"'),
        '<polyline fill="none" stroke="#2b7bd9" stroke-width="2" points="'
        + " ".join(f"{x(epoch):.1f},{y(bits):.1f}" for epoch, bits in valid) + '"/>']
svg += [f'<circle cx="{x(epoch):.1f}" cy="{y(bits):.1f}" r="3.5" fill="#2b7bd9"/>' for epoch, bits in valid]
svg += [text(x(valid[0][0]) + 10, y(valid[0][1]) + 4, "validation text", "start", ' fill="#2b7bd9"'), "</svg>"]
print("\n".join(svg))

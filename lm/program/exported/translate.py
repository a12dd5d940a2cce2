"""Translates with the model of model.py: of each symbol the most probable, as `lm translate --beam 1`.

    python3 use.py < LINES
"""
import math
import signal
import sys

from model import config, encode, step
from text import Vocabulary, answer_lines, unit

source, target = Vocabulary("vocab.source.txt"), Vocabulary("vocab.target.txt")


def read(line):
    ids = source.encode(line)
    return encode([*(reversed(ids) if config["reverse_source"] else ids), source.line_end])


def score(line, translation):
    """The natural-log probability of a translation with its end; and the number of symbols."""
    total, symbol, state = 0, target.line_end, read(line)
    ids = [*target.encode(translation), target.line_end]
    for next_symbol in ids:
        log_p, state = step(symbol, state)
        total, symbol = total + float(log_p[next_symbol]), next_symbol
    return total, len(ids)


def translate(line):
    if not line.strip():
        return b""
    symbol, state, written = target.line_end, read(line), []
    while len(written) < config["max_length"]:
        log_p, state = step(symbol, state)
        if target.unknown is not None and not config["allow_unknown"]:
            log_p[target.unknown] = -math.inf
        symbol = int(log_p.argmax())
        if symbol == target.line_end:
            break
        written.append(target.symbols[symbol])
    return (b" " if unit == "words" else b"").join(written).removeprefix(b" " if unit == "pieces" else b"")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it silently
    if sys.argv[1:]:
        sys.exit(__doc__)
    answer_lines(translate)

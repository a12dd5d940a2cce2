"""Uses the language model of model.py.

    python3 use.py score < LINES      the natural-log probability of each line, its symbols, how many are unknown
    python3 use.py sample N [SEED]    N symbols of text
"""
import math
import random
import signal
import sys

from model import step
from text import Vocabulary, answer_lines, unit

vocabulary = Vocabulary("vocab.txt")
symbols, unknown, line_end = vocabulary.symbols, vocabulary.unknown, vocabulary.line_end


def score(line):
    ids = vocabulary.encode(line)
    ids = ids if line_end is None else [line_end, *ids, line_end]  # the context before it, and its end
    log_p = step(ids[:-1])[0] if len(ids) > 1 else []
    total = sum(float(row[target]) for row, target in zip(log_p, ids[1:]))
    return f"{total:.6f}\t{len(log_p)}\t{ids[1:].count(unknown)}"


def sample(count, seed=None):
    chance, states, symbol = random.Random(seed), None, line_end or 0
    for _ in range(count):
        log_p, states = step([symbol], states)
        shares = [0 if i == unknown else math.exp(it) for i, it in enumerate(log_p[-1].tolist())]
        begins, symbol = symbol == line_end, chance.choices(range(len(symbols)), shares)[0]
        text = symbols[symbol].removeprefix(b" " if begins and unit == "pieces" else b"")
        yield b"\n" if symbol == line_end else text + b" " * (unit == "words")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it silently
    if sys.argv[1:] == ["score"]:
        answer_lines(lambda line: score(line).encode())
    elif sys.argv[1:2] == ["sample"] and len(sys.argv) in (3, 4) and all(map(str.isdecimal, sys.argv[2:])):
        text = b"\n"
        for text in sample(*map(int, sys.argv[2:4])):
            sys.stdout.buffer.write(text)
        if sys.stdout.isatty() and not text.endswith(b"\n"):
            sys.stdout.buffer.write(b"\n")
    else:
        sys.exit(__doc__)

"""Uses the language model of model.py.

    python3 use.py score < LINES      the natural-log probability of each line, its symbols, how many are unknown
    python3 use.py sample N [SEED]    N symbols of text
"""
import math
import random
import re
import signal
import sys

from model import config, folder, step

lines = (folder / "vocab.txt").read_bytes().split(b"\n")[:-1]
symbols = [line.decode("unicode_escape").encode("latin-1") for line in lines]  # undoes \n, \t, \\ and \xNN
id_of = {symbol: i for i, symbol in enumerate(symbols)}
unit, unknown = config["unit"], id_of.get(b"<unk>")
line_end = id_of.get(b"<eos>" if unit == "words" else b"\n")
if unit == "pieces":
    from sentencepiece import SentencePieceProcessor
    processor = SentencePieceProcessor(model_file=str(folder / "vocab.pieces"))


def pieces_of(line):
    """Pieces of words, each word with the space before it; bytes of what has none. U+2581 is the library's space."""
    parts = []
    for word in re.findall("▁|^ (?:[^▁][^ ▁]*)?| [^ ▁]*|[^ ▁]+", " " + line if line else ""):
        for piece in [word] if word == "▁" else processor.encode(word, out_type=str):
            part = (piece if word == "▁" else piece.replace("▁", " ")).encode()
            parts += [part] if part in id_of else [bytes([it]) for it in part]
    return parts


def encode(line):
    """The ids of a line, which is bytes, with the context before it and its end."""
    line = line if unit == "bytes" else line.removesuffix(b"\r")
    line = line.strip() if config["strip_lines"] else line
    parts = {"words": lambda: line.split(), "characters": lambda: [it.encode() for it in line.decode()],
             "bytes": lambda: [line[i:i + 1] for i in range(len(line))], "pieces": lambda: pieces_of(line.decode())}[unit]()
    ids = [id_of.get(part, unknown) for part in parts]
    if None in ids:
        sys.exit(f"{parts[ids.index(None)]} is not in the vocabulary, which has no <unk> for it")
    return ids if line_end is None else [line_end, *ids, line_end]


def score(line):
    ids = encode(line)
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
        for number, line in enumerate(sys.stdin.buffer, 1):
            try:
                print(score(line.removesuffix(b"\n")), flush=True)
            except UnicodeDecodeError as error:
                sys.exit(f"line {number}: not UTF-8 at byte {error.start}; convert it to UTF-8")
    elif sys.argv[1:2] == ["sample"] and len(sys.argv) in (3, 4) and all(map(str.isdecimal, sys.argv[2:])):
        text = b"\n"
        for text in sample(*map(int, sys.argv[2:4])):
            sys.stdout.buffer.write(text)
        if sys.stdout.isatty() and not text.endswith(b"\n"):
            sys.stdout.buffer.write(b"\n")
    else:
        sys.exit(__doc__)

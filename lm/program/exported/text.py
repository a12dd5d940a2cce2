"""Symbols of an exported model: what `lm` reads and writes as text. Next: use.py."""
import re
import sys

from model import config, folder

unit = config["unit"]


class Vocabulary:
    """A file with a symbol a line, whose ids are the numbers of the lines; of pieces with their model beside it."""

    def __init__(self, name):
        lines = (folder / name).read_bytes().split(b"\n")[:-1]
        self.symbols = [line.decode("unicode_escape").encode("latin-1") for line in lines]  # undoes \n, \t, \\ and \xNN
        self.id_of = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.unknown = self.id_of.get(b"<unk>")
        self.line_end = self.id_of.get(b"<eos>" if unit == "words" else b"\n")
        if unit == "pieces":
            from sentencepiece import SentencePieceProcessor
            self.processor = SentencePieceProcessor(model_file=str((folder / name).with_suffix(".pieces")))

    def pieces_of(self, line):
        """Pieces of words, each word with the space before it; bytes of what has none. U+2581 is the library's space."""
        parts = []
        for word in re.findall("▁|^ (?:[^▁][^ ▁]*)?| [^ ▁]*|[^ ▁]+", " " + line if line else ""):
            for piece in [word] if word == "▁" else self.processor.encode(word, out_type=str):
                part = (piece if word == "▁" else piece.replace("▁", " ")).encode()
                parts += [part] if part in self.id_of else [bytes([it]) for it in part]
        return parts

    def encode(self, line):
        """The ids of a line, which is bytes, without its end."""
        if unit != "bytes":
            line.decode()  # or it is refused
            line = line.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\r")  # a byte order mark
        line = line.strip() if config["strip_lines"] else line
        parts = {"words": lambda: line.split(), "characters": lambda: [it.encode() for it in line.decode()],
                 "bytes": lambda: [line[i:i + 1] for i in range(len(line))],
                 "pieces": lambda: self.pieces_of(line.decode())}[unit]()
        ids = [self.id_of.get(part, self.unknown) for part in parts]
        if None in ids:
            sys.exit(f"{parts[ids.index(None)]} is not in the vocabulary, which has no <unk> for it")
        return ids


def answer_lines(answer):
    """Prints the answer, which is bytes, to each line of standard input."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            sys.stdout.buffer.write(answer(line.removesuffix(b"\n")) + b"\n")
            sys.stdout.flush()
        except UnicodeDecodeError as error:
            sys.exit(f"line {number}: not UTF-8 at byte {error.start}; convert it to UTF-8")

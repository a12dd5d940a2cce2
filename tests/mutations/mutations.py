"""Damaged run folders. mutations.py LM [MUTATIONS [FLIPS [SEED]]]: so many mutations of a run's files, each given to one
command, which must do its work or refuse it in one line: with status 2 (1 where a training fails while it runs), within
seconds and a gigabyte, and without changing a file of what it refuses. Then so many flipped bits of model and state,
each of which must be refused."""
import collections
import pathlib
import random
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from tiny_run import Workshop, one_line  # noqa: E402

MOST_CPU_SECONDS, MOST_MEGABYTES = 5, 1000
READERS = {  # what reads which file of a run
    "config.toml": ("info", "eval", "generate", "score", "table", "resume", "go on", "finetune"),
    "vocab.txt": ("info", "eval", "generate", "score", "table", "resume", "go on", "finetune"),
    "model.safetensors": ("info", "eval", "generate", "score", "finetune", "resume"),
    "state.safetensors": ("resume", "go on", "finetune"),
    "log.jsonl": ("table", "resume", "go on"),
    "evaluations.jsonl": ("table",),
}
NUMBERS = ["0", "-1", "1", "1e308", "-1e308", "nan", "inf", "9223372036854775807", "-9223372036854775808",
           "9223372036854775808", "1000000", "1000000000", "1e-308", "0.5", "[]", "[1]", "[1000000]", "true", "''"]
PATIENCE = ("epochs", "sample")  # many take long, which is what they ask for


def flip(bytes_, chance):
    at = chance.randrange(8 * len(bytes_))
    changed = bytearray(bytes_)
    changed[at // 8] ^= 1 << at % 8
    return bytes(changed)


def cut(bytes_, chance):
    return bytes_[:chance.randrange(len(bytes_))]


def double_block(bytes_, chance):
    begin = chance.randrange(len(bytes_))
    return bytes_[:begin] + chance.choice((1, 1, 10)) * bytes_[begin:begin + chance.randint(1, 2000)] + bytes_[begin:]


def remove_block(bytes_, chance):
    begin = chance.randrange(len(bytes_))
    return bytes_[:begin] + bytes_[begin + chance.randint(1, 2000):]


def random_bytes(bytes_, chance):
    begin = chance.randrange(len(bytes_))
    other = chance.randbytes(chance.choice((1, 8, 64, 4096)))
    return bytes_[:begin] + other + bytes_[begin + len(other):]


def extreme_number(bytes_, chance):
    """In TOML or JSON: one of its numbers, or of its lists."""
    text = bytes_.decode(errors="surrogateescape")
    places = [match for match in re.finditer(r'(\w+)"?( = |:)(-?[\d.]+(e[+-]?\d+)?|\[[^\]]*\])', text)
              if match[1] not in PATIENCE]
    if not places:
        return flip(bytes_, chance)
    place = chance.choice(places)
    text = text[:place.start(3)] + chance.choice(NUMBERS) + text[place.end(3):]
    return text.encode(errors="surrogateescape")


MUTATIONS = (flip, flip, cut, double_block, remove_block, random_bytes, extreme_number, extreme_number)


class Mutations:
    def __init__(self, shop, chance):
        self.shop, self.chance = shop, chance
        self.base, self.run, self.out = shop.path / "base", shop.path / "run", shop.path / "out"
        shop.must(*shop.train(self.base))
        self.files = {name: (self.base / name).read_bytes() for name in READERS}
        text = shop.path / "data/test.txt"
        self.commands = {
            "info": ["info", self.run],
            "eval": ["eval", self.run, "--text", text, "--threads", 1],
            "generate": ["generate", self.run, "-n", 5, "--seed", 1, "--threads", 1],
            "score": ["score", self.run, "--threads", 1],
            "table": ["table", self.run],
            "resume": ["train", "--out", self.run, "--resume", "--threads", 1],
            "go on": ["train", "--out", self.run, "--resume", "--threads", 1, "--epochs", 2],
            "finetune": ["finetune", self.run, "--out", self.out, "--threads", 1],
        }
        self.counts, self.failures = collections.Counter(), []

    def execute(self, name, content, command):
        """The result of the command for a run with another content of the file `name`."""
        self.shop.clear(self.out)
        self.shop.clear(self.run, self.base)
        (self.run / name).write_bytes(content)
        result = self.shop.lm(*self.commands[command], stdin=b"the cat sat\n")
        self.counts[f"status {result.status}"] += 1
        return result

    def is_changed(self, name, content):
        files = {**self.files, name: content}
        return any(not (self.run / file).exists() or (self.run / file).read_bytes() != files[file] for file in files)

    def complaint(self, name, content, command):
        result = self.execute(name, content, command)
        trains = command in ("resume", "go on", "finetune")
        if result.status not in ((0, 1, 2) if trains else (0, 2)):
            return f"status {result.status}: {result.err[-300:]}"
        if result.seconds > MOST_CPU_SECONDS or result.megabytes > MOST_MEGABYTES:
            return f"{result.seconds:.1f} s, {result.megabytes:.0f} MB: {result.err[-300:]}"
        if result.status != 0 and not one_line(result.err):
            return f"not one line: {result.err[-500:]}"
        if result.status == 2 and self.is_changed(name, content):
            return f"changed a file of a run that it refuses: {result.err}"
        return None

    def note(self, what, complaint, name, content):
        if complaint:
            self.failures.append(f"{what} of {name}: {complaint}")
            if len(content) < 200:
                self.failures[-1] += f"; {content!r}"

    def mutate(self, times):
        for _ in range(times):
            name = self.chance.choice(list(READERS))
            if self.chance.random() < 0.1:
                how, content = "swap", self.files[self.chance.choice(list(READERS))]
            else:
                mutation = self.chance.choice(MUTATIONS)
                how, content = mutation.__name__, mutation(self.files[name], self.chance)
            command = self.chance.choice(READERS[name])
            self.note(f"{command}, {how}", self.complaint(name, content, command), name, content)

    def flip_bits(self, times):
        for i in range(times):
            name, command = (("model.safetensors", "eval"), ("state.safetensors", "go on"))[i % 2]
            result = self.execute(name, flip(self.files[name], self.chance), command)
            noticed = result.status == 2 and one_line(result.err)
            self.counts["flips noticed" if noticed else "flips accepted"] += 1
            if not noticed:
                self.note("flip", f"status {result.status}: {result.err.strip() or 'not noticed'}", name, b"")


def main():
    mutations, flips, seed = (int(word) for word in (sys.argv[2:] + ["1000", "1000", "1"][len(sys.argv) - 2:]))
    with Workshop(sys.argv[1]) as shop:
        trial = Mutations(shop, random.Random(seed))
        trial.mutate(mutations)
        trial.flip_bits(flips)
    print(f"{mutations} mutations, {flips} flips:", ", ".join(f"{n} x {what}" for what, n in sorted(trial.counts.items())),
          f"; {len(trial.failures)} failures")
    for failure in trial.failures[:40]:
        print("FAILED:", failure)
    sys.exit(bool(trial.failures))


if __name__ == "__main__":
    main()

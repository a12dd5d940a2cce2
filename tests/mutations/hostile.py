"""Hostile run folders. hostile.py LM: each file of a run is replaced by 1 MB of random bytes, a link, a FIFO, a folder or
a sparse file of 3 GB, and config.toml asks for a huge model: `info`, `eval`, `generate`, `train --resume` and `finetune`
must refuse it in one line that names the run, or do what they do if it matters nothing to them, at once and without
taking memory. And no link leads a write elsewhere: `train --resume` does its work, or refuses it."""
import os
import pathlib
import random
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from tiny_run import Workshop, one_line, outcome_of  # noqa: E402

MOST_CPU_SECONDS, MOST_MEGABYTES = 1, 100
MAX_SECONDS = 20  # a hang, on however busy a machine
FILES = ("config.toml", "vocab.txt", "model.safetensors", "state.safetensors", "log.jsonl", "evaluations.jsonl")
READ_BY_ALL = ("config.toml", "vocab.txt", "model.safetensors")
TRAIN = ("resume", "finetune")
MADE_ANEW = ("vocab.txt", "a link to nothing")  # by what trains: from the text, as where there is no such file


def random_bytes(path):
    path.write_bytes(random.Random(1).randbytes(1 << 20))


def sparse_file(path):
    with open(path, "wb") as file:
        file.truncate(3 << 30)


REPLACEMENTS = {
    "random bytes": random_bytes,
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to zeros without end": lambda path: path.symlink_to("/dev/zero"),
    "a FIFO": os.mkfifo,
    "a folder": pathlib.Path.mkdir,
    "a sparse file": sparse_file,
}


class Hostile:
    def __init__(self, shop):
        self.shop, self.failures, self.cases = shop, [], 0
        self.max_seconds = self.max_megabytes = 0
        self.base, self.run = shop.path / "base", shop.path / "run"
        shop.must(*shop.train(self.base))
        self.commands = {
            "info": ["info", self.run],
            "eval": ["eval", self.run, "--text", shop.path / "data/test.txt", "--threads", 1, "--json"],
            "generate": ["generate", self.run, "-n", 5, "--seed", 1, "--threads", 1],
            "resume": ["train", "--out", self.run, "--resume", "--threads", 1],
            "finetune": ["finetune", self.run, "--out", shop.path / "tuned", "--threads", 1],
        }

    def judge(self, what, command, matters):
        self.shop.clear(self.shop.path / "tuned")
        result = self.shop.lm(*self.commands[command], max_seconds=MAX_SECONDS)
        self.cases += 1
        self.max_seconds = max(self.max_seconds, result.seconds)
        self.max_megabytes = max(self.max_megabytes, result.megabytes)
        refused = result.status == 2 and one_line(result.err) and str(self.run) in result.err
        if refused and (self.shop.path / "tuned").exists():
            self.failures.append(f"{command}, {what}: leaves a folder")
        if not refused and (matters or result.status != 0):
            self.failures.append(f"{command}, {what}: status {result.status}: {result.err[-300:].strip()}")
        if result.seconds > MOST_CPU_SECONDS or result.megabytes > MOST_MEGABYTES:
            self.failures.append(f"{command}, {what}: {result.seconds:.2f} s, {result.megabytes:.0f} MB")

    def replaced_files(self):
        for name in FILES:
            for what, make in REPLACEMENTS.items():
                for command in self.commands:
                    self.shop.clear(self.run, self.base)
                    (self.run / name).unlink()
                    make(self.run / name)
                    is_read = name in READ_BY_ALL or (name, command) == ("state.safetensors", "resume")
                    matters = is_read and not (command in TRAIN and (name, what) == MADE_ANEW)
                    self.judge(f"{name} is {what}", command, matters)
                    (self.run / name).unlink() if not (self.run / name).is_dir() else shutil.rmtree(self.run / name)

    def huge_model(self):
        for setting in ("hidden = [20000]", "embedding = 2000000", "layers = 1000"):
            for command in self.commands:
                self.shop.clear(self.run, self.base)
                config = (self.run / "config.toml").read_text().splitlines()
                key = setting.split(" ")[0] + " ="
                text = "\n".join(setting if line.startswith(key) else line for line in config)
                (self.run / "config.toml").write_text(text)
                self.judge(setting, command, True)

    def links_are_not_followed(self):
        """What a training writes goes into its folder, whatever links lie there: a link gives way to a file that
        replaces it, and is refused where lines are added."""
        precious = self.shop.path / "precious.txt"
        resume = ["train", "--out", self.run, "--resume", "--threads", 1, "--epochs", 2]
        self.shop.clear(self.run, self.base)
        self.shop.must(*resume)
        outcome = outcome_of(self.run)
        for name in [*FILES, *(f"{name}.partial" for name in FILES)]:
            self.shop.clear(self.run, self.base)
            path = self.run / name
            content = path.read_bytes() if path.exists() else b"precious"
            path.unlink(missing_ok=True)
            precious.write_bytes(content)
            os.utime(precious, ns=(0, 0))  # shows a write of the same bytes, too
            path.symlink_to(precious)
            result = self.shop.lm(*resume)
            self.cases += 1
            if precious.read_bytes() != content or precious.stat().st_mtime_ns != 0:
                self.failures.append(f"resume, {name} is a link: the file that it leads to was written")
            refused = result.status == 2 and one_line(result.err) and f"{path}: a symbolic link" in result.err
            if not (refused if name.endswith(".jsonl") else result.status == 0 and outcome_of(self.run) == outcome):
                self.failures.append(f"resume, {name} is a link: status {result.status}: {result.err[-300:].strip()}")


def main():
    with Workshop(sys.argv[1]) as shop:
        trial = Hostile(shop)
        trial.replaced_files()
        trial.huge_model()
        trial.links_are_not_followed()
    print(f"{trial.cases} hostile folders, at most {trial.max_seconds:.2f} s and {trial.max_megabytes:.0f} MB;",
          f"{len(trial.failures)} failures")
    for failure in trial.failures:
        print("FAILED:", failure)
    sys.exit(bool(trial.failures))


if __name__ == "__main__":
    main()

"""A training of some milliseconds, and `lm` started with an eye on what it takes. For tests/faults, tests/mutations
and the tests in Python of tests/lm."""
import collections
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading

Result = collections.namedtuple("Result", "status out err seconds megabytes")  # of the CPU; at most, at once
MAX_SECONDS = 60
MOST_ADDRESSES = 3 << 30  # so that a test that fails does not take the machine with it

RECIPE = """[recipe]
name = "tiny"
[data]
unit = "words"
[model]
layers = 1
embedding = 4
hidden = 4
dropout = 0.2
[train]
epochs = 1
batch = 4
length = 10
optimizer = "adam"
learning_rate = 0.01
eval_streams = 2
log_every = 1
save_every = 0
[finetune]
learning_rate = 0.5
epochs = 1
"""


class SignalLater:
    """Sends a signal to a process after some seconds, unless it ends before: by a file descriptor, which never means
    another process."""

    def __init__(self, process, seconds, number):
        self._process = os.pidfd_open(process)
        self._number = number
        self._timer = threading.Timer(seconds, self._send)
        self._timer.start()

    def _send(self):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            signal.pidfd_send_signal(self._process, self._number)

    def cancel(self):
        self._timer.cancel()
        self._timer.join()
        os.close(self._process)


def run(program, words, env=None, stdin=b"", kill_after=None, max_seconds=MAX_SECONDS):
    """Runs `lm`; kill_after: (seconds, signal)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen([program, *map(str, words)], stdin=given, stdout=out, stderr=err, preexec_fn=limit,
                                   env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})})
        timers = [SignalLater(process.pid, max_seconds, signal.SIGKILL)]
        if kill_after:
            timers.append(SignalLater(process.pid, *kill_after))
        _, status, usage = os.wait4(process.pid, 0)
        for timer in timers:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Result(process.returncode, out.read().decode(errors="replace"), err.read().decode(errors="replace"),
                      usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


class Workshop:
    """A folder, in memory where there is such a place, with text and recipe of a tiny training."""

    def __init__(self, program):
        self.program = program
        in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self._folder = tempfile.TemporaryDirectory(prefix="rondo-tiny-", dir=in_memory)
        self.path = pathlib.Path(self._folder.name)
        words = "the cat sat on a mat and saw one dog run up".split()
        chance = random.Random(1)
        (self.path / "data").mkdir()
        for name, lines in (("train", 12), ("valid", 4), ("test", 4)):
            text = "".join(" ".join(chance.choices(words, k=6)) + "\n" for _ in range(lines))
            (self.path / "data" / f"{name}.txt").write_text(text)
        (self.path / "tiny.toml").write_text(RECIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def lm(self, *words, **more):
        return run(self.program, words, **more)

    def train(self, out, *more):
        """The words of a training."""
        return ["train", "--recipe", self.path / "tiny.toml", "--data", self.path / "data", "--out", out, "--threads", 1,
                *more]

    def must(self, *words):
        result = self.lm(*words)
        assert result.status == 0, (words, result)
        return result

    def clear(self, folder, start=None):
        """Makes `folder` a copy of `start`, or absent, without what a killed process left beside it."""
        for it in (folder, *folder.parent.glob(f"{folder.name}.partial-*")):
            shutil.rmtree(it, ignore_errors=True)
        if start is not None:
            shutil.copytree(start, folder)


def one_line(err):
    """Whether a failure says what is wrong in one line; warnings go before it."""
    lines = [line for line in err.splitlines() if not line.startswith("lm: warning")]
    return len(lines) == 1 and lines[0].startswith("lm: ")


def log_of(folder):
    """The log without what depends on the clock."""
    clock = ("symbols_per_second", "seconds", "training_seconds", "peak_bytes", "time")
    lines = (pathlib.Path(folder) / "log.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in clock} for line in lines]


def outcome_of(folder):
    """What must not depend on how often a training was interrupted."""
    return (pathlib.Path(folder) / "model.safetensors").read_bytes(), log_of(folder)

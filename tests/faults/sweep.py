"""A fault at each I/O call of a training, a resumed one, a finetuning, an export and an import, then the same again without: nothing may be
lost, and nothing differ. sweep.py LM FAULTS.SO [EVERY]: every so many-th call only (1: all of them). What is read: run
folders, the text, the recipe.

Faults: a kill before the call; a write of half its bytes and then a kill; the errors of a full disk, of a broken one and
of one that has become read-only, after which the message must name file and reason; and a power cut (durable.py).
"""
import collections
import errno
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from durable import Disk  # noqa: E402
from tiny_run import Workshop, one_line, outcome_of  # noqa: E402

KILLED = -9
READS = ("open to read", "read", "pread")
CHANGES = ("mkdir", "write", "ftruncate", "rename", "unlink")
CALLS_WITHOUT_SPACE = (*READS, "close", "flock", "unlink", "ftruncate", "rename")  # which no full disk can refuse
CALLS_WITHOUT_CHANGE = (*READS, "close", "flock", "fsync")  # which no read-only disk can refuse
MAY_FAIL_UNSEEN = (  # (call, path in the run): the training ends well all the same, and must
    ("close", ""),  # a folder is open for its lock, or for an fsync, which has told
    ("close", "/log.jsonl"),  # what a state counts on went through an fsync
    ("close", "/evaluations.jsonl"),  # each line went through an fsync
)
Fault = collections.namedtuple("Fault", "kind always applies")
FAULTS = {
    "kill": Fault("kill", False, lambda call: call not in READS),  # one before a read is one before what follows
    "half a write": Fault("half", False, lambda call: call == "write"),
    "full disk": Fault(str(errno.ENOSPC), True, lambda call: call not in CALLS_WITHOUT_SPACE),
    "input/output error": Fault(str(errno.EIO), False, lambda call: True),
    "read-only disk": Fault(str(errno.EROFS), True, lambda call: call not in CALLS_WITHOUT_CHANGE),
}


def files_of(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Scenario:
    """A command that writes the folder `out`, which is a copy of `start` before."""

    def __init__(self, shop, preload, name, start, words):
        self.shop, self.preload, self.name, self.start, self.words = shop, preload, name, start, words
        self.out = shop.path / "out"
        self.record = shop.path / "record"
        self.shop.clear(self.out, self.start)
        self.files_before = self.files()
        self.disk_before = Disk(self.out)
        self.undisturbed = self.run()
        assert self.undisturbed.status == 0, self.undisturbed
        self.outcome = self.outcome_now()
        self.lines = {int(line.split("\t")[0]): line for line in self.record.read_text().splitlines()}
        self.first_change = min(number for number, name, path in self.calls()
                                if name in CHANGES or path.endswith(".partial"))
        self.check_record()

    def outcome_now(self):
        return outcome_of(self.out)

    def files(self):
        """All but the record: the run, what it is made from, the text."""
        return {path: content for path, content in files_of(self.shop.path).items() if path != str(self.record)}

    def run(self, at=0, fault=Fault("", False, None)):
        self.record.unlink(missing_ok=True)
        return self.shop.lm(*self.words, env={
            "LD_PRELOAD": self.preload, "FAULTS_ROOT": str(self.shop.path), "FAULTS_RECORD": str(self.record),
            "FAULTS_AT": str(at), "FAULTS_KIND": fault.kind, "FAULTS_ALWAYS": "1" if fault.always else ""})

    def check_record(self):
        """No call may have been missed: done again, they give the files that are there."""
        disk = Disk(self.out / "absent")
        disk.names = dict(self.disk_before.names)
        for file in disk.names.values():
            file.content = file.durable
        for line in self.lines.values():
            disk.call(line)
        assert disk.now() == files_of(self.out), "faults.c does not watch all calls that write"

    def calls(self):
        """(number, name, path) of each call."""
        for number, line in self.lines.items():
            _, name, _, path, detail = line.split("\t")
            yield number, name, detail if name == "rename" else path

    def complaint_after_going_on(self):
        """What is wrong with the outcome of the same again; None: nothing."""
        resumes = (self.out / "config.toml").exists()
        words = ["train", "--out", self.out, "--resume", "--threads", 1] if resumes else self.words
        if resumes and "--epochs" in self.words:
            words += self.words[self.words.index("--epochs"):]
        result = self.shop.lm(*words)
        if result.status != 0:
            return f"cannot go on: {result.status} {result.err.strip()}"
        model, log = outcome_of(self.out)
        if model != self.outcome[0]:
            return "another model"
        return None if log == self.outcome[1] else "another log"

    def complaint_of(self, at, name, path, fault):
        self.shop.clear(self.out, self.start)
        result = self.run(at, fault)
        if fault.kind in ("kill", "half"):
            assert result.status == KILLED, result
        else:
            statuses = (0,) if self.may_fail_unseen(name, path) else (1, 2) if name in READS else (1,)
            parts = () if statuses == (0,) else (path.removesuffix(".partial"), os.strerror(int(fault.kind)))
            said = one_line(result.err) or result.status == 0
            if result.status not in statuses or not said or not all(part in result.err for part in parts):
                return f"{path}: status {result.status}, expected {statuses} and {parts}: {result.err.strip()}"
        if at < self.first_change and self.files() != self.files_before:
            return "changed a file before its time"
        return self.complaint_after_going_on()

    def may_fail_unseen(self, name, path):
        return (name, path.removeprefix(str(self.out))) in MAY_FAIL_UNSEEN

    def power_cuts(self, every):
        """Yields (number, name, complaint) of a power cut before each call. A file that was replaced must be there for
        good once the program has turned to another."""
        disk, replaced, promised = self.disk_before, set(), {}
        for number, name, path in self.calls():
            if name == "open" and path != str(self.out):
                promised = {path: content for path, content in disk.now().items() if path in replaced}
            if number % every == 0 and name not in READS:
                left = disk.after_power_cut()
                lost = [path for path, old in promised.items() if left.get(path) not in (old, disk.now().get(path))]
                yield number, name, f"lost {lost}" if lost else self.complaint_after(left)
            disk.call(self.lines[number])
            if name == "rename":
                replaced.add(path)

    def complaint_after(self, files):
        """The same where these files are left, {path: content}."""
        self.shop.clear(self.out)
        for path, content in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            pathlib.Path(path).write_bytes(content)
        return self.complaint_after_going_on()

    def sweep(self, every):
        """All faults; returns what went wrong."""
        failures, counts = [], collections.Counter()

        def note(kind, number, name, complaint):
            counts[kind] += 1
            if complaint:
                failures.append(f"{self.name}, {kind} at call {number}, {name}: {complaint}")

        for offset, (kind, fault) in enumerate(FAULTS.items()):
            for number, name, path in self.calls():
                if number % every == offset % every and fault.applies(name):
                    note(kind, number, name, self.complaint_of(number, name, path, fault))
        for number, name, complaint in self.power_cuts(every):
            note("power cut", number, name, complaint)
        print(f"{self.name}: {len(self.lines)} calls; " + ", ".join(f"{n} x {kind}" for kind, n in counts.items()),
              f"; {len(failures)} failures", flush=True)
        return failures


class Exchange(Scenario):
    """An export or an import: its folder is complete, or has a file *.partial, and then the same again completes it."""

    def outcome_now(self):
        return files_of(self.out)

    def complaint_after_going_on(self):
        left = self.outcome_now()
        if self.outcome.items() <= left.items():  # perhaps with its mark
            return None
        if left and not any(path.endswith(".partial") for path in left):
            return f"a torn folder: {sorted(left)}"
        result = self.shop.lm(*self.words)
        if result.status != 0:
            return f"cannot go on: {result.status} {result.err.strip()}"
        return None if self.outcome_now() == self.outcome else "other files"

    def may_fail_unseen(self, name, path):
        return name == "close" and not path.endswith(".partial")  # a folder, which an fsync has told


def main():
    program, preload, every = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with Workshop(program) as shop:
        base = shop.path / "base"
        shop.must(*shop.train(base))
        out = shop.path / "out"
        resume = ["train", "--out", out, "--resume", "--threads", 1, "--epochs", 2]
        failures = Scenario(shop, preload, "train", None, shop.train(out)).sweep(every)
        failures += Scenario(shop, preload, "resume", base, resume).sweep(every)
        failures += Scenario(shop, preload, "finetune", None,
                             ["finetune", base, "--out", out, "--threads", 1]).sweep(every)
        export = ["export", base, "--out", shop.path / "exported"]
        shop.must(*export)
        failures += Exchange(shop, preload, "export", None, [*export[:-1], out]).sweep(every)
        failures += Exchange(shop, preload, "import", None, ["import", export[-1], "--out", out]).sweep(every)
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

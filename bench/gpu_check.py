"""`make gpu-check`: whether Rondo computes on this machine's GPU what it computes on the CPU. One line per part, in under
nine minutes; the exit status is 0 only if no part failed and there was a GPU.

It needs the programs and Python, no compiler and no network: build-gpu/programs.tar.xz, of `make build-gpu`, may come from
another machine. The full output of the parts is in gpu-check/ beside the programs, or in $OUT/gpu-check where OUT is set,
and is written as it comes. These environment variables are for tests without a GPU:

    GPU_CHECK_BUILD=build   other programs; with those of an ordinary build, an emulated GPU
    GPU_CHECK_STEPS=20      length of the trainings
    GPU_CHECK_PARTS=bd      only these parts
    GPU_CHECK_PATIENCE=3    a factor for the time limits, which are meant for 16 cores

Speed: bench/gpu_bench.py.
"""

import itertools
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from gpu_programs import Report, results_folder, top, usable_programs, why_no_gpu

steps = int(os.environ.get("GPU_CHECK_STEPS", 200))
patience = float(os.environ.get("GPU_CHECK_PATIENCE", 1))
first_losses, first_tolerance, mean_tolerance = 20, 1e-4, 0.01
pairs_of_a_batch = 50  # train.batch of the recipe copy-reverse
sanitized_tests = 12  # maximum for each of the sanitizer's tools


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class Run:
    """A command in its own process group, which is killed at the part's time limit."""

    all = []

    def __init__(self, log, command, **environment):
        Run.all.append(self)
        self.log, self.command = log, [str(word) for word in command]
        with open(log, "w") as out:
            self.process = subprocess.Popen(self.command, cwd=top, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, process_group=0,
                                            env={**os.environ, **{k: str(v) for k, v in environment.items()}})

    def end(self, deadline):
        """The exit status. Raises Failed if it is still running at the deadline."""
        try:
            return self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failed(f"{Path(self.command[0]).name} was still running at the time limit: {self.log}") from None
        finally:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def text(self):
        return Path(self.log).read_text(errors="replace")

    def last_line(self):
        return (self.text().strip().splitlines() or ["no output"])[-1]


def end_all(runs, deadline):
    """The exit statuses of the commands; none is left running."""
    statuses, late = [], None
    for run in runs:
        try:
            statuses.append(run.end(deadline))
        except Failed as failed:
            late = failed
    if late:
        raise late
    return statuses


class Check:
    def __init__(self, programs):
        self.programs = programs
        self.folder = results_folder(programs) / "gpu-check"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        emulated = programs / "lm_emulated"
        self.lm = {"cpu": programs / "lm", "cuda": emulated if emulated.exists() else programs / "lm"}
        self.cores = os.cpu_count() or 1
        self.times = {}  # of the tests on the GPU, by name
        self.no_gpu = why_no_gpu(self.lm["cuda"])

    def need_gpu(self):
        if self.no_gpu:
            raise Skipped("no GPU: " + self.no_gpu)

    # a
    def machine(self, deadline):
        """The device, the driver and the build."""
        built = self.programs.parent / "built.txt"
        about = [built.read_text().strip() if built.exists() else "programs of this machine"]
        if shutil.which("nvidia-smi"):
            query = Run(self.folder / "device.log", ["nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                                                     "--format=csv,noheader"])
            query.end(deadline)
            about.append("GPU " + query.last_line())
        elif not self.no_gpu:
            about.append("an emulated GPU" if self.lm["cuda"].name == "lm_emulated" else "a GPU, no nvidia-smi")
        self.need_gpu()
        return "; ".join([*about, f"{self.cores} cores"])

    # b, c
    def tests(self, names, shards, deadline, **environment):
        """Runs test programs in shards, in parallel. Returns the numbers of tests by outcome."""
        runs, reports = [], []
        for name, shard in itertools.product(names, range(shards)):
            report = self.folder / f"{name}.{shard}.json"
            reports.append(report)
            runs.append(Run(self.folder / f"{name}.{shard}.log",
                            [self.programs / name, f"--gtest_output=json:{report}"], GTEST_TOTAL_SHARDS=shards,
                            GTEST_SHARD_INDEX=shard, **environment))
        statuses = end_all(runs, deadline)
        passed, skipped, failures = 0, 0, []
        for run, status, report in zip(runs, statuses, reports):
            if not report.exists():
                failures.append(f"{Path(run.command[0]).name} ended with {status}: {run.log}")
                continue
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    name = f"{suite['name']}.{test['name']}"
                    if test["result"] == "SKIPPED":
                        skipped += 1
                    elif "failures" in test:
                        failures.append(f"{name}: {run.log}")
                    elif test["status"] == "RUN":
                        passed += 1
                        if "cuda" in report.name:
                            self.times[name] = float(test["time"].rstrip("s"))
        if failures:
            raise Failed(f"{len(failures)} failed, {passed} passed\n    " + "\n    ".join(failures))
        if passed == 0:
            raise Failed("no test ran")
        return passed, skipped

    def cpu_tests(self, deadline):
        """The tests for the CPU."""
        names = ["rondo_tests", "rondo_tests_double"]
        threads = 2  # several, to test what depends on their number
        passed, skipped = self.tests(names, max(1, self.cores // 2), deadline, OMP_NUM_THREADS=threads)
        return f"{passed} passed, {skipped} skipped"

    def gpu_tests(self, deadline):
        """CPU = CUDA in float and double."""
        self.need_gpu()
        shards = min(4, max(1, self.cores // 4))
        emulated = self.lm["cuda"].name == "lm_emulated"  # for which there are no tests in double
        names = ["rondo_tests_cuda"] if emulated else ["rondo_tests_cuda", "rondo_tests_cuda_double"]
        passed, skipped = self.tests(names, shards, deadline, OMP_NUM_THREADS=2, RONDO_POISON_GPU_MEMORY=1)
        return f"{passed} passed, {skipped} skipped"

    # d
    def trainings(self, deadline):
        """The same trainings on both devices, side by side, loss by loss."""
        self.need_gpu()
        words, characters = self.folder / "words", self.folder / "characters"
        write_source(words, [f"w{i}" for i in range(5000)], " ", batch=20, length=35)
        write_source(characters, [chr(ord("a") + i) for i in range(26)], "", batch=32, length=64)
        runs = {}
        text = {"train.eval_every": 0, "report.sample": 0}
        trainings = {"demo": (["--data", characters], text | {"data.files": "[]"}),
                     "awd-mmlstm-mos-small-ptb": (["--data", words], text),
                     "copy-reverse": ([], {"data.generated_pairs": pairs_of_a_batch * steps, "train.label_smoothing": 0.1})}
        for recipe, (data, settings) in trainings.items():
            settings |= {"train.epochs": 1, "train.log_every": 1}
            for device in ("cpu", "cuda"):
                words_of_settings = [word for item in settings.items() for word in ("--set", "=".join(map(str, item)))]
                runs[recipe, device] = Run(
                    self.folder / f"{recipe}.{device}.log",
                    [self.lm[device], "train", "--recipe", recipe, *data, "--device", device,
                     "--out", self.folder / f"{recipe}.{device}", "--threads", max(1, self.cores // 6),
                     *words_of_settings])
        statuses = end_all(list(runs.values()), deadline)
        for run, status in zip(runs.values(), statuses):
            if status != 0:
                raise Failed(f"{run.last_line()}: {run.log}")
        return "; ".join(compare(recipe, *(self.losses(recipe, device) for device in ("cpu", "cuda")))
                         for recipe in trainings)

    def losses(self, recipe, device):
        log = self.folder / f"{recipe}.{device}" / "log.jsonl"
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [line["nats"] for line in lines if "gradient_norm" in line]

    # e
    def sanitizer(self, deadline):
        """Memory accesses and races of a few kernels."""
        self.need_gpu()
        tool = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
        if not tool:
            raise Skipped("compute-sanitizer is not there")
        if not self.times:
            raise Skipped("no test on the GPU passed, so none is chosen")
        chosen = {}  # the fastest test of each suite
        for name in sorted(self.times, key=self.times.get):
            chosen.setdefault(name.split("/")[-2] if "/" in name else name.split(".")[0], name)
        only = ":".join(list(chosen.values())[:sanitized_tests])
        found = []
        for name in ("memcheck", "racecheck"):
            run = Run(self.folder / f"{name}.log", [tool, "--tool", name, "--error-exitcode", 9,
                                                    self.programs / "rondo_tests_cuda", "--gtest_filter=" + only])
            status = run.end(deadline)
            if status != 0 and "Device not supported" in run.text():
                raise Skipped(f"compute-sanitizer does not work on this machine: {run.log}")
            if status != 0:
                raise Failed(f"{name} ended with {status}: {run.log}")
            found.append(f"{name} found nothing in {min(len(chosen), sanitized_tests)} tests")
        return ", ".join(found)


def write_source(folder, symbols, between, batch, length):
    """Random text with a fixed seed: with probability 1/2 the successor of the last symbol in a fixed permutation, else a
    symbol drawn by Zipf's law. Training text for an epoch of this many steps."""
    folder.mkdir()
    source = random.Random(1)
    next_of = dict(zip(symbols, source.sample(symbols, len(symbols))))
    cumulated = list(itertools.accumulate(1 / rank for rank in range(1, len(symbols) + 1)))

    def lines(count):
        symbol = symbols[0]
        while count > 0:
            line = []
            for _ in range(min(count, 20)):
                any_symbol = source.choices(symbols, cum_weights=cumulated)[0]
                symbol = next_of[symbol] if source.random() < 0.5 else any_symbol
                line.append(symbol)
            count -= len(line) + 1  # the end of a line is a symbol, too
            yield between.join(line) + "\n"
    for name, count in (("train", batch * (length * steps + 1)), ("valid", 10 * batch), ("test", 10 * batch)):
        (folder / f"{name}.txt").write_text("".join(lines(count)))


def compare(recipe, cpu, cuda):
    if len(cpu) != len(cuda) or len(cpu) < 0.9 * steps:
        raise Failed(f"{recipe}: {len(cpu)} steps on the CPU, {len(cuda)} on the GPU, intended {steps}")
    if not all(map(math.isfinite, cpu + cuda)):
        raise Failed(f"{recipe}: a loss is not finite")
    first = max(abs(a - b) / abs(a) for a, b in zip(cpu[:first_losses], cuda[:first_losses]))
    mean = abs(sum(cuda) / sum(cpu) - 1)
    what = f"{recipe}: losses {cpu[0]:.3f} to {cpu[-1]:.3f}, first {first_losses} apart by {first:.1e}, " \
           f"means of {len(cpu)} by {mean:.1e}"
    if first > first_tolerance or mean > mean_tolerance:
        raise Failed(f"{what}; at most {first_tolerance:.0e} and {mean_tolerance:.0e} are allowed")
    return what


def main():
    check = Check(usable_programs(os.environ.get("GPU_CHECK_BUILD", "build-gpu")))
    parts = [("a", "machine", check.machine, 30), ("b", "tests of the CPU", check.cpu_tests, 150),
             ("c", "CPU = CUDA", check.gpu_tests, 120), ("d", "trainings", check.trainings, 120),
             ("e", "sanitizer", check.sanitizer, 100)]
    asked = os.environ.get("GPU_CHECK_PARTS", "abcde")
    outcomes, begin = [], time.monotonic()
    say = Report(check.folder / "report.txt")
    for letter, name, part, limit in parts:
        if letter not in asked:
            continue
        start = time.monotonic()
        try:
            outcome, detail = "passed", part(start + limit * patience)
        except Skipped as skipped:
            outcome, detail = "skipped", str(skipped)
        except Failed as failed:
            outcome, detail = "FAILED", str(failed)
        outcomes.append(outcome)
        say(f"{letter}  {name:<16}  {outcome:<7}  {time.monotonic() - start:5.1f} s  {detail}")
    failed = outcomes.count("FAILED")
    verdict = f"FAILED: {failed} of {len(outcomes)} parts" if failed else \
        f"not checked: {check.no_gpu}" if check.no_gpu else "passed"
    say(f"gpu-check: {verdict}; {time.monotonic() - begin:.0f} s")
    sys.exit(0 if verdict == "passed" else 1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("gpu-check: stopped"))
    try:
        main()
    finally:
        for run in Run.all:
            run.kill()

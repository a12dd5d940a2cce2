"""`make gpu-first`: the first minutes on a GPU that is new to Rondo. What is most likely to be wrong comes first, and the speed
last; every part has its time limit, and results are kept if the run is stopped:

    1  device    driver, libraries, versions
    2  probe     what the GPU can do: products by precision, nodes of a graph
    3  lm        twenty steps of training in each precision; then steps launched one by one, and replayed
    4  check     bench/gpu_check.py: device, tests, trainings; each test that failed once more, alone
    5  bench     bench/gpu_bench.py: two models beside PyTorch, in fp32 and tf32

It needs Python and the programs of `make build-gpu`, nothing else. Results go to gpu-first/ in $OUT, or beside the programs,
each line as it comes; gpu-first.tar.gz beside that folder has all of them at the end, without the weights, also if the call is
stopped by SIGTERM. These environment variables change what it does:

    GPU_FIRST_BUILD=build-gpu   other programs; with those of an ordinary build, an emulated GPU
    GPU_FIRST_SECONDS=540       time for all parts, of which each has its share
    GPU_FIRST_PARTS=12345       only these parts

The exit status is 0 only if no part failed.
"""

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from gpu_programs import Report, results_folder, top, usable_programs, why_no_gpu

total = float(os.environ.get("GPU_FIRST_SECONDS", 540))
shares = {"device": 15, "probe": 45, "lm": 60, "check": 250, "bench": 170}  # seconds of the 540
precisions = ("fp32", "tf32", "bf16")
repeated_tests = 4  # that failed, at most


class Stopped(Exception):
    pass


class First:
    def __init__(self, programs):
        self.programs = programs
        self.results = results_folder(programs)
        self.folder = self.results / "gpu-first"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.say = Report(self.folder / "report.txt")
        emulated = programs / "lm_emulated"
        self.lm = emulated if emulated.exists() else programs / "lm"
        self.running = None
        self.failed = []

    def run(self, name, command, limit, text="", **environment):
        """Runs a command, whose output goes to NAME.txt as it comes. Its exit status, 124 at the limit in seconds, or None
        if there is no such program. `timeout` ends it even if this process is gone."""
        limit = max(1, limit)
        with open(self.folder / f"{name}.txt", "a") as out:
            words = ["timeout", "-k", "2", f"{limit:.1f}", *map(str, command)]
            print("$", *words, file=out, flush=True)
            try:
                self.running = subprocess.Popen(words, cwd=top, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT,
                                                env={**os.environ, **{k: str(v) for k, v in environment.items()}})
            except FileNotFoundError:
                return None
            try:
                self.running.communicate(text.encode(), timeout=limit + 5)
            except subprocess.TimeoutExpired:
                self.running.kill()
                self.running.wait()
            status, self.running = self.running.returncode, None
            print(f"ended with {status}", file=out, flush=True)
        return status

    def report(self, part, name, status, start):
        late = {124, 137, -signal.SIGKILL}  # by `timeout`
        outcome = "done" if status == 0 else "skipped" if status is None else \
            "out of time" if status in late else f"FAILED with {status}"
        if status not in (0, None):
            self.failed.append(name)
        lines = (self.folder / f"{name}.txt").read_text(errors="replace").strip().splitlines() or [""]
        self.say(f"{part}  {name:<24}  {outcome:<15}  {time.monotonic() - start:6.1f} s  {lines[-2:][0][:150]}")

    def device(self, part, deadline):
        tools = {"nvidia-smi": [], "nvcc": ["--version"], "compute-sanitizer": ["--version"], "make": ["--version"],
                 "g++": ["--version"]}
        found = {tool: shutil.which(tool, path=os.environ["PATH"] + ":/usr/local/cuda/bin") for tool in tools}
        about = {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count(),
                 "tools": found,
                 "no_gpu": why_no_gpu(self.lm) or None}
        (self.folder / "device.json").write_text(json.dumps(about, indent=1) + "\n")
        start = time.monotonic()
        for tool, words in tools.items():
            if found[tool]:
                self.run("device", [found[tool], *words], min(5, deadline - time.monotonic()))
        status = self.run("device", ["ldd", self.lm], 5)
        if about["no_gpu"]:
            self.say(f"   no GPU: {about['no_gpu']}")
            status = 1
        self.report(part, "device", status, start)

    def probe(self, part, deadline):
        start, program = time.monotonic(), self.programs / "gpu_probe"
        status = self.run("probe", [program], deadline - start) if program.exists() else None
        (self.folder / "probe.txt").touch()
        self.report(part, "probe", status, start)

    def lm_runs(self, part, deadline):
        text = self.folder / "text.txt"
        text.write_text("".join(f"{i * i % 97} sheep and {i % 7} goats\n" for i in range(1500)))
        each = (deadline - time.monotonic()) / 6
        emulated = self.lm.name == "lm_emulated"  # which is slow
        for precision in precisions:
            start, name = time.monotonic(), f"lm-{precision}"
            status = self.run(name, [self.lm, "train", "--recipe", "char-lstm", "--data", text, "--device", "cuda",
                                     "--precision", precision, "--epochs", 1, "--out", self.folder / name,
                                     "--set", "train.log_every=1", "--set", "train.batch=16",
                                     "--set", f"model.hidden={16 if emulated else 128}", "--set", "report.sample=0"], each)
            self.report(part, name, status, start)
        bench = self.programs / "bench"
        for precision in precisions:
            start, name = time.monotonic(), f"steps-{precision}"
            (self.folder / f"{name}.txt").touch()
            # Replayed, then launched one by one, with the host's time for each launch: bench/worker.cpp.
            status = None if emulated or not bench.exists() else self.run(
                name, [bench, "--train", top / "bench/awd-lstm-b80.toml", "--device", "cuda", "--precision", precision],
                each, text="2\n2\nprofile 1\n")
            self.report(part, name, status, start)

    def check(self, part, deadline):
        start = time.monotonic()
        limit = (deadline - start) * 0.75
        patience = max(0.05, limit / 270)  # its parts a, c and d have 30, 120 and 120 seconds
        status = self.run("check", [sys.executable, top / "bench/gpu_check.py"], limit, OUT=self.folder,
                          GPU_CHECK_BUILD=self.programs.parent, GPU_CHECK_PARTS="acd",
                          GPU_CHECK_PATIENCE=patience)
        self.report(part, "check", status, start)
        sanitizer = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
        for program, test in self.failed_tests()[:repeated_tests]:
            each = max(2, (deadline - time.monotonic()) / (2 * repeated_tests))
            for name, tool, blocking in (("alone", [], 1), ("memcheck", [sanitizer, "--tool", "memcheck"], 0)):
                if tool == [None] or time.monotonic() > deadline or (tool and not sanitizer):
                    continue
                start, label = time.monotonic(), f"{test.replace('/', '.')}-{name}"
                status = self.run(label, [*tool, self.programs / program, f"--gtest_filter={test}"], each,
                                  CUDA_LAUNCH_BLOCKING=blocking)
                self.report(part, label, status, start)

    def failed_tests(self):
        tests = []
        for path in sorted((self.folder / "gpu-check").glob("*.json")):
            try:
                suites = json.loads(path.read_text())["testsuites"]
            except ValueError:  # cut off
                continue
            tests += [(path.name.split(".")[0], f"{suite['name']}.{test['name']}") for suite in suites
                      for test in suite["testsuite"] if "failures" in test]
        return tests

    def bench(self, part, deadline):
        start = time.monotonic()
        status = self.run("bench", [sys.executable, top / "bench/gpu_bench.py"], deadline - start, OUT=self.folder,
                          GPU_BENCH_BUILD=self.programs.parent, ONLY="awd-lstm-b80 awd-lstm-mos-b12",
                          PRECISIONS="fp32 tf32", GPU_BENCH_SECONDS=(deadline - start) * 0.7)
        self.report(part, "bench", status, start)

    def all_parts(self, asked):
        parts = (("1", "device", self.device), ("2", "probe", self.probe), ("3", "lm", self.lm_runs),
                 ("4", "check", self.check), ("5", "bench", self.bench))
        begin = time.monotonic()
        end = begin + total
        left = [it for it in parts if it[0] in asked]
        while left:
            part, name, work = left.pop(0)
            # What a part leaves of its time, those behind it share.
            rest = shares[name] + sum(shares[it[1]] for it in left)
            now = time.monotonic()
            self.say(f"{part}  begins at {now - begin:.1f} s")
            try:
                work(part, now + (end - now) * shares[name] / rest)
            except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:  # the next part may work
                self.failed.append(name)
                self.say(f"{part}  {name:<24}  FAILED: {error!r}")
        self.say(f"gpu-first: {'FAILED: ' + ', '.join(self.failed) if self.failed else 'passed'}; "
                 f"{time.monotonic() - begin:.0f} s")

    def end(self):
        """Ends what still runs, and packs what there is."""
        if self.running:
            self.running.terminate()  # `timeout` hands it on
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.running.wait(10)  # it saves its state: a file that is renamed cannot be packed
        packed = self.results / "gpu-first.tar.gz"
        with tarfile.open(f"{packed}.part", "w:gz") as archive:  # without weights and optimizers
            archive.add(self.folder, self.folder.name, filter=lambda it: None if it.name.endswith(".safetensors") else it)
        os.replace(f"{packed}.part", packed)
        print(f"gpu-first: {packed}", flush=True)


def stop(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


if __name__ == "__main__":
    first = First(usable_programs(os.environ.get("GPU_FIRST_BUILD", "build-gpu")))
    signal.signal(signal.SIGTERM, stop)
    try:
        first.all_parts(os.environ.get("GPU_FIRST_PARTS", "12345"))
    except (Stopped, KeyboardInterrupt):
        first.failed.append("stopped")
        first.say("gpu-first: stopped")
    finally:
        first.end()
    sys.exit(1 if first.failed else 0)

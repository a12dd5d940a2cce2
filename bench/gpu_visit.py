"""A visit of some minutes to a machine with a GPU: `make gpu-visit`, and `make gpu-first` on a GPU that is new to Rondo. What is
most likely to be wrong comes first; every part has its time limit, and what it has found is kept if it fails or the visit is
stopped:

    gpu_visit.py [--programs build-gpu] [PART=SECONDS ...] [-- WORDS OF lm train ...]

    device    driver, libraries, versions
    check     bench/gpu_check.py: device, CPU = CUDA, trainings; each test that failed once more, alone
    probe     what the GPU can do: products by precision, nodes of a graph, those that begin early (bench/gpu_probe.cu)
    steps     twenty steps of training in each precision; then steps replayed, and launched one by one
    speed     bench/gpu_bench.py: rows whose figures decide what to do next, beside the honest peers
    profile   Nsight Compute, if it is there, on some kernels of a step
    training  `lm train --device cuda WORDS`, ended in time to evaluate what it has come to; skipped without WORDS

They run in this order; without PART=SECONDS, all but `steps`, in ten minutes. A part that needs less leaves its time to those
behind it. It needs Python and the programs of `make build-gpu`; with those of an ordinary build it runs on an emulated GPU.
Results go to gpu-visit/ in $OUT, or beside the programs, each line as it comes; gpu-visit.tar.gz beside that folder has all of
them at the end, without the weights, also if the call is stopped by SIGTERM. The exit status is 0 only if no part failed.
"""

import argparse
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

whole_visit = {"device": 10, "check": 60, "probe": 15, "speed": 130, "profile": 15, "training": 360}  # seconds
precisions = ("fp32", "tf32", "bf16")
repeated_tests = 4  # that failed, at most

# What gpu-bench measures, one call after the other, how the time is divided among the calls, and how graphs are recorded
# (RONDO_GPU_GRAPHS in docs/gpu.md).
speed_calls = [("awd-lstm-b20 awd-lstm-b80", "bf16", 30, "chain"), ("awd-lstm-b20 awd-lstm-b80", "bf16", 15, "pieces"),
               ("translation", "fp32", 15, "chain"), ("lstm-1024 char-lstm", "bf16", 20, "chain"),
               ("char-mlstm char-mi-lstm", "bf16", 20, "chain"),
               ("awd-lstm-b20 awd-lstm-b80 zaremba-medium", "tf32", 25, "chain"),
               ("zaremba-medium translation", "bf16", 20, "chain"),
               ("awd-lstm-b20 awd-lstm-b80 char-mlstm", "bf16", 15, "branches")]

# Recipes of bench/, and how many launches of a first, eager step pass before kernels are looked at: a few of its forward pass,
# and of its loss and its backward pass.
profiled = [("awd-lstm-b80", 300), ("awd-lstm-b80", 650), ("char-mi-lstm", 500)]
profiled_kernels = 15


class Stopped(Exception):
    pass


def tool_named(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/local/cuda/bin")


class Visit:
    def __init__(self, programs, seconds, training):
        self.programs, self.seconds, self.training_words = programs, seconds, training
        self.results = results_folder(programs)
        self.folder = self.results / "gpu-visit"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.say = Report(self.folder / "report.txt")
        emulated = programs / "lm_emulated"
        self.lm = emulated if emulated.exists() else programs / "lm"
        self.running = None
        self.failed = []

    def run(self, name, command, limit, text="", grace=2, **environment):
        """Runs a command, whose output goes to NAME.txt as it comes. Its exit status, 124 at the limit in seconds, or None
        if there is no such program. `timeout` ends it even if this process is gone; it has `grace` seconds to end itself."""
        limit = max(1, limit)
        with open(self.folder / f"{name}.txt", "a") as out:
            words = ["timeout", "-k", str(grace), f"{limit:.1f}", *map(str, command)]
            print("$", *words, file=out, flush=True)
            if shutil.which(words[4]) is None:
                return print("is not there", file=out)
            self.running = subprocess.Popen(words, cwd=top, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT,
                                            env={**os.environ, **{k: str(v) for k, v in environment.items()}})
            try:
                self.running.communicate(text.encode(), timeout=limit + grace + 3)
            except subprocess.TimeoutExpired:
                self.running.kill()
                self.running.wait()
            status, self.running = self.running.returncode, None
            print(f"ended with {status}", file=out, flush=True)
        return status

    def report(self, name, status, start):
        late = {124, 137, -signal.SIGKILL}  # by `timeout`
        outcome = "done" if status == 0 else "skipped" if status is None else \
            "out of time" if status in late else f"FAILED with {status}"
        if status not in (0, None):
            self.failed.append(name)
        lines = (self.folder / f"{name}.txt").read_text(errors="replace").strip().splitlines() or [""]
        self.say(f"{name:<24}  {outcome:<15}  {time.monotonic() - start:6.1f} s  {lines[-2:][0][:150]}")

    def run_and_report(self, name, command, limit, **more):
        start = time.monotonic()
        self.report(name, self.run(name, command, limit, **more), start)

    # ---- The parts. Each gets the time at which it should end.

    def device(self, deadline):
        tools = {"nvidia-smi": [], "nvcc": ["--version"], "compute-sanitizer": ["--version"], "ncu": ["--version"],
                 "make": ["--version"], "g++": ["--version"]}
        found = {tool: tool_named(tool) for tool in tools}
        no_gpu = why_no_gpu(self.lm)
        about = {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count(),
                 "tools": found, "no_gpu": no_gpu or None}
        (self.folder / "device.json").write_text(json.dumps(about, indent=1) + "\n")
        start = time.monotonic()
        for tool, words in tools.items():
            if found[tool]:
                self.run("device", [found[tool], *words], min(5, deadline - time.monotonic()))
        self.run("device", [self.lm, "--version"], 5)
        status = self.run("device", ["ldd", self.lm], 5)
        if no_gpu:
            self.say(f"no GPU: {no_gpu}")
            status = 1
        self.report("device", status, start)

    def check(self, deadline):
        limit = (deadline - time.monotonic()) * 0.75
        patience = max(0.05, limit / 270)  # its parts a, c and d have 30, 120 and 120 seconds
        self.run_and_report("check", [sys.executable, top / "bench/gpu_check.py"], limit, OUT=self.folder,
                            GPU_CHECK_BUILD=self.programs.parent, GPU_CHECK_PARTS="acd", GPU_CHECK_PATIENCE=patience)
        sanitizer = tool_named("compute-sanitizer")
        for program, test in self.failed_tests()[:repeated_tests]:
            each = max(2, (deadline - time.monotonic()) / (2 * repeated_tests))
            for name, tool, blocking in (("alone", [], 1), ("memcheck", [sanitizer, "--tool", "memcheck"], 0)):
                if time.monotonic() < deadline and (not tool or sanitizer):
                    self.run_and_report(f"{test.replace('/', '.')}-{name}",
                                        [*tool, self.programs / program, f"--gtest_filter={test}"], each,
                                        CUDA_LAUNCH_BLOCKING=blocking)

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

    def probe(self, deadline):
        self.run_and_report("probe", [self.programs / "gpu_probe"], deadline - time.monotonic())

    def steps(self, deadline):
        text = self.folder / "text.txt"
        text.write_text("".join(f"{i * i % 97} sheep and {i % 7} goats\n" for i in range(1500)))
        each = (deadline - time.monotonic()) / 6
        emulated = self.lm.name == "lm_emulated"  # which is slow
        for precision in precisions:
            name = f"lm-{precision}"
            self.run_and_report(name, [self.lm, "train", "--recipe", "char-lstm", "--data", text, "--device", "cuda",
                                       "--precision", precision, "--epochs", 1, "--out", self.folder / name,
                                       "--set", "train.log_every=1", "--set", "train.batch=16",
                                       "--set", f"model.hidden={16 if emulated else 128}", "--set", "report.sample=0"], each)
        for precision in precisions:
            # Replayed, then launched one by one, with the host's time for each launch: bench/worker.cpp.
            self.run_and_report(f"steps-{precision}", self.trains_in_bench("awd-lstm-b80", precision), each,
                                text="2\n2\nprofile 1\n")

    def trains_in_bench(self, recipe, precision):
        return [self.programs / "bench", "--train", top / f"bench/{recipe}.toml", "--device", "cuda", "--precision", precision]

    def speed(self, deadline):
        begin, parts = time.monotonic(), sum(it[2] for it in speed_calls)
        for rows, precision, share, graphs in speed_calls:
            seconds = min(deadline - time.monotonic(), (deadline - begin) * share / parts)
            if seconds <= 1 or not (self.programs / "bench").exists():
                self.say(f"speed: {'no time' if seconds <= 1 else 'no program bench'} for {rows} in {precision}, {graphs}")
                continue
            folder = self.folder if graphs == "chain" else self.folder / graphs
            folder.mkdir(exist_ok=True)
            # A row that has begun may go on for a while; one that does not end is cut off.
            self.run_and_report("speed", [sys.executable, top / "bench/gpu_bench.py"], deadline - time.monotonic(),
                                OUT=folder, RONDO_GPU_GRAPHS=graphs, GPU_BENCH_BUILD=self.programs.parent, ONLY=rows,
                                PRECISIONS=precision, GPU_BENCH_TURN=1, GPU_BENCH_SECONDS=seconds * 0.7,
                                VARIANTS="common graphed padded" if graphs == "chain" else "common")

    def profile(self, deadline):
        for recipe, skipped in profiled:
            seconds = (deadline - time.monotonic()) / 2
            if seconds > 1:
                self.run_and_report("profile", [tool_named("ncu") or "ncu", "--set", "basic", "--launch-skip", skipped,
                                                "--launch-count", profiled_kernels, *self.trains_in_bench(recipe, "bf16")],
                                    seconds, text="0.01\n")

    def training(self, deadline):
        if not self.training_words:
            return self.say("training: skipped, there are no words for lm train")
        run, seconds = self.folder / "training", deadline - time.monotonic()
        rest = min(60, seconds / 5)  # for saving, and for the evaluation
        start = time.monotonic()
        status = self.run("training", [self.lm, "train", *self.training_words, "--device", "cuda", "--out", run],
                          seconds - rest, grace=rest / 2)
        if status == 124:  # SIGTERM has ended it, and it has saved its weights
            status = self.run("training", [self.lm, "eval", run, "--device", "cuda"], max(1, deadline - time.monotonic()))
        self.report("training", status, start)

    # ---- All of it.

    def all_parts(self):
        begin = time.monotonic()
        end = begin + sum(self.seconds.values())
        left = [name for name in parts if name in self.seconds]
        while left:
            name, now = left[0], time.monotonic()
            share = self.seconds[name] / sum(self.seconds[it] for it in left)  # what a part leaves, those behind it share
            del left[0]
            self.say(f"{name} begins at {now - begin:.1f} s")
            try:
                getattr(self, name)(now + (end - now) * share)
            except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:  # the next part may work
                self.failed.append(name)
                self.say(f"{name:<24}  FAILED: {error!r}")
        self.say(f"gpu-visit: {'FAILED: ' + ', '.join(self.failed) if self.failed else 'passed'}; "
                 f"{time.monotonic() - begin:.0f} s")

    def end(self):
        """Ends what still runs, and packs what there is."""
        if self.running:
            self.running.terminate()  # `timeout` hands it on
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.running.wait(10)  # it saves its state: a file that is renamed cannot be packed
        packed = self.results / "gpu-visit.tar.gz"
        with tarfile.open(f"{packed}.part", "w:gz") as archive:  # without weights and optimizers
            archive.add(self.folder, self.folder.name, filter=lambda it: None if it.name.endswith(".safetensors") else it)
        os.replace(f"{packed}.part", packed)
        print(f"gpu-visit: {packed}", flush=True)


parts = ("device", "check", "probe", "steps", "speed", "profile", "training")


def seconds_of_part(word):
    name, equals, seconds = word.partition("=")
    if name not in parts or not equals or not float(seconds) > 0:
        raise argparse.ArgumentTypeError(f"{word}: expected PART=SECONDS, with a part of {', '.join(parts)}")
    return name, float(seconds)


def stop(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


def main():
    words = sys.argv[1:]
    own = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="gpu_visit.py [--programs build-gpu] [PART=SECONDS ...] [-- WORDS OF lm train ...]")
    parser.add_argument("--programs", default="build-gpu")
    parser.add_argument("parts", nargs="*", type=seconds_of_part)
    options = parser.parse_args(words[:own])
    visit = Visit(usable_programs(options.programs), dict(options.parts) or whole_visit, words[own + 1:])
    signal.signal(signal.SIGTERM, stop)
    try:
        visit.all_parts()
    except (Stopped, KeyboardInterrupt):
        visit.failed.append("stopped")
        visit.say("gpu-visit: stopped")
    finally:
        visit.end()
    sys.exit(1 if visit.failed else 0)


if __name__ == "__main__":
    main()

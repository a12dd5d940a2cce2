#!/usr/bin/env python3
"""`make bench`: lm and PyTorch train the recipes of bench/ on random symbols, in turns on the same threads; then where lm's
time goes, a mixture of softmaxes and an adaptive one, a translator, generation, the cost of each cell, and busy machines.

    bench.py PROGRAM [--threads N] [--rounds N] [--seconds S] [--log FILE] [--no-products] [--peer PYTHON]... [WHAT...]

WHAT are names of recipes in bench/, and `mixture`, `adaptive`, `translation`, `generation`, `cells`, `busy` (default: all).
It only reports: machines differ and their speed drifts, so compare figures of one run, best the ratios of each round. The
program (bench/bench.cpp) trains lm on request and prints tables of lm alone; bench/peers.py trains PyTorch on request.
`--log` adds a training's figures to a file, one JSON object a line, for bench/speed_table.py.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

folder = Path(__file__).resolve().parent
tables = ["mixture", "adaptive", "translation", "generation", "cells", "busy"]
busy_share = 0.06  # of a CPU: others that use less do not disturb


def print_row(row, widths):
    cells = [f"{row[0]:<{widths[0]}}"] + [f"{it:>{width}}" for it, width in zip(row[1:-1], widths[1:])] + [row[-1]]
    print("  " + "  ".join(cells), flush=True)


class Table:
    """Printed row by row: the first column to the left, the others to the right, the last one of any length."""

    def __init__(self, heads, first):
        self.widths = [first] + [max(9, len(it)) for it in heads[1:]]
        self.add(*heads)

    def add(self, *row):
        print_row(row, self.widths)


def ratios(a, b):
    return [x / y for x, y in zip(a, b)]


def times(values):
    """The median of ratios, and each of them."""
    return f"{median(values):.2f}x ({' '.join(f'{it:.2f}' for it in values)})"


# ---- The machine, according to Linux's /proc.

ticks = os.sysconf("SC_CLK_TCK")


def used_by_others(*processes):
    """CPU seconds of all processes since the machine's start, but for ours and these."""
    user, nice, system, _, _, irq, softirq, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    ours = 0
    for pid in ("self", *processes):
        ours += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return (user + nice + system + irq + softirq + stolen - ours) / ticks


def peak_resident_bytes(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(1024 * int(it.split()[1]) for it in lines if it.startswith("VmHWM"))


class Idleness:
    """Whether the machine was otherwise idle, before and during each turn."""

    wait_at_most = 60

    def __init__(self):
        self.turns = self.started_busy = self.disturbed = self.max_share = 0

    @classmethod
    def wait(cls):
        """Until other processes use less than `busy_share` of a CPU; whether they do."""
        begin, said = time.monotonic(), False
        while True:
            used, start = used_by_others(), time.monotonic()
            time.sleep(0.4)
            if (used_by_others() - used) / (time.monotonic() - start) < busy_share:
                return True
            if time.monotonic() - begin > cls.wait_at_most:
                cls.wait_at_most = 0.4  # it will not become idle later
                return False
            if time.monotonic() - begin > 5 and not said:
                print(f"waiting, for {cls.wait_at_most} s at most, until no other process uses this machine",
                      file=sys.stderr)
                said = True

    def turn(self, contestant, seconds):
        self.started_busy += not self.wait()
        used, start = used_by_others(contestant.process.pid), time.monotonic()
        rate = contestant.turn(seconds)
        share = (used_by_others(contestant.process.pid) - used) / (time.monotonic() - start)
        self.turns += 1
        self.disturbed += share > busy_share
        self.max_share = max(self.max_share, share)
        return rate

    def report(self):
        if self.started_busy + self.disturbed:
            print(f"  The machine was not idle: {self.started_busy} of {self.turns} turns began while others used it, "
                  f"{self.disturbed} were disturbed, at most by {100 * self.max_share:.0f}% of a CPU.")


# ---- Trainings in processes of their own. A process describes itself in a first line, a JSON object, then answers each line.


class Contestant:
    def __init__(self, command, precision="fp32", is_lm=False, variant="", environment=None):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(environment or {})})
        self.introduction = self.read()
        self.precision, self.is_lm = precision, is_lm
        self.name = self.introduction["what"]
        if "optimizer" in self.introduction:
            self.name += f", {self.introduction['optimizer']} optimizer"
        self.name += f", {variant}" if variant else ""
        self.name += f", {precision}" if precision != "fp32" else ""
        self.parameters = self.introduction.get("parameters", 0)
        self.rates, self.peaks = [], []  # symbols per second, and the machine's GFLOP/s in lm's precision
        self.peak_bytes = self.system_allocations = self.operations_a_symbol = 0

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} did not start, or ended without an answer")
        return json.loads(line)

    def ask(self, request):
        print(request, file=self.process.stdin, flush=True)
        return self.read()

    def turn(self, seconds):
        answer = self.ask(seconds)
        self.rates.append(answer["symbols"] / answer["seconds"])
        self.system_allocations += answer.get("system_allocations", 0)
        self.peak_bytes = peak_resident_bytes(self.process.pid)
        return self.rates[-1]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def start_lm(threads, *words):
    return Contestant([options.program, "--threads", threads, *words], is_lm=True)


def peer_environment():
    """The fastest configuration of PyTorch on a CPU: OpenBLAS with the same kernels and threads as lm, and an allocator that
    keeps memory instead of mapping it anew for each large tensor."""
    libraries = ":".join(filter(None, [machine["openblas_folder"], os.environ.get("LD_LIBRARY_PATH")]))
    return {"OMP_NUM_THREADS": str(options.threads), "LD_LIBRARY_PATH": libraries,
            "OPENBLAS_CORETYPE": machine["kernels"], "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
            "MALLOC_TRIM_THRESHOLD_": str(1 << 32), "MALLOC_TOP_PAD_": str(1 << 26)}


def contestants(words, model, variants):
    """lm, started with `words`, and its peers in each of their variants, in fp32 and in bf16."""
    for precision in ("fp32", "bf16"):
        yield Contestant([options.program, "--threads", options.threads, "--precision", precision, *words], precision, True)
        for python in options.peers:
            for variant in variants:
                try:
                    yield Contestant([python, folder / "peers.py", json.dumps(model), variant, options.threads, "cpu", precision],
                                     precision, variant=variant if len(variants) > 1 else "", environment=peer_environment())
                except RuntimeError as error:
                    print(f"  left out: {error}")


def report_speeds(everyone):
    lm = everyone[0]
    table = Table([f"{lm.parameters / 1e6:.2f}M parameters", "symbols/s", "peak MB", "memory",
                   "lm to it in its precision: median, round by round"], 42)
    for it in everyone:
        memory, compared = "", f"{' '.join(f'{rate:.0f}' for rate in it.rates)} symbols/s round by round"
        if it.is_lm and it is not lm:
            compared = times(ratios(it.rates, lm.rates)) + " lm in fp32"
        elif not it.is_lm:
            same = next(other for other in everyone if other.is_lm and other.precision == it.precision)
            memory, compared = f"{same.peak_bytes / it.peak_bytes:.2f}x", times(ratios(same.rates, it.rates))
            if it.parameters != lm.parameters:
                compared += f"; not the same model: it has {it.parameters} parameters, lm {lm.parameters}"
        table.add(it.name, f"{median(it.rates):.0f}", f"{it.peak_bytes / 1e6:.0f}", memory, compared)
    for it in everyone:
        if it.system_allocations:
            print(f"  {it.name} asked the system for memory {it.system_allocations} times after warming up")


def report_profile(lm):
    answer = lm.ask(f"profile {options.seconds}")
    lm.operations_a_symbol = sum(it["operations"] for it in answer["entries"]) / answer["symbols"]
    of_peak = [lm.operations_a_symbol * it / 1e7 for it in ratios(lm.rates, lm.peaks)]
    print(f"  {lm.name}'s products: {lm.operations_a_symbol / 1e9:.3g} GFLOP a symbol, "
          f"{lm.operations_a_symbol * median(lm.rates) / 1e9:.0f} GFLOP/s of the whole step, {median(of_peak):.0f}% of the "
          f"peak ({' '.join(f'{it:.0f}' for it in of_peak)}%)")
    shares = {}
    for it in answer["entries"]:
        shares[it["kind"]] = shares.get(it["kind"], 0) + 100 * it["seconds"] / answer["seconds"]
    shares["other"] = 100 - sum(shares.values())
    print(f"  {lm.name}'s time: {', '.join(f'{kind} {share:.1f}%' for kind, share in shares.items())}")
    table = Table(["  kind", "% of time", "us a call", "GFLOP/s", "of"], 11)
    for it in sorted(answer["entries"], key=lambda it: it["operations"] == 0):
        speed = f"{it['operations'] / it['seconds'] / 1e9:.1f}" if it["operations"] else ""
        table.add("  " + it["kind"], f"{100 * it['seconds'] / answer['seconds']:.1f}",
                  f"{1e6 * it['seconds'] / it['calls']:.1f}", speed, it["name"])


def record_of(it):
    record = {"name": it.name, "is_lm": it.is_lm, "precision": it.precision, "rates": it.rates, "peak_bytes": it.peak_bytes}
    return record | ({"peaks": it.peaks, "operations_a_symbol": it.operations_a_symbol} if it.is_lm else {})


def compete(row, words, model, variants):
    """All take turns; `row` names the line that is added to the log."""
    idleness, everyone = Idleness(), list(contestants(words, model, variants))
    for _ in range(options.rounds):
        for it in everyone:
            idleness.turn(it, options.seconds)
            if it.is_lm:
                it.peaks.append(it.ask("peak")["gflops"])
    report_speeds(everyone)
    idleness.report()
    for it in everyone:
        if it.is_lm:
            report_profile(it)
        it.end()
    if options.log:
        record = {"row": row, "cpu": machine["cpu"], "threads": options.threads, "seconds_of_a_turn": options.seconds,
                  "version": machine["version"], "disturbed_turns": idleness.started_busy + idleness.disturbed,
                  "contestants": [record_of(it) for it in everyone]}
        with open(options.log, "a", encoding="utf-8") as log:
            print(json.dumps(record), file=log)


def asked(*words):
    """What the program says of itself or of a model."""
    answer = subprocess.run([options.program, *map(str, words)], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise RuntimeError(answer.stderr.strip())
    return json.loads(answer.stdout)


def bench_recipe(file):
    model = asked("--describe", file)["model"]
    print(f"\n{file.stem}: {model['cell']} of {', '.join(map(str, model['hidden']))} units, embedding {model['embedding']}, "
          f"V {model['vocabulary']}, B {model['batch']}, T {model['length']}, {model['optimizer']}")
    second = {"lstm": [], "min_gru": ["compiled"]}.get(model["cell"], ["hoisted"])
    compete(file.stem, ["--train", file], model, ["common", *second])


def bench_mixture():
    shape = asked("--describe", "mixture")["model"]
    print(f"\nmixture of {shape['experts']} softmaxes, output layer, loss and gradients alone: {shape['rows']} rows, embedding "
          f"{shape['embedding']}, V {shape['vocabulary']}")
    compete("mixture", ["--train-mixture"], shape, ["probabilities", "logarithms"])


def bench_translation():
    shape = asked("--describe", "translation")["model"]
    print(f"\ntranslation: attention-multi30k, V {shape['source_vocabulary']} and {shape['target_vocabulary']}, "
          f"B {len(shape['batches'][0][0])}, target symbols")
    compete("translation", ["--train-translation"], shape, ["common"])


# ---- The cost of each cell, all with about the same number of parameters, and busy machines.

char_lstm, lstm_width = folder / "char-lstm.toml", 600


def settings_of(cell, width):
    """As --set arguments. The cost of an update does not depend on its size; with a small one no cell diverges."""
    settings = [f"model.cell={cell}", f"model.hidden={width}", "train.learning_rate=0.00001"]
    if "intermediate" in machine["cells"][cell]:
        settings.append(f"model.intermediate={width}")  # as Krause et al. 2016
    if "biases" not in machine["cells"][cell]:
        settings.append("model.biases=2")  # the default: the cell has no such setting
    return [word for it in settings for word in ("--set", it)]


def parameters_of(cell, width):
    return asked("--describe", char_lstm, *settings_of(cell, width))["parameters"]


def width_of(cell, parameters):
    """The width whose number of parameters is nearest."""
    below, above = 1, 2
    while parameters_of(cell, above) < parameters:
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if parameters_of(cell, middle) < parameters else (below, middle)
    return min(below, above, key=lambda it: abs(parameters_of(cell, it) - parameters))


def bench_cells():
    parameters = parameters_of("lstm", lstm_width)
    print(f"\ncost of the cells: char-lstm with one layer of each cell, about {parameters / 1e6:.1f}M parameters")
    table = Table(["cell", "H", "parameters", "symbols/s", "ns/symbol",
                   "per parameter and symbol, to the LSTM: median, rounds"], 18)
    idleness = Idleness()
    lstm = start_lm(options.threads, "--train", char_lstm, *settings_of("lstm", lstm_width))
    for cell in machine["cells"]:
        # A tensor RNN has a matrix for each stream and step: for its memory it gets a third of the parameters.
        width = width_of(cell, parameters // 3 if cell == "trnn" else parameters)
        other = start_lm(options.threads, "--train", char_lstm, *settings_of(cell, width))
        costs = [idleness.turn(lstm, options.seconds) * lstm.parameters /
                 (idleness.turn(other, options.seconds) * other.parameters) for _ in range(options.rounds)]
        rate = median(other.rates)
        table.add(cell, width, other.parameters, f"{rate:.0f}", f"{1e9 / rate:.0f}", times(costs))
        other.end()
    lstm.end()
    idleness.report()


def bench_busy():
    print("\nbeside busy processes: char-lstm, symbols/s, medians")
    table = Table(["busy processes", "1 thread", f"{options.threads} threads", "ratio: median, rounds"], 14)
    one, everything = (start_lm(it, "--train", char_lstm) for it in (1, options.threads))
    busy = []
    try:
        for count in range(3):
            if count:
                busy.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            one.rates, everything.rates = [], []
            for _ in range(options.rounds):
                one.turn(options.seconds)
                everything.turn(options.seconds)
            table.add(count, f"{median(one.rates):.0f}", f"{median(everything.rates):.0f}",
                      times(ratios(everything.rates, one.rates)))
    finally:
        for it in busy:
            it.send_signal(signal.SIGKILL)
    one.end()
    everything.end()


def usable_peers(pythons):
    """The interpreters that can be peers; prints a line about each."""
    for python in pythons or ["/usr/bin/python3"]:
        try:
            it = Contestant([python, folder / "peers.py"], environment=peer_environment())
            print(f"  {python}: {it.name}, {it.introduction['kernels']}; "
                  f"{peak_resident_bytes(it.process.pid) / 1e6:.0f} MB before it has a model")
            it.end()
            yield python
        except (OSError, RuntimeError) as error:
            print(f"  no peer: {error}")
            if not pythons:
                print('  To compare with PyTorch: apt-get install python3-torch, or PEERS="PYTHON ..." for interpreters that '
                      "have it.")


def print_by_program(table):
    sys.stdout.flush()
    subprocess.run([options.program, "--threads", str(options.threads), "--rounds", str(options.rounds), "--seconds",
                    str(options.seconds), table], check=True)


def main():
    recipes = sorted(folder.glob("*.toml"))
    known = {it.stem: it for it in recipes}
    if unknown := [it for it in options.what if it not in known and it not in tables]:
        sys.exit(f"bench: there is no recipe '{unknown[0]}' in bench/; there are {', '.join([*known, *tables])}")
    wanted = options.what or [*known, *tables]
    files = [known[it] for it in wanted if it in known]
    if options.log:
        open(options.log, "a", encoding="utf-8").close()
    print(f"{machine['cpu']}, threads: {options.threads}, OpenBLAS kernels {machine['kernels']}")
    if not Idleness.wait():
        print("  The machine is not idle: all figures are in doubt.")
    print_by_program("peaks")
    if files or {"mixture", "translation"} & set(wanted):
        options.peers = list(usable_peers(options.peers))
    if files and not options.no_products:
        print_by_program("products")
    for file in files:
        bench_recipe(file)
    for table in tables:
        if table in wanted:
            if table in ("adaptive", "generation"):
                print_by_program(table)
            else:
                {"mixture": bench_mixture, "translation": bench_translation, "cells": bench_cells, "busy": bench_busy}[table]()


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0))))
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=2.0)
parser.add_argument("--log")
parser.add_argument("--no-products", action="store_true")
parser.add_argument("--peer", dest="peers", action="append", default=[])
parser.add_argument("what", nargs="*")
options = parser.parse_intermixed_args()
machine = asked("--describe", "machine")
try:
    main()
except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
    sys.exit(f"bench: {error}")

"""`make gpu-bench`: lm and PyTorch train the recipes of bench/ and a translator on this machine's GPU, in turns: symbols
per second, time of a step beside a lower bound, memory. `gpu_bench.py table gpu-bench.jsonl` prints what it has
measured as a table of docs/gpu.md. It only reports. Each row is written to gpu-bench.jsonl beside the programs, or in
$OUT where OUT is set, and a row that is there already, from the same programs and GPU, is not measured again: the next call
continues where the time limit ended the previous one. These environment variables change what it does:

    PEERS="PYTHON ..."      interpreters with PyTorch (default: python3)
    ONLY="RECIPE ..."       rows
    PRECISIONS="fp32 bf16"  precisions of the products: fp32, tf32, bf16 (PyTorch: torch.autocast) (default: fp32)
    VARIANTS="common ..."   of the peers: common, graphed, padded, hoisted, compiled, compiled_step (default: those of each row)
    GPU_BENCH_SECONDS=420   time after which no row is started
    GPU_BENCH_TURN=2        seconds per turn; each contestant has three turns
    GPU_BENCH_BUILD=build GPU_BENCH_DEVICE=cpu   a test without a GPU

Next: bench/worker.h, which trains in lm, and bench/peers.py. Whether the figures are right: bench/gpu_check.py.
"""

import json
import os
import select
import shlex
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from gpu_programs import Report, results_folder, top, usable_programs, why_no_gpu

device = os.environ.get("GPU_BENCH_DEVICE", "cuda")
time_limit = float(os.environ.get("GPU_BENCH_SECONDS", 420))
turn = float(os.environ.get("GPU_BENCH_TURN", 2))
rounds = 3
late = "did not compile in time"
start_limit, compile_limit = 150, 60  # seconds until a contestant must train, and until one that compiles must

of_lstm, of_loop = ("common", "graphed", "padded"), ("hoisted", "graphed", "padded", "compiled", "compiled_step")
rows = {"zaremba-medium": of_lstm, "awd-lstm-b20": of_lstm, "awd-lstm-b80": of_lstm, "awd-lstm-mos-b12": of_lstm,
        "lstm-1024": of_lstm[:2],  # which is a multiple of 64
        "char-lstm": of_lstm, "char-mlstm": of_loop, "char-mi-lstm": of_loop, "char-mgru": of_loop,
        # Of which the two parts of a layer have units of their own.
        "char-mmlstm": ("common", "graphed", "hoisted", "compiled", "compiled_step"),
        # bench/worker.h. Its batches differ in lengths, which packed sequences need on the host: no graph.
        "translation": ("common",)}
names = {"common": "nn.LSTM", "graphed": "CUDA graph", "padded": "padded CUDA graph", "hoisted": "eager loop",
         "compiled": "compiled layer", "compiled_step": "compiled step"}

# Where the peer's precision is not that of lm: cuDNN's persistent kernels take fp16, and not bf16.
precisions_of_peers = {("lstm-1024", "bf16"): "fp16"}

# The Penn Treebank's training text, and the longest training of the literature on it (Merity et al. 2018).
penn_treebank, epochs, penn_treebank_row = 929_589, 500, "awd-lstm-b20"

# What a step of each cell keeps for backward, as a number of states: gates, intermediate states, cell state, output.
stored_states = {"lstm": 6, "mlstm": 8, "mi_lstm": 10, "mgru": 6}


class Contestant:
    def __init__(self, name, command):
        self.name, self.rates, self.peak = name, [], 0
        self.process = subprocess.Popen([str(word) for word in command], cwd=top, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=errors, process_group=0)

    def answer(self, limit):
        """The next line; None if none comes within `limit` seconds, or if the process has ended."""
        ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, limit))
        line = self.process.stdout.readline() if ready else b""
        return json.loads(line) if line.startswith(b"{") else None

    def train(self, request):
        self.process.stdin.write(f"{request}\n".encode())
        self.process.stdin.flush()
        answer = self.answer(60 + 10 * turn)
        if answer is None:
            raise RuntimeError(f"{self.name} ended in a turn")
        return answer

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # also the processes that compile for it
        self.process.wait()


def asked(variable, names, default):
    """The words of an environment variable, each of which must be one of `names`."""
    words = os.environ.get(variable, "").split() or list(default)
    if unknown := [it for it in words if it not in names]:
        sys.exit(f"gpu-bench: {variable} are {', '.join(names)}, not {unknown[0]}")
    return words


def variants_of(row):
    return [it for it in rows[row] if it in asked("VARIANTS", names, rows[row])]


def start_peers(model, row, precision, peers):
    precision = precisions_of_peers.get((row, precision), precision)
    return [(variant, Contestant(f"{Path(peer).name} {names[variant]}" if len(peers) > 1 else names[variant],
                                 [peer, top / "bench/peers.py", json.dumps(model), variant, os.cpu_count(), device,
                                  precision]))
            for peer in peers for variant in variants_of(row)]


def measure(row, precision, programs, peers):
    """Measures a row; returns its data as a JSON object."""
    training = ["--train-translation"] if row == "translation" else ["--train", top / f"bench/{row}.toml"]
    command = [programs / "bench", *training, "--device", device]
    command += ["--precision", precision] if precision != "fp32" else []
    lm = Contestant("lm", command)
    started, left_out = [lm], []
    try:
        introduction = lm.answer(start_limit)
        if introduction is None:
            return {"failed": "lm does not train it"}
        contestants = [lm]
        begin = time.monotonic()
        candidates = start_peers(introduction["model"], row, precision, peers)
        started += [it for _, it in candidates]
        for variant, it in candidates:  # all start at the same time
            compiles = variant.startswith("compiled")
            its_introduction = it.answer(begin + (compile_limit if compiles else start_limit) - time.monotonic())
            if its_introduction is None:
                running = it.process.poll() is None
                why = late if running and compiles else "did not start"
                left_out.append({"name": it.name, "why": why})
                it.end()
            else:
                if units := its_introduction.get("units"):
                    it.name += f" of {' and '.join(map(str, dict.fromkeys(units)))} units"
                if other := precisions_of_peers.get((row, precision)):
                    it.name += f" in {other}"
                it.name += f", {its_introduction['what']}"
                if its_introduction["parameters"] != introduction["parameters"]:
                    it.name += f" with {its_introduction['parameters']} parameters"
                contestants.append(it)
                if not compiles:
                    begin = time.monotonic()  # the others have waited for this one
        for _ in range(rounds):
            for it in contestants:
                answer = it.train(turn)
                it.rates.append(answer["symbols"] / answer["seconds"])
                it.peak = answer.get("peak_bytes", 0)
                it.launches = answer.get("launches_an_update")
        profile = lm.train(f"profile {turn / 4}")
        operations = sum(entry["operations"] for entry in profile["entries"]) / profile["symbols"]
        return {"parameters": introduction["parameters"], "model": introduction["model"], "operations": operations,
                "contestants": [{"name": it.name, "rates": it.rates, "peak_bytes": it.peak,
                                 "launches": it.launches} for it in contestants],
                "left_out": left_out}
    finally:
        for it in started:
            it.end()


def symbols_of_a_step(model):
    """On average, where batches differ: of a translation, target symbols."""
    if "batches" not in model:
        return model["batch"] * model["length"]
    return sum(sum(targets) for _, targets in model["batches"]) / len(model["batches"])


def fewest_bytes(model, parameters):
    """Bytes that a step moves through memory if every number is read and written as rarely as possible: a weight is read
    forward and backward, and read and written by the update; its gradient is written, and read for its norm and the
    update; Adam has two moments. What a layer stores is written once and read once."""
    passes = 7 + (4 if model["optimizer"] == "adam" else 0)
    states = stored_states[model["cell"]] * sum(model["hidden"]) + model["embedding"]
    return 4 * (passes * parameters + 2 * states * model["batch"] * model["length"])


def report(record):
    say(f"\n{record['row']}, {record['precision']}: ", end="")
    if "failed" in record:
        return say(record["failed"])
    model, parameters = record["model"], record["parameters"]
    symbols = symbols_of_a_step(model)
    say(f"{parameters / 1e6:.2f}M parameters; a step has {symbols:.0f} symbols and is "
        f"{record['operations'] * symbols / 1e9:.1f} GFLOP", end="")
    if "batches" not in model:
        say(f" and {fewest_bytes(model, parameters) / 1e9:.2f} GB", end="")
    floor = lower_bound(record)
    if floor:
        say(f", at least {1e3 * floor:.2f} ms", end="")
    say("\n  {:<44} {:>12}  {:>9}  {:>8}  {:>8}  lm to it: median, round by round".format(
        "", "symbols/s", "ms a step", "to floor", "peak MB"))
    for it in record["contestants"]:
        rate = statistics.median(it["rates"])
        to_floor = f"{symbols / rate / floor:.1f}x" if floor else ""
        say(f"  {it['name']:<44} {rate:12,.0f}  {1e3 * symbols / rate:9.2f}  {to_floor:>8}  {it['peak_bytes'] / 1e6:8.0f}",
            end="")
        if it["launches"]:
            say(f"  {it['launches']} launches a step", end="")
        if it is record["contestants"][0]:
            say("")
        else:
            ratios = ratios_to(it, record)
            say(f"  {statistics.median(ratios):.2f}x  {' '.join(f'{ratio:.2f}' for ratio in ratios)}")
    for it in record["left_out"]:
        say(f"  {it['name']}: {it['why']}")
    if record["row"] == penn_treebank_row:
        needed = "; ".join(f"{it['name']}: {penn_treebank * epochs / statistics.median(it['rates']) / 60:.0f}"
                           for it in record["contestants"])
        say(f"  {epochs} epochs of the Penn Treebank, updates alone, in minutes: {needed}")


def lower_bound(record):
    """Seconds of a step's products at the rate of a large product, or of its memory traffic at that of a copy, if longer; None
    if these rates are not known."""
    model, ceilings = record["model"], record.get("ceilings")
    if not ceilings:
        return None
    of_products = record["operations"] * symbols_of_a_step(model) / ceilings[record["precision"]]
    if "batches" in model:  # whose memory traffic is not counted
        return of_products
    return max(of_products, fewest_bytes(model, record["parameters"]) / ceilings["bandwidth"])


def ratios_to(contestant, record):
    """lm's rates relative to those of another, round by round."""
    return [ours / its for ours, its in zip(record["contestants"][0]["rates"], contestant["rates"])]


def table(file):
    """What is in gpu-bench.jsonl, in Markdown."""
    print("| training | precision | symbols/s | ms a step | to the bound | launches | relative to the best PyTorch | "
          "peak MB: lm, PyTorch | commit |")
    print("|---|---|---:|---:|---:|---:|---|---|---|")
    records = [json.loads(line) for line in Path(file).read_text().splitlines()]
    records = [it for it in records if "failed" not in it]
    for record in sorted(records, key=lambda it: (list(rows).index(it["row"]), it["precision"] != "fp32", it["precision"])):
        model, lm = record["model"], record["contestants"][0]
        symbols = symbols_of_a_step(model)
        seconds, bound = symbols / statistics.median(lm["rates"]), lower_bound(record)
        # Not "lm, persistent kernel" of older records, which was removed: docs/gpu.md.
        peers = [it for it in record["contestants"] if not it["name"].startswith("lm")]
        ratio, best = min(((statistics.median(ratios_to(it, record)), it) for it in peers), key=lambda pair: pair[0],
                          default=(None, None))
        relative = f"{ratio:.2f}x ({best['name'].split(',')[0]})" if best else "-"
        memory = ", ".join(f"{it['peak_bytes'] / 1e6:.0f}" for it in [lm, best] if it)
        to_bound = f"{seconds / bound:.1f}x" if bound else "-"
        print(f"| {record['row']} | {record['precision']} | {symbols / seconds:,.0f} | {1e3 * seconds:.2f} | "
              f"{to_bound} | {lm['launches']} | {relative} | {memory} | "
              f"{record['origin'][0].removeprefix('commit ').split(',')[0]} |")


def measured_ceilings(peers):
    """The ceilings of the GPU; None without one."""
    for peer in peers if device == "cuda" else ():
        done = subprocess.run([peer, top / "bench/peers.py", "ceilings", device], stdout=subprocess.PIPE, stderr=errors)
        if done.returncode == 0:
            it = json.loads(done.stdout)
            say(f"{it['device']}, {it['what']}: products {it['fp32'] / 1e12:.1f} TFLOP/s in fp32, "
                f"{it['tf32'] / 1e12:.1f} in tf32, {it['bf16'] / 1e12:.1f} in bf16; "
                f"copies {it['bandwidth'] / 1e12:.2f} TB/s")
            return it
    say("no ceilings: no peer has a GPU")
    return None


def known_rows(results, origin):
    """The rows already measured with the same programs on the same device, beside the same variants."""
    if not results.exists():
        return {}
    records = [json.loads(line) for line in results.read_text().splitlines()]
    return {(it["row"], it["precision"]): it for it in records
            if it["origin"] == origin and it.get("variants") == variants_of(it["row"]) and "failed" not in it
            and all(peer["why"] == late for peer in it["left_out"])}


def main():
    begin = time.monotonic()
    peers = [peer for peer in shlex.split(os.environ.get("PEERS", "python3"))]
    only, precisions = asked("ONLY", rows, rows), asked("PRECISIONS", ("fp32", "tf32", "bf16"), ["fp32"])
    asked("VARIANTS", names, names)
    no_gpu = why_no_gpu(programs / "lm") if device == "cuda" else ""
    if no_gpu:
        sys.exit(f"gpu-bench: {no_gpu}")
    ceilings = measured_ceilings(peers)
    built = programs.parent / "built.txt"
    origin = [built.read_text().strip() if built.exists() else f"lm of {int((programs / 'bench').stat().st_mtime)}",
              ceilings["device"] if ceilings else device]
    results = results_folder(programs) / "gpu-bench.jsonl"
    known, cut_off = known_rows(results, origin), []
    for precision in precisions:
        for row in only:
            record = known.get((row, precision))
            if record is None and time.monotonic() - begin > time_limit:
                cut_off.append(row)
                continue
            if record is None:
                try:
                    record = measure(row, precision, programs, peers)
                except (RuntimeError, OSError) as error:
                    record = {"failed": str(error)}
                record = {"row": row, "precision": precision, "origin": origin, "ceilings": ceilings,
                          "variants": variants_of(row), **record}
                with open(results, "a") as file:
                    file.write(json.dumps(record) + "\n")
            report(record)
    if cut_off:
        say(f"\nno time was left for {', '.join(cut_off)}: run the same command again to measure them")
    say(f"\n{time.monotonic() - begin:.0f} s; all of it is in {results}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["table"]:
        table(sys.argv[2])
        sys.exit()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("gpu-bench: stopped"))
    programs = usable_programs(os.environ.get("GPU_BENCH_BUILD", "build-gpu"))
    errors = open(results_folder(programs) / "gpu-bench.log", "w")  # messages of the contestants
    say = Report(results_folder(programs) / "gpu-bench.txt")
    main()

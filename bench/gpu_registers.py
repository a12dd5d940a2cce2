"""`make gpu-registers`: the resources of each CUDA kernel, as reported by ptxas: registers per thread, shared memory per
block, and the bytes of local memory for registers that do not fit (spills). Needs nvcc but no GPU. The
exit status is 1 if a kernel spills: such memory is hundreds of times slower than a register; or if a kernel of rows, such as the
loss, takes more than 80 registers, with which only two of its blocks of 256 threads fit a multiprocessor, not three.

    gpu_registers.py NVCC [sm_90 [MOST]]     MOST: only this many kernels, those with the most registers
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

top = Path(__file__).resolve().parent.parent
folders = ("tensor", "autograd", "nn", "optim")
most_registers_of_rows = 80


def demangled(names):
    return subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout.splitlines()


def short(name):
    """The operator and its direction, without namespaces, results and arguments: "Backward<LstmGates> by element"."""
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"\b(?:rondo|cuda|detail|f64)::", "", name).removeprefix("void ").replace(" >", ">")
    depth, end = 0, len(name)
    for i, letter in enumerate(name):  # up to the parameters
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            end = i
            break
    name = re.sub(r"^per_(?:thread|block)<(.*)>$", r"\1", name[:end])
    for wrapper, manner in (("OnGroup", "group"), ("OnRow", "row"), ("OnSteps", "steps")):
        name = re.sub(rf"^{wrapper}<(.*)>$", rf"\1 by {manner}", name)
    return name


def kernels_of(nvcc, architecture, source):
    """(name, registers, shared bytes, stack bytes, spilled bytes) of each."""
    command = [nvcc, "-x", "cu", "-c", "-std=c++20", "--expt-relaxed-constexpr", "-DFMT_USE_CONSTEXPR=1", f"-I{top}",
               "-gencode", f"arch={architecture.replace('sm', 'compute')},code={architecture}", "-Xptxas=-v", source,
               "-o", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode != 0:
        sys.exit(said.stderr)
    entries = re.split(r"Compiling entry function '", said.stderr)[1:]
    names = demangled([entry.split("'")[0] for entry in entries]) if entries else []

    def number(pattern, text):
        return sum(int(it) for it in re.findall(pattern, text))
    return [(short(name), number(r"Used (\d+) registers", entry), number(r"(\d+) bytes smem", entry),
             number(r"(\d+) bytes stack frame", entry), number(r"(\d+) bytes spill", entry))
            for name, entry in zip(names, entries)]


def main():
    nvcc = sys.argv[1]
    architecture = sys.argv[2] if len(sys.argv) > 2 else "sm_90"
    sources = sorted(it for folder in folders for it in (top / folder).rglob("*.cc")) + sorted((top / "cuda").glob("*.cu"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        kernels = [it for found in pool.map(lambda source: kernels_of(nvcc, architecture, source), sources) for it in found]
    kernels.sort(key=lambda it: (-it[4], -it[3], -it[1], it[0]))
    most = int(sys.argv[3]) if len(sys.argv) > 3 else len(kernels)
    print(f"{'kernel for ' + architecture:<60} registers  shared  stack  spilled")
    for name, *numbers in kernels[:most]:
        print("{:<60} {:9}  {:6}  {:5}  {:7}".format(name, *numbers))
    spilling = [it for it in kernels if it[4] > 0]
    crowded = [it for it in kernels if it[0].endswith(" by row") and it[1] > most_registers_of_rows]
    registers = sorted(it[1] for it in kernels)
    print(f"{len(kernels)} kernels, {registers[len(registers) // 2]} registers in the median, {registers[-1]} at most; "
          f"{sum(it[3] > 0 for it in kernels)} use the stack, {len(spilling)} spill")
    for name, registers, *_ in crowded:
        print(f"{name}: {registers} registers, at most {most_registers_of_rows} were expected")
    sys.exit(1 if spilling or crowded else 0)


if __name__ == "__main__":
    main()

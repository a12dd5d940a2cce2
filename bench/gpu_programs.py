"""The programs that run on a GPU, which may have been built on another machine. Next: bench/gpu_check.py,
bench/gpu_bench.py."""

import glob
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

top = Path(__file__).resolve().parent.parent


def usable_programs(build):
    """The folder of the programs of `build`, unpacked if they are packed, which find their libraries. Ends the process
    with a line if there are none."""
    folder = top / build
    programs, packed = folder / "bin", folder / "programs.tar.xz"
    lm = programs / "lm"
    if packed.exists() and not (lm.exists() and lm.stat().st_ctime > packed.stat().st_mtime):
        with tarfile.open(packed) as archive:
            archive.extractall(folder)
    if not lm.exists():
        sys.exit(f"{programs}: no programs; `make build-gpu` builds and packs them")
    find_cublas(lm)
    return programs


def find_cublas(program):
    """Puts cuBLAS into LD_LIBRARY_PATH where the program does not find it: CUDA's own, or that of PyTorch's packages."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    missing = [line.split()[0] for line in listed.splitlines() if "not found" in line]
    folders = ["/usr/local/cuda/lib64", *glob.glob("/usr/local/cuda-*/lib64")]
    folders += [folder for path in sys.path for folder in sorted(glob.glob(f"{path}/nvidia/*/lib"))]
    for library in missing:
        holding = next((folder for folder in folders if (Path(folder) / library).exists()), None)
        if holding is None:
            sys.exit(f"{program}: {library} is not on this machine; looked in {', '.join(folders)}")
        known = [it for it in os.environ.get("LD_LIBRARY_PATH", "").split(":") if it]
        if holding not in known:
            os.environ["LD_LIBRARY_PATH"] = ":".join([holding, *known])


def why_no_gpu(lm):
    """In one line, as lm says it; empty where there is one. It looks for the GPU before it looks for data."""
    words = [lm, "train", "--recipe", "char-lstm", "--device", "cuda", "--data", top / "none"]
    said = subprocess.run(words, capture_output=True, text=True).stderr
    found = re.search(r"--device cuda: (.*); use --device cpu", said)
    return found.group(1) if found else ""

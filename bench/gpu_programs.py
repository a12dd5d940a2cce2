"""The programs that run on a machine with a GPU; they may have been built on another machine.

    gpu_programs.py FROM TO PROGRAM...

packs programs of the build folder FROM, stripped, with the libraries that the GPU machine may lack, into
TO/programs.tar.xz. Next: bench/gpu_check.py, bench/gpu_bench.py, which unpack them.
"""

import glob
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

top = Path(__file__).resolve().parent.parent

# Of the system and of CUDA; all others are carried. The programs look for libraries in ../lib, but not for those that
# libraries need: the build leaves out what needs others (RONDO_PORTABLE).
libraries_of_the_machine = r"\s*(linux-vdso|/\S*ld-linux|lib(c|m|dl|rt|pthread|cuda|cudart|cublas|cublasLt)\.)"


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def pack(build, to, names):
    commit = output_of("git", "-C", top, "describe", "--always", "--dirty")
    settings = output_of("cmake", "-LA", "-N", build)
    gpus = re.search("^CMAKE_CUDA_ARCHITECTURES.*=(.*)", settings, re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory(dir=build) as temporary:
        folder = Path(temporary)
        for name in ("bin", "lib"):
            (folder / name).mkdir()
        (folder / "built.txt").write_text(f"commit {commit}, for {gpus}\n")
        for name in names:
            output_of("strip", "-o", folder / "bin" / name, build / "bin" / name)
        for line in output_of("ldd", build / "bin" / names[0]).splitlines():
            if not re.match(libraries_of_the_machine, line):
                shutil.copy(line.split()[2], folder / "lib")
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        packed = to / "programs.tar.xz"
        # A dictionary large enough to find repetitions between programs: each contains the same OpenBLAS.
        method = {"id": lzma.FILTER_LZMA2, "preset": 3, "dict_size": 192 << 20}
        with lzma.open(packed, "w", filters=[method]) as file, tarfile.open(fileobj=file, mode="w") as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)
    print(f"{packed}: {packed.stat().st_size / 1e6:.1f} MB, commit {commit}, for {gpus}")


def usable_programs(build):
    """The folder of the programs of `build`, unpacked if they are packed, with their libraries. Ends the process with a
    line if there are none."""
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
    """If the program does not find cuBLAS, links to CUDA's own or to that of PyTorch's packages in ../lib, where the
    programs look for libraries. No environment variable, which the programs of PyTorch would see, too."""
    folders = ["/usr/local/cuda/lib64", *glob.glob("/usr/local/cuda-*/lib64")]
    folders += [folder for path in sys.path for folder in sorted(glob.glob(f"{path}/nvidia/*/lib"))]
    for library in missing_libraries(program):
        needed = [library, library.replace("libcublas.", "libcublasLt.")]  # the first needs the second
        holding = next((Path(it) for it in folders if all((Path(it) / name).exists() for name in needed)), None)
        if holding is None:
            sys.exit(f"{program}: {library} is not on this machine; looked in {', '.join(folders)}")
        for name in needed:
            link = program.parent.parent / "lib" / name
            link.parent.mkdir(exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(holding / name)
    if left := missing_libraries(program):
        sys.exit(f"{program}: {', '.join(left)} is not found, although it is in {program.parent.parent / 'lib'}")


def missing_libraries(program):
    return [line.split()[0] for line in output_of("ldd", program).splitlines() if "not found" in line]


def results_folder(programs):
    """Where results are written: the folder $OUT if it is set, else beside the programs."""
    return Path(os.environ.get("OUT") or programs.parent)


class Report:
    """Prints lines, and writes them to a file as they come."""

    def __init__(self, path):
        self.file = open(path, "w", buffering=1)

    def __call__(self, *words, end="\n"):
        text = " ".join(map(str, words)) + end
        for to in (sys.stdout, self.file):
            to.write(text)
            to.flush()


def why_no_gpu(lm):
    """The reason in lm's words, in one line; empty if there is a GPU. lm looks for the GPU before it looks for data."""
    words = [lm, "train", "--recipe", "char-lstm", "--device", "cuda", "--data", top / "none"]
    said = subprocess.run(words, capture_output=True, text=True).stderr
    found = re.search(r"--device cuda: (.*); use --device cpu", said)
    return found.group(1) if found else ""


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

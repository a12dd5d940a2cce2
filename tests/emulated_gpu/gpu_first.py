"""bench/gpu_first.py on the emulated GPU: killed at any moment, it leaves what it had.

    gpu_first.py BUILD
"""

import os
import random
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

top = Path(__file__).resolve().parent.parent.parent
build = Path(sys.argv[1])
seconds = 9


def start(out, limit):
    environment = {**os.environ, "OUT": str(out), "GPU_FIRST_BUILD": str(build), "GPU_FIRST_SECONDS": str(limit),
                   "GPU_FIRST_PARTS": "1234", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, top / "bench/gpu_first.py"], env=environment, stdout=subprocess.DEVNULL)


def check_what_is_there(out):
    """Each part that was reported has its full output. Returns the names of these parts, and the number of those begun."""
    folder = out / "gpu-first"
    report = (folder / "report.txt").read_text()
    names = re.findall(r"^\d  (\S+) +(?:done|FAILED with|out of time)", report, re.MULTILINE)
    for name in names:
        output = (folder / f"{name}.txt").read_text(errors="replace")
        assert output.startswith("$ timeout") and "\nended with " in output, f"{name}.txt:\n{output}"
    return names, len(re.findall(r"^\d  begins at", report, re.MULTILINE))


def check_archive(out):
    with tarfile.open(out / "gpu-first.tar.gz") as archive:
        packed = {it.name: archive.extractfile(it).read() for it in archive.getmembers() if it.isfile()}
    report = (out / "gpu-first/report.txt").read_bytes()
    assert packed["gpu-first/report.txt"] == report, report
    assert packed["gpu-first/device.txt"] == (out / "gpu-first/device.txt").read_bytes()


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:  # a program that was left behind may write
        whole = Path(temporary) / "whole"
        whole.mkdir()
        began = time.monotonic()
        status = start(whole, seconds).wait()
        needed = time.monotonic() - began
        names, begun = check_what_is_there(whole)
        assert begun == 4 and {"device", "lm-fp32", "lm-tf32", "lm-bf16", "check"} <= set(names), names
        report = (whole / "gpu-first/report.txt").read_text()
        assert status == (0 if "gpu-first: passed" in report else 1), report
        assert needed < seconds + 30, f"{needed:.0f} s, and {seconds} were allowed"
        check_archive(whole)

        moments = random.Random(7)
        for i, how in enumerate((signal.SIGTERM, signal.SIGKILL)):
            out = Path(temporary) / str(i)
            out.mkdir()
            process = start(out, seconds)
            report = out / "gpu-first/report.txt"
            while process.poll() is None and not (report.exists() and "1  device" in report.read_text()):
                time.sleep(0.02)  # before that there is nothing to lose
            time.sleep(moments.uniform(0, seconds))
            ended = process.poll() is not None
            process.send_signal(how)
            process.wait()
            names, begun = check_what_is_there(out)
            assert "device" in names and begun >= 1, names
            if how == signal.SIGTERM:
                assert ended or "gpu-first: stopped" in report.read_text(), report.read_text()
                check_archive(out)
            print(f"{how.name}: {begun} parts begun, {len(names)} reported")


if __name__ == "__main__":
    main()

"""bench/gpu_visit.py on the emulated GPU: killed at any moment, it leaves what it had.

    gpu_visit.py BUILD
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
seconds = {"device": 1, "check": 4, "probe": 1, "steps": 4, "training": 3}


def start(out):
    words = [f"{part}={number}" for part, number in seconds.items()]
    training = ["--recipe", "demo", "--data", out / "text.txt", "--set", "model.hidden=16", "--set", "train.batch=16"]
    (out / "text.txt").write_text("a sheep and a goat\n" * 3000)
    return subprocess.Popen([sys.executable, top / "bench/gpu_visit.py", "--programs", build, *words, "--", *training],
                            env={**os.environ, "OUT": str(out), "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)


def check_what_is_there(out):
    """Each part that was reported has its full output. Returns the names of these parts, and the number of those begun."""
    folder = out / "gpu-visit"
    report = (folder / "report.txt").read_text()
    names = re.findall(r"^(\S+) +(?:done|FAILED with|out of time)", report, re.MULTILINE)
    for name in names:
        output = (folder / f"{name}.txt").read_text(errors="replace")
        assert output.startswith("$ timeout") and "\nended with " in output, f"{name}.txt:\n{output}"
    return names, len(re.findall(r"^\w+ begins at", report, re.MULTILINE))


def check_archive(out):
    with tarfile.open(out / "gpu-visit.tar.gz") as archive:
        packed = {it.name: archive.extractfile(it).read() for it in archive.getmembers() if it.isfile()}
    report = (out / "gpu-visit/report.txt").read_bytes()
    assert packed["gpu-visit/report.txt"] == report, report
    assert packed["gpu-visit/device.txt"] == (out / "gpu-visit/device.txt").read_bytes()


def main():
    limit = sum(seconds.values())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:  # a program that was left behind may write
        whole = Path(temporary) / "whole"
        whole.mkdir()
        began = time.monotonic()
        status = start(whole).wait()
        needed = time.monotonic() - began
        names, begun = check_what_is_there(whole)
        assert begun == 5 and {"device", "check", "lm-fp32", "lm-tf32", "lm-bf16", "training"} <= set(names), names
        report = (whole / "gpu-visit/report.txt").read_text()
        assert status == (0 if "gpu-visit: passed" in report else 1), report
        assert needed < limit + 30, f"{needed:.0f} s, and {limit} were allowed"
        check_archive(whole)

        wrong = subprocess.run([sys.executable, top / "bench/gpu_visit.py", "sped=3"], capture_output=True, text=True)
        assert wrong.returncode == 2 and "sped=3: expected PART=SECONDS" in wrong.stderr, wrong.stderr

        moments = random.Random(7)
        for i, how in enumerate((signal.SIGTERM, signal.SIGKILL)):
            out = Path(temporary) / str(i)
            out.mkdir()
            process = start(out)
            report = out / "gpu-visit/report.txt"
            while process.poll() is None and not (report.exists() and "device  " in report.read_text()):
                time.sleep(0.02)  # before that there is nothing to lose
            time.sleep(moments.uniform(0, limit))
            ended = process.poll() is not None
            process.send_signal(how)
            process.wait()
            names, begun = check_what_is_there(out)
            assert "device" in names and begun >= 1, names
            if how == signal.SIGTERM:
                assert ended or "gpu-visit: stopped" in report.read_text(), report.read_text()
                check_archive(out)
            print(f"{how.name}: {begun} parts begun, {len(names)} reported")


if __name__ == "__main__":
    main()

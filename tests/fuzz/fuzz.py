"""Runs every target under libFuzzer for some seconds: fuzz.py PROGRAM SECONDS FOLDER [TARGET ...].

The corpus is kept in FOLDER/corpus/TARGET, so that the next time goes on from it. What is found lies in FOLDER; to see
it again: PROGRAM --target=TARGET FILE. Then mend it, and put the file into tests/fuzz/found/TARGET.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program, seconds, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
here = pathlib.Path(__file__).parent
in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None


def fuzz(target):
    """The number of executions, and the files of what was found."""
    prefix = f"{folder}/{target}-"
    before = set(folder.glob(f"{target}-*"))
    found = here / "found" / target
    with tempfile.TemporaryDirectory(dir=in_memory) as scratch:
        corpora = [str(folder / "corpus" / target)] + ([str(found)] if found.exists() else [])
        result = subprocess.run(
            [program, f"--target={target}", *corpora, f"-max_total_time={seconds}", f"-dict={here}/dictionaries/{target}",
             f"-artifact_prefix={prefix}", "-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1"],
            env={**os.environ, "TMPDIR": scratch, "OMP_NUM_THREADS": "1",
                 "ASAN_OPTIONS": "allocator_may_return_null=1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    (folder / f"{target}.log").write_text(result.stdout)
    executions = re.findall(r"stat::number_of_executed_units: (\d+)", result.stdout) or \
        re.findall(r"^#(\d+)", result.stdout, re.MULTILINE)
    findings = sorted(set(folder.glob(f"{target}-*")) - before)
    if result.returncode != 0 and not findings:
        findings = [folder / f"{target}.log"]
    return int(executions[-1]) if executions else 0, findings


subprocess.run([program, f"--seeds={folder}/corpus"], check=True)
known = sorted(os.listdir(folder / "corpus"))
targets = sys.argv[4:] or known
if not set(targets) <= set(known):
    sys.exit(f"fuzz: the targets are {', '.join(known)}, not {' '.join(targets)}")
print(f"{'target':<12} {'executions':>11}  findings", flush=True)
failed = False
for target in targets:
    executions, findings = fuzz(target)
    failed |= bool(findings)
    print(f"{target:<12} {executions:>11}  {' '.join(map(str, findings)) or 'none'}", flush=True)
sys.exit(failed)

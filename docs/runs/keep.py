#!/usr/bin/env python3
"""Keeps of a run what docs/results.md needs: its settings and what was measured, not its weights and its text.

    docs/runs/keep.py RUN [NAME]        makes docs/runs/NAME (default: the folder's name)

Folders of the machine are taken out of all paths.
"""
import pathlib
import re
import sys

run = pathlib.Path(sys.argv[1])
kept = pathlib.Path(__file__).parent / (sys.argv[2] if len(sys.argv) > 2 else run.resolve().name)


def without_folders(text):
    return re.sub(r"[^\s\"'=]*/(?=[^/\s\"']+)", "", text)


if not (run / "evaluations.jsonl").exists():
    sys.exit(f"{run}: nothing was measured of its model yet: lm eval {run} --split test")
kept.mkdir(parents=True, exist_ok=True)
settings, made_by = (run / "config.toml").read_text().split("[made_by]")
made_by = re.sub(r'^command = "\S+', 'command = "lm', without_folders(made_by), flags=re.M)
(kept / "config.toml").write_text(settings + "[made_by]" + made_by)
(kept / "evaluations.jsonl").write_text(without_folders((run / "evaluations.jsonl").read_text()))
log = (run / "log.jsonl").read_text().splitlines(keepends=True)
(kept / "log.jsonl").write_text("".join(line for line in log if any(key in line for key in ('"split"', '"probed"', '"set"'))))

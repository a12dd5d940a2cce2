#!/usr/bin/env python3
"""Writes the generated parts of this folder's pages: `docs/tables.py LM`, from the top of the sources; `make tables`.

What stands between `<!-- lm WORDS -->` and `<!-- end of lm ... -->` is replaced by what `LM WORDS` prints, the JSON of cells and
recipes as tables, and in the same way
what stands after `<!-- gpu-bench FILE -->` by the table of FILE that bench/gpu_bench.py makes, and after `<!-- bench FILE -->`
by that of bench/speed_table.py. `docs/tables.py --check LM` only says which pages are out of date, and then fails: a test.
"""
import json
import pathlib
import re
import subprocess
import sys

check, lm = sys.argv[1:-1] == ["--check"], pathlib.Path(sys.argv[-1]).resolve()
top = pathlib.Path(__file__).resolve().parent.parent
programs = {"lm": [lm], "gpu-bench": [sys.executable, "bench/gpu_bench.py", "table"],
            "bench": [sys.executable, "bench/speed_table.py"]}
block = re.compile(rf"(<!-- ({'|'.join(programs)}) (.*?) -->\n).*?(<!-- end of \2)", re.DOTALL)


def table(head, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, *rows]).replace("\n", f"\n|{'---|' * len(head)}\n", 1)


def figures(published):
    """As `lm recipes` prints them."""
    def pair(of, valid="", test=""):
        return ", ".join(name + ("-" if of[key] is None else f"{of[key]:g}") for name, key in [(valid, "valid"), (test, "test")])

    further = [f"; {name} {pair(of)}" for name, of in published.items() if isinstance(of, dict)]
    return f"{published['unit']}: {pair(published, 'valid ', 'test ')}{''.join(further)}" if published["unit"] else "none"


def markdown(lists):
    if "cells" in lists:
        return table(["`model.cell`", "description", "settings"],
                     [[f"`{it['name']}`", it["description"], ", ".join(it["settings"])] for it in lists["cells"]])
    parts = {"Language models on words:": [], "Language models on characters and bytes:": [], "Other tasks:": []}
    for it in lists["recipes"]:
        models_language = it["task"] == "language_modelling"
        part = list(parts)[2 if not models_language else 0 if it["unit"] == "words" else 1]
        parts[part].append([f"`{it['name']}`", it["description"], it["paper"] or "none", figures(it["published"])])
    head = ["recipe", "description", "paper", "published"]
    return "\n".join(f"{title}\n\n{table(head, rows)}" for title, rows in parts.items())


def generated(match):
    begin, program, words, end = match.groups()
    printed = subprocess.run([*programs[program], *words.split()], cwd=top, check=True, capture_output=True, text=True).stdout
    return begin + (markdown(json.loads(printed)) if words.endswith("--json") else printed) + end


outdated = blocks = 0
for page in sorted((top / "docs").glob("*.md")):
    text = page.read_text()
    marks = re.findall(rf"^<!-- (end of )?(?:{'|'.join(programs)})\b.* -->$", text, re.MULTILINE)
    if marks != ["", "end of "] * (len(marks) // 2):
        sys.exit(f"docs/{page.name}: a generated part does not end, or does not begin")
    new, count = block.subn(generated, text)
    blocks += count
    if new == text:
        continue
    outdated += 1
    if check:
        print(f"docs/{page.name}: out of date: make tables")
    else:
        page.write_text(new)
        print(f"docs/{page.name}: updated")
if blocks < 20:
    sys.exit(f"docs: only {blocks} generated parts: some have disappeared")
sys.exit(1 if check and outdated else 0)

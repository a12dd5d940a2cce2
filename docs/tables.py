#!/usr/bin/env python3
"""Writes the generated parts of this folder's pages: `docs/tables.py LM`, from the top of the sources; `make tables`.

What stands between `<!-- lm WORDS -->` and `<!-- end of lm ... -->` is replaced by what `LM WORDS` prints. Tests compare
the two (tests/examples/pages_test.cpp, tests/lm/program/results_test.cpp).
"""
import pathlib
import re
import subprocess
import sys

lm = sys.argv[1]
block = re.compile(r"(<!-- lm (.*?) -->\n).*?(<!-- end of lm)", re.DOTALL)


def generated(match):
    printed = subprocess.run([lm, *match[2].split()], check=True, capture_output=True, text=True).stdout
    return match[1] + printed + match[3]


for page in sorted(pathlib.Path("docs").glob("*.md")):
    text = page.read_text()
    new = block.sub(generated, text)
    if new != text:
        page.write_text(new)
        print(f"{page}: updated")

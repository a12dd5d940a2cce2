#!/usr/bin/env python3
"""A table in Markdown of what `bench --log FILE` has measured: `bench/speed_table.py FILE`. docs/tables.py puts it into docs/.

Of a training that is in the file more than once the last line counts.
"""
import json
import pathlib
import sys
from statistics import median


def relative(record, precision):
    """lm's speed relative to each variant of PyTorch: the median of the ratios of the rounds."""
    of = [it for it in record["contestants"] if it["precision"] == precision]
    lm = next(it for it in of if it["is_lm"])
    ratios = [median(a / b for a, b in zip(lm["rates"], it["rates"])) for it in of if not it["is_lm"]]
    return ", ".join(f"{it:.2f}x" for it in ratios) or "-"


def row(record):
    fp32, bf16 = (it for it in record["contestants"] if it["is_lm"])
    peers = [it for it in record["contestants"] if not it["is_lm"] and it["precision"] == "fp32"]
    share = median(rate / peak for rate, peak in zip(fp32["rates"], fp32["peaks"])) * fp32["operations"] / 1e9
    faster = median(b / a for a, b in zip(fp32["rates"], bf16["rates"]))
    memory = ", ".join(f"{it['peak_bytes'] / 1e6:.0f}" for it in [fp32, *peers])
    return [record["row"], f"{median(fp32['rates']):,.0f}", f"{median(bf16['rates']):,.0f}", f"{faster:.2f}x",
            relative(record, "fp32"), relative(record, "bf16"), f"{100 * share:.0f} %", memory]


lines = pathlib.Path(sys.argv[1]).read_text().splitlines()
records = {it["row"]: it for it in map(json.loads, lines)}
print("| training | fp32 | bf16 | bf16 relative to fp32 | relative to PyTorch, fp32 | relative to PyTorch, bf16 "
      "| share of the FMA peak, fp32 | peak MB, fp32: lm, PyTorch |")
print("|---|---:|---:|---:|---|---|---:|---|")
for record in records.values():
    print("| " + " | ".join(row(record)) + " |")
print(f"\n{', '.join(sorted({it['cpu'] for it in records.values()}))}; threads: {lines and json.loads(lines[0])['threads']}; lm "
      f"{', '.join(sorted({it['version'] for it in records.values()}))}; PyTorch: "
      f"{', '.join(sorted({it['name'].split(',')[0] for r in records.values() for it in r['contestants'] if not it['is_lm']}))}.")

#!/usr/bin/env python3
"""A table in Markdown of what `bench --log FILE` has measured: `bench/speed_table.py FILE`. docs/tables.py puts it into docs/.

Of a training that is in the file more than once the last line counts. One peer, in all its variants, is expected.
"""
import json
import pathlib
import sys
from statistics import median


def relative(record, precision):
    """lm's speed relative to each variant of PyTorch: the median of the ratios of the rounds."""
    same = [it for it in record["contestants"] if it["precision"] == precision]
    lm = next(it for it in same if it["is_lm"])
    peers = [it for it in same if not it["is_lm"]]
    return ", ".join(f"{median(a / b for a, b in zip(lm['rates'], peer['rates'])):.2f}x" for peer in peers) or "-"


def share_of_peak(contestant):
    """Operations of its products over the time of the whole step, relative to the peak in its precision."""
    rates = median(rate / peak for rate, peak in zip(contestant["rates"], contestant["peaks"]))
    return rates * contestant["operations_a_symbol"] / 1e9


def row(record):
    fp32, bf16 = (it for it in record["contestants"] if it["is_lm"])
    peers = [it for it in record["contestants"] if not it["is_lm"] and it["precision"] == "fp32"]
    shares = ", ".join(f"{100 * share_of_peak(it):.0f} %" for it in (fp32, bf16))
    faster = median(b / a for a, b in zip(fp32["rates"], bf16["rates"]))
    memory = ", ".join(f"{it['peak_bytes'] / 1e6:.0f}" for it in [fp32, *peers])
    return [record["row"], f"{median(fp32['rates']):,.0f}", f"{median(bf16['rates']):,.0f}", f"{faster:.2f}x",
            relative(record, "fp32"), relative(record, "bf16"), shares, memory, str(record["disturbed_turns"])]


def listed(values):
    return ", ".join(sorted({str(it) for it in values}))


records = {it["row"]: it for it in map(json.loads, pathlib.Path(sys.argv[1]).read_text().splitlines())}.values()
peers = listed(it["name"].split(",")[0] for record in records for it in record["contestants"] if not it["is_lm"])
print("| training | symbols/s in fp32 | in bf16 | bf16 relative to fp32 | relative to PyTorch, fp32 | relative to PyTorch, bf16 "
      "| share of the peak: fp32, bf16 | peak MB, fp32: lm, PyTorch | disturbed turns |")
print("|---|---:|---:|---:|---|---|---:|---|---:|")
for record in records:
    print("| " + " | ".join(row(record)) + " |")
print(f"\nMeasured on {listed(it['cpu'] for it in records)}, threads: {listed(it['threads'] for it in records)}; lm "
      f"{listed(it['version'] for it in records)}; beside {peers or 'no peer'}.")

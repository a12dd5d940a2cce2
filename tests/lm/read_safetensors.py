"""Prints a safetensors file with Python's standard library alone: what safetensors_test.cpp compares with."""

import json
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "U8": "B"}

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    values = file.read()

for key, value in sorted(header.pop("__metadata__", {}).items()):
    print(f"__metadata__ {key}={value}")
for name, entry in sorted(header.items()):
    begin, end = entry["data_offsets"]
    code = CODES[entry["dtype"]]
    count = (end - begin) // struct.calcsize("<" + code)
    print(name, entry["dtype"], entry["shape"], struct.unpack(f"<{count}{code}", values[begin:end]))

"""Prints a safetensors file with Python's standard library alone: what safetensors_test.cpp compares with."""

import hashlib
import json
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "U8": "B"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    text = file.read(length)
    header = json.loads(text)
    values = file.read()

metadata = header.pop("__metadata__", {})
digests = metadata.pop("header_sha256"), metadata.pop("values_sha256")
for key, value in sorted(metadata.items()):
    print(f"__metadata__ {key}={value}")
print("digests", "good" if digests == (sha256(text.replace(digests[0].encode(), b"0" * 64)), sha256(values)) else "bad")
for name, entry in sorted(header.items()):
    begin, end = entry["data_offsets"]
    code = CODES[entry["dtype"]]
    count = (end - begin) // struct.calcsize("<" + code)
    print(name, entry["dtype"], entry["shape"], struct.unpack(f"<{count}{code}", values[begin:end]))

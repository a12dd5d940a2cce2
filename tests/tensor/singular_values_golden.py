#!/usr/bin/env python3
"""The singular values that tests/tensor/singular_values_in_double_test.cpp expects, by numpy."""
import numpy


def matrix(rows, columns, rank):
    """Element [i, j] is the sum of sin((k + 1)(i + 1)) cos((k + 2)(j + 1)) over k < rank."""
    i, j = numpy.arange(1, rows + 1)[:, None], numpy.arange(1, columns + 1)[None, :]
    return sum(numpy.sin((k + 1.0) * i) * numpy.cos((k + 2.0) * j) for k in range(rank))


for shape in [(5, 5, 5), (7, 4, 9), (3, 6, 8), (6, 6, 2), (1, 4, 3)]:
    values = numpy.linalg.svd(matrix(*shape), compute_uv=False)
    print(f"      {{{shape[0]}, {shape[1]}, {shape[2]}, {{" + ", ".join(f"{v:.15g}" if v > 1e-12 else "0" for v in values) + "}},")

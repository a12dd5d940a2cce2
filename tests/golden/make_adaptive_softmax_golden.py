"""Golden numbers of nn.AdaptiveLogSoftmaxWithLoss, made with PyTorch; writes adaptive_softmax.safetensors, in the form
that make_golden.py describes.

    pip install torch
    python make_adaptive_softmax_golden.py

  quarters   two clusters, each a quarter as wide as the one before
  halves     three clusters, each half as wide, rounded down: of 9 numbers 4, 2 and 1

  CASE.cutoffs                   the first symbol of each cluster; in the metadata div_value and n_classes
  CASE.head.weight, CASE.tail.*  PyTorch's parameters, under its names
  CASE.input, CASE.targets       rows of the head and of each cluster
  CASE.output                    log p of each target
  CASE.log_prob                  log p of all symbols
  CASE.loss                      the negative sum of CASE.output

This is not a test and no part of the build. Next: tests/nn/output/adaptive_softmax_in_both_test.cpp.
"""

import pathlib

import torch
from torch import nn

from make_golden import (draw, draw_parameters, generator, record, record_gradients, record_settings,
                         write_safetensors)


def adaptive_softmax(case, seed, H, V, cutoffs, divisor, N=12):
    random = generator(seed)
    module = nn.AdaptiveLogSoftmaxWithLoss(H, V, cutoffs, div_value=divisor)
    draw_parameters(random, module, bound=1.0)
    x = draw(random, N, H).requires_grad_()
    targets = torch.arange(N) * 7 % V
    assert all((begin <= targets).logical_and(targets < end).any() for begin, end in zip([0, *cutoffs], [*cutoffs, V]))
    output = module(x, targets).output
    record(case, {"cutoffs": torch.tensor(cutoffs), "targets": targets, "log_prob": module.log_prob(x)})
    record_settings(case, {"div_value": divisor, "n_classes": V})
    record_gradients(case, {"input": x} | dict(module.named_parameters()), {"output": output}, -output.sum())


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    adaptive_softmax("quarters", 41, H=16, V=20, cutoffs=[4, 10], divisor=4.0)
    adaptive_softmax("halves", 42, H=9, V=17, cutoffs=[3, 6, 11], divisor=2.0)
    write_safetensors(pathlib.Path(__file__).with_name("adaptive_softmax.safetensors"))


if __name__ == "__main__":
    main()

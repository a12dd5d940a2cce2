"""Golden numbers of the CTC loss made with PyTorch; writes ctc.safetensors, in the form that make_golden.py
describes.

    pip install torch
    python make_ctc_golden.py

  short   sequences with repeated labels, without labels, with as many frames as they need, and with too few
  long    more labels than a register holds, over many frames

  CASE.scores             [T, B, V] before the softmax; symbol 0 is the blank
  CASE.frames, .counts    of each sequence: frames and labels
  CASE.labels             [B, most], 0 behind the last one
  CASE.nats               the loss of each sequence; 0 where the labels do not fit (zero_infinity)
  CASE.loss               their sum, weighted by CASE.loss_weight.nats

This is not a test and no part of the build. Next: tests/autograd/ctc_loss_in_both_test.cpp.
"""

import pathlib

import torch
from torch.nn import functional as F

from make_golden import draw, generator, record, record_weighted, write_safetensors


def ctc(case, seed, V, frames, labels):
    random = generator(seed)
    T, B, most = max(frames), len(frames), max(map(len, labels))
    scores = draw(random, T, B, V, bound=4.0).requires_grad_()
    padded = torch.tensor([it + [0] * (most - len(it)) for it in labels])
    frames, counts = torch.tensor(frames), torch.tensor([len(it) for it in labels])
    record(case, {"labels": padded, "frames": frames, "counts": counts})
    nats = F.ctc_loss(scores.log_softmax(2), padded, frames, counts, reduction="none", zero_infinity=True)
    record_weighted(case, random, {"scores": scores}, {"nats": nats})


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    ctc("short", 31, 6, [12, 9, 7, 5, 4, 1], [[1, 2, 3, 1], [5, 5, 5], [], [2, 2, 4], [3, 3, 3], [4]])
    random = generator(32)
    labels = [torch.randint(1, 12, (count,), generator=random).tolist() for count in (40, 17, 30)]
    ctc("long", 33, 12, [200, 150, 60], labels)
    write_safetensors(pathlib.Path(__file__).with_name("ctc.safetensors"))


if __name__ == "__main__":
    main()

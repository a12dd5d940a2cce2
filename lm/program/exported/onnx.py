"""A recurrent language model in ONNX, written by `lm export`. It needs onnxruntime and numpy. Next: use.py."""
import json
from pathlib import Path

import numpy
import onnxruntime

folder = Path(__file__).parent
config = json.loads((folder / "config.json").read_text())
session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
inputs = session.get_inputs()[1:]  # the states; the first input is the ids [T, B]
zeros = [numpy.zeros([1, 1, it.shape[2]], numpy.float32) for it in inputs]


def step(ids, states=None):
    """Log-probabilities [T, V] of what follows each of the ids, a list; and the states after them."""
    fed = {it.name: state for it, state in zip(inputs, states or zeros)}
    log_p, *states = session.run(None, {"ids": numpy.array(ids, numpy.int64)[:, None], **fed})
    return log_p[:, 0], states

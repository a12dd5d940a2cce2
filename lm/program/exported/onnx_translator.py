"""A recurrent encoder-decoder in ONNX, written by `lm export`. It needs onnxruntime and numpy. Next: use.py."""
import json
from pathlib import Path

import numpy
import onnxruntime

folder = Path(__file__).parent
config = json.loads((folder / "config.json").read_text())
encoder, decoder = (onnxruntime.InferenceSession(str(folder / name)) for name in ("encoder.onnx", "decoder.onnx"))
zeros = {it.name: numpy.zeros([1, 1, it.shape[2]], numpy.float32) for it in decoder.get_inputs()[1:]}


def run(graph, ids, fed):
    outputs = graph.run(None, {"ids": numpy.array(ids, numpy.int64), **fed})
    return dict(zip((it.name for it in graph.get_outputs()), outputs))


def encode(ids):
    """What the decoder reads at its first step: of what the encoder does not return, zeros."""
    return {**zeros, **run(encoder, [[it] for it in ids], {})}


def step(symbol, state):
    """Log-probabilities [V] of what follows an id; and what the decoder reads at its next step."""
    after = run(decoder, [[symbol]], state)
    log_p = after.pop("log_probabilities")[0, 0]
    return log_p, {**state, **{name.removeprefix("next_"): it for name, it in after.items()}}

"""A recurrent language model for PyTorch, written by `lm export`. It needs torch and safetensors. Next: cells.py, use.py."""
import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import gelu, layer_norm, linear, one_hot

from cells import make_cell

folder = Path(__file__).parent
config = json.loads((folder / "config.json").read_text())


def affine(of, name, x):
    return linear(x, of[name + ".weight"], of.get(name + ".bias"))


def normalized(of, name, x):
    return layer_norm(x, x.shape[-1:], of[name + ".weight"], of[name + ".bias"])


def block(of, name, x, cell):
    """A residual block around a cell."""
    u = normalized(of, name + ".norm", x)
    h = cell(u)
    if name + ".gate.weight" in of:
        h = gelu(affine(of, name + ".gate", u), approximate="tanh") * h
    y = x + (affine(of, name + ".out", h) if name + ".out.weight" in of else h)
    if name + ".feed_norm.weight" not in of:
        return y
    v = normalized(of, name + ".feed_norm", y)
    gate = gelu(affine(of, name + ".feed_gate", v), approximate="tanh")
    return y + affine(of, name + ".feed_out", gate * affine(of, name + ".feed_in", v))


def log_probabilities(of, x):
    """A softmax, a mixture of them, or an adaptive one, whose head has the frequent symbols and then the clusters."""
    if "decoder.head.weight" in of:
        tail = [f"decoder.tail.{i}." for i in range(len(of)) if f"decoder.tail.{i}.0.weight" in of]
        shortlist = len(of["decoder.head.weight"]) - len(tail)
        head, *clusters = affine(of, "decoder.head", x).log_softmax(-1).split([shortlist] + [1] * len(tail), -1)
        return torch.cat([head, *(cluster + affine(of, it + "1", affine(of, it + "0", x)).log_softmax(-1)
                                  for cluster, it in zip(clusters, tail))], -1)
    weight = of.get("decoder.weight", of.get("embedding.weight"))  # of both, if they are tied
    if "mixture.prior.weight" not in of:
        return linear(x, weight, of["decoder.bias"]).log_softmax(-1)
    prior = affine(of, "mixture.prior", x).log_softmax(-1)
    latents = affine(of, "mixture.latent", x).tanh().unflatten(-1, (prior.shape[-1], -1))
    return (prior[..., None] + linear(latents, weight, of["decoder.bias"]).log_softmax(-1)).logsumexp(-2)


class LanguageModel(nn.Module):
    """Without dropout; its parameters have the names of the run's. It can be trained further. Batch normalisation uses
    the statistics of the batch after train(), else those of the population."""

    def __init__(self, weights, vocabulary, cell, settings, units, output_activation):
        super().__init__()
        self.vocabulary, self.cell, self.settings, self.units = vocabulary, cell, settings, units
        self.activation = getattr(nn, output_activation)()
        for name, value in weights.items():
            *path, last = name.split(".")
            module = self
            for part in path:
                module.add_module(part, getattr(module, part, nn.Module()))
                module = getattr(module, part)
            if last.startswith(("running_", "rows_seen_")):
                module.register_buffer(last, value)
            else:
                module.register_parameter(last, nn.Parameter(value))

    def save(self, path):
        """`lm import` of the folder reads its model.safetensors."""
        save_file({name: it.contiguous() for name, it in self.state_dict().items()}, path)

    def forward(self, ids, states=None):
        """Log-probabilities [T, B, V] of what follows each of ids [T, B]; and the state of each cell."""
        of = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        before, after = iter(states or []), []

        def run(cell, suffix, units, x):
            x, state = make_cell(cell, of, suffix, units, self.training, self.settings)(x, next(before, None))
            after.append(state)
            return x

        def layer(x):
            if f"rnn.weight_convolution_l{i}" in of:
                x = run("convolution", f"_convolution_l{i}", x.shape[-1], x)
            return run(self.cell, f"_l{i}", units, x)

        x = of["embedding.weight"][ids] if "embedding.weight" in of else one_hot(ids, self.vocabulary).float()
        for i, units in enumerate(self.units):
            x = block(of, f"rnn.block_l{i}", x, layer) if f"rnn.block_l{i}.norm.weight" in of else layer(x)
        x = normalized(of, "rnn.norm", x) if "rnn.norm.weight" in of else x  # after blocks
        for name in (f"output_layer_{i}" for i in range(len(of))):
            x = self.activation(affine(of, name, x)) if name + ".weight" in of else x
        return log_probabilities(of, x), after


model = LanguageModel(load_file(folder / "model.safetensors"), **config["model"]).eval()


def step(ids, states=None):
    """Log-probabilities [T, V] of what follows each of the ids, a list; and the states after them."""
    with torch.no_grad():
        log_p, states = model(torch.tensor(ids)[:, None], states)
    return log_p[:, 0], states

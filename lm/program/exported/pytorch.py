"""A recurrent language model for PyTorch, written by `lm export`. It needs torch and safetensors. Next: use.py."""
import json
import re
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import linear, logsigmoid

folder = Path(__file__).parent
config = json.loads((folder / "config.json").read_text())


class Layer(nn.Module):
    """What nn.GRU is, of one layer, for a cell that PyTorch has not: step() is its equation, of `gates` parts of W x + b."""

    def __init__(self, inputs, units):
        super().__init__()
        rows, bound = self.gates * units, units ** -0.5  # at first as nn.GRU
        self.weight_ih_l0 = nn.Parameter(torch.empty(rows, inputs).uniform_(-bound, bound))
        self.bias_ih_l0 = nn.Parameter(torch.empty(rows).uniform_(-bound, bound))

    def forward(self, x, h=None):
        parts = linear(x, self.weight_ih_l0, self.bias_ih_l0).chunk(self.gates, -1)
        states = [torch.zeros_like(parts[0][0]) if h is None else h]
        for gates in zip(*parts):
            states.append(self.step(*gates, states[-1]))
        return torch.stack(states[1:]), states[-1]


def positive(n):
    """g of the paper's appendix B.3."""
    return torch.where(n >= 0, n + 0.5, n.sigmoid())


class MinGRU(Layer):
    """Feng et al. 2024, "Were RNNs All We Needed?"."""
    gates = 2

    def step(self, z, n, h):
        return torch.lerp(h, positive(n), z.sigmoid())


class MinLSTM(Layer):
    """From the same paper; what it keeps is s(f) / (s(f) + s(i)), written so that it divides no 0 by 0."""
    gates = 3

    def step(self, f, i, n, h):
        return torch.lerp(positive(n), h, (logsigmoid(f) - logsigmoid(i)).sigmoid())


class LanguageModel(nn.Module):
    """Without dropout. It can be trained further."""

    def __init__(self, vocabulary, embedding, cell, hidden, output_layers, output_activation, tied, **of_cell):
        super().__init__()
        widths = [embedding or vocabulary, *hidden, *output_layers]  # without an embedding a symbol is one-hot
        self.embedding = nn.Embedding(vocabulary, widths[0])
        self.rnn = nn.ModuleList(map(partial(globals().get(cell) or getattr(nn, cell), **of_cell), widths, hidden))
        self.output_layer = nn.ModuleList(map(nn.Linear, widths[len(hidden):], output_layers))
        self.activation = getattr(nn, output_activation)()
        self.decoder = nn.Linear(widths[-1], vocabulary)
        if tied:
            self.decoder.weight = self.embedding.weight

    def load(self, weights):
        """rnn.bias_hh_l1 is rnn.1.bias_hh_l0 here, for layers may have several widths."""
        rules = (r"^rnn\.(\w+)_l(\d+)$", r"rnn.\2.\1_l0"), (r"^output_layer_", "output_layer.")
        self.names = {re.sub(*rules[1], re.sub(*rules[0], name)): name for name in weights}  # here: in the file
        given = {here: weights[name] for here, name in self.names.items()}
        given.setdefault("embedding.weight", torch.eye(*self.embedding.weight.shape))
        given.setdefault("decoder.weight", given["embedding.weight"])  # tied
        zeros = {name: torch.zeros_like(it) for name, it in self.state_dict().items() if ".bias_" in name}
        self.load_state_dict({**zeros, **given})  # a cell of nn always has both biases
        for here, parameter in self.named_parameters():
            parameter.requires_grad_(here in self.names)  # what the file has not is not trained
        return self

    def save(self, path):
        """Writes the weights as load() reads them; `lm import` of the folder takes its model.safetensors."""
        mine = self.state_dict()
        save_file({name: mine[here].contiguous() for here, name in self.names.items()}, path)

    def forward(self, ids, states=None):
        """Log-probabilities [T, B, V] of what follows each of ids [T, B]; and the state of each layer."""
        x, after = self.embedding(ids), []
        for layer, state in zip(self.rnn, states or [None] * len(self.rnn)):
            x, state = layer(x, state)
            after.append(state)
        for layer in self.output_layer:
            x = self.activation(layer(x))
        return self.decoder(x).log_softmax(-1), after


model = LanguageModel(**config["model"]).load(load_file(folder / "model.safetensors"))


def step(ids, states=None):
    """Log-probabilities [T, V] of what follows each of the ids, a list; and the states after them."""
    with torch.no_grad():
        log_p, states = model(torch.tensor(ids)[:, None], states)
    return log_p[:, 0], states

"""Golden numbers of encoder-decoders made with PyTorch; writes encoder_decoder.safetensors, in the form that
make_golden.py describes.

    pip install torch
    python make_encoder_decoder_golden.py

Each case is a bidirectional encoder and a decoder of two LSTM layers each, for three pairs of sentences of
different lengths: nn.LSTM over packed sequences, attention as in Luong et al. 2015 and Bahdanau et al. 2015.
Parameters have the names that nn/models/encoder_decoder.h gives them.

  none, dot, general, additive   the attention; none: the fixed context, the last state
  fed                            additive with input feeding (Luong et al., section 3.3)
  tied                           general with the target's embedding as the output's weights, label smoothing

  CASE.source, CASE.inputs, CASE.targets   ids [steps, sentences]; a target of -1 is padding
  CASE.source_lengths                      steps that are not padding
  CASE.nats                                -log p of each target, 0 in the padding
  CASE.attention                           [steps, sentences, source steps]
  CASE.loss                                the sum over the targets, with label smoothing where there is some

This is not a test and no part of the build. Next: tests/nn/models/encoder_decoder_golden_in_both_test.cpp.
"""

import pathlib

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from make_golden import draw_parameters, generator, record, record_gradients, record_settings, write_safetensors

V, E, H, R, LAYERS = 7, 3, 4, 5, 2  # symbols of both sides, units


class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score
        if score in ("general", "additive"):
            self.W_a = nn.Parameter(torch.empty(H, H))
        if score == "additive":
            self.U_a, self.v_a = nn.Parameter(torch.empty(H, H)), nn.Parameter(torch.empty(1, H))

    def forward(self, query, states, padding):
        """query [B, H], states [B, S, H], padding [B, S]: the context and the weights."""
        if self.score == "dot":
            scores = torch.einsum("bh,bsh->bs", query, states)
        elif self.score == "general":
            scores = torch.einsum("bh,hk,bsk->bs", query, self.W_a, states)
        else:
            inner = (query @ self.W_a.T).unsqueeze(1) + states @ self.U_a.T
            scores = (torch.tanh(inner) @ self.v_a.T).squeeze(2)
        weights = scores.masked_fill(padding, -torch.inf).softmax(1)
        return torch.einsum("bs,bsh->bh", weights, states), weights


class EncoderDecoder(nn.Module):
    def __init__(self, attention, feeding, tied):
        super().__init__()
        R_ = E if tied else R
        self.feeding = feeding
        self.source_embedding, self.target_embedding = nn.Embedding(V, E), nn.Embedding(V, E)
        self.encoder = nn.LSTM(E, H // 2, LAYERS, bidirectional=True)
        extra = R_ if feeding else H if attention == "none" else 0
        self.decoder = nn.LSTM(E + extra, H, LAYERS)
        self.bridge = nn.ModuleDict({f"{part}_l{i}": nn.Linear(H, H) for i in range(LAYERS) for part in "hc"})
        self.attention = Attention(attention) if attention != "none" else None
        self.W_c = nn.Parameter(torch.empty(R_, 2 * H))
        self.output = nn.Linear(R_, V)
        if tied:
            self.output.weight = self.target_embedding.weight

    def first_state(self, last, part):
        """last [2 * LAYERS, B, H / 2], layer by layer, forward and reverse: the decoder's [LAYERS, B, H]."""
        both = [torch.cat((last[2 * i], last[2 * i + 1]), 1) for i in range(LAYERS)]
        return both[-1], torch.stack([torch.tanh(self.bridge[f"{part}_l{i}"](it)) for i, it in enumerate(both)])

    def forward(self, source, lengths, inputs):
        packed = pack_padded_sequence(self.source_embedding(source), lengths, enforce_sorted=False)
        states, (h, c) = self.encoder(packed)
        states = pad_packed_sequence(states)[0].transpose(0, 1)
        padding = torch.arange(states.size(1)) >= lengths.unsqueeze(1)
        context, h = self.first_state(h, "h")
        _, c = self.first_state(c, "c")
        readout = torch.zeros(inputs.size(1), self.W_c.size(0))
        logits, attention = [], []
        for y in self.target_embedding(inputs):
            if self.attention is None:
                y = torch.cat((y, context), 1)
            if self.feeding:
                y = torch.cat((y, readout), 1)
            s, (h, c) = self.decoder(y.unsqueeze(0), (h, c))
            if self.attention is not None:
                context, weights = self.attention(s[0], states, padding)
                attention.append(weights)
            readout = torch.tanh(torch.cat((context, s[0]), 1) @ self.W_c.T)
            logits.append(self.output(readout))
        return torch.stack(logits), attention


def encoder_decoder(case, seed, attention, feeding=False, tied=False, smoothing=0.0):
    random = generator(seed)
    model = EncoderDecoder(attention, feeding, tied)
    draw_parameters(random, model, bound=1.0)
    B, S, T = 3, 5, 4
    source_lengths, target_lengths = torch.tensor([3, 5, 1]), torch.tensor([4, 2, 3])
    source = torch.randint(1, V, (S, B), generator=random)
    targets = torch.randint(1, V, (T, B), generator=random)
    for b in range(B):  # 0 ends a sentence and, before the first symbol of a target, the one before
        source[source_lengths[b] - 1:, b] = 0
        targets[target_lengths[b] - 1, b] = 0
        targets[target_lengths[b]:, b] = -1
    inputs = torch.cat((torch.zeros(1, B, dtype=torch.long), targets[:-1].clamp(min=0)))

    logits, weights = model(source, source_lengths, inputs)
    flat = logits.flatten(0, 1), targets.flatten()
    loss = F.cross_entropy(*flat, ignore_index=-1, reduction="sum", label_smoothing=smoothing)
    results = {"nats": F.cross_entropy(*flat, ignore_index=-1, reduction="none").view(T, B)}
    if weights:
        results["attention"] = torch.stack(weights)
    record(case, {"source": source, "inputs": inputs, "targets": targets, "source_lengths": source_lengths})
    record_settings(case, {"smoothing": smoothing})
    record_gradients(case, dict(model.named_parameters()), results, loss)


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    for number, attention in enumerate(("none", "dot", "general", "additive")):
        encoder_decoder(attention, 21 + number, attention)
    encoder_decoder("fed", 25, "additive", feeding=True)
    encoder_decoder("tied", 26, "general", tied=True, smoothing=0.1)
    write_safetensors(pathlib.Path(__file__).with_name("encoder_decoder.safetensors"))


if __name__ == "__main__":
    main()

"""The encoder-decoder of the recipe attention-multi30k in PyTorch: nn.LSTM over packed sequences, general attention (Luong
et al. 2015) at all steps at once, tied output. bench/peers.py trains it; as a program it translates with a run of `lm`:

    peer_translation.py RUN [--beam 5] [--threads 2] [--limit 1000] < sentences > translations

Its beam search is the loop that tutorials show: sentence by sentence, with the beam as the batch. It ranks and ends as `lm
translate` does (lm/decoding/beam_search.h), so that the translations are the same, up to rounding. To standard error it
prints the seconds of the search, without those of loading, and the peak memory of the process. To compare it, in turns:

    lm translate RUN --threads 2 < sentences > translations

Next: lm/decoding/translate.h.
"""

import argparse
import json
import math
import pathlib
import resource
import struct
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class EncoderDecoder(nn.Module):
    """Parameters have the names that they have in a run's model.safetensors."""

    def __init__(self, shape):
        super().__init__()
        E, H, R = shape["embedding"], shape["hidden"], shape["readout"]
        assert shape["attention"] == "general" and shape["tied"] == "output" and R == E
        self.source_embedding = nn.Embedding(shape["source_vocabulary"], E)
        self.target_embedding = nn.Embedding(shape["target_vocabulary"], E)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.uniform_(table.weight, -0.1, 0.1)
        self.encoder = nn.LSTM(E, H // 2, bidirectional=True)
        self.bridge = nn.ModuleDict({"h_l0": nn.Linear(H, H), "c_l0": nn.Linear(H, H)})
        self.decoder = nn.LSTM(E, H)
        self.attention = nn.ParameterDict({"W_a": nn.Parameter(torch.empty(H, H))})
        self.W_c = nn.Parameter(torch.empty(R, 2 * H))
        for weight in (self.attention["W_a"], self.W_c):
            nn.init.uniform_(weight, -weight.size(1) ** -0.5, weight.size(1) ** -0.5)
        self.output = nn.Linear(R, shape["target_vocabulary"])
        self.output.weight = self.target_embedding.weight
        self.dropout = nn.Dropout(shape["dropout"])

    def encode(self, source, lengths):
        """Keys and states [B, S, H], where they are padding [B, 1, S], and the decoder's first state."""
        packed = pack_padded_sequence(self.dropout(self.source_embedding(source)), lengths, enforce_sorted=False)
        states, last = self.encoder(packed)
        states = pad_packed_sequence(states)[0].transpose(0, 1)
        padding = (torch.arange(states.size(1)) >= lengths.to(states.device).unsqueeze(1)).unsqueeze(1)
        first = tuple(torch.tanh(self.bridge[name](torch.cat((it[0], it[1]), 1))).unsqueeze(0)
                      for name, it in zip(("h_l0", "c_l0"), last))
        return (F.linear(states, self.attention["W_a"]), states, padding), first

    def decode(self, inputs, source, state):
        """Logits [T, B, V] and the state after them."""
        keys, values, padding = source
        s, state = self.decoder(self.dropout(self.target_embedding(inputs)), state)
        scores = (s.transpose(0, 1) @ keys.transpose(1, 2)).masked_fill(padding, -torch.inf)
        context = (scores.softmax(2) @ values).transpose(0, 1)
        readout = torch.tanh(F.linear(torch.cat((context, s), 2), self.W_c))
        return self.output(self.dropout(readout)), state


class TranslationTraining:
    """Random symbols in batches of given lengths."""

    def __init__(self, shape, make_optimizer):
        self.model = EncoderDecoder(shape)
        self.parameters = list(self.model.parameters())
        self.optimizer, self.implementation = make_optimizer(shape, self.parameters)
        self.clip, self.smoothing, self.turn = shape["clip"], shape["label_smoothing"], 0
        # Packing a sequence needs the lengths on the host.
        self.batches = [self.random_batch(shape, torch.tensor(source, device="cpu"), torch.tensor(target))
                        for source, target in shape["batches"]]

    @staticmethod
    def random_batch(shape, source_lengths, target_lengths):
        source = torch.randint(1, shape["source_vocabulary"], (int(source_lengths.max()), len(source_lengths)))
        targets = torch.randint(1, shape["target_vocabulary"], (int(target_lengths.max()), len(target_lengths)))
        targets[torch.arange(len(targets)).unsqueeze(1) >= target_lengths] = -1
        inputs = torch.cat((torch.zeros_like(targets[:1]), targets[:-1].clamp(min=0)))
        return source, source_lengths, inputs, targets, int(target_lengths.sum())

    def update(self):
        source, lengths, inputs, targets, scored = self.batches[self.turn % len(self.batches)]
        self.turn += 1
        self.optimizer.zero_grad(set_to_none=True)
        logits, _ = self.model.decode(inputs, *self.model.encode(source, lengths))
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1,
                               label_smoothing=self.smoothing)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        self.last = loss.detach()
        return scored


def beam_search(model, sentence, end, unknown, beam, length_penalty, max_length):
    """The best translation of one sentence of ids."""
    def lp(length):
        return ((5 + length) / 6) ** length_penalty

    source, state = model.encode(torch.tensor(sentence).unsqueeze(1), torch.tensor([len(sentence)]))
    live, log_p, best, finished = [[]], torch.zeros(1), (-math.inf, []), 0
    last = torch.tensor([[end]])
    for length in range(1, max_length + 1):
        width = len(live)
        logits, state = model.decode(last, tuple(it.expand(width, -1, -1) for it in source), state)
        scores = F.log_softmax(logits[0], -1)
        scores[:, unknown] = -math.inf
        scores += log_p.unsqueeze(1)
        values, places = scores.flatten().topk(2 * beam)
        rows, symbols, kept = [], [], []
        for rank, (value, place) in enumerate(zip(values.tolist(), places.tolist())):
            row, symbol = divmod(place, scores.size(1))
            if symbol != end and len(rows) < beam:
                rows.append(row), symbols.append(symbol), kept.append(value)
            elif symbol == end and rank < beam:
                finished += 1
                best = max(best, (value / lp(length), live[row]))
        live = [live[row] + [symbol] for row, symbol in zip(rows, symbols)]
        bound = kept[0] / lp(max_length)
        if best[0] >= (kept[0] / lp(length) if finished >= beam else bound):
            break
        log_p, last = torch.tensor(kept), torch.tensor([symbols])
        state = tuple(it[:, rows] for it in state)
    return best[1] or live[0]


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    for name, it in header.items():
        if name != "__metadata__":
            begin, stop = (8 + length + offset for offset in it["data_offsets"])
            yield name, torch.frombuffer(bytearray(data[begin:stop]), dtype=torch.float32).reshape(it["shape"])


def main():
    import tomllib
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    config = tomllib.loads((options.run / "config.toml").read_text())
    source, target = ((options.run / f"vocab.{it}.txt").read_text().splitlines() for it in ("source", "target"))
    model = EncoderDecoder(config["model"] | {"source_vocabulary": len(source), "target_vocabulary": len(target)})
    weights = dict(read_safetensors(options.run / "model.safetensors"))
    model.load_state_dict(weights | {"output.weight": weights["target_embedding.weight"]})
    model.eval()
    ids = {symbol: i for i, symbol in enumerate(source)}
    end, unknown = target.index("<eos>"), target.index("<unk>")
    sentences = [[ids.get(word, ids["<unk>"]) for word in line.split()] + [ids["<eos>"]] for line in sys.stdin]
    start = time.perf_counter()
    with torch.inference_mode():
        for sentence in sentences[:options.limit]:
            found = beam_search(model, sentence, end, unknown, options.beam, config["decoding"]["length_penalty"],
                                config["decoding"]["max_length"])
            print(" ".join(target[it] for it in found))
    print(f"{time.perf_counter() - start:.2f} seconds, torch {torch.__version__}, {options.threads} threads, peak "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB", file=sys.stderr)


if __name__ == "__main__":
    main()

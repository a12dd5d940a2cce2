"""The recurrent cells of Rondo in PyTorch. Their equations, papers and names are those of nn/cells in Rondo's source:
a cell is gates, a join of what they read of input and state, and what they read of the state; the list is at the end."""
import math

import torch
from torch.nn.functional import layer_norm, linear, logsigmoid


class Cell:
    """Reads the parameters `of` a model: self.weight_ih is rnn.weight_ih_l0, with the suffix _l0. project() is of all
    steps of x [T, B, I] at once, step() of one; a state is the number of steps before it, and a tensor [B, H] of each of
    `states`, of which h, the output, is the first."""
    states, U, added = ("h",), "weight_hh", ("bias_ih", "bias_hh")

    def __init__(self, of, suffix, units, training, settings):
        self.of, self.suffix, self.units, self.training, self.settings = of, suffix, units, training, settings

    def __getitem__(self, name):
        return self.of["rnn." + name + self.suffix]

    def __contains__(self, name):
        return "rnn." + name + self.suffix in self.of

    def __getattr__(self, name):
        return self[name]

    def width(self, state):
        return self.units

    def start(self, x):
        """Zeros, or what was trained."""
        zeros = [x.new_zeros(x.shape[1], self.width(it)) for it in self.states]
        return 0, *(it + self.biases(name + "0") for name, it in zip(self.states, zeros))

    def __call__(self, x, state=None):
        t, *state = state or self.start(x)
        outputs = []
        for self.t, of_step in enumerate(zip(*self.project(x)), t):
            state = self.step(of_step, *state)
            outputs.append(state[0])
        return torch.stack(outputs), (self.t + 1, *state)

    def biases(self, *names):
        """The sum of those that there are."""
        return sum(self[it] for it in names if it in self)

    def project(self, x):
        return [linear(x, self.weight_ih) + self.biases(*self.added)]

    def read(self, h, Wx):
        return Wx, h

    def join(self, Wx, m, a=0, b=None):
        """Of rows [a, b) of the stacked gates."""
        return self.combine(Wx[:, a:b], linear(m, self[self.U][a:b]), a, b)

    def combine(self, Wx, Um, a, b):
        return Wx + Um


# Joins, if it is not the sum: z of W x and U m, where m is what the gates read of the state.

class Product(Cell):
    added = ()

    def combine(self, Wx, Um, a, b):
        return Wx * Um + self.bias_ih[a:b]


class Integration(Product):
    def combine(self, Wx, Um, a, b):
        return self.alpha[a:b] * Wx * Um + self.beta1[a:b] * Um + self.beta2[a:b] * Wx + self.bias_ih[a:b]


class LayerNorm(Product):
    def combine(self, Wx, Um, a, b):
        return self.normalized(Wx, "ih", a, b) + self.normalized(Um, "hh", a, b)

    def normalized(self, x, of, a, b=None):
        return layer_norm(x, x.shape[-1:], self["gamma_" + of][a:b], self["bias_" + of][a:b])

    def squashed(self, c):
        return layer_norm(c, c.shape[-1:], self.gamma_c, self.beta_c).tanh()


class BatchNorm(Product):
    """The statistics of a time step are those of the batch in training, which move those of the population."""

    def normalized(self, x, of):
        mean, variance, seen = (self[it + of] for it in ("running_mean_", "running_variance_", "rows_seen_"))
        if self.training and len(x) > 1:
            slot = min(self.t, len(seen) - 1)
            seen[slot] += len(x)
            rate = max(0.05, len(x) / seen[slot].item())
            of_batch = x.mean(0), x.var(0, unbiased=False)
            mean[slot].lerp_(of_batch[0].detach(), rate)
            variance[slot].lerp_(of_batch[1].detach(), rate)
            mean, variance = of_batch
        else:
            slot = min(self.t, int(seen.count_nonzero().clamp(min=1)) - 1)
            mean, variance = mean[slot], variance[slot]
        scale = torch.where(variance < 1e-8, 0, (variance + 1e-5).rsqrt())  # a constant column has no gradient
        return self["gamma_" + of] * scale * (x - mean)

    def combine(self, Wx, Um, a, b):
        return self.normalized(Wx, "ih") + self.normalized(Um, "hh") + self.bias_ih

    def squashed(self, c):
        return (self.normalized(c, "c") + self.beta_c).tanh()


class BatchNormIntegration(BatchNorm):
    def combine(self, Wx, Um, a, b):
        return Integration.combine(self, self.normalized(Wx, "ih"), self.normalized(Um, "hh"), a, b)


# What the gates read of the state: W x and m, from what project() made of x, and h.

class IntermediateState:
    U = "weight_hm"

    def project(self, x):
        return [*super().project(x), linear(x, self.weight_mx)]

    def read(self, h, Wx, mx):
        return Wx, mx * linear(h, self.weight_mh)


class DeepTransition:
    def read(self, h, Wx):
        return Wx, self.layers(h, 1)

    def layers(self, u, k, at_last=0):
        """tanh(V_k u + b_k) of layer k and all after it; what is added in the last."""
        while f"weight_{k}" in self:
            added = 0 if f"weight_{k + 1}" in self else at_last
            u, k = torch.tanh(linear(u, self[f"weight_{k}"], self[f"bias_{k}"]) + added), k + 1
        return u


class InputItself:
    def project(self, x):
        return [x]


class Mogrifier(InputItself):
    def read(self, h, x):
        for i in range(1, self.settings["mogrifier_rounds"] + 1):
            if i % 2:
                x = 2 * self.map(f"weight_q_{i}", h).sigmoid() * x
            else:
                h = 2 * self.map(f"weight_r_{i}", x).sigmoid() * h
        return *Cell.project(self, x), h

    def map(self, name, x):
        """Of one matrix, or of two."""
        for factor in (name, name + "_right", name + "_left"):
            x = linear(x, self[factor]) if factor in self else x
        return x


# Gates: the next state.

class Rnn(Cell):
    def step(self, x, h):
        return torch.tanh(self.join(*self.read(h, *x))),


class LinearRnn(Cell):
    def step(self, x, h):
        return self.join(*self.read(h, *x)),


class Lstm(Cell):
    states = "h", "c"

    def step(self, x, h, c):
        return self.next(*self.join(*self.read(h, *x)).chunk(4, -1), c)

    def next(self, i, f, g, o, c):
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * self.squashed(c), c

    def squashed(self, c):
        return c.tanh()


class LstmSigmoid(Lstm):
    def squashed(self, c):
        return c.sigmoid()


class Gru(Cell):
    def step(self, x, h):
        x, m = self.read(h, *x)
        M, H = m.shape[1], h.shape[1]
        r, z = self.join(x, m, 0, M + H).sigmoid().split([M, H], -1)
        n = self.join(x, r * m, M + H).tanh()
        return z * h + (1 - z) * n,


class LayerNormGru(LayerNorm):
    def step(self, x, h):
        a = 2 * self.units
        r, z = self.join(x[0], h, 0, a).sigmoid().chunk(2, -1)
        n = self.normalized(x[0][:, a:], "ih", a) + r * self.normalized(linear(h, self.weight_hh[a:]), "hh", a)
        return z * h + (1 - z) * n.tanh(),


class MinimalGatedUnit(Cell):
    def step(self, x, h):
        H, U, gate = self.units, self.weight_hh, self.settings["mgu_gate"]
        f = self.biases("bias_f")
        if gate != "mgu3":
            f = f + linear(h, U[:H])
        if gate == "full":
            f = f + x[0][:, :H]
        n = (x[0][:, -H:] + linear(f.sigmoid() * h, U[-H:])).tanh()
        return (1 - f.sigmoid()) * h + f.sigmoid() * n,


class TensorRnn(Cell):
    def project(self, x):
        return *super().project(x), linear(x, self.weight_hx)

    def step(self, x, h):
        matrices = x[1].unflatten(-1, (self.units, self.units))
        return torch.tanh(x[0] + (matrices @ h[..., None])[..., 0]),


class TrueMultiplicative(IntermediateState, Cell):
    def gate(self, k, x, h):
        gates = len(self.weight_hm) // self.units
        Wx, mx = (it.chunk(gates, 1)[k] for it in x)
        V, W_mh = (it.chunk(gates)[k] for it in (self.weight_hm, self.weight_mh))
        return Wx + linear(mx * linear(h, W_mh), V)


class TrueMultiplicativeLstm(TrueMultiplicative, Lstm):
    def step(self, x, h, c):
        return self.next(*(self.gate(k, x, h) for k in range(4)), c)


class TrueMultiplicativeGru(TrueMultiplicative):
    def step(self, x, h):
        r, z = self.gate(0, x, h).sigmoid(), self.gate(1, x, h).sigmoid()
        n = self.gate(2, x, r * h).tanh()
        return z * h + (1 - z) * n,


class DeepTransitionRnn(DeepTransition, Cell):
    added = "bias_1",

    def step(self, x, h):
        at_last = linear(h, self.weight_shortcut) if "weight_shortcut" in self else 0
        return self.layers(torch.tanh(x[0] + linear(h, self.weight_hh)), 2, at_last),


class RecurrentHighwayNetwork(Cell):
    def step(self, x, s):
        Wx = x[0]  # of the first layer alone
        for layer in range(1, self.settings["recurrence_depth"] + 1):
            n, t = (Wx + linear(s, self[f"weight_hh_{layer}"], self[f"bias_{layer}"])).chunk(2, -1)
            s, Wx = n.tanh() * t.sigmoid() + s * (1 - t.sigmoid()), 0
        return s,


class SimpleRecurrentUnit(Cell):
    states = "h", "c"

    def project(self, x):
        parts = linear(x, self.weight_ih).split(self.units, -1)
        return *parts[:3], parts[3] if len(parts) > 3 else x

    def step(self, x, h, c):
        w, f, r, x = x
        f = (f + self.weight_cf * c + self.bias_f).sigmoid()
        r = (r + self.weight_cr * c + self.bias_r).sigmoid()
        alpha = math.sqrt(1 + 2 * math.exp(self.settings["highway_bias"]))
        c = f * c + (1 - f) * w
        return r * c + (1 - r) * alpha * x, c


class QuasiRecurrentNetwork(InputItself, Cell):
    states = "h", "c", "x"

    def width(self, state):
        return (self.settings["window"] - 1) * self.weight_ih.shape[1] if state == "x" else self.units

    def step(self, x, h, c, earlier):
        inputs = torch.cat([*x, earlier], -1)
        W = torch.cat([self["weight_ih" + (f"_{j}" if j else "")] for j in range(self.settings["window"])], 1)
        z, f, o = linear(inputs, W, self.bias_ih).chunk(3, -1)
        c = f.sigmoid() * c + (1 - f.sigmoid()) * z.tanh()
        return o.sigmoid() * c, c, inputs[:, :earlier.shape[1]]


class Convolution(InputItself, Cell):
    states = "h", "x"

    def width(self, state):
        return 3 * len(self.weight) if state == "x" else self.units

    def step(self, x, h, earlier):
        inputs = torch.cat([*x, earlier], -1)
        w = torch.stack([self.weight, self.weight_1, self.weight_2, self.weight_3])
        sums = (w * inputs.unflatten(-1, w.shape)).sum(1) + self.bias
        return linear(sums, self.weight_ih) if "weight_ih" in self else sums, inputs[:, :earlier.shape[1]]


class FastSlowLstm(Lstm):
    states = "h", "c", "slow_h", "slow_c"

    def width(self, state):
        return self.weight_hh_slow.shape[1] if "slow" in state else self.units

    def project(self, x):
        return [linear(x, self.weight_ih_fast_1)]

    def part(self, name, x, h, c):
        """The LSTM of this name: its next h and c; x is W x, or 0."""
        return self.next(*(x + linear(h, self["weight_hh_" + name], self["bias_" + name])).chunk(4, -1), c)

    def step(self, x, h, c, slow_h, slow_c):
        h, c = self.part("fast_1", x[0], h, c)
        slow_h, slow_c = self.part("slow", linear(h, self.weight_ih_slow), slow_h, slow_c)
        h, c = self.part("fast_2", linear(slow_h, self.weight_ih_fast_2), h, c)
        for i in range(3, self.settings["fast_cells"] + 1):
            h, c = self.part(f"fast_{i}", 0, h, c)
        return h, c, slow_h, slow_c


def positive(n):
    return torch.where(n >= 0, n + 0.5, n.sigmoid())


class MinimalGru(Cell):
    def step(self, x, h):
        z, n = x[0].chunk(2, -1)
        return torch.lerp(h, positive(n), z.sigmoid()),


class MinimalLstm(Cell):
    """What it keeps is s(f) / (s(f) + s(i)), written so that it divides no 0 by 0."""

    def step(self, x, h):
        f, i, n = x[0].chunk(3, -1)
        return torch.lerp(positive(n), h, (logsigmoid(f) - logsigmoid(i)).sigmoid()),


class RealGatedLinearUnit(Cell):
    def project(self, x):
        parts = super().project(x)[0].split(self.units, -1)
        return *parts[:2], parts[2] if len(parts) > 2 else x

    def step(self, x, h):
        r, i, x = x
        a = (8 * r.sigmoid() * logsigmoid(self["lambda"])).exp()
        return a * h + (1 - a * a).clamp(min=2.5e-7).sqrt() * i.sigmoid() * x,


class ScalarLstm(Cell):
    states = "h", "stored", "n", "m"

    def step(self, x, h, c, n, m):
        R = self.weight_hh.unflatten(0, (-1, 4 * self.weight_hh.shape[1]))  # of each head
        heads = torch.einsum("hgu,bhu->bhg", R, h.unflatten(1, (len(R), -1))) + x[0].unflatten(1, (len(R), -1))
        i, f, z, o = (it.flatten(1) for it in heads.chunk(4, -1))
        largest = torch.where(n > 0, torch.maximum(m + logsigmoid(f), i), i)
        f, i = (m + logsigmoid(f) - largest).clamp(max=80).exp(), (i - largest).exp()  # finite where n is 0
        c, n = f * c + i * z.tanh(), f * n + i
        return o.sigmoid() * c / n, c, n, largest


class OfPyTorch(Cell):
    """A cell that PyTorch has: its loop."""
    loops = {"rnn": "rnn_{activation}", "lstm": "lstm", "gru_reset_after": "gru"}

    def __call__(self, x, state=None):
        t, *state = state or self.start(x)
        biases = [self.biases(it) + x.new_zeros(len(self.weight_ih)) for it in self.added]
        before = [it[None].contiguous() for it in state]
        loop = getattr(torch, self.loops[type(self).__name__].format(**self.settings))
        outputs, *state = loop(x, before if len(before) > 1 else before[0], [self.weight_ih, self.weight_hh, *biases],
                               True, 1, 0.0, torch.is_grad_enabled(), False, False)
        return outputs, (t + len(x), *(it[0] for it in state))


parts_of = {
    "rnn": [OfPyTorch], "linear_rnn": [LinearRnn], "lstm": [OfPyTorch, Lstm], "lstm_sigmoid": [LstmSigmoid], "gru": [Gru],
    "gru_reset_after": [OfPyTorch], "mgu": [MinimalGatedUnit], "trnn": [TensorRnn], "mrnn": [IntermediateState, Rnn],
    "mlstm": [IntermediateState, Lstm], "tmlstm": [TrueMultiplicativeLstm], "mgru": [IntermediateState, Gru],
    "tmgru": [TrueMultiplicativeGru], "mi_rnn": [Integration, Rnn], "mi_rnn_simple": [Product, Rnn],
    "linear_mi_rnn": [Integration, LinearRnn], "mi_lstm": [Integration, Lstm], "mi_gru": [Integration, Gru],
    "dt_rnn": [DeepTransitionRnn], "dts_rnn": [DeepTransitionRnn], "dt_lstm": [DeepTransition, Lstm],
    "dt_gru": [DeepTransition, Gru], "bn_lstm": [BatchNorm, Lstm], "bn_mi_lstm": [BatchNormIntegration, Lstm],
    "ln_lstm": [LayerNorm, Lstm], "ln_gru": [LayerNormGru], "mogrifier_lstm": [Mogrifier, Lstm],
    "mogrifier_gru": [Mogrifier, Gru], "rhn": [RecurrentHighwayNetwork], "sru": [SimpleRecurrentUnit],
    "qrnn": [QuasiRecurrentNetwork], "fs_lstm": [FastSlowLstm], "min_gru": [MinimalGru], "min_lstm": [MinimalLstm],
    "rg_lru": [RealGatedLinearUnit], "convolution": [Convolution], "slstm": [ScalarLstm]}


def make_cell(name, *arguments):
    return type(name, tuple(parts_of[name]), {})(*arguments)

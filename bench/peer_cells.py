"""Recurrent layers in PyTorch: nn.LSTM where possible, else loops over cells as usually written in Python, under the names of
Rondo's recipes. The equations and papers are in nn/cells/. Next: bench/peers.py, which trains them.
"""

import torch
from torch import nn
from torch.nn import functional as F


class LSTM(nn.Module):
    """nn.LSTM, optionally with recurrent weights dropped per chunk (Merity et al. 2018)."""

    def __init__(self, model, sizes):
        super().__init__()
        self.weight_drop = model["weight_drop"]
        # Layers of equal size are one module, which applies dropout between them.
        if len(set(sizes)) == 1:
            self.modules_of_layers = nn.ModuleList(
                [nn.LSTM(sizes[0], sizes[1], len(sizes) - 1, dropout=model["dropout"])])
        else:
            self.modules_of_layers = nn.ModuleList([nn.LSTM(i, h) for i, h in zip(sizes, sizes[1:])])
        self.dropout_between = nn.Dropout(model["dropout"])
        if model["biases"] == 1:  # nn.LSTM has two or none
            for name, bias in self.named_parameters():
                if "bias_hh" in name:
                    nn.init.zeros_(bias)
                    bias.requires_grad_(False)

    def initial_state(self, batch):
        def zeros(module):
            return torch.zeros(module.num_layers, batch, module.hidden_size)
        return [(zeros(module), zeros(module)) for module in self.modules_of_layers]

    def forward(self, x, states):
        next_states = []
        for i, (module, state) in enumerate(zip(self.modules_of_layers, states)):
            if i > 0:
                x = self.dropout_between(x)
            if self.weight_drop > 0:
                weights = [F.dropout(weight, self.weight_drop, self.training) if "weight_hh" in name else weight
                           for name, weight in module.named_parameters()]
                x, *state = torch.lstm(x, state, weights, True, module.num_layers, module.dropout, self.training,
                                       False, False)
            else:
                x, state = module(x, state)
            next_states.append(tuple(state))
        return x, next_states


def linear(inputs, outputs, bias=False):
    return nn.Linear(inputs, outputs, bias=bias)


class Cell(nn.Module):
    """A hand-written layer: the projections of an input, and a step from them."""

    def __init__(self, inputs, hidden, hoisted):
        super().__init__()
        self.inputs, self.hidden, self.hoisted = inputs, hidden, hoisted

    def initial_state(self, batch):
        return tuple(torch.zeros(batch, self.hidden) for _ in range(self.state_count))

    def forward(self, x, state):
        outputs = []
        if self.hoisted:
            # unbind, because the backward of e[t] fills a gradient of all steps with zeros.
            for step in zip(*(projected.unbind(0) for projected in self.project(x))):
                state = self.step(step, state)
                outputs.append(state[0])
        else:
            for t in range(x.size(0)):
                state = self.step(self.project(x[t]), state)
                outputs.append(state[0])
        return torch.stack(outputs), state


def lstm_gates(i, f, g, o, c):
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


class PlainLSTM(Cell):
    """The LSTM as a loop."""
    state_count = 2

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, 4 * hidden, bias=True), linear(hidden, 4 * hidden)

    def project(self, x):
        return (self.W(x),)

    def step(self, x, state):
        h, c = state
        return lstm_gates(*(x[0] + self.U(h)).chunk(4, 1), c)


class MRNN(Cell):
    """Sutskever et al. 2011."""
    state_count = 1

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, hidden, bias=True), linear(hidden, hidden)
        self.W_mx, self.W_mh = linear(inputs, hidden), linear(hidden, hidden)

    def project(self, x):
        return self.W(x), self.W_mx(x)

    def step(self, x, state):
        Wx, W_mx_x = x
        return (torch.tanh(Wx + self.U(W_mx_x * self.W_mh(state[0]))),)


class MLSTM(Cell):
    """Krause et al. 2016."""
    state_count = 2

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, 4 * hidden, bias=True), linear(hidden, 4 * hidden)
        self.W_mx, self.W_mh = linear(inputs, hidden), linear(hidden, hidden)

    def project(self, x):
        return self.W(x), self.W_mx(x)

    def step(self, x, state):
        Wx, W_mx_x = x
        h, c = state
        return lstm_gates(*(Wx + self.U(W_mx_x * self.W_mh(h))).chunk(4, 1), c)


class TMLSTM(Cell):
    """Maupome & Meurs, with an intermediate state for each gate."""
    state_count = 2

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, 4 * hidden, bias=True), nn.ModuleList(linear(hidden, hidden) for _ in range(4))
        self.W_mx, self.W_mh = linear(inputs, 4 * hidden), linear(hidden, 4 * hidden)

    def project(self, x):
        return self.W(x), self.W_mx(x)

    def step(self, x, state):
        Wx, W_mx_x = x
        h, c = state
        m = W_mx_x * self.W_mh(h)
        return lstm_gates(*(Wx_k + U(m_k) for Wx_k, U, m_k in zip(Wx.chunk(4, 1), self.U, m.chunk(4, 1))), c)


class Integration(nn.Module):
    """The join of Wu et al. 2016: alpha Wx Uh + beta1 Uh + beta2 Wx + b."""

    def __init__(self, inputs, width, hoisted):
        super().__init__()
        self.hoisted, self.W = hoisted, linear(inputs, width)
        self.alpha = nn.Parameter(torch.ones(width))
        self.beta1 = nn.Parameter(torch.full((width,), 0.5))
        self.beta2 = nn.Parameter(torch.full((width,), 0.5))
        self.b = nn.Parameter(torch.zeros(width))

    def project(self, x):
        Wx = self.W(x)
        if not self.hoisted:
            return (Wx,)
        # (alpha Wx + beta1) Uh + (beta2 Wx + b): the factors that do not depend on h.
        return torch.addcmul(self.beta1, self.alpha, Wx), torch.addcmul(self.b, self.beta2, Wx)

    def forward(self, projected, Uh):
        if self.hoisted:
            factor, rest = projected
            return torch.addcmul(rest, factor, Uh)
        Wx, = projected
        return self.alpha * Wx * Uh + self.beta1 * Uh + self.beta2 * Wx + self.b


class MIRNN(Cell):
    """Wu et al. 2016."""
    state_count = 1

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.join, self.U = Integration(inputs, hidden, hoisted), linear(hidden, hidden)

    def project(self, x):
        return self.join.project(x)

    def step(self, x, state):
        return (torch.tanh(self.join(x, self.U(state[0]))),)


class MILSTM(Cell):
    """Wu et al. 2016."""
    state_count = 2

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.join, self.U = Integration(inputs, 4 * hidden, hoisted), linear(hidden, 4 * hidden)

    def project(self, x):
        return self.join.project(x)

    def step(self, x, state):
        h, c = state
        return lstm_gates(*self.join(x, self.U(h)).chunk(4, 1), c)


class MIGRU(Cell):
    """Wu et al. 2016, with the reset before the product."""
    state_count = 1

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.join, self.U = Integration(inputs, 2 * hidden, hoisted), linear(hidden, 2 * hidden)
        self.join_n, self.U_n = Integration(inputs, hidden, hoisted), linear(hidden, hidden)

    def project(self, x):
        return *self.join.project(x), *self.join_n.project(x)

    def step(self, x, state):
        h, half = state[0], len(x) // 2
        r, z = torch.sigmoid(self.join(x[:half], self.U(h))).chunk(2, 1)
        n = torch.tanh(self.join_n(x[half:], self.U_n(r * h)))
        return (n + z * (h - n),)


class GRU(Cell):
    """Cho et al. 2014; nn.GRU has its reset after the product instead."""
    state_count = 1

    def __init__(self, inputs, hidden, hoisted, biases=1):
        super().__init__(inputs, hidden, hoisted)
        self.W = linear(inputs, 3 * hidden, bias=True)
        self.U, self.U_n = (linear(hidden, width, bias=biases == 2) for width in (2 * hidden, hidden))

    def project(self, x):
        return (self.W(x),)

    def update(self, Wx, m, h):
        r_and_z, n = Wx.split((2 * self.hidden, self.hidden), 1)
        r, z = torch.sigmoid(r_and_z + self.U(m)).chunk(2, 1)
        n = torch.tanh(n + self.U_n(r * m))
        return (n + z * (h - n),)

    def step(self, x, state):
        return self.update(x[0], state[0], state[0])


class MGRU(GRU):
    """Maupome & Meurs, with a shared intermediate state."""

    def __init__(self, inputs, hidden, hoisted, biases=1):
        super().__init__(inputs, hidden, hoisted, biases)
        self.W_mx, self.W_mh = linear(inputs, hidden), linear(hidden, hidden)

    def project(self, x):
        return self.W(x), self.W_mx(x)

    def step(self, x, state):
        Wx, W_mx_x = x
        return self.update(Wx, W_mx_x * self.W_mh(state[0]), state[0])


class TMGRU(Cell):
    """Maupome & Meurs, with an intermediate state for each gate."""
    state_count = 1

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, 3 * hidden, bias=True), nn.ModuleList(linear(hidden, hidden) for _ in range(3))
        self.W_mx = linear(inputs, 3 * hidden)
        self.W_mh, self.W_mh_n = linear(hidden, 2 * hidden), linear(hidden, hidden)

    def project(self, x):
        return self.W(x), self.W_mx(x)

    def step(self, x, state):
        h = state[0]
        (Wx_r, Wx_z, Wx_n), (mx_r, mx_z, mx_n) = (it.chunk(3, 1) for it in x)
        mh_r, mh_z = self.W_mh(h).chunk(2, 1)
        U_r, U_z, U_n = self.U
        r, z = torch.sigmoid(Wx_r + U_r(mx_r * mh_r)), torch.sigmoid(Wx_z + U_z(mx_z * mh_z))
        n = torch.tanh(Wx_n + U_n(mx_n * self.W_mh_n(r * h)))
        return (n + z * (h - n),)


class DTRNN(Cell):
    """Pascanu et al. 2013, with one inner layer of the state's size."""
    state_count = 1

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, hidden, bias=True), linear(hidden, hidden)
        self.V = linear(hidden, hidden, bias=True)

    def project(self, x):
        return (self.W(x),)

    def step(self, x, state):
        return (torch.tanh(self.V(torch.tanh(x[0] + self.U(state[0])))),)


def batch_norm(x, gamma):
    """With the statistics of each step of x [.., B, width]."""
    variance, mean = torch.var_mean(x, dim=-2, unbiased=False, keepdim=True)
    return gamma * (x - mean) * torch.rsqrt(variance + 1e-5)


class BNLSTM(Cell):
    """Cooijmans et al. 2016, in training mode; without the population statistics."""
    state_count = 2

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W, self.U = linear(inputs, 4 * hidden), linear(hidden, 4 * hidden)
        self.gamma_ih, self.gamma_hh = (nn.Parameter(torch.full((4 * hidden,), 0.1)) for _ in range(2))
        self.b, self.beta_c = nn.Parameter(torch.zeros(4 * hidden)), nn.Parameter(torch.zeros(hidden))
        self.gamma_c = nn.Parameter(torch.full((hidden,), 0.1))

    def project(self, x):
        return (batch_norm(self.W(x), self.gamma_ih) + self.b,)

    def step(self, x, state):
        h, c = state
        i, f, g, o = (x[0] + batch_norm(self.U(h), self.gamma_hh)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(batch_norm(c, self.gamma_c) + self.beta_c), c


class MinGRU(Cell):
    """Feng et al. 2024, as usually written: all steps at once, with cumulative sums of logarithms (appendix B)."""

    def __init__(self, inputs, hidden, hoisted):
        super().__init__(inputs, hidden, hoisted)
        self.W = linear(inputs, 2 * hidden, bias=True)

    def initial_state(self, batch):
        return (torch.full((batch, self.hidden), 0.5),)  # it needs a logarithm

    def forward(self, x, state):
        z, n = self.W(x).chunk(2, 2)
        kept = -F.softplus(z).cumsum(0)  # the logarithm of the product of 1 - z
        log_g = torch.where(n >= 0, (F.relu(n) + 0.5).log(), -F.softplus(-n))
        summed = torch.cat([state[0].log().unsqueeze(0), log_g - F.softplus(-z) - kept]).logcumsumexp(0)
        h = (kept + summed[1:]).exp()
        return h, (h[-1],)


class Stack(nn.Module):
    """Layers of a hand-written cell."""

    def __init__(self, layers, dropout):
        super().__init__()
        self.layers, self.between = nn.ModuleList(layers), nn.Dropout(dropout)

    def initial_state(self, batch):
        return [layer.initial_state(batch) for layer in self.layers]

    def forward(self, x, states):
        next_states = []
        for i, (layer, state) in enumerate(zip(self.layers, states)):
            x, state = layer(x if i == 0 else self.between(x), state)
            next_states.append(state)
        return x, next_states


class MajorMinor(nn.Module):
    """A major and a minor LSTM side by side ("Major-Minor LSTMs for Word-level Language Model"); the minor one reads the
    embedding."""

    def __init__(self, model, sizes, hoisted):
        super().__init__()
        self.layers, self.between = nn.ModuleList(), nn.Dropout(model["dropout"])
        for i, (inputs, hidden) in enumerate(zip(sizes, sizes[1:])):
            major = int(hidden * model["major_ratio"][i] + 0.5)
            pairs = ((inputs, major), (sizes[0], hidden - major))
            self.layers.append(nn.ModuleList(
                PlainLSTM(*pair, hoisted) if hoisted else LSTM({**model, "hidden": [pair[1]]}, list(pair))
                for pair in pairs))

    def initial_state(self, batch):
        return [cell.initial_state(batch) for pair in self.layers for cell in pair]

    def forward(self, x, states):
        embedded, next_states = x, []
        for i, (major, minor) in enumerate(self.layers):
            below = x if i == 0 else self.between(x)
            outputs, new = zip(*(cell(read, state) for cell, read, state
                                 in zip((major, minor), (below, embedded), states[2 * i:2 * i + 2])))
            next_states += new
            x = torch.cat(outputs, 2)
        return x, next_states


def recurrent_layers(model, hoisted):
    sizes = [model["embedding"], *model["hidden"]]
    if any(ratio < 1 for ratio in model.get("major_ratio", ())):
        return MajorMinor(model, sizes, hoisted)
    if model["cell"] == "lstm" and not hoisted:
        return LSTM(model, sizes)
    cells = {"lstm": PlainLSTM, "gru": GRU, "mrnn": MRNN, "mlstm": MLSTM, "tmlstm": TMLSTM, "mgru": MGRU, "tmgru": TMGRU, "mi_rnn": MIRNN,
             "mi_lstm": MILSTM, "mi_gru": MIGRU, "dt_rnn": DTRNN, "bn_lstm": BNLSTM, "min_gru": MinGRU}
    more = {"biases": model["biases"]} if model["cell"] in ("gru", "mgru") else {}
    return Stack([cells[model["cell"]](i, h, hoisted, **more) for i, h in zip(sizes, sizes[1:])], model["dropout"])

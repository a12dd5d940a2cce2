"""The models of bench/*.toml in PyTorch, trained as `make bench` trains them in Rondo.

    peers.py [MODEL VARIANT THREADS [DEVICE PRECISION]]
    peers.py ceilings DEVICE

Without arguments it says what it is and waits for the end of its input; `ceilings` says how fast the device multiplies
and moves memory. DEVICE is cpu or cuda, PRECISION, of the products of floats there, fp32 or tf32. MODEL is a JSON object with the settings of a
recipe. Answers each line of input, a number of seconds, by training for at least so long and printing a JSON object with
symbols and seconds; the first line printed says what runs. It waits for input without using the CPU. Next:
bench/bench.cpp, which asks, and bench/gpu_bench.py.

VARIANT is how a cell without a module in torch.nn is written: `common`, with all of a step inside the step, or
`hoisted`, with the input projections of all steps before the loop; `compiled` and `compiled_step` are the latter with the
layer, or its step alone, under torch.compile. The `common` LSTM is nn.LSTM.
`probabilities` and `logarithms` are no trainings, but two ways to a mixture; MODEL is then the shape of bench/mixture.h.
"""

import ctypes
import json
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    sys.exit(f"{sys.executable}: {error}")


class LSTM(nn.Module):
    """nn.LSTM, with recurrent weights dropped per chunk where asked for (Merity et al. 2018)."""

    def __init__(self, model, sizes):
        super().__init__()
        self.weight_drop = model["weight_drop"]
        # Layers of one size are one module, which has dropout between them.
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
        # (alpha Wx + beta1) Uh + (beta2 Wx + b): all that needs no h.
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
    """By the statistics of each step of x [.., B, width]."""
    variance, mean = torch.var_mean(x, dim=-2, unbiased=False, keepdim=True)
    return gamma * (x - mean) * torch.rsqrt(variance + 1e-5)


class BNLSTM(Cell):
    """Cooijmans et al. 2016, as it trains; without the population statistics."""
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


def detached(states):
    return tuple(map(detached, states)) if isinstance(states, (tuple, list)) else states.detach()


def recurrent_layers(model, hoisted):
    sizes = [model["embedding"], *model["hidden"]]
    if any(ratio < 1 for ratio in model.get("major_ratio", ())):
        return MajorMinor(model, sizes, hoisted)
    if model["cell"] == "lstm" and not hoisted:
        return LSTM(model, sizes)
    cells = {"lstm": PlainLSTM, "gru": GRU, "mrnn": MRNN, "mlstm": MLSTM, "tmlstm": TMLSTM, "mgru": MGRU, "tmgru": TMGRU, "mi_rnn": MIRNN,
             "mi_lstm": MILSTM, "mi_gru": MIGRU, "dt_rnn": DTRNN, "bn_lstm": BNLSTM}
    more = {"biases": model["biases"]} if model["cell"] in ("gru", "mgru") else {}
    return Stack([cells[model["cell"]](i, h, hoisted, **more) for i, h in zip(sizes, sizes[1:])], model["dropout"])


def mixture_loss(log_prior, logits, targets):
    """Of log_prior [N, K] and logits [N K, V]."""
    experts = log_prior.size(1)
    nats = F.cross_entropy(logits, targets.repeat_interleave(experts), reduction="none")
    return -(log_prior - nats.view(-1, experts)).logsumexp(-1).mean()


class Mixture(nn.Module):
    """The loss of a mixture of softmaxes, Yang et al. 2018. It mixes the targets' probabilities alone, where the
    authors' code mixes those of all symbols."""

    def __init__(self, width, experts, latent_width):
        super().__init__()
        self.experts = experts
        self.prior, self.latent = linear(width, experts), linear(width, experts * latent_width, bias=True)

    def forward(self, x, decoder, targets):
        latents = torch.tanh(self.latent(x)).view(len(x) * self.experts, -1)
        return mixture_loss(F.log_softmax(self.prior(x), -1), decoder(latents), targets)


class LanguageModel(nn.Module):
    def __init__(self, model, hoisted):
        super().__init__()
        self.embedding = nn.Embedding(model["vocabulary"], model["embedding"])
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.recurrent = recurrent_layers(model, hoisted)
        width, self.mixture = model["hidden"][-1], None
        if model["experts"] > 1:
            self.mixture = Mixture(width, model["experts"], model["embedding"])
            width = model["embedding"]
        self.decoder = nn.Linear(width, model["vocabulary"])
        if model["tied"]:
            self.decoder.weight = self.embedding.weight
        self.dropout = nn.Dropout(model["dropout"])

    def forward(self, ids, states, targets):
        output, states = self.recurrent(self.dropout(self.embedding(ids)), states)
        output, targets = self.dropout(output).flatten(0, 1), targets.flatten()
        if self.mixture:
            return self.mixture(output, self.decoder, targets), states
        return F.cross_entropy(self.decoder(output), targets), states


def make_optimizer(model, parameters):
    """The optimizer in the fastest implementation that this version has for the device, and which one that is."""
    made = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[model["optimizer"]]
    for implementation in ("fused", "foreach"):
        try:
            return made(parameters, lr=model["learning_rate"], **{implementation: True}), implementation
        except (RuntimeError, TypeError):
            pass
    return made(parameters, lr=model["learning_rate"]), "plain"


class Training:
    chunks = 50

    def __init__(self, model, variant):
        self.batch, self.length, self.clip = model["batch"], model["length"], model["clip"]
        self.model = LanguageModel(model, variant != "common")
        for layer in self.model.modules():
            if isinstance(layer, Cell) and variant == "compiled":
                layer.forward = torch.compile(layer.forward)
            elif isinstance(layer, Cell) and variant == "compiled_step":
                layer.step = torch.compile(layer.step)
        self.parameters = [it for it in self.model.parameters() if it.requires_grad]
        self.optimizer, self.implementation = make_optimizer(model, self.parameters)
        self.ids = torch.randint(model["vocabulary"], (self.length * self.chunks + 1, self.batch))
        self.chunk = 0
        self.states = self.model.recurrent.initial_state(self.batch)

    def update(self):
        begin = self.chunk * self.length
        self.chunk = (self.chunk + 1) % self.chunks
        inputs, targets = self.ids[begin:begin + self.length], self.ids[begin + 1:begin + self.length + 1]
        self.optimizer.zero_grad(set_to_none=True)
        loss, states = self.model(inputs, self.states, targets)
        self.states = detached(states)
        loss.backward()
        if self.clip > 0:
            nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        self.last = loss.detach()
        return inputs.numel()


class MixtureAlone:
    """The output layer of a mixture of softmaxes with its loss and gradients: in `probabilities` of all symbols, as
    Yang et al. 2018 compute it, or in `logarithms` of the targets' alone, as Mixture does."""

    implementation = "no"

    def __init__(self, shape, variant):
        self.in_logarithms = variant == "logarithms"
        rows, experts, embedding, vocabulary = (shape[it] for it in ("rows", "experts", "embedding", "vocabulary"))
        self.rows, self.experts, self.embedding, self.vocabulary = rows, experts, embedding, vocabulary

        def leaf(*sizes):
            return torch.empty(*sizes).uniform_(-0.1, 0.1).requires_grad_()
        self.latents, self.prior_logits = leaf(rows, experts * embedding), leaf(rows, experts)
        self.parameters = [leaf(vocabulary, embedding), leaf(vocabulary)]
        self.targets = torch.randint(vocabulary, (rows,))

    def loss(self, logits):
        if self.in_logarithms:
            return mixture_loss(F.log_softmax(self.prior_logits, -1), logits, self.targets)
        probabilities = F.softmax(logits, -1).view(self.rows, self.experts, self.vocabulary)
        mixed = (probabilities * F.softmax(self.prior_logits, -1).unsqueeze(2)).sum(1)
        return F.nll_loss(torch.log(mixed + 1e-8), self.targets)

    def update(self):
        for it in (self.latents, self.prior_logits, *self.parameters):
            it.grad = None
        loss = self.loss(F.linear(self.latents.view(-1, self.embedding), *self.parameters))
        loss.backward()
        self.last = loss.detach()
        return self.rows


def train(it, seconds):
    start, symbols = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        symbols += it.update()
    nats = it.last.item()  # only now: a GPU works on while Python goes on
    answer = {"symbols": symbols, "seconds": time.perf_counter() - start, "nats": nats}
    if it.last.is_cuda:
        torch.cuda.synchronize()
        answer.update(seconds=time.perf_counter() - start, peak_bytes=torch.cuda.max_memory_allocated())
    return answer


def ceilings(device):
    """What a GPU multiplies in a second, in floating-point operations of products of 8192 x 8192 numbers, and the bytes
    that it moves in copies of a gigabyte, read and written."""
    def seconds(work, repeats=10):
        times = []
        for _ in range(repeats + 2):  # two to warm up
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return sorted(times[2:])[repeats // 2]

    n, answer = 8192, {"what": f"torch {torch.__version__}", "device": torch.cuda.get_device_name()}
    a, b = torch.randn(n, n, device=device), torch.randn(n, n, device=device)
    for precision in ("fp32", "tf32"):
        set_precision(precision)
        answer[precision] = 2 * n ** 3 / seconds(lambda: a @ b)
    block = torch.randn(1 << 28, device=device)
    copy = torch.empty_like(block)
    answer["bandwidth"] = 2 * block.nbytes / seconds(lambda: copy.copy_(block))
    return answer


def set_precision(precision):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"


def kernels():
    """The libraries behind the matrix products, and the kernels that they chose where they tell."""
    if torch.backends.mkl.is_available():
        lines = torch.__config__.show().splitlines()
        version = next((line.split("Version")[1].split("-")[0].strip() for line in lines if "Math Kernel" in line), "")
        capability = next((line.split(":")[1].strip() for line in lines if "CPU capability" in line), "")
        return f"MKL {version}, oneDNN, {capability}"
    try:
        blas = ctypes.CDLL("libopenblas.so.0")
        blas.openblas_get_corename.restype = ctypes.c_char_p
        return "OpenBLAS " + blas.openblas_get_corename().decode()
    except (OSError, AttributeError):
        return "BLAS of unknown make"


def main():
    introduction = {"what": f"torch {torch.__version__}", "kernels": kernels()}
    if len(sys.argv) == 1:
        print(json.dumps(introduction), flush=True)
        return sys.stdin.read()
    if sys.argv[1] == "ceilings":
        return print(json.dumps(ceilings(sys.argv[2])), flush=True)
    model, variant, threads = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    device, precision = sys.argv[4:6] if len(sys.argv) > 4 else ("cpu", "fp32")
    set_precision(precision)
    if device != "cpu":
        torch.set_default_device(device)
    torch.manual_seed(1)
    torch.set_num_threads(threads)
    training = MixtureAlone(model, variant) if "rows" in model else Training(model, variant)
    for _ in range(model["warm_up_updates"]):
        training.update()
    introduction.update(threads=torch.get_num_threads(), optimizer=training.implementation,
                        parameters=sum(it.numel() for it in training.parameters))
    print(json.dumps(introduction), flush=True)
    for line in sys.stdin:
        print(json.dumps(train(training, float(line))), flush=True)


if __name__ == "__main__":
    main()

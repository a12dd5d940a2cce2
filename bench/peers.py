"""The models of bench/*.toml in PyTorch, trained as `make bench` trains them in Rondo.

    peers.py [MODEL VARIANT THREADS [DEVICE PRECISION]]
    peers.py ceilings DEVICE

Without arguments it describes itself and waits for the end of its input; `ceilings` measures how fast a GPU multiplies
and moves memory. DEVICE is cpu or cuda; PRECISION is fp32, tf32 (products of floats on a GPU), bf16 or fp16 (torch.autocast; fp16
without the scaling of losses that a real training needs).
MODEL is a JSON object with the settings of a recipe. It answers each line of input, a number of seconds, by training for
at least this time and printing a JSON object with symbols and seconds; the first line printed describes what runs. It
waits for input without using the CPU. Next: bench/peer_cells.py, bench/peer_translation.py; bench/bench.cpp and
bench/gpu_bench.py, which start it.

VARIANT is how a cell is written: `common`, with everything inside the step, or `hoisted`, with the input projections of all
steps before the loop; `compiled` and `compiled_step` are `hoisted` with the layer, or only its step, under torch.compile. The
`common` LSTM is nn.LSTM. `graphed` is one of the first two, nn.LSTM or else `hoisted`, with the whole step as one CUDA graph, so that
no host launches each kernel; `padded` is `graphed` with units and embeddings up to the next multiple of 64, of which fast kernels
exist: a model of another size, which computes more. `probabilities` and `logarithms` are not trainings but two ways to compute a mixture; MODEL is then
the mixture's shape of bench/worker.h; a MODEL with `batches` is a translator's.
"""

import ctypes
import json
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F

    from peer_cells import Cell, linear, recurrent_layers
    from peer_translation import TranslationTraining
except ImportError as error:
    sys.exit(f"{sys.executable}: {error}")


def mixture_loss(log_prior, logits, targets):
    """Of log_prior [N, K] and logits [N K, V]."""
    experts = log_prior.size(1)
    nats = F.cross_entropy(logits, targets.repeat_interleave(experts), reduction="none")
    return -(log_prior - nats.view(-1, experts)).logsumexp(-1).mean()


class Mixture(nn.Module):
    """The loss of a mixture of softmaxes, Yang et al. 2018. It mixes only the targets' probabilities; the authors' code
    mixes those of all symbols."""

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


def padded(model, multiple=64):
    """The model with units and embeddings up to the next multiple."""
    def up(width):
        return -(-width // multiple) * multiple
    return {**model, "embedding": up(model["embedding"]), "hidden": [up(it) for it in model["hidden"]]}


def make_optimizer(model, parameters, **settings):
    """The optimizer in the fastest implementation that this version has for the device, and which one that is."""
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[model["optimizer"]]

    def made(*words, **more):
        return kind(*words, **more, **(settings if model["optimizer"] == "adam" else {}))
    for implementation in ("fused", "foreach"):
        try:
            return made(parameters, lr=model["learning_rate"], **{implementation: True}), implementation
        except (RuntimeError, TypeError):
            pass
    return made(parameters, lr=model["learning_rate"]), "plain"


def detached(states):
    return tuple(map(detached, states)) if isinstance(states, (tuple, list)) else states.detach()


def copy_states(to, states):
    if isinstance(states, (tuple, list)):
        for own, other in zip(to, states, strict=True):
            copy_states(own, other)
    else:
        to.copy_(states)


class Training:
    chunks = 50
    optimizer_settings = {}

    def __init__(self, model, variant):
        self.batch, self.length, self.clip = model["batch"], model["length"], model["clip"]
        self.model = LanguageModel(model, variant != "common")
        for layer in self.model.modules():
            if isinstance(layer, Cell) and variant == "compiled":
                layer.forward = torch.compile(layer.forward)
            elif isinstance(layer, Cell) and variant == "compiled_step":
                layer.step = torch.compile(layer.step)
        self.parameters = [it for it in self.model.parameters() if it.requires_grad]
        self.optimizer, self.implementation = make_optimizer(model, self.parameters, **self.optimizer_settings)
        self.ids = torch.randint(model["vocabulary"], (self.length * self.chunks + 1, self.batch))
        self.chunk = 0
        self.states = self.model.recurrent.initial_state(self.batch)

    def next_chunk(self):
        begin = self.chunk * self.length
        self.chunk = (self.chunk + 1) % self.chunks
        return self.ids[begin:begin + self.length], self.ids[begin + 1:begin + self.length + 1]

    def step(self, inputs, targets):
        """Trains on them. The loss, and the states behind them."""
        self.optimizer.zero_grad(set_to_none=True)
        loss, states = self.model(inputs, self.states, targets)
        loss.backward()
        if self.clip > 0:
            nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        return loss.detach(), detached(states)

    def update(self):
        inputs, targets = self.next_chunk()
        self.last, self.states = self.step(inputs, targets)
        return inputs.numel()


class GraphedTraining(Training):
    """The whole step is a CUDA graph: it reads the symbols and the states where they are put, and writes the new states there.
    Nothing in it waits for the GPU: the optimizer's count of steps and the norm of the gradients stay there. Before it is captured
    some steps run on a stream of their own, as PyTorch asks, so that all is allocated and chosen."""

    eager_updates = 2
    optimizer_settings = {"capturable": True}

    def __init__(self, model, variant):
        if not torch.cuda.is_available():
            sys.exit(f"{variant}: a CUDA graph needs a GPU")
        model = padded(model) if variant == "padded" else model
        super().__init__(model, "common" if model["cell"] == "lstm" else "hoisted")
        self.inputs, self.targets = (torch.empty_like(it) for it in self.next_chunk())
        self.beside, self.graph, self.updates = torch.cuda.Stream(), torch.cuda.CUDAGraph(), 0

    def step_in_place(self):
        self.last, states = self.step(self.inputs, self.targets)
        copy_states(self.states, states)

    def update(self):
        inputs, targets = self.next_chunk()
        self.inputs.copy_(inputs)
        self.targets.copy_(targets)
        self.updates += 1
        if self.updates <= self.eager_updates:
            self.beside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.beside):
                self.step_in_place()
            torch.cuda.current_stream().wait_stream(self.beside)
            return inputs.numel()
        if self.updates == self.eager_updates + 1:
            with torch.cuda.graph(self.graph):  # records, and runs nothing
                self.step_in_place()
        self.graph.replay()
        return inputs.numel()


class MixtureAlone:
    """The output layer of a mixture of softmaxes with its loss and gradients: in `probabilities` of all symbols, as
    Yang et al. 2018 compute it, or in `logarithms` of only the targets', as Mixture does."""

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


def update(it, device_type, precision):
    # Around each update, not all of them: autocast keeps rounded weights until its end.
    rounded = {"bf16": torch.bfloat16, "fp16": torch.float16}
    with torch.autocast(device_type, dtype=rounded.get(precision, torch.bfloat16), enabled=precision in rounded):
        return it.update()


def train(it, seconds, device_type, precision):
    start, symbols = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        symbols += update(it, device_type, precision)
    nats = it.last.item()  # only now: it waits for the GPU
    answer = {"symbols": symbols, "seconds": time.perf_counter() - start, "nats": nats}
    if it.last.is_cuda:
        torch.cuda.synchronize()
        answer.update(seconds=time.perf_counter() - start, peak_bytes=torch.cuda.max_memory_allocated())
    return answer


def ceilings(device):
    """Floating-point operations per second of a GPU in products of 8192 x 8192 numbers, and bytes per second in copies of
    a gigabyte, read and written."""
    def seconds(work, repeats=10):
        times = []
        for _ in range(repeats + 2):  # two for warming up
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
    c, d = a.bfloat16(), b.bfloat16()
    answer["bf16"] = 2 * n ** 3 / seconds(lambda: c @ d)
    block = torch.randn(1 << 28, device=device)
    copy = torch.empty_like(block)
    answer["bandwidth"] = 2 * block.nbytes / seconds(lambda: copy.copy_(block))
    return answer


def set_precision(precision):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"


def kernels():
    """The libraries of the matrix products, and the kernels that they chose, if they report them."""
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
    if "rows" in model:
        training = MixtureAlone(model, variant)
    elif "batches" in model:
        training = TranslationTraining(model, make_optimizer)
    elif variant in ("graphed", "padded"):
        training = GraphedTraining(model, variant)
    else:
        training = Training(model, variant)
    for _ in range(model["warm_up_updates"]):
        update(training, device, precision)
    introduction.update(threads=torch.get_num_threads(), optimizer=training.implementation,
                        parameters=sum(it.numel() for it in training.parameters))
    if variant == "padded":
        introduction["units"] = padded(model)["hidden"]
    print(json.dumps(introduction), flush=True)
    for line in sys.stdin:
        print(json.dumps(train(training, float(line), device, precision)), flush=True)


if __name__ == "__main__":
    main()

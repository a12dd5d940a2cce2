"""Golden numbers made with PyTorch, which the C++ tests hold Rondo to; writes recurrent.safetensors.

    pip install torch
    python make_golden.py

The committed file was made with torch 2.15.0 (x86-64 with AVX-512, Python 3.11). The same version writes the
same bytes again; on a CPU with other vector instructions the last bits of computed numbers may differ.

Every tensor is float64 (token ids too, so that a reader needs one type) and computed in double. What is given
to a computation is exact in float: Rondo in float and Rondo in double start from the same numbers. Scalars
have shape [1].

  CASE.NAME                an input, a weight under PyTorch's name (lstm.weight_ih_l0), or a result
  CASE.loss                the sum over the results of sum(loss_weight * result), or the language model's own
  CASE.loss_weight.RESULT  the fixed weights in it
  CASE.gradient.NAME       the gradient of the loss with respect to CASE.NAME

  rnn, lstm, gru           two layers, initial state not zero; RNN with tanh; GRU in the reset-after form
  log_softmax              over the last dimension; one row lies far above zero and one far below
  language_model           embedding, LSTM from zero state, linear decoder; mean cross entropy; tokens repeat
  sgd_momentum, sgd_weight_decay, adam, adamw, rmsprop
                           start [parameters], gradients [steps, parameters], and trajectory
                           [steps, parameters]: the parameters after each step
  clip_norm,               global-norm clipping of two gradients: gradient.NAME before, clipped.NAME after,
  clip_norm_idle           and the norm before; the idle case's norm is below its limit

The settings of a case stand in the file's metadata as CASE.SETTING, under PyTorch's names, written as JSON.

This is not a test and no part of the build. Next: the tests that read the file, in the folder above.
"""

import array
import json
import pathlib
import struct

import torch
from torch import nn

TENSORS = {}
METADATA = {"made_with": "torch " + torch.__version__.split("+")[0]}


def generator(seed):
    return torch.Generator().manual_seed(seed)


def draw(random, *shape, bound=2.0):
    """Uniform on a grid in [-bound, bound], exact in float and the same on every CPU, which randn is not."""
    return torch.randint(-2048, 2049, shape, generator=random).double() * (bound / 2048)


def draw_parameters(random, module, bound):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw(random, *parameter.shape, bound=bound))


def record(case, tensors):
    for name, tensor in tensors.items():
        assert f"{case}.{name}" not in TENSORS
        TENSORS[f"{case}.{name}"] = tensor.detach().double().clone()


def record_settings(case, settings):
    METADATA.update({f"{case}.{name}": json.dumps(value) for name, value in settings.items()})


def record_gradients(case, leaves, results, loss):
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    record(case, leaves)
    record(case, results)
    record(case, {"loss": loss.reshape(1)})
    record(case + ".gradient", dict(zip(leaves, gradients)))


def record_weighted(case, random, leaves, results):
    loss_weights = {name: draw(random, *result.shape) for name, result in results.items()}
    loss = sum((loss_weights[name] * result).sum() for name, result in results.items())
    record(case + ".loss_weight", loss_weights)
    record_gradients(case, leaves, results, loss)


def recurrent(case, module, seed, T=5, B=3, I=4, H=5, layers=2):
    random = generator(seed)
    layer = module(I, H, layers, dtype=torch.float64)
    draw_parameters(random, layer, bound=0.5)
    leaves = {"input": draw(random, T, B, I), "h0": draw(random, layers, B, H)}
    if module is nn.LSTM:
        leaves["c0"] = draw(random, layers, B, H)
    for leaf in leaves.values():
        leaf.requires_grad_()
    if module is nn.LSTM:
        output, (h_n, c_n) = layer(leaves["input"], (leaves["h0"], leaves["c0"]))
        results = {"output": output, "h_n": h_n, "c_n": c_n}
    else:
        output, h_n = layer(leaves["input"], leaves["h0"])
        results = {"output": output, "h_n": h_n}
    record_weighted(case, random, leaves | dict(layer.named_parameters()), results)


def log_softmax(case, seed):
    random = generator(seed)
    logits = draw(random, 4, 7)
    logits[1] += 100
    logits[2] -= 200
    logits.requires_grad_()
    record_weighted(case, random, {"input": logits}, {"output": logits.log_softmax(-1)})


class LanguageModel(nn.Module):
    def __init__(self, V, E, H):
        super().__init__()
        self.embedding = nn.Embedding(V, E, dtype=torch.float64)
        self.lstm = nn.LSTM(E, H, dtype=torch.float64)
        self.decoder = nn.Linear(H, V, dtype=torch.float64)

    def forward(self, tokens):
        return self.decoder(self.lstm(self.embedding(tokens))[0])


def language_model(case, seed, V=11, E=4, H=5, T=4, B=3):
    random = generator(seed)
    model = LanguageModel(V, E, H)
    draw_parameters(random, model, bound=1.5)
    text = torch.randint(V, (T + 1, B), generator=random)
    tokens, targets = text[:-1], text[1:]
    assert 1 < len(tokens.unique()) < tokens.numel(), "want a repeated token, whose gradients add up"
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    record(case, {"tokens": tokens, "targets": targets})
    results = {"logits": logits, "log_probabilities": logits.log_softmax(-1)}
    record_gradients(case, dict(model.named_parameters()), results, loss)


def optimizer(case, kind, seed, **settings):
    # Gradients of very different sizes, one always small and one zero, tell where epsilon is added.
    random = generator(seed)
    scales = torch.tensor([10, 1, 1, 0.1, 1e-3, 1e-5, 0])
    start = draw(random, len(scales))
    gradients = (draw(random, 5, len(scales)) * scales).float().double()
    parameter = nn.Parameter(start.clone())
    updates = kind([parameter], **settings)
    trajectory = []
    for gradient in gradients:
        parameter.grad = gradient.clone()
        updates.step()
        trajectory.append(parameter.detach().clone())
    record(case, {"start": start, "gradients": gradients, "trajectory": torch.stack(trajectory)})
    record_settings(case, settings)


def clip_norm(case, seed, max_norm):
    # PyTorch scales by min(1, max_norm / (norm + 1e-6)).
    random = generator(seed)
    gradients = {"first": draw(random, 3, 4), "second": draw(random, 5)}
    parameters = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients.values()]
    for parameter, gradient in zip(parameters, gradients.values()):
        parameter.grad = gradient.clone()
    norm = nn.utils.clip_grad_norm_(parameters, max_norm)
    record(case + ".gradient", gradients)
    record(case + ".clipped", {name: parameter.grad for name, parameter in zip(gradients, parameters)})
    record(case, {"norm": norm.reshape(1)})
    record_settings(case, {"max_norm": max_norm})


def write_safetensors(path):
    """By hand: the safetensors package orders the metadata differently in every run."""
    header, data = {"__metadata__": METADATA}, b""
    for name, tensor in TENSORS.items():
        values = array.array("d", tensor.flatten().tolist())
        offsets = [len(data), len(data) + len(values) * values.itemsize]
        header[name] = {"dtype": "F64", "shape": list(tensor.shape), "data_offsets": offsets}
        data += values.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.set_num_threads(1)
    recurrent("rnn", nn.RNN, seed=1)
    recurrent("lstm", nn.LSTM, seed=2)
    recurrent("gru", nn.GRU, seed=3)
    log_softmax("log_softmax", seed=4)
    language_model("language_model", seed=5)
    optimizer("sgd_momentum", torch.optim.SGD, seed=6, lr=0.1, momentum=0.9)
    optimizer("sgd_weight_decay", torch.optim.SGD, seed=7, lr=0.1, weight_decay=0.05)
    optimizer("adam", torch.optim.Adam, seed=8, lr=0.01, betas=(0.9, 0.999), eps=1e-8)
    optimizer("adamw", torch.optim.AdamW, seed=9, lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    optimizer("rmsprop", torch.optim.RMSprop, seed=10, lr=0.01, alpha=0.99, eps=1e-8)
    clip_norm("clip_norm", seed=11, max_norm=0.25)
    clip_norm("clip_norm_idle", seed=11, max_norm=100.0)
    write_safetensors(pathlib.Path(__file__).with_name("recurrent.safetensors"))


if __name__ == "__main__":
    main()

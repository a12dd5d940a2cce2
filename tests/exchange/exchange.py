"""Language models that are exchanged with PyTorch and ONNX, and translators that are exported to ONNX.

    exchange.py LM pytorch    models trained in PyTorch, imported; exported models, as their use.py scores lines
    exchange.py LM onnx       the same of models that are exported to ONNX, and what translators write

Needs torch and safetensors, or onnxruntime and numpy; says that it is skipped where they are not installed.
"""
import importlib.util
import json
import os
import pathlib
import pty
import random
import subprocess
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # small models: threads would wait for each other
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tiny_run  # noqa: E402

SKIPPED = 77
NEEDED = {"pytorch": ("torch", "safetensors"), "onnx": ("onnxruntime", "numpy")}
WORDS = "the cat sat on a mat and saw one dog run up".split()
TOLERANCE = 1e-5  # nats of a symbol


def lines_of_text(count, words=WORDS, seed=2):
    chance = random.Random(seed)
    return [" ".join(chance.choices(words, k=chance.randrange(9))) for _ in range(count)]


def train_in_pytorch(kind, layers, hidden, embedding, tied, ids, V):
    """A few steps of Adam; the weights under the names of its modules, and the loss on the text: of every symbol but
    the first, in nats."""
    import torch
    from torch import nn
    torch.manual_seed(1)

    class LanguageModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(V, embedding)
            self.rnn = getattr(nn, kind)(embedding, hidden, layers)
            self.decoder = nn.Linear(hidden, V)
            if tied:
                self.decoder.weight = self.embedding.weight

        def forward(self, x):
            return self.decoder(self.rnn(self.embedding(x))[0])

    model = LanguageModel()
    text = torch.tensor(ids)
    streams = text[:len(text) // 10 * 10].view(10, -1).t()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(30):
        optimizer.zero_grad()
        loss_of(model(streams[:-1]).flatten(0, 1), streams[1:].flatten()).backward()
        optimizer.step()
    with torch.no_grad():
        loss = loss_of(model(text[:-1, None])[:, 0], text[1:]).item()
    return {name: it.contiguous() for name, it in model.state_dict().items()}, loss


def check_imports(workshop):
    from safetensors.torch import save_file
    folder = workshop.path
    vocabulary = ["<unk>", "<eos>", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    lines = lines_of_text(200)
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    ids = [vocabulary.index(word) for line in lines for word in [*line.split(), "<eos>"]]
    for kind, cell, layers, hidden, tied in (("LSTM", "lstm", 2, 16, False), ("GRU", "gru_reset_after", 2, 12, True),
                                             ("RNN", "rnn", 1, 16, False), ("LSTM", "lstm", 1, 12, True)):
        weights, loss = train_in_pytorch(kind, layers, hidden, 12, tied, ids, len(vocabulary))
        more = []
        if tied:  # as safetensors demands it of tensors that share memory
            weights["decoder.weight"] = weights["decoder.weight"].clone()
        if kind == "RNN":  # with the names and shapes of another program
            weights = {"model." + name: it for name, it in weights.items()}
            weights["model.head"] = weights.pop("model.decoder.weight").t().contiguous()
            (folder / "map").write_text("model.head = decoder.weight transposed\nmodel.* = *\n")
            more = ["--map", folder / "map"]
        save_file(weights, folder / "weights.safetensors")
        run = folder / f"{kind}-{layers}"
        settings = {"model.cell": cell, "model.layers": layers, "model.hidden": hidden, "model.embedding": 12,
                    "model.tied": str(tied).lower()}
        for key, value in settings.items():
            more += ["--set", f"{key}={value}"]
        workshop.must("import", folder / "weights.safetensors", "--recipe", folder / "tiny.toml", "--vocab",
                      folder / "vocab.txt", "--out", run, *more)
        nats = json.loads(workshop.must("eval", run, "--text", folder / "text.txt", "--json").out)["nats"]
        assert abs(nats - loss) < TOLERANCE, (kind, nats, loss)
        print(f"imported nn.{kind}, {layers} layers{', tied' * tied}: PyTorch {loss:.6f}, lm {nats:.6f} nats")


def rows_of(text):
    return [(float(total), int(count), int(unknown)) for total, count, unknown in map(str.split, text.splitlines())]


def module_of(folder, name):
    """A program of an exported folder; those of another may have the same names."""
    for it in ("cells", "model", "text", "use"):
        sys.modules.pop(it, None)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


# Of the cells' settings those that change what they compute, and the other parts of a model.
SETTINGS = ["model.cell=rnn model.activation=relu model.trained_initial_states=true", "model.cell=lstm model.biases=1 model.trained_initial_states=true",
            "model.cell=gru_reset_after model.biases=1", "model.cell=gru model.biases=0", "model.cell=mlstm model.intermediate=3",
            *(f"model.cell=mgu model.mgu_gate={gate} model.biases={biases}" for gate, biases in (("mgu1", 2), ("mgu1", 0), ("mgu2", 1), ("mgu3", 1))),
            "model.cell=mogrifier_lstm model.mogrifier_rank=2", "model.cell=dts_rnn model.transition=[3,5]", "model.cell=dt_gru model.transition=[3,5]",
            "model.cell=fs_lstm model.fast_cells=4 model.slow_units=3", "model.cell=qrnn model.window=4", "model.cell=qrnn model.window=1",
            "model.cell=sru model.highway_bias=-1", "model.cell=slstm model.heads=2", "model.cell=rhn model.recurrence_depth=2",
            "model.cell=min_gru model.block=residual model.hidden=[4,4] model.expansion=2 model.convolution=true model.gate=true model.feed_forward=2",
            "model.cell=lstm model.block=residual model.hidden=[4,4]", "model.output=adaptive model.cluster_divisor=2", "model.output=adaptive model.cutoffs=[3,5,8] model.cluster_divisor=1",
            "model.experts=3", "model.experts=3 model.tied=true"]


def check_cell(workshop, number, settings):
    """Gradients: what one update by SGD at a rate of 1 takes from the weights, which at a rate of 0 it leaves. Values: of the
    model after ten updates in PyTorch, imported."""
    import torch
    from safetensors.torch import load_file
    folder = workshop.path
    still, moved, out, back = (folder / f"{name}-{number}" for name in ("still", "moved", "exported", "back"))
    for run, rate in ((still, 0), (moved, 1)):
        sets = ["model.layers=2", "model.hidden=[4,6]", "model.init_all=0.4", "model.dropout=0", "train.batch=8", "train.optimizer=sgd", f"train.learning_rate={rate}", *settings.split()]
        workshop.must(*workshop.train(run, "--steps", 1, *(word for it in sets for word in ("--set", it))))
    workshop.must("export", still, "--out", out)
    use, exported = module_of(out, "use"), sys.modules["model"]
    model, after = exported.model, load_file(moved / "model.safetensors")
    assert set(model.state_dict()) == set(after), (settings, set(model.state_dict()) ^ set(after))
    words = (folder / "data" / "train.txt").read_text().replace("\n", " <eos> ").split()
    ids = torch.tensor([use.vocabulary.id_of[it.encode()] for it in words])
    streams = torch.stack([ids[b * ((len(ids) - 1) // 8):][:11] for b in range(8)], 1)  # the batch, and the recipe's length

    def loss():
        log_p = model.train()(streams[:-1])[0]
        return -log_p.gather(-1, streams[1:, :, None]).mean()

    loss().backward()
    worst = 0
    for name, it in model.named_parameters():
        expected = it.detach() - after[name]
        gradient = torch.zeros_like(it) if it.grad is None else it.grad
        apart, largest = ((gradient - expected).abs().max().item(), expected.abs().max().item())
        rounding = torch.finfo(it.dtype).eps * it.abs().max().item()  # of the weights, whose difference it is
        assert apart < 1e-4 * largest + rounding, (settings, name, apart, largest)
        worst = max(worst, apart)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(10):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    model.eval()
    model.save(out / "model.safetensors")
    workshop.must("import", out, "--out", back)
    lines = [" ".join(random.Random(number + length).choices(WORDS, k=length)) for length in (1, 5, 30)]
    mine = rows_of(workshop.lm("score", back, stdin="\n".join(lines).encode() + b"\n").out)
    theirs = rows_of("\n".join(use.score(line.encode()) for line in lines))
    far = max(abs(a[0] - b[0]) / a[1] for a, b in zip(mine, theirs, strict=True))
    assert far < TOLERANCE, (settings, far)
    return f"{settings}: gradients at most {worst:.1e} apart; after ten updates a line {far:.1e} nats of a symbol"


def check_cells(workshop):
    cells = [line.split()[0] for line in workshop.must("info", "--cells").out.splitlines() if line[0] != " "]
    for number, settings in enumerate([*(f"model.cell={it}" for it in cells), *SETTINGS]):
        print(check_cell(workshop, number, settings), flush=True)


def check_exports(workshop, kind):
    folder = workshop.path
    lines = "\n".join(lines_of_text(1000, WORDS + ["never"])).encode() + b"\n"
    (folder / "lines.txt").write_bytes(lines)
    variants = [["model.cell=rnn"], ["model.cell=rnn", "model.activation=relu"], ["model.cell=lstm", "model.layers=2", "model.hidden=[7, 5]"],
                ["model.cell=lstm", "model.output_layers=[6, 5]", "model.biases=1", "data.unit=characters"],
                ["model.cell=gru_reset_after", "model.hidden=4", "model.tied=true"],
                ["model.cell=lstm", "model.embedding=0", "model.biases=0", "data.unit=bytes"]]
    if kind == "onnx":
        variants.append(["model.cell=gru", "model.layers=2"])
    if importlib.util.find_spec("sentencepiece"):
        variants.append(["model.cell=lstm", "data.unit=pieces", "data.pieces=250"])
    for number, settings in enumerate(variants):
        run, out = folder / f"run-{number}", folder / f"out-{number}"
        sets = [word for it in settings for word in ("--set", it)]
        workshop.must(*workshop.train(run, "--epochs", 2, *sets))
        workshop.must("export", run, "--format", kind, "--out", out)
        mine = rows_of(workshop.lm("score", run, stdin=lines).out)
        command = [sys.executable, out / "use.py"]
        theirs = rows_of(subprocess.run([*command, "score"], input=lines, stdout=subprocess.PIPE, check=True).stdout.decode())
        assert len(mine) == len(theirs) == 1000, (len(mine), len(theirs))
        worst = 0
        for line, (a, b) in enumerate(zip(mine, theirs), 1):
            assert a[1:] == b[1:], (settings, line, a, b)
            worst = max(worst, abs(a[0] - b[0]) / max(1, a[1]))
        assert worst < TOLERANCE, (settings, worst)
        if "data.unit=characters" in settings:
            refused = subprocess.run([*command, "score"], input=b"a\n\xe9\n", capture_output=True)
            assert refused.returncode == 1 and refused.stderr.startswith(b"line 2: not UTF-8"), refused
        sample = subprocess.run([*command, "sample", "50", "1"], stdout=subprocess.PIPE, check=True).stdout
        assert len(sample) >= 50, sample
        reader, terminal = pty.openpty()
        subprocess.run([*command, "sample", "5", "1"], stdout=terminal, check=True)
        os.close(terminal)
        shown = os.read(reader, 1000)
        assert shown.endswith(b"\n") and not shown.endswith(b"\n\r\n"), shown  # a prompt begins in a line of its own
        print(f"exported {' '.join(settings)}: 1000 lines, at most {worst:.1e} nats of a symbol apart")


# Each cell, score, bridge, unit and tie of tables; layers in one direction and in both, and decoders of more and of fewer.
TRANSLATORS = ["model.cell=lstm model.attention=general model.bridge=linear model.encoder_layers=2 model.decoder_layers=3 "
               "model.tied=none",
               "model.cell=gru model.attention=dot model.bridge=copy model.input_feeding=true train.reverse_source=true "
               "model.bidirectional=false model.encoder_layers=2 model.tied=output",
               "model.cell=gru_reset_after model.attention=additive model.bridge=zeros model.input_feeding=true model.tied=all "
               "data.shared_vocabulary=true data.unit=characters",
               "model.cell=rnn model.activation=relu model.attention=none model.bridge=linear train.reverse_source=true "
               "model.biases=1 data.max_size=10",
               "model.cell=lstm model.attention=none model.bridge=copy decoding.allow_unknown=true data.max_size=8 model.biases=0"]
SMALL = ("data.source_language=aa data.target_language=bb data.train_files=train data.valid_files=valid data.test_files=test "
         "model.embedding=8 model.hidden=12 model.readout=8 model.dropout=0 model.forget_bias=0 train.batch=10 "
         "train.epochs=12 train.learning_rate=0.02 train.decay_after=20 train.decides=nats decoding.max_length=20 ")


def check_batch(model):
    """Two sentences of one length, read together, have the states and the predictions of each alone."""
    import numpy
    ids = [[1, 2, 3, 2, 0], [3, 1, 1, 2, 0]]
    alone = [model.encode(it) for it in ids]
    together = {name: numpy.concatenate([it[name] for it in alone], 1) for name in alone[0]}
    for name, value in model.run(model.encoder, numpy.transpose(ids), {}).items():
        assert numpy.allclose(value, together[name], atol=TOLERANCE), name
    log_p = model.run(model.decoder, [[1, 2]], together)["log_probabilities"][0]
    assert numpy.allclose(log_p, [model.step(symbol, it)[0] for symbol, it in zip((1, 2), alone)], atol=TOLERANCE)


def check_translators(workshop):
    folder, chance = workshop.path, random.Random(3)
    for name, count in (("train", 200), ("valid", 10), ("test", 100)):
        lines = [chance.choices(WORDS, k=chance.randrange(1, 7)) for _ in range(count)]
        (folder / "data" / f"{name}.aa").write_text("".join(" ".join(line) + "\n" for line in lines))
        (folder / "data" / f"{name}.bb").write_text("".join(" ".join(line[::-1]) + "\n" for line in lines))
    pairs = list(zip(*((folder / "data" / f"test.{side}").read_bytes().splitlines() for side in ("aa", "bb"))))
    lines = b"".join(source + b"\n" for source, _ in pairs) + b"\n \nthe never dog\n"
    variants = TRANSLATORS + ["data.unit=pieces data.pieces=250 train.epochs=20"] * bool(importlib.util.find_spec("sentencepiece"))
    for number, settings in enumerate(variants):
        run, out = folder / f"translator-{number}", folder / f"translator-out-{number}"
        sets = (word for it in (SMALL + settings).split() for word in ("--set", it))
        workshop.must("train", "--recipe", "attention-multi30k", "--data", folder / "data", "--out", run, "--threads", 1, *sets)
        workshop.must("export", run, "--format", "onnx", "--out", out)
        mine = workshop.lm("translate", run, "--beam", 1, stdin=lines).out.splitlines()
        theirs = subprocess.run([sys.executable, out / "use.py"], input=lines, stdout=subprocess.PIPE, check=True).stdout
        assert mine == theirs.decode().splitlines() and len(set(mine)) > 20, (settings, mine, theirs)
        use = module_of(out, "use")
        check_batch(sys.modules["model"])
        scored, symbols = map(sum, zip(*(use.score(*pair) for pair in pairs)))
        nats = json.loads(workshop.must("eval", run, "--split", "test", "--json").out)["nats"]
        assert abs(nats + scored / symbols) < TOLERANCE, (settings, nats, scored / symbols)
        print(f"exported {settings}: {len(set(mine))} translations; {nats:.6f} nats, ONNX {-scored / symbols:.6f}", flush=True)


def main():
    program, kind = sys.argv[1:]
    try:
        for module in NEEDED[kind]:
            importlib.import_module(module)
    except ImportError as error:
        print(f"skipped: {sys.executable}: {error}")
        sys.exit(SKIPPED)
    with tiny_run.Workshop(program) as workshop:
        if kind == "pytorch":
            check_imports(workshop)
            check_cells(workshop)
        else:
            check_translators(workshop)
        check_exports(workshop, kind)


main()

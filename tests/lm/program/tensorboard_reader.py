#!/usr/bin/env python3
"""TensorBoard's own reader finds the scalars of log.jsonl in the event files of a run that was interrupted, and the
histograms of its probes. tensorboard_reader.py LM; exit status 77, skipped, without the package tensorboard."""
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2]))
from tiny_run import Workshop  # noqa: E402

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("skipped: no Python package tensorboard (pip install tensorboard)")
    sys.exit(77)


def numbers_of(log):
    """{tag: [(step, value), ...]} of a log."""
    numbers, step = {}, 0
    for line in map(json.loads, log.read_text().splitlines()):
        of = "probe" if "probed" in line else line.get("split", "train")
        step = line.get("step", step)
        for key, value in line.items():
            if type(value) in (int, float) and key != "step":
                numbers.setdefault(f"{of}/{key}", []).append((step, value))
    return numbers


def main():
    with Workshop(sys.argv[1]) as shop:
        run = shop.path / "run"
        shop.must(*shop.train(run, "--epochs", 3, "--set", "train.tensorboard=true", "--set", "train.log_every=1", "--set",
                              "train.probe_every=1"))
        shop.must("train", "--out", run, "--resume", "--threads", 1, "--epochs", 5)
        reader = EventAccumulator(str(run), size_guidance={"scalars": 0, "histograms": 0})
        reader.Reload()
        tags, expected = reader.Tags(), numbers_of(run / "log.jsonl")
        of_layers = {tag for tag in tags["scalars"] if "/log_gradient_norm/" in tag}
        assert set(tags["scalars"]) - of_layers == set(expected), (tags["scalars"], sorted(expected))
        assert of_layers, "ln |dC/dh_t| of the probes"
        points = 0
        for tag, values in expected.items():
            found = [(event.step, event.value) for event in reader.Scalars(tag)]
            assert len(found) == len(values), (tag, found, values)
            for (step, value), (of_step, of_value) in zip(found, values):
                assert step == of_step and abs(value - of_value) <= 1e-6 * max(1, abs(of_value)), (tag, step, value)
            points += len(values)
        assert tags["histograms"], "the probes'"
        for tag in tags["histograms"]:
            events = reader.Histograms(tag)
            assert [event.step for event in events] == sorted({event.step for event in events}), tag
            for event in events:
                it = event.histogram_value
                assert it.num == sum(it.bucket) > 0 and it.min <= it.max, tag
        print(f"{len(expected)} scalars with {points} points, {len(tags['histograms'])} histograms")


if __name__ == "__main__":
    main()

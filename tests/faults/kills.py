"""Trainings that are killed at random moments and go on, until they end as if nothing had happened.
kills.py LM [KILLS [SEED]]. Three recipes: a plain one; one that averages its weights, and is finetuned; one with batch
normalisation, whose statistics are estimated at the end."""
import collections
import pathlib
import random
import signal
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from tiny_run import Workshop, outcome_of  # noqa: E402

SAVES_OFTEN = ["train.save_every=0.00001", "train.eval_every=7", "train.epochs=6", "train.length=4", "model.hidden=16"]
RECIPES = {
    "plain": [],
    "averaging": ["train.optimizer=sgd", "train.learning_rate=4", "train.clip=0.25", "train.averaging=non_monotonic",
                  "train.averaging_interval=2", "train.length_deviation=2", "finetune.epochs=6"],
    "batch normalisation": ["model.cell=bn_lstm", "data.batching=crops", "model.biases=1"],
}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Kills:
    def __init__(self, shop, chance):
        self.shop, self.chance = shop, chance
        self.counts, self.failures = collections.Counter(), []

    def expected(self, number, result):
        """Whether a process may end so that got this signal: ended before, by it, or in order."""
        in_order = number != signal.SIGKILL and result.status == 128 + number and "to resume: " in result.out
        return in_order or result.status in (0, -number)

    def try_once(self, what, words, out, seconds, outcome):
        """Some kills of one training, and then to its end."""
        self.shop.clear(out)
        for _ in range(self.chance.randint(1, 4)):
            number = self.chance.choice(SIGNALS)
            result = self.shop.lm(*words, kill_after=(self.chance.random() * seconds, number))
            self.counts[signal.Signals(number).name if result.status != 0 else "too late"] += 1
            if not self.expected(number, result):
                self.failures.append(f"{what}, {signal.Signals(number).name}: {result}")
            if (out / "config.toml").exists():
                words = ["train", "--out", out, "--resume", "--threads", 1]
        result = self.shop.lm(*words)
        if result.status != 0:
            self.failures.append(f"{what}: cannot go on: {result.err}")
        elif outcome_of(out) != outcome:
            self.failures.append(f"{what}: another model or log than undisturbed")
        self.counts["runs"] += 1

    def scenario(self, what, words, out, kills):
        began = time.monotonic()
        self.shop.clear(out)
        self.shop.must(*words)
        seconds, outcome = time.monotonic() - began, outcome_of(out)
        until = self.killed() + kills
        while self.killed() < until:
            self.try_once(what, words, out, seconds, outcome)

    def killed(self):
        return sum(self.counts[number.name] for number in SIGNALS)


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns()
    print(f"kills: seed {seed}", flush=True)
    chance = random.Random(seed)
    with Workshop(sys.argv[1]) as shop:
        trial = Kills(shop, chance)
        each = -(-kills // (len(RECIPES) + 1))
        for name, settings in RECIPES.items():
            base, out = shop.path / name, shop.path / "out"
            words = [word for setting in SAVES_OFTEN + settings for word in ("--set", setting)]
            trial.scenario(name, shop.train(out, *words), out, each)
            if name == "averaging":
                shop.must(*shop.train(base, *words))
                trial.scenario("finetuning", ["finetune", base, "--out", out, "--threads", 1], out, each)
    print("kills:", ", ".join(f"{count} {what}" for what, count in trial.counts.items()),
          f"; {len(trial.failures)} failures")
    for failure in trial.failures:
        print("FAILED:", failure)
    sys.exit(bool(trial.failures))


if __name__ == "__main__":
    main()

"""Trainings that are killed at random moments and go on, until they end as if nothing had happened.
kills.py LM [KILLS [SEED]]. Three recipes: a plain one; one that averages its weights, and is finetuned; one with batch
normalisation, whose statistics are estimated at the end. Where there is mpirun, the plain one with two ranks, too."""
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from tiny_run import Workshop, outcome_of, run  # noqa: E402

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

    def lm(self, words, kill_after=None):
        return self.shop.lm(*words, kill_after=kill_after)

    def expected(self, number, result):
        """Whether a process may end so that got this signal: ended before, by it, or in order."""
        in_order = number != signal.SIGKILL and result.status == 128 + number and "to resume: " in result.out
        return in_order or result.status in (0, -number)

    def try_once(self, what, words, out, seconds, outcome):
        """Some kills of one training, and then to its end."""
        self.shop.clear(out)
        for _ in range(self.chance.randint(1, 4)):
            number = self.chance.choice(SIGNALS)
            result = self.lm(words, kill_after=(self.chance.random() * seconds, number))
            self.counts[signal.Signals(number).name if result.status != 0 else "too late"] += 1
            if not self.expected(number, result):
                self.failures.append(f"{what}, {signal.Signals(number).name}: {result}")
            if (out / "config.toml").exists():
                words = ["train", "--out", out, "--resume", "--threads", 1]
        result = self.lm(words)
        if result.status != 0:
            self.failures.append(f"{what}: cannot go on: {result.err}")
        elif outcome_of(out) != outcome:
            self.failures.append(f"{what}: another model or log than undisturbed")
        self.counts["runs"] += 1

    def scenario(self, what, words, out, kills):
        began = time.monotonic()
        self.shop.clear(out)
        undisturbed = self.lm(words)
        assert undisturbed.status == 0, (words, undisturbed)
        seconds, outcome = time.monotonic() - began, outcome_of(out)
        until = self.killed() + kills
        while self.killed() < until:
            self.try_once(what, words, out, seconds, outcome)

    def killed(self):
        return sum(self.counts[number.name] for number in SIGNALS)


class KillsOfRanks(Kills):
    """SIGKILL hits one of two ranks, and mpirun ends the other; other signals go to mpirun, which passes them on."""
    ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}

    def lm(self, words, kill_after=None):
        killer = None
        if kill_after and kill_after[1] == signal.SIGKILL:
            killer = threading.Timer(kill_after[0], self.kill_a_rank)
            killer.start()
            kill_after = None
        result = run("mpirun", ["-q", "-n", 2, self.shop.program, *words], env=self.ENVIRONMENT, kill_after=kill_after)
        if killer:
            killer.cancel()
            killer.join()
        return result

    def kill_a_rank(self):
        """The folder of the workshop, which is in the ranks' words, tells them from processes of others."""
        words = f"^{re.escape(str(self.shop.program))} .*{re.escape(str(self.shop.path))}"
        ranks = subprocess.run(["pgrep", "-f", words], capture_output=True, text=True)
        ranks = ranks.stdout.split()
        if ranks:
            os.kill(int(self.chance.choice(ranks)), signal.SIGKILL)

    def expected(self, number, result):
        """mpirun ends with the status of a rank that was killed, and with 1 if it passed a signal on, whatever the ranks'."""
        if number == signal.SIGKILL:
            in_order = result.status in (0, 128 + number)
        else:
            said = "to resume: mpirun -n 2 " in result.out or "the run is " in result.out
            in_order = result.status in (0, 1) and (said or not (result.out or result.err))
        return in_order and len(result.err.splitlines()) <= 1


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns()
    print(f"kills: seed {seed}", flush=True)
    chance = random.Random(seed)
    with Workshop(sys.argv[1]) as shop:
        trial, of_ranks = Kills(shop, chance), KillsOfRanks(shop, chance)
        scenarios = len(RECIPES) + 1 + bool(shutil.which("mpirun"))  # one more than recipes: finetuning
        each = -(-kills // scenarios)
        for name, settings in RECIPES.items():
            base, out = shop.path / name, shop.path / "out"
            words = [word for setting in SAVES_OFTEN + settings for word in ("--set", setting)]
            if name == "plain" and shutil.which("mpirun"):
                of_ranks.scenario("two ranks", shop.train(out, *words), out, each)
            trial.scenario(name, shop.train(out, *words), out, each)
            if name == "averaging":
                shop.must(*shop.train(base, *words))
                trial.scenario("finetuning", ["finetune", base, "--out", out, "--threads", 1], out, each)
    failures = trial.failures + of_ranks.failures
    for who, it in (("kills", trial), ("kills of ranks", of_ranks)):
        print(f"{who}:", ", ".join(f"{count} {what}" for what, count in it.counts.items()) or "none")
    print(f"{len(failures)} failures")
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

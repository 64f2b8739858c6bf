#!/usr/bin/env python3
"""Steps per second of one worker, and of a plain loop of PyTorch with the same model, batch and number of threads.

    bench/torch_bench.py [build/release/bin/gossamer]

Run it with the Python whose PyTorch is of the version that gossamer was built with. The two take turns; the ratios are
of neighbouring turns, and their median is printed. What a run costs beside its steps falls out: a long one less a
short one.
"""
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn import functional as F

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "tests" / "torch"))
import golden  # noqa: E402

ROUNDS, BATCH = 5, 32


def of_gossamer(program, model, data, steps):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "train", "--algorithm", "all-reduce-sgd", "--workers", "1", "--batch", str(BATCH), "--lr", "0.01",
             "--model", model, "--data", data, "--steps", str(steps), "--eval-every", "1000", "--out", folder,
             "--overwrite"], capture_output=True, text=True, check=True)
    return float(re.search(r"done after ([\d.e+-]+) s", done.stdout).group(1))


def of_pytorch(model, inputs, loss_of, steps):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    began = time.perf_counter()
    for t in range(steps):
        chosen = torch.randint(len(inputs), (BATCH,))
        loss = loss_of(model, inputs[chosen], chosen)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        loss.item()
    return time.perf_counter() - began


def main():
    torch.set_num_threads(1)
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/gossamer"
    scratch = tempfile.TemporaryDirectory()
    text = pathlib.Path(scratch.name, "text")
    text.write_bytes(bytes((k * k + 3 * k) % 31 + 97 for k in range(100000)))
    pictures = str(pathlib.Path(scratch.name, "pictures.npz"))
    colours = torch.randn(500, 3, 32, 32)
    import numpy
    numpy.savez(pictures, X=colours.numpy(), y=numpy.arange(500) % 10)
    classes = lambda model, x, numbers: F.cross_entropy(model(x), numbers % 10)
    cases = [
        ("cnn", "digits:samples=500,test=10", golden.Cnn(28, 16, 128, 10), torch.rand(500, 1, 28, 28), classes, 100),
        ("resnet:depth=20", f"npz:file={pictures},holdout=0.01", golden.Resnet(3, 20, 16, 10), colours, classes, 10),
        ("transformer", f"text:file={text}", golden.Transformer(2, 128, 4, 64),
         torch.randint(97, 128, (500, 65)), golden.of_text, 20),
    ]
    print(f"PyTorch {torch.__version__}, batch {BATCH}, 1 thread; ratio above 1: gossamer is faster")
    print(f"{'model':<18}{'gossamer ms/step':>18}{'PyTorch ms/step':>18}{'ratio':>8}")
    for model, data, module, inputs, loss_of, steps in cases:
        ours, theirs = [], []
        of_pytorch(module, inputs, loss_of, steps)
        for _ in range(ROUNDS):
            ours.append((of_gossamer(program, model, data, 3 * steps) - of_gossamer(program, model, data, steps)) / 2)
            theirs.append(of_pytorch(module, inputs, loss_of, steps))
        ratio = statistics.median(b / a for a, b in zip(ours, theirs))
        print(f"{model:<18}{1e3 * statistics.median(ours) / steps:>18.2f}{1e3 * statistics.median(theirs) / steps:>18.2f}"
              f"{ratio:>8.2f}")


if __name__ == "__main__":
    main()

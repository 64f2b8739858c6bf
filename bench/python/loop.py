"""What a training loop costs more inside a run: steps per second alone and joined, in alternating pairs.

python bench/python/loop.py [PAIRS]. The optimiser is SGD with momentum, the batch 32; PyTorch has one thread. Both loops
visit the same numbers of samples; the joined one is a run of one worker with the algorithm all-reduce-sgd, which has
nothing to send.
"""

import contextlib
import os
import statistics
import sys
import tempfile
import time

import gossamer.torch
import numpy
import torch
from torch.nn.functional import cross_entropy

torch.set_num_threads(1)
batch = 32


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(784, 100), torch.nn.ReLU(), torch.nn.Linear(100, 10))


class Block(torch.nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        convolution = torch.nn.Conv2d
        self.first = convolution(inside, outside, 3, stride, 1, bias=False)
        self.second = convolution(outside, outside, 3, 1, 1, bias=False)
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm2d(outside) for _ in range(2)])
        self.stride, self.more = stride, outside - inside

    def forward(self, x):
        y = self.norms[1](self.second(torch.relu(self.norms[0](self.first(x)))))
        shortcut = torch.nn.functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.more))
        return torch.relu(y + shortcut)


def resnet20():
    """He et al. 2016, with shortcuts without parameters."""
    layers = [torch.nn.Conv2d(3, 16, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU()]
    inside = 16
    for outside in (16, 32, 64):
        for number in range(3):
            layers.append(Block(inside, outside, 2 if number == 0 and outside > 16 else 1))
            inside = outside
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10))


def linear():
    return torch.nn.Linear(4, 10)  # what a step costs beside copies


cases = {"linear": (linear, (4,), 5000), "MLP": (mlp, (784,), 3000), "ResNet-20": (resnet20, (3, 32, 32), 25)}


def loop(net, data, labels, choices, done=lambda step, loss: None):
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for step, chosen in choices:
        optimiser.zero_grad()
        loss = cross_entropy(net(data[chosen]), labels[chosen])
        loss.backward()
        optimiser.step()
        done(step, loss)


def alone(make, data, labels, steps):
    random = numpy.random.default_rng(0)
    choices = ((None, random.integers(0, len(data), batch)) for _ in range(steps))
    # as step.done does: a number, which a scheduler or a log would want as well
    begin = time.perf_counter()
    loop(make(), data, labels, choices, lambda step, loss: float(loss))
    return steps / (time.perf_counter() - begin)


def joined(make, data, labels, steps):
    net, times = make(), []

    def choices(run):
        for step in run:
            times.append(time.perf_counter())
            yield step, step.samples

    settings = {"algorithm": "all-reduce-sgd", "steps": steps + 1, "samples": len(data), "batch": batch}
    # One evaluation at each end, which is none of the loop's.
    with gossamer.torch.join(net, torch.optim.SGD(net.parameters(), lr=0.01), eval_every=1e6, **settings) as run:
        loop(net, data, labels, choices(run), lambda step, loss: step.done(loss))
    return (len(times) - 1) / (times[-1] - times[0])


def main(pairs=20):
    print("| model | parameters | alone, steps/s | joined, steps/s | ratio (quartiles) | a step costs more |")
    print("|---|---|---|---|---|---|")
    for name, (make, shape, steps) in cases.items():
        torch.manual_seed(0)
        data, labels = torch.randn(2000, *shape), torch.randint(0, 10, (2000,))
        rates = []
        for _ in range(pairs):
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                rates.append((alone(make, data, labels, steps), joined(make, data, labels, steps)))
        ratios = statistics.quantiles([b / a for a, b in rates], n=4)
        a, b = (statistics.median(column) for column in zip(*rates))
        size = sum(p.numel() for p in make().parameters())
        print(
            f"| {name} | {size:,} | {a:.0f} | {b:.0f} | {ratios[1]:.3f} ({ratios[0]:.3f} to {ratios[2]:.3f}) "
            f"| {1e6 * (1 / b - 1 / a):.0f} us |"
        )


if __name__ == "__main__":
    null = os.open(os.devnull, os.O_WRONLY)
    screen = os.dup(1)
    sys.stdout = os.fdopen(screen, "w", buffering=1)
    os.dup2(null, 1), os.dup2(null, 2)  # what runs print is of no interest here
    main(*map(int, sys.argv[1:2]))

"""16 workers train a PyTorch model over a WAN in virtual time, while a plan of faults is carried out."""

import gossamer
import gossamer.torch
import numpy
import torch
from torch import nn
from torch.nn.functional import cross_entropy

plan = """
[[fault]]                # worker 3 dies, and comes back after 4 s
kind = "kill"
workers = [3]
at = 1.0
for = 4.0

[[fault]]                # a fifth of all frames is lost for 3 s
kind = "drop"
at = 2.0
for = 3.0
rate = 0.2

[[fault]]                # workers 0 to 7 hear nothing of the others for 2 s
kind = "partition"
workers = [0, 1, 2, 3, 4, 5, 6, 7]
at = 6.0
for = 2.0
"""


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random = numpy.random.default_rng(0)
    centres = random.normal(size=(10, 32))
    classes = random.integers(0, 10, size=6000)
    points = torch.from_numpy((centres[classes] + 1.2 * random.normal(size=(6000, 32))).astype(numpy.float32))
    labels = torch.from_numpy(classes)

    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    gradient, initial = gossamer.torch.gradient(
        net, lambda model, samples: cross_entropy(model(points[samples]), labels[samples])
    )

    def evaluate(model):
        scores = model(points[5000:])
        return cross_entropy(scores, labels[5000:]), (scores.argmax(1) == labels[5000:]).float().mean()

    with open("plan.toml", "w") as file:
        file.write(plan)
    folders = []
    for algorithm, codec in (("d-psgd", "identity"), ("dcd-psgd", "uniform:bits=8"), ("ad-psgd", "identity")):
        run = gossamer.simulate(
            gradient,
            initial,
            samples=5000,
            labels=classes[:5000],
            evaluate=gossamer.torch.evaluation(net, evaluate),
            seconds_per_sample=1e-3,  # of a worker's machine: nothing is timed
            algorithm=algorithm,
            codec=codec,
            workers=16,
            batch=16,
            epochs=10,
            lr=0.1,
            network="wan",
            faults="plan.toml",
        )
        s = run.summary
        print(
            f"{algorithm}: accuracy {s['test_accuracy']:.3f} after {s['time_s']:.1f} virtual seconds and "
            f"{s['payload_bits'] / 1e6:.0f} Mb, {s['lost']} lost, trace {s['hash']}"
        )
        folders.append(run.folder)
    gossamer.plot(folders, x="seconds", y="test-loss", out="algorithms.svg")


if __name__ == "__main__":
    main()

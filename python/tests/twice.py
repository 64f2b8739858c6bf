"""Runs after the first one of a process, for the tests: python twice.py OUT. It says how they are refused."""

import sys

import gossamer.torch
import torch


def join():
    net = torch.nn.Linear(3, 1)
    with gossamer.torch.join(net, None, steps=5, algorithm="all-reduce-sgd", lr=0.1, out=sys.argv[1]) as run:
        for step in run:
            net(torch.ones(4, 3)).pow(2).mean().backward()
            step.done(1.0)


def collectives():
    with gossamer.collectives() as group:
        group.barrier()


join()
for again in (join, collectives):
    try:
        again()
    except gossamer.UsageError as e:
        print(f"{again.__name__}: {e}")

"""Distributed SGD over slow, lossy and uneven networks.

Gossamer's algorithms run in C++ and ask a Python program for gradients:

- ``gossamer.torch.join`` takes part in a run from within a PyTorch training loop;
- ``gossamer.train`` trains with several workers in this process, from a function that gives a loss and a gradient;
- ``gossamer.simulate`` does the same in virtual time, over a modelled network and under a plan of faults;
- ``gossamer.collectives`` makes a group of processes that average and gather tensors, for algorithms of their own;
- ``gossamer.Codec`` packs vectors for programs that carry them themselves, and ``gossamer.torch.codec_hook`` the
  gradients of ``DistributedDataParallel``;
- ``gossamer.load``, ``gossamer.runs`` and ``gossamer.plot`` read and draw what runs have written down.

Keywords are the flags of ``gossamer train`` and ``gossamer simulate`` with ``_`` in place of ``-``.
"""

from ._collectives import Collectives, collectives
from ._gossamer import Codec, algorithms, version
from .algorithm import Algorithm, Worker
from .errors import BadDataError, DivergedError, Error, MembershipChanged, NoRunError, RunError, UsageError
from .functions import simulate, train
from .results import Run, load, plot, runs

__version__ = version

__all__ = [
    "Algorithm",
    "BadDataError",
    "Codec",
    "Collectives",
    "DivergedError",
    "Error",
    "MembershipChanged",
    "NoRunError",
    "Run",
    "RunError",
    "UsageError",
    "Worker",
    "__version__",
    "algorithms",
    "collectives",
    "load",
    "plot",
    "runs",
    "simulate",
    "train",
]

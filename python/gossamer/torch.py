"""A PyTorch training loop takes part in a run: ``join``. And a module becomes a function for ``gossamer.simulate``."""

import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch

from ._backend import init_process_group
from ._ddp import CodecState, codec_hook
from ._evaluation import MeanEvaluation
from ._group import Group, Member
from ._loop import Joined
from ._step import Step
from ._tensors import Tensors, copy_what_stays
from .errors import usage_error

__all__ = [
    "CodecState",
    "Joined",
    "MeanEvaluation",
    "Member",
    "Step",
    "codec_hook",
    "evaluation",
    "gradient",
    "init_process_group",
    "join",
]


def join(
    module: torch.nn.Module,
    optimiser: torch.optim.Optimizer | None,
    /,
    *,
    samples: int | None = None,
    batch: int | None = None,
    evaluate: Callable[[torch.nn.Module], Any] | None = None,
    running_statistics: str = "local",
    group: Any = None,
    labels: Sequence[int] | None = None,
    data_id: str = "",
    **settings: Any,
) -> Joined | Member:
    """Takes part in a run, from within a training loop that stays as it is::

        with gossamer.torch.join(net, opt, samples=len(data), batch=32, epochs=3, algorithm="ad-psgd") as run:
            for step in run:                           # net holds the model at which a gradient is wanted
                x, y = collate(data, step.samples)
                opt.zero_grad()
                loss = cross_entropy(net(x), y)
                loss.backward()
                opt.step()                             # what the optimiser moves is this step's direction
                step.done(loss)

    The direction of a step is x - x', the model before and after ``opt.step()``; Gossamer applies it with a rate of 1.
    Schedulers, clipping, accumulation and mixed precision stay in the loop. With None for the optimiser, ``done`` hands
    over the gradients, and Gossamer's own optimiser applies them: ``lr=0.1, optimiser="momentum:beta=0.9"``. Algorithms
    that scale signs or want gradients at several points need that.

    The states of the optimiser, and of what ``run.keep`` gets, are part of checkpoints and go to workers that come anew.
    Those of PyTorch's generators of random numbers are part of checkpoints alone.

    samples     number of all training samples; each worker gets a share, dealt out anew when somebody is lost.
                None: the loop brings its batches, and ``steps=`` ends the run instead of ``epochs=``
    batch       samples of a step
    evaluate    f(module) -> loss, (loss, accuracy) or {"loss": ..., "accuracy": ...}; called between two steps with a
                copy that holds the mean of all models, in evaluation mode and without gradients. It is made once: its
                frozen parameters and buffers are those of the moment, other attributes those of the first evaluation.
                A module that cannot be copied, as those with weight_norm, with locks or open files, and those of
                TorchScript, is evaluated itself
    running_statistics  "local": the running means and variances of normalising layers stay in each process, as all
                buffers do. "average": they are averaged like parameters, through the codec and at its cost; what a
                step changes in them is part of its direction
    group       a process group of PyTorch whose processes are one worker: all of them call join and make the same
                steps. The module may be under ``DistributedDataParallel``, or sharded into ``DTensor`` s by
                ``fully_shard`` or tensor parallelism. ``step.samples`` are those of the whole group. The first process
                speaks with the run; an evaluation uses the module itself, which holds the mean after the last one
    labels      class of each sample, for ``partition="label"`` and the like
    data_id     a name for the data; processes with another one are refused
    settings    the flags of ``gossamer train``: algorithm, codec, topology, epochs, steps, checkpoint, out, ...

    A process alone is a run of one worker. ``gossamer launch --hosts localhost:4 -- python train.py`` starts four, on
    several machines too; ``GOSSAMER_JOIN=HOST:PORT python train.py`` joins a run under way, whose leader's settings and
    parameters are everybody's.

    Parameters of float16 and bfloat16, or on a GPU, are copied, and travel as float32. Buffers stay
    local, but for running statistics that are averaged. Frozen parameters do not travel; shared ones travel once.

    Raises ``gossamer.Error`` and its kinds. An exception of the loop ends this worker as a death does, and the others
    go on; Ctrl-C, and a loop that is left by ``break``, end the run as Ctrl-C does at ``gossamer train``.
    """
    if not isinstance(module, torch.nn.Module):
        raise usage_error(f"the module is a {type(module).__name__}", "pass join the module, and then its optimiser")
    if running_statistics not in ("local", "average"):
        raise usage_error(f'running_statistics="{running_statistics}" is unknown', 'allowed are "local" and "average"')
    averages = running_statistics == "average"
    if averages and optimiser is None:
        raise usage_error(
            'running_statistics="average" is given, and the loop hands over gradients, of which statistics have none',
            "let an optimiser of the loop move the model, or leave it out",
        )
    members = None if group is None else Group(group)
    if members is not None and not members.speaks:
        return Member(module, optimiser is None, samples, evaluate, averages, members)
    return Joined(module, optimiser, samples, batch, evaluate, averages, members, labels, data_id, settings)


def gradient(
    module: torch.nn.Module, loss: Callable[[torch.nn.Module, numpy.ndarray], torch.Tensor]
) -> tuple[Callable, numpy.ndarray]:
    """Makes the arguments of ``gossamer.train`` and ``gossamer.simulate`` of a module::

        f, x = gossamer.torch.gradient(net, lambda net, samples: cross_entropy(net(data[samples]), labels[samples]))
        run = gossamer.simulate(f, x, samples=len(data), seconds_per_sample=1e-4, workers=16, network="wan")

    ``loss(module, samples)`` gives the mean loss over the samples. Random numbers of PyTorch are seeded with rank and
    step before each call, so that dropout repeats itself.

    Returns the function and the module's parameters as a vector. The module is changed by the calls. Workers compute
    one after the other, since they share it.
    """
    tensors = Tensors(module)
    flat_gradient = torch.empty_like(tensors.flat)
    lock = threading.Lock()  # PyTorch releases that of the interpreter while it computes

    def f(x: numpy.ndarray, samples: numpy.ndarray, rank: int, step: int) -> tuple[float, numpy.ndarray]:
        with lock:
            tensors.array[:] = x
            tensors.write()
            torch.manual_seed((rank << 40) + step)
            module.zero_grad(set_to_none=True)
            value = loss(module, samples)
            value.backward()
            tensors.gradients(flat_gradient)
            return float(value.detach()), flat_gradient.numpy().copy()

    return f, tensors.array.copy()


def evaluation(module: torch.nn.Module, evaluate: Callable[[torch.nn.Module], Any]) -> Callable:
    """Makes the ``evaluate=`` of ``gossamer.train`` and ``gossamer.simulate``: ``evaluate`` gets the module with the
    mean model, in evaluation mode and without gradients, and gives a loss or (loss, accuracy).

    It is a copy. Its frozen parameters and its buffers, as the running statistics of batch normalisation, are those
    that ``module`` has then; all else is as it was when ``evaluation`` was called."""
    other = copy.deepcopy(module)
    tensors = Tensors(other)

    def f(x: numpy.ndarray) -> Any:
        tensors.array[:] = x
        tensors.write()
        other.eval()
        copy_what_stays(module, other, tensors.names)
        with torch.no_grad():
            return evaluate(other)

    return f

"""One step of a loop."""

from typing import Any, Protocol

import numpy
import torch

from . import _gossamer
from .errors import usage_error


class Job(Protocol):
    """What the run wants of a loop next: a gradient at a model, or an evaluation of one."""

    @property
    def is_evaluation(self) -> bool: ...
    @property
    def worker(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def samples(self) -> numpy.ndarray: ...
    @property
    def order(self) -> "_gossamer.Order | None": ...


class Loop(Protocol):
    """The run, as its steps see it."""

    _counted: int | None
    _takes_gradients: bool

    def _hand_over(self, job: Any, loss: float) -> None: ...


class Step:
    """One step of this process's worker: the module holds the model at which a gradient is wanted."""

    def __init__(self, run: Loop, job: Job):
        self._run, self._job, self._is_done = run, job, False

    @property
    def samples(self) -> numpy.ndarray:
        """The numbers of the samples of this minibatch, from this worker's share of all, as an array of int64."""
        if self._run._counted is None:
            raise usage_error("this run deals out no samples", "pass samples=len(data) and batch=... to join")
        return self._job.samples

    @property
    def number(self) -> int:
        """The step of this worker, from 0 on."""
        return self._job.step

    @property
    def rank(self) -> int:
        return self._job.worker

    def done(self, loss: Any, gradient: bool | None = None) -> None:
        """Hands the step over: what the optimiser has moved or, where ``join`` got no optimiser, the gradients.

        loss is the mean loss over the minibatch, a number or a tensor of one element.
        """
        if self._is_done:
            raise usage_error(f"step {self.number} is handed over twice", "call done once in each step")
        if gradient is not None and gradient != self._run._takes_gradients:
            raise usage_error(
                "gradients are handed over, but join got an optimiser"
                if gradient
                else "a direction is handed over, but join got no optimiser",
                "pass None for the optimiser to hand over gradients, which Gossamer's own optimiser applies with lr=",
            )
        if loss is None or (isinstance(loss, torch.Tensor) and loss.numel() != 1):
            given = "None" if loss is None else f"a tensor of the shape {tuple(loss.shape)}"
            raise usage_error(f"the loss of step {self.number} is {given}", "pass the mean loss over the minibatch")
        value = float(loss.detach() if isinstance(loss, torch.Tensor) else loss)
        self._is_done = True
        self._run._hand_over(self._job, value)

    def check_done(self) -> None:
        """Complains where the loop has gone on without ``done``."""
        if not self._is_done:
            raise usage_error(f"step {self.number} is over and was not handed over", "call step.done(loss)")

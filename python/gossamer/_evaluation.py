"""Evaluates the mean of the models, as the user's function does it."""

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ._tensors import Tensors, copy_what_stays
from .errors import usage_error


class MeanEvaluation(NamedTuple):
    """What the run has found at the mean of all models; None where there is no such number."""

    epoch: float
    train_loss: float | None  # of all workers' minibatches, smoothed
    test_loss: float | None  # what evaluate has returned
    test_accuracy: float | None


class Evaluation:
    """Calls ``evaluate(module)`` between two steps, in evaluation mode and without gradients.

    The loop's module holds the model of a step, and its mode is the loop's: so a copy is evaluated. The module of a
    group may be spread over its processes, and has no copy; neither have some others, as those with weight_norm or with
    an open file. Such a one is evaluated itself, and the next step loads it anew.
    """

    def __init__(self, module: torch.nn.Module, evaluate: Callable[[torch.nn.Module], Any] | None, tensors: Tensors):
        self._module, self._evaluate, self._tensors = module, evaluate, tensors
        self._copy: tuple[torch.nn.Module, Tensors] | None = None
        self._has_copy = tensors.group is None

    def at(self, job: Any) -> Any:
        """Returns a loss, or the pair (loss, accuracy), at the model of a job."""
        if self._evaluate is None:
            return math.nan, None
        if self._has_copy and self._copy is None:
            self._copy = self._copied()
            self._has_copy = self._copy is not None
        if self._copy is None:
            self._tensors.load(job)
            return self.of_module()
        module, tensors = self._copy
        tensors.load(job)
        copy_what_stays(self._module, module, tensors.names)
        module.eval()
        return self._call(module)

    def _copied(self) -> tuple[torch.nn.Module, Tensors] | None:
        try:
            other = copy.deepcopy(self._module)
        except Exception:  # such as RuntimeError for tensors that follow from others, TypeError for locks
            return None
        tensors = Tensors(other, self._tensors.has_statistics)
        return (other, tensors) if tensors.names == self._tensors.names else None  # those of TorchScript lose some

    def of_module(self) -> Any:
        """The same at what the module holds. All processes of a group call it together."""
        modes = [(part, part.training) for part in self._module.modules()]
        self._module.eval()
        try:
            return self._call(self._module)
        finally:
            for part, mode in modes:
                part.training = mode

    def _call(self, module: torch.nn.Module) -> Any:
        if self._evaluate is None:
            return math.nan, None
        device = self._tensors.parameters[0].device
        # A loop draws the same numbers whenever it is evaluated: a DataLoader draws a seed, for one.
        with torch.no_grad(), torch.random.fork_rng([device] if device.type == "cuda" else []):
            result = self._evaluate(module)
        if not isinstance(result, dict):
            return result
        if "loss" not in result:
            raise usage_error(
                f"evaluate gave a dictionary with {list(result)} and without 'loss'",
                'return {"loss": ..., "accuracy": ...}, of which the accuracy may be left out',
            )
        return result["loss"], result.get("accuracy")

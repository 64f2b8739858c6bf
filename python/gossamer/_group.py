"""A worker of several processes: all compute one gradient together, and the first speaks with the run."""

import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch
import torch.distributed as distributed

from ._evaluation import Evaluation
from ._step import Step
from ._tensors import Tensors
from .errors import UsageError, usage_error

_step, _evaluation, _loop_is_over, _run_is_over, _interrupted = range(5)
_one_interrupt_s = 1.0  # torchrun sends on what a terminal has sent to all processes


class Interrupts:
    """Ctrl-C reaches each process of a group at another place of its step, in which the others wait for it.

    So the first one is kept until the step of the process that speaks is over. A later one interrupts at once.
    """

    def __init__(self) -> None:
        self._since: float | None = None
        self._before: Any = None

    @property
    def have_come(self) -> bool:
        return self._since is not None

    def keep(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._take)

    def keep_no_more(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _take(self, number: int, frame: Any) -> None:
        if self._since is None:
            self._since = time.monotonic()
        elif time.monotonic() > self._since + _one_interrupt_s:
            raise KeyboardInterrupt


@dataclasses.dataclass
class Told:
    """A job, as the other processes of a group hear of it. Its model has come with it."""

    what: int
    worker: int
    step: int
    samples: numpy.ndarray
    order: None = None

    @property
    def is_evaluation(self) -> bool:
        return self.what == _evaluation

    @property
    def has_model(self) -> bool:
        return self.what in (_step, _evaluation)


class Group:
    """The processes of a process group of PyTorch that are one worker. All of them take part in every call."""

    def __init__(self, group: Any):
        if not distributed.is_available() or not distributed.is_initialized():
            raise usage_error(
                "group= is given, and PyTorch has no process group",
                'start the program under torchrun, and call torch.distributed.init_process_group("gloo") before join',
            )
        self._group = group
        self.speaks = distributed.get_rank(group) == 0
        self._speaker = distributed.get_global_rank(group, 0)
        self.interrupts = Interrupts()

    def tell(self, job: Any, flat: torch.Tensor, device: torch.device) -> None:
        """Tells the others of a step or an evaluation, with its model. It goes by way of this device."""
        self._send([_evaluation if job.is_evaluation else _step, job.worker, job.step, len(job.samples)], device)
        if len(job.samples) > 0:
            self._send(job.samples, device)
        self._share(flat, device)

    def tell_end(self, device: torch.device, of_run: bool) -> None:
        self._send([_run_is_over if of_run else _loop_is_over, 0, 0, 0], device)

    def interrupt_if_asked(self, device: torch.device) -> None:
        """Between two steps of the process that speaks, all are interrupted together."""
        if self.interrupts.have_come:
            self._send([_interrupted, 0, 0, 0], device)
            raise KeyboardInterrupt

    def hear(self, flat: torch.Tensor, device: torch.device) -> Told:
        """Waits for what comes next. The model of a step or an evaluation is then in ``flat``."""
        what, worker, step, count = self._receive(4, device).tolist()
        samples = self._receive(count, device).numpy() if count > 0 else numpy.empty(0, numpy.int64)
        told = Told(what, worker, step, samples)
        if told.has_model:
            self._share(flat, device)
        return told

    def _send(self, numbers: Any, device: torch.device) -> None:
        distributed.broadcast(torch.as_tensor(numbers, dtype=torch.int64, device=device), self._speaker, self._group)

    def _receive(self, count: int, device: torch.device) -> torch.Tensor:
        numbers = torch.empty(count, dtype=torch.int64, device=device)
        distributed.broadcast(numbers, self._speaker, self._group)
        return numbers.cpu()

    def _share(self, flat: torch.Tensor, device: torch.device) -> None:
        there = flat.to(device)  # the same tensor in main memory
        distributed.broadcast(there, self._speaker, self._group)
        if there is not flat:
            flat.copy_(there)


def nothing_is_kept() -> UsageError:
    return usage_error(
        "a group of processes keeps nothing beside the model", "save what its processes have in the loop"
    )


class Member:
    """The run, in a process of a group that does not speak with it. See ``join``."""

    rank: int | None = None
    leads = False
    folder = None

    def __init__(
        self,
        module: torch.nn.Module,
        takes_gradients: bool,
        samples: int | None,
        evaluate: Callable[[torch.nn.Module], Any] | None,
        averages_statistics: bool,
        group: Group,
    ):
        self._counted, self._takes_gradients, self._group = samples, takes_gradients, group
        self._tensors = Tensors(module, averages_statistics, group)
        self._evaluation = Evaluation(module, evaluate, self._tensors)
        self._gradient = torch.empty_like(self._tensors.flat) if takes_gradients else None
        self._is_over = False

    @property
    def summary(self) -> dict[str, Any]:
        return {}

    @property
    def members(self) -> tuple[int, ...]:
        raise usage_error("this process does not speak with the run", "ask the first process of its group")

    epoch = progress = evaluation = members

    def keep(self, **objects: Any) -> None:
        raise nothing_is_kept()

    def state_dict(self) -> dict[str, torch.Tensor]:
        raise usage_error("this process has evaluated no mean of the models", "ask where run.folder is set")

    @property
    def batch_sampler(self) -> Any:
        raise no_batches_in_advance()

    def with_batches(self, loader: Any) -> Iterator[tuple[Step, Any]]:
        raise no_batches_in_advance()

    def __enter__(self) -> "Member":
        self._group.interrupts.keep()
        return self

    def __iter__(self) -> Iterator[Step]:
        while True:
            told = self._tensors.hear()
            if told.is_evaluation:
                self._evaluation.of_module()
            elif told.what == _interrupted:
                raise KeyboardInterrupt
            elif told.what != _step:
                self._is_over = told.what == _run_is_over
                return
            else:
                self.rank = told.worker
                step = Step(self, told)
                yield step
                step.check_done()

    def __exit__(self, kind: type | None, value: Any, traceback: Any) -> None:
        """What the speaker still evaluates needs all processes."""
        try:
            if kind is None or issubclass(kind, KeyboardInterrupt):
                self._hear_the_end()
        finally:
            self._group.interrupts.keep_no_more()

    def _hear_the_end(self) -> None:
        while not self._is_over:
            told = self._tensors.hear()
            if told.is_evaluation:
                self._evaluation.of_module()
            elif told.what == _step:
                raise usage_error(
                    "this process has left the loop, and the first of its group has not",
                    "let all processes of a group leave it in the same step",
                )
            self._is_over = told.what == _run_is_over

    def _hand_over(self, job: Told, loss: float) -> None:
        if self._gradient is not None:
            self._tensors.gradients(self._gradient)
        elif not self._tensors.is_direct:
            self._tensors.read()


def no_batches_in_advance() -> Exception:
    return usage_error(
        "a group of processes takes its samples step by step", "load step.samples in the loop, or a part of them"
    )

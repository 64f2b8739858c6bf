"""The loop form: what ``gossamer.torch.join`` returns."""

import copy
import math
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy
import torch

from . import _gossamer
from ._batches import BatchSampler
from ._command import Command, process_words, words_of
from ._evaluation import Evaluation, MeanEvaluation
from ._group import no_batches_in_advance, nothing_is_kept
from ._keeping import Kept, apart
from ._step import Step
from ._tensors import Buffers, Tensors
from .algorithm import chosen
from .errors import usage_error
from .functions import require_labels, source_of
from .results import load

_pause_of_left_step_s = 0.15  # longer than a leader takes to look whether its program wants to stop
_no_move_limit = 100  # the first steps; fewer happen with mixed precision, which skips steps
_least_of_whole_run = 10  # steps of a shorter run, of which none has moved anything
_steps_between_looks = 16  # at the names of the parameters: to walk through a module takes as long as a small step
_uncounted = 65536  # samples of a run whose loop brings its own batches: only its steps mean anything


class Joined:
    """A run that this process takes part in. See ``join``."""

    def __init__(
        self, module, optimiser, samples, batch, evaluate, averages_statistics, group, labels, data_id, settings
    ):
        self._takes_gradients = optimiser is None
        if isinstance(optimiser, type) or not (self._takes_gradients or callable(getattr(optimiser, "step", None))):
            raise usage_error(
                f"the optimiser is {optimiser!r}", "pass one of torch.optim, or None, to hand over gradients"
            )
        if evaluate is not None and not callable(evaluate):
            raise usage_error(f"evaluate is {evaluate!r}", "pass a function of the module, or leave it out")
        self._check(settings, samples, batch)
        self._counted = samples
        self._module, self._group = module, group
        self._tensors = Tensors(module, averages_statistics, group)
        self._evaluation = Evaluation(module, evaluate, self._tensors)
        self._gradient = torch.empty_like(self._tensors.flat) if self._takes_gradients else None
        self._mean: numpy.ndarray | None = None
        self._handed_over, self._has_moved = 0, False
        self._temporary: str | None = None
        self._command: Command | None = None
        self._at: _gossamer.Job | None = None  # the present step's, or the last one's
        self._batch_sampler = BatchSampler()
        tensors = self._tensors
        if samples is None and labels is not None:
            raise usage_error("labels= is given without samples=", "say how many samples there are")
        require_labels(settings, labels)
        count = _uncounted if samples is None else samples
        self._source = source_of(tensors.names, tensors.shapes, tensors.array, count, labels, data_id)
        if not self._takes_gradients:
            self._source.give_directions()
        self._kept = Kept(tensors.parameters[0].device)
        if group is None:
            # It may refer to this run, and the collector of garbage does not see what the source refers to.
            kept = weakref.proxy(self._kept)
            self._source.keep_with(lambda: kept.save(), lambda words: kept.restore(words))
            if hasattr(optimiser, "state_dict") and hasattr(optimiser, "load_state_dict"):
                self._kept.add({"optimiser": optimiser})
            buffers = Buffers(module, tensors.names)
            if buffers.state_dict():
                self._kept.add({"buffers": buffers})
        self._settings = settings = chosen(self._source, settings)
        if batch is not None:
            self._settings = {"batch": batch, **settings}
        elif samples is None:
            self._settings = {"batch": 1, **settings}

    # -- what a loop asks ----------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int | None:
        """The rank of this process's worker; None before its first step."""
        return self._at.worker if self._at else None

    @property
    def members(self) -> tuple[int, ...]:
        """The ranks of the workers that took part when the present step began; empty before the first step."""
        return tuple(self._at.members) if self._at else ()

    @property
    def epoch(self) -> float:
        """Passes through the samples by all workers together, as far as this worker knew when its step began."""
        return self._at.epoch if self._at else 0.0

    @property
    def progress(self) -> float | None:
        """The share of the planned epochs or steps that is done, from 0 to 1; None where only its time ends the run."""
        if self._at is None:
            return 0.0
        planned = self._at.planned_epochs
        return min(1.0, self._at.epoch / planned) if math.isfinite(planned) else None

    @property
    def evaluation(self) -> MeanEvaluation | None:
        """The last evaluation that this process has heard of, wherever it was made; None before the first."""
        heard = self._source.heard
        return MeanEvaluation(*heard) if heard else None

    @property
    def leads(self) -> bool:
        """True in the process that writes the run down, as far as this process has heard."""
        return self._command is not None and self._command.folder is not None

    @property
    def folder(self) -> str | None:
        """The run folder, where this process leads."""
        return self._command.folder if self._command else None

    @property
    def summary(self) -> dict[str, Any]:
        """summary.json of the run, in the process that leads when the run is over; empty elsewhere."""
        return load(self.folder).summary if self.folder is not None else {}

    def keep(self, **objects: Any) -> None:
        """Makes the states of more objects part of this worker's: ``run.keep(scheduler=scheduler, scaler=scaler)``.

        What ``join`` got as the optimiser is kept already, and so are PyTorch's generators of random numbers. Each has
        ``state_dict`` and ``load_state_dict``, whose states are in checkpoints and go to workers that come anew; or is a
        generator of PyTorch or NumPy, whose state is in checkpoints alone: each worker draws numbers of its own. Call it
        before the loop, with the same names on all nodes.
        """
        if self._group is not None:
            raise nothing_is_kept()
        if self._at is not None:
            raise usage_error("keep is called within the loop", "call it before the first step")
        self._kept.add(objects)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The module's state with the mean of all models, as the last evaluation had it, in the process that leads."""
        if self._mean is None:
            raise usage_error(
                "this process has evaluated no mean of the models",
                "ask the process that leads, where run.folder is set",
            )
        tensors = self._tensors
        parts = torch.from_numpy(self._mean).split([p.numel() for p in tensors.parameters])
        means = {id(p): part.view(p.shape).to(p.dtype).to(p.device) for part, p in zip(parts, tensors.parameters)}
        named = dict(zip(tensors.names, tensors.parameters))
        state = {}
        for name, value in self._module.state_dict(keep_vars=True).items():
            mean = means.get(id(named.get(name, value)))  # a shared parameter has several names, and travels under one
            if mean is not None:
                state[name] = mean.clone()
            else:
                state[name] = value.detach().clone() if isinstance(value, torch.Tensor) else copy.deepcopy(value)
        return state

    def __enter__(self) -> "Joined":
        if self._command is not None:
            raise usage_error("the same run is begun twice", "call gossamer.torch.join anew")
        if self._group is not None:
            self._group.interrupts.keep()
        words = process_words(self._job_under, "trains alone", self._settings.get("report"))
        self._command = Command(self._source, words)
        return self

    def __iter__(self) -> Iterator[Step]:
        if self._command is None:
            raise usage_error("the run has not begun", "write `with gossamer.torch.join(...) as run:` around the loop")
        left = self._source.unanswered()
        if left is not None:
            raise usage_error(
                f"a loop begins, and another one has left step {left.step} without handing it over",
                "call step.done(loss) before the loop is left, or leave the with-block",
            )
        while (job := self._next()) is not None:
            self._tensors.load(job)
            self._at = job
            self._kept.begin_step(job.worker)
            step = Step(self, job)
            yield step
            step.check_done()
        self._tell_end(of_run=False)

    @property
    def batch_sampler(self) -> "BatchSampler":
        """This worker's share, for a ``DataLoader``: see ``with_batches``."""
        if self._counted is None:
            raise usage_error("this run deals out no samples", "pass samples=len(data) and batch=... to join")
        if self._group is not None:
            raise no_batches_in_advance()
        return self._batch_sampler

    def with_batches(self, loader: Iterable) -> Iterator[tuple[Step, Any]]:
        """The steps, each with the batch of its samples, which the loader's processes get ready in advance::

            loader = DataLoader(data, batch_sampler=run.batch_sampler, num_workers=2, persistent_workers=True)
            for step, (x, y) in run.with_batches(loader):

        The loader begins anew when the share of this worker changes, because another one has come or is lost.
        """
        batches: Iterator = iter(())
        ahead = self.batch_sampler
        expected = None
        for step in self:
            place = (step._job.order, step.number)
            if place != expected:
                ahead.begin_at(*place)
                with apart(step.number):  # a loader draws a seed for its processes
                    batches = iter(loader)
            try:
                batch = next(batches)
            except StopIteration:
                raise usage_error(
                    "the loader has come to its end before the run", "make it with batch_sampler=run.batch_sampler"
                ) from None
            yield step, batch
            expected = (place[0], step.number + 1)

    def __exit__(self, kind, value, traceback) -> None:
        assert self._command is not None
        try:
            if kind is None or issubclass(kind, KeyboardInterrupt):
                self._end(stop=kind is not None)
            else:
                self._command.fall_out(self._source, value)
        finally:
            if self._group is not None:
                self._group.interrupts.keep_no_more()
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)

    # -- beginning -----------------------------------------------------------------------------------------------------

    def _check(self, settings: dict[str, Any], samples: int | None, batch: int | None) -> None:
        for key in ("model", "data", "initial"):
            if key in settings:
                remedy = "load its parameters into the module before join" if key == "initial" else "leave it out"
                raise usage_error(f"{key}= is given, and the loop brings it itself", remedy)
        if samples is not None and batch is None:
            raise usage_error("samples= is given without batch=", "say how many samples a step has: batch=32")
        if samples is None and (batch is not None or "epochs" in settings):
            raise usage_error(
                "batch= or epochs= is given without samples=",
                "say how many samples there are, samples=len(data); or count steps, steps=1000",
            )
        if self._takes_gradients:
            return
        if "workers" in settings:
            raise usage_error(
                "workers= is given, and the processes are the workers: several in one would share its optimiser",
                "leave it out; gossamer launch --hosts localhost:4 -- python ... has four",
            )
        for key in ("lr", "optimiser", "schedule"):
            if key in settings:
                raise usage_error(
                    f"{key}= is given, and the loop's own optimiser moves the model",
                    "leave it out; or pass None for the optimiser, to hand over gradients",
                )

    def _job(self, **settings: Any) -> list[str]:
        s = {"model": self._source.model_spec, "data": self._source.data_spec, **self._settings, **settings}
        if not self._takes_gradients:
            s |= {"lr": 1.0, "optimiser": "sgd", "schedule": "constant"}
        return ["train", *words_of(s)]

    def _job_under(self, launcher: dict[str, Any]) -> list[str]:
        """The launcher counts the nodes, and says from where a run goes on that it starts again."""
        if not launcher:
            return self._job(**{"workers": 1, **self._settings})
        told = dict(launcher)
        if "workers" in self._settings:
            told.pop("workers", None)
        if not told.keys() & {"initial", "resume"}:
            told["initial"] = self._write_initial()
        return self._job(**told)

    def _write_initial(self) -> str:
        """Everybody begins with the leader's parameters, which others fetch as a file."""
        self._temporary = tempfile.mkdtemp(prefix="gossamer-")
        path = os.path.join(self._temporary, "initial.npz")
        tensors = self._tensors
        sizes = [p.numel() for p in tensors.parameters]
        parts = [part.view(p.shape).numpy() for part, p in zip(tensors.flat.split(sizes), tensors.parameters)]
        numpy.savez(path, **dict(zip(tensors.names, parts)))
        return path

    # -- the loop ------------------------------------------------------------------------------------------------------

    def _next(self) -> "_gossamer.Job | None":
        """Waits for the next gradient that is wanted, and evaluates meanwhile. None when the run is over."""
        while True:
            if self._group is not None:
                self._group.interrupt_if_asked(self._tensors.parameters[0].device)
            job = self._source.take()
            if job is None:
                if self._source.has_ended:
                    return None
            elif job.is_evaluation:
                self._evaluate_at(job)
            else:
                return job

    def _hand_over(self, job: "_gossamer.Job", loss: float) -> None:
        tensors = self._tensors
        if self._group is None and job.step % _steps_between_looks == 0:
            tensors.check_names()
        if self._gradient is not None:
            tensors.gradients(self._gradient)
            self._source.answer_gradient(job, loss, self._gradient.numpy())
            return
        if tensors.is_direct:
            tensors.check_places()
            moved = self._source.answer_direction(job, loss, tensors.array, tensors.trained)
        else:
            tensors.read()
            direction = tensors.before - tensors.flat
            moved = bool(direction[: tensors.trained].any())
            self._source.answer_gradient(job, loss, direction.numpy())
        self._handed_over += 1
        self._has_moved |= moved
        if self._handed_over == _no_move_limit:
            self._require_moves()

    def _require_moves(self) -> None:
        if not self._has_moved:
            raise usage_error(
                f"the optimiser has moved no parameter in {self._handed_over} steps",
                "give it the parameters of the module that joined, and call step() before done()",
            )

    def _evaluate_at(self, job: "_gossamer.Job") -> None:
        self._mean = numpy.empty_like(self._tensors.array)
        job.copy_x(self._mean)
        self._source.answer_evaluation(job, self._evaluation.at(job))

    def _tell_end(self, of_run: bool) -> None:
        if self._group is not None:
            self._group.tell_end(self._tensors.parameters[0].device, of_run)

    # -- the end -------------------------------------------------------------------------------------------------------

    def _end(self, stop: bool) -> None:
        """The loop is over, at its end or before: what is still asked gets an answer, and the run its end."""
        assert self._command is not None
        is_left = stop or not self._source.has_ended
        if is_left:
            _gossamer.stop()

        def serve() -> None:
            while (job := self._source.unanswered() or self._source.take()) is not None:
                if job.is_evaluation:
                    self._evaluate_at(job)
                else:
                    self._source.answer_nothing(job)
                    time.sleep(_pause_of_left_step_s)

        try:
            self._command.finish(serve)
            self._tell_end(of_run=True)
        except BaseException as e:
            if self._command.is_under_way:  # an evaluation has failed, or a second Ctrl-C has come
                self._command.fall_out(self._source, e)
            raise
        # One that came later, or goes on with a checkpoint, may have met nothing but the end of a schedule.
        has_seen_all = self._at is not None and self._at.step + 1 == self._handed_over
        if not is_left and has_seen_all and self._handed_over >= _least_of_whole_run:
            self._require_moves()

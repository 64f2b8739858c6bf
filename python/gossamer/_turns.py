"""The way of a program's calls to the worker of its process, and of their outcomes back."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable
from typing import Any

import numpy

from . import _gossamer
from ._command import Command, process_words, words_of
from .errors import RunError, _error, usage_error

nothing = numpy.empty(0, numpy.uint8)
_steps = 10**12  # more than any group makes


class Turns:
    """A run whose worker carries out calls. It asks for each of them by a job, as other runs ask for gradients: the
    turn is the program's while it holds one."""

    def __init__(self, topology: str | None, settings: dict[str, Any]):
        has_neighbours = "no" if topology is None else "yes"
        self._settings = {
            "algorithm": f"collectives:neighbours={has_neighbours}",
            "topology": topology or "auto",
            "batch": 1,
            "lr": 1.0,  # of no use; a rate that is chosen would be shown
            "steps": _steps,
            **settings,
        }
        self._source = _gossamer.Source(["x"], [[1]], numpy.zeros(1, numpy.float32), 65536, [], 0, "")
        self.engine = self._source.serve_group()
        self._command: Command | None = None
        self._temporary: str | None = None
        self._job: _gossamer.Job | None = None
        self._calls = 0
        self.rank = -1
        self.members: tuple[int, ...] = ()
        self.founders: tuple[int, ...] = ()
        self.lost: tuple[int, ...] = ()  # in the last call

    def begin(self) -> None:
        if "GOSSAMER_JOIN" in os.environ:
            raise usage_error("GOSSAMER_JOIN is set, and nobody comes to a group that has begun", "start all anew")
        if self._command is not None:
            raise usage_error("the same group is begun twice", "call gossamer.collectives anew")
        self._command = Command(self._source, process_words(self._words, "is a group of one"))
        try:
            self._job = self._take()
        except BaseException as e:
            self.fall_out(e)
            raise
        self.rank, self.members = self._job.worker, tuple(self.engine.members)
        self.founders = self.members

    def call(self, hand_over: "Callable[[_gossamer.Job], None]") -> None:
        """Lets the worker carry out what is handed over with its job, and waits for the outcome."""
        if self._job is None:
            raise usage_error(
                "the group is not under way", "write `with gossamer.collectives(...) as group:` around its calls"
            )
        hand_over(self._job)  # may refuse; then nothing has been sent
        self._job = None
        self._calls += 1
        self._job = self._take()
        members = tuple(self.engine.members)
        self.lost = tuple(rank for rank in self.members if rank not in members)
        self.members = members

    def end(self) -> None:
        """Waits until all members have come to their ends. A group that has failed has ended already."""
        assert self._command is not None
        if self._job is None:
            return
        job, self._job = self._job, None
        try:
            self.engine.gather(job, "nothing more, since it has left the group", nothing, is_last=True)
            self._command.finish()
        finally:
            self._tidy_up()

    def fall_out(self, reason: BaseException) -> None:
        assert self._command is not None
        self._job = None
        self._command.fall_out(self._source, reason)
        self._tidy_up()

    def _take(self) -> "_gossamer.Job":
        assert self._command is not None
        while (job := self._source.take()) is None:
            if self._source.has_ended:
                self._command.finish()
                raise _error("interrupted", "the group has been stopped")
        if not self.engine.knew_group or self.engine.calls != self._calls:
            raise RunError(
                "failed",
                f"this process, rank {job.worker}, was cut off or came later, and the others have gone on without it",
                "start the program anew, in all processes",
            )
        return job

    def _words(self, launcher: dict[str, Any]) -> list[str]:
        """The job that this process leads. A program that is started again begins anew."""
        launcher = {flag: value for flag, value in launcher.items() if flag not in ("resume", "initial")}
        # Of one level, so that a process that leads later can remove all of it.
        self._temporary = os.path.join(tempfile.gettempdir(), f"gossamer-{uuid.uuid4().hex}")
        fixed = {"model": self._source.model_spec, "data": self._source.data_spec, "workers": 1}
        return ["train", *words_of({**fixed, **self._settings, **launcher, "out": self._temporary})]

    def _tidy_up(self) -> None:
        """Removes what the run has written down. Where this process falls out, another one may go on with it."""
        assert self._command is not None
        if self._command.is_under_way:
            return
        for folder in (self._temporary, self._command.folder):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

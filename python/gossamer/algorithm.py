"""An algorithm in Python, for trying ideas: the coroutine of the paper, in all three worlds."""

import re
from collections.abc import Generator
from typing import Any, ClassVar, cast

import numpy

from . import _gossamer
from .errors import usage_error


class _Request:
    """Something that a worker waits for."""

    def __init__(self, *words: Any):
        self._words = words

    def __await__(self) -> Generator[tuple, Any, Any]:
        return (yield self._words)

    def __bool__(self) -> bool:
        """``while w.next_step(t)`` would have no end."""
        raise usage_error(f"{self._words[0]} is used, and was not awaited", f"write `await w.{self._words[0]}(...)`")


class Worker:
    """A worker as its algorithm sees it: its place, gradients, and means with others. Vectors are float32 arrays."""

    def __init__(self, inner: "_gossamer.Worker"):
        self._inner = inner

    @property
    def id(self) -> int:
        return self._inner.id

    @property
    def members(self) -> list[int]:
        """All workers that take part, ascending. May change whenever the coroutine waits, as ``neighbours`` may."""
        return self._inner.members

    @property
    def neighbours(self) -> list[int]:
        return self._inner.neighbours

    def mixing(self, j: int) -> float:
        """Entry W_ij of the mixing matrix, for this worker i, and j itself or a neighbour."""
        return self._inner.mixing(j)

    def learning_rate(self, t: int) -> float:
        """gamma_t: the rate times the schedule."""
        return self._inner.learning_rate(t)

    def next_step(self, t: int) -> _Request:
        """``await w.next_step(t)`` is True if step t may begin, and False when training is over."""
        return _Request("next_step", t)

    def start_gradient(self, x: numpy.ndarray, t: int) -> _Request:
        """Begins the gradient at x over the minibatch of step t; awaited later. One at a time."""
        self._inner.start_gradient(x, t)
        return _Request("gradient", t)

    def neighbour_mean(self, x: numpy.ndarray, t: int) -> _Request:
        """W_ii x_i + sum over neighbours j of W_ij C(x_j), where C is the run's codec. t names the round."""
        return _Request("neighbour_mean", t, x)

    def mean_of_all(self, x: numpy.ndarray, t: int) -> _Request:
        """The mean of all workers' vectors, by a ring all-reduce. t names the round."""
        return _Request("mean_of_all", t, x)

    def update(
        self, x: numpy.ndarray, gradient: numpy.ndarray, t: int, at: numpy.ndarray | None = None
    ) -> numpy.ndarray:
        """x - gamma_t u(g): the optimiser's step, for a gradient at x or elsewhere. x itself stays as it is."""
        return cast(numpy.ndarray, self._inner.update(x, gradient, t, at))


class Algorithm:
    """The base of an algorithm: one worker's state, and the coroutine that reads like the paper.

    A class of its own has ``async def run(self, w: Worker)``, and sets

    exchange     "neighbours": along the edges of the topology, with ``neighbour_mean``; "all": ``mean_of_all``
    synchronous  all workers do the same number of steps
    state        names of the attributes that another worker, or a checkpoint, needs to go on where a step begins:
                 vectors of the model's size, whole numbers from 0 on, floats; each of one type from ``__init__`` on

    It may have ``inherit(self)``, called when the state came from another worker. ``self.x`` is the model.
    """

    exchange: ClassVar[str] = "neighbours"
    synchronous: ClassVar[bool] = True
    state: ClassVar[tuple[str, ...]] = ("x", "t")

    def __init__(self, initial: numpy.ndarray):
        self.x = initial
        self.t = 0

    async def run(self, w: Worker) -> None:
        raise NotImplementedError


def chosen(source: "_gossamer.Source", settings: dict[str, Any]) -> dict[str, Any]:
    """Replaces a class by its name among the settings, and tells the source of it."""
    given = settings.get("algorithm")
    if given is None or isinstance(given, str):
        return settings
    if not (isinstance(given, type) and issubclass(given, Algorithm)):
        raise usage_error(
            f"algorithm is {given!r}", "name a built-in one, or pass a class that is derived from gossamer.Algorithm"
        )
    if given.run is Algorithm.run:
        raise usage_error(f"the class {given.__name__} has no run", "write async def run(self, w)")
    if given.exchange not in ("neighbours", "all"):
        raise usage_error(f"{given.__name__}.exchange is {given.exchange!r}", "allowed: 'neighbours', 'all'")
    name = re.sub(r"[^a-z0-9]+", "-", given.__name__.lower()).strip("-")
    if not name:
        raise usage_error(f"the class {given.__name__} has a name without a letter from a to z", "call it otherwise")
    source.run_with(given, name, given.exchange == "neighbours", given.synchronous, list(given.state))
    return settings | {"algorithm": name}

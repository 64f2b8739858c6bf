"""The callback form: a function gives the loss and the gradient, and Gossamer calls it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _gossamer
from ._command import Command, words_of
from .algorithm import chosen
from .errors import usage_error
from .results import Run, load

Gradient = Callable[[numpy.ndarray, numpy.ndarray, int, int], tuple[float, numpy.ndarray]]
Evaluate = Callable[[numpy.ndarray], "float | tuple[float, float | None]"]

_calls_between_checks = 64


def train(
    gradient: Gradient,
    initial: Any,
    *,
    samples: int = 65536,
    evaluate: Evaluate | None = None,
    labels: Sequence[int] | None = None,
    data_id: str = "",
    **settings: Any,
) -> Run:
    """Trains with several workers in this process, in real time.

    gradient(x, samples, rank, step) returns the mean loss over a minibatch and its gradient at x, a float32 vector of
    the size of ``initial``. ``x`` and ``samples`` (numbers from 0 to ``samples`` - 1) are read-only arrays that are
    valid during the call. Workers call it from threads of their own, one at a time in Python code.

    evaluate(x) returns a loss, or a loss and an accuracy, of the mean model; they appear as test loss and test accuracy
    in progress, metrics and plots. ``labels`` (whole numbers from 0 on, one for each sample) are for partitions by
    label.

    ``settings`` are the flags of ``gossamer train``: ``algorithm="d-psgd", workers=8, batch=32, epochs=3, ...``.

    Returns the run folder, read. Raises what the functions raise, and ``gossamer.Error``.
    """
    source = _source(gradient, initial, samples, evaluate, labels, data_id)
    return _finish(Command(source, ["train", *_job_of(source, settings)]))


def simulate(
    gradient: Gradient,
    initial: Any,
    *,
    seconds_per_sample: float,
    samples: int = 65536,
    evaluate: Evaluate | None = None,
    labels: Sequence[int] | None = None,
    data_id: str = "",
    **settings: Any,
) -> Run:
    """Trains in virtual time, over a modelled network and under a plan of faults: same seed, same run.

    As ``train``; ``settings`` are the flags of ``gossamer simulate``: ``network="wan", faults="plan.toml", chaos=7,
    jitter="lognormal:sigma=0.5", ...``. Nothing is timed: a gradient of b samples takes b * ``seconds_per_sample``
    virtual seconds.

    The gradient must be a function of its arguments, or no seed repeats the run: now and then it is called twice, and
    the run fails when it differs. ``run.summary["hash"]`` is the hash of everything that happened.
    """
    source = _source(_checked(gradient), initial, samples, evaluate, labels, data_id)
    job = _job_of(source, {"sample_time": seconds_per_sample, **settings})
    return _finish(Command(source, ["simulate", *job]))


def _source(gradient, initial, samples, evaluate, labels, data_id) -> "_gossamer.Source":
    if not callable(gradient):
        raise usage_error("gradient is no function", "pass f(x, samples, rank, step) -> (loss, gradient)")
    x = numpy.ascontiguousarray(initial, dtype=numpy.float32)
    if x.ndim != 1 or x.size == 0:
        raise usage_error(f"initial has the shape {x.shape}", "pass a vector of at least one element")
    classes, checked = checked_labels(labels, samples)
    source = _gossamer.Source(["x"], [[x.size]], x, samples, checked, classes, data_id)
    source.compute_with(gradient, evaluate)
    return source


def checked_labels(labels, samples: int) -> tuple[int, list[float]]:
    if labels is None:
        return 0, []
    numbers = numpy.asarray(labels)
    if numbers.shape != (samples,) or not numpy.issubdtype(numbers.dtype, numpy.integer) or numbers.min() < 0:
        raise usage_error(
            f"labels has the shape {numbers.shape} and the type {numbers.dtype} for {samples} samples",
            "pass a whole number from 0 on for each sample",
        )
    return int(numbers.max()) + 1, numbers.astype(float).tolist()


def _job_of(source: "_gossamer.Source", settings: dict[str, Any]) -> list[str]:
    for key in ("model", "data", "initial"):
        if key in settings:
            raise usage_error(f"{key}= is given, and the program brings it itself", "leave it out")
    return words_of({"model": source.model_spec, "data": source.data_spec, **chosen(source, settings)})


def _checked(gradient: Gradient) -> Gradient:
    calls = 0

    def checked(x, samples, rank, step):
        nonlocal calls
        calls += 1
        loss, g = gradient(x, samples, rank, step)
        if calls % _calls_between_checks == 1:
            g = numpy.array(g, copy=True)
            again, other = gradient(x, samples, rank, step)
            if float(again) != float(loss) or not numpy.array_equal(other, g, equal_nan=True):
                raise usage_error(
                    f"gradient(x, samples, rank={rank}, step={step}) gave two results for the same arguments",
                    "draw random numbers from a generator that is seeded by rank and step, and switch dropout off or "
                    "seed it likewise; a simulation repeats itself only so",
                )
        return loss, g

    return checked


def _finish(command: Command) -> Run:
    command.finish()
    assert command.folder is not None
    return load(command.folder)

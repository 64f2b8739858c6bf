"""The callback form: a function gives the loss and the gradient, and Gossamer calls it."""

import operator
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
    the size of ``initial``. ``x`` and ``samples`` (numbers from 0 to ``samples`` - 1) are arrays of the call's own: to
    change or to keep them changes nothing else. Workers call it from threads of their own, one at a time in Python code.

    evaluate(x) returns a loss, or a loss and an accuracy, of the mean model; they appear as test loss and test accuracy
    in progress, metrics and plots. ``labels`` (whole numbers from 0 on, one for each sample) are for partitions by
    label.

    ``settings`` are the flags of ``gossamer train``: ``algorithm="d-psgd", workers=8, batch=32, epochs=3, ...``.

    Returns the run folder, read. Raises what the functions raise, and ``gossamer.Error``.
    """
    source = _source(gradient, initial, samples, evaluate, labels, data_id, settings)
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
    source = _source(_checked(gradient), initial, samples, evaluate, labels, data_id, settings)
    job = _job_of(source, {"sample_time": seconds_per_sample, **settings})
    return _finish(Command(source, ["simulate", *job]))


def _source(gradient, initial, samples, evaluate, labels, data_id, settings) -> "_gossamer.Source":
    if not callable(gradient):
        raise usage_error("gradient is no function", "pass f(x, samples, rank, step) -> (loss, gradient)")
    if evaluate is not None and not callable(evaluate):
        raise usage_error("evaluate is no function", "pass f(x) -> loss, or -> (loss, accuracy)")
    x = _vector_of(initial)
    require_labels(settings, labels)
    source = source_of(["x"], [[x.size]], x, samples, labels, data_id)
    source.compute_with(gradient, evaluate)
    return source


def _vector_of(initial: Any) -> numpy.ndarray:
    try:
        x = numpy.ascontiguousarray(initial, dtype=numpy.float32)
    except (TypeError, ValueError) as e:
        raise usage_error(f"initial is no vector of numbers: {e}", "pass one element for each parameter") from None
    if x.ndim != 1 or x.size == 0:
        raise usage_error(f"initial has the shape {x.shape}", "pass a vector of at least one element")
    if not numpy.isfinite(x).all():
        raise usage_error("initial has elements that are not finite in float32", "begin with finite numbers")
    return x


def source_of(names, shapes, initial: numpy.ndarray, samples: Any, labels: Any, data_id: Any) -> "_gossamer.Source":
    """A model and its data, as the run sees them."""
    try:
        count = operator.index(samples)
    except TypeError:
        count = 0
    if not 1 <= count < 1 << 32:
        raise usage_error(f"samples is {samples!r}", "give the number of all samples, from 1 to 4294967295")
    if not isinstance(data_id, str) or "\0" in data_id:
        raise usage_error(f"data_id is {data_id!r}", "give a name for the data, as text")
    classes, checked = _checked_labels(labels, count)
    return _gossamer.Source(names, shapes, initial, count, checked, classes, data_id)


def require_labels(settings: dict[str, Any], labels: Any) -> None:
    """Complains where the partition deals by class, and samples have none."""
    name = str(settings.get("partition", "iid")).split(":")[0]
    if labels is None and name in ("label", "dirichlet"):
        raise usage_error(
            f"the partition {name} deals by class, and labels= is not given",
            "pass labels=, the class of each sample",
        )


def _checked_labels(labels, samples: int) -> tuple[int, list[float]]:
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
        result = gradient(x, samples, rank, step)
        if calls % _calls_between_checks == 1 and _is_result(result):
            result = result[0], numpy.array(result[1], copy=True)
            again = gradient(x, samples, rank, step)
            if not _are_equal(result, again):
                raise usage_error(
                    f"gradient(x, samples, rank={rank}, step={step}) gave two results for the same arguments",
                    "draw random numbers from a generator that is seeded by rank and step, and switch dropout off or "
                    "seed it likewise; a simulation repeats itself only so",
                )
        return result

    return checked


def _is_result(result: Any) -> bool:
    """False where the run refuses it in a moment, in words of its own."""
    return isinstance(result, tuple) and len(result) == 2 and numpy.asarray(result[1]).dtype.kind in "fiu"


def _are_equal(one: tuple, other: Any) -> bool:
    if not _is_result(other):
        return False
    losses = numpy.array([float(one[0]), float(other[0])])
    same_loss = losses[0] == losses[1] or bool(numpy.isnan(losses).all())
    return same_loss and bool(numpy.array_equal(numpy.asarray(other[1]), one[1], equal_nan=True))


def _finish(command: Command) -> Run:
    command.finish()
    assert command.folder is not None
    return load(command.folder)

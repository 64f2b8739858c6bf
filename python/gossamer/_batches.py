"""The samples of a loop's next steps, for a DataLoader."""

import itertools
from collections.abc import Iterator

from . import _gossamer
from .errors import usage_error


class BatchSampler:
    """The samples of a worker's steps, one after the other, without end."""

    def __init__(self) -> None:
        self._order: _gossamer.Order | None = None
        self._first = 0

    def begin_at(self, order: "_gossamer.Order | None", step: int) -> None:
        if order is None:
            raise usage_error(
                "the samples of this step come from all shares, and cannot be got ready in advance",
                "load step.samples in the loop, or use another algorithm",
            )
        self._order, self._first = order, step

    def __iter__(self) -> Iterator[list[int]]:
        order = self._order
        if order is None:
            raise usage_error("the run has not asked for a step yet", "iterate over run.with_batches(loader)")
        for step in itertools.count(self._first):
            yield order.batch_of(step)

"""A backend of ``torch.distributed`` whose collectives are those of a group of Gossamer."""

# The types of PyTorch differ between its versions, and those of 1.13, which has no such backends, refuse all of it.
# mypy: ignore-errors

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import distributed

from ._carried import is_added
from ._collectives import Collectives
from .errors import membership_changed, usage_error

_refused = (
    "send",
    "recv",
    "recv_anysource",
    "reduce",
    "gather",
    "scatter",
    "reduce_scatter",
    "reduce_scatter_single",
    "_reduce_scatter_base",
    "reduce_scatter_tensor_coalesced",
    "alltoall",
    "alltoall_base",
    "all_to_all_single",
)
_name = "gossamer"
_group: Collectives | None = None  # the one that process groups are made of


def init_process_group(group: Collectives) -> None:
    """Makes a group of Gossamer the default process group of ``torch.distributed``, with the backend "gossamer"::

        with gossamer.collectives() as group:
            gossamer.torch.init_process_group(group)
            net = DistributedDataParallel(net)
            ...
            torch.distributed.destroy_process_group()

    It has all_reduce, broadcast, all_gather and barrier, of tensors in main memory and, by way of it, on GPUs. SUM and
    AVG of float32, float16 and bfloat16 are added as ``Collectives.all_reduce`` adds; other operations and types gather
    all tensors, at n / 2 times the bits. All else is refused with ``gossamer.UsageError``. There are no groups of a
    part of the processes.

    Operations are done by one thread, in the order in which they were begun. Elements that are added must be finite.

    PyTorch's groups keep their size: an operation during which a member is lost raises
    ``gossamer.MembershipChanged``, in all others, and so do all later ones. Waits in C++, as in ``backward``, raise
    PyTorch's ``RuntimeError`` with the same sentence.

    Needs PyTorch 2.1.
    """
    global _group
    if not hasattr(distributed.distributed_c10d, "_is_barrier_after_init"):
        raise usage_error(f"PyTorch {torch.__version__} begins groups with a barrier of its own", "use 2.1 or later")
    if group.size == 0:
        raise usage_error("the group is not under way", "call it within `with gossamer.collectives() as group:`")
    if _name not in distributed.Backend.backend_list:
        distributed.Backend.register_backend(_name, _create, devices=["cpu", "cuda"])
    _group = group
    distributed.init_process_group(
        _name, store=distributed.HashStore(), rank=group.members.index(group.rank), world_size=group.size
    )


def _create(store: Any, rank: int, size: int, timeout: Any) -> "ProcessGroup":
    if _group is None or size != _group.size:
        raise usage_error(
            f"a process group of {size} is asked of the backend gossamer",
            "call gossamer.torch.init_process_group(group), which makes one of all members; others have other backends",
        )
    return ProcessGroup(_group, rank)


class _Work(distributed.Work):
    """What PyTorch waits for. Those that ``_create_work_from_future`` makes do not raise."""

    def __init__(self, done: torch.futures.Future[list[torch.Tensor]]):
        super().__init__()
        self._done = done
        self._for_cpp = done.then(lambda same: same.value())  # where an exception is an error of C++ as well

    def wait(self, timeout: Any = None) -> bool:
        self._done.wait()
        return True

    def is_completed(self) -> bool:
        return self._done.done()

    def get_future(self) -> Any:
        return self._for_cpp


class ProcessGroup(distributed.ProcessGroup):
    """All members of a group, as PyTorch sees them. The functions that it overrides are called by PyTorch's C++."""

    def __init__(self, group: Collectives, rank: int):
        super().__init__(rank, group.size)
        self._members, self._group = group.members, group
        self._thread = ThreadPoolExecutor(1)

    def getBackendName(self) -> str:
        return _name

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None) -> Any:
        op = distributed.ReduceOp.SUM if opts is None else opts.reduceOp
        return self._start(tensors, self._reduce, ((x, op) for x in tensors))

    allreduce_coalesced = allreduce

    def broadcast(self, tensors: list[torch.Tensor], opts: Any) -> Any:
        source = self._members[opts.rootRank]
        return self._start(tensors, self._group.broadcast, ((x, source) for x in tensors))

    def allgather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any = None) -> Any:
        return self._start([x for to in outputs for x in to], self._gather, zip(outputs, inputs))

    def all_gather_single(self, output: torch.Tensor, x: torch.Tensor, opts: Any = None) -> Any:
        return self._start([output], self._gather, [(list(output.chunk(len(self._members))), x)])

    _allgather_base = all_gather_single

    def barrier(self, opts: Any = None) -> Any:
        return self._start([], self._group.barrier, [()])

    def _start(self, results: list[torch.Tensor], call: Callable[..., Any], arguments: Iterable[tuple]) -> Any:
        """Begins calls, and returns the Work that PyTorch waits for, which then finds the results."""
        calls = list(arguments)
        done: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future()

        def run() -> None:
            try:
                self._require_all()
                for one in calls:
                    call(*one)
                self._require_all()
                done.set_result(results)
            except Exception as e:
                done.set_exception(e)  # type: ignore[arg-type]

        # Made before the work begins: a future that has failed runs what follows it at once, in this thread.
        work = _Work(done)
        self._thread.submit(run)
        return work

    def _require_all(self) -> None:
        lost = tuple(rank for rank in self._members if rank not in self._group.members)
        if lost:
            raise membership_changed(lost, f"of the process group, rank {', '.join(map(str, lost))} is lost")

    def _reduce(self, x: torch.Tensor, op: Any) -> None:
        kinds = distributed.ReduceOp
        if is_added(x) and (op == kinds.SUM or op == kinds.AVG):
            self._group.all_reduce(x, op="sum" if op == kinds.SUM else "mean")
            return
        # Operations of several types are equal and are not found in a dictionary.
        for known, of_stack in (
            (kinds.SUM, lambda all: all.sum(0, dtype=x.dtype)),
            (kinds.AVG, lambda all: all.mean(0)),
            (kinds.PRODUCT, lambda all: all.prod(0, dtype=x.dtype)),
            (kinds.MIN, lambda all: all.amin(0)),
            (kinds.MAX, lambda all: all.amax(0)),
        ):
            if op == known:
                x.copy_(of_stack(torch.stack(self._group.all_gather(x))))
                return
        raise usage_error(
            f"all_reduce with {op} is asked of the backend gossamer", "allowed: SUM, AVG, PRODUCT, MIN, MAX"
        )

    def _gather(self, outputs: list[torch.Tensor], x: torch.Tensor) -> None:
        parts = self._group.all_gather(x)
        self._require_all()
        for to, part in zip(outputs, parts):
            to.copy_(part.view_as(to))


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: ProcessGroup, *arguments: Any, **options: Any) -> Any:
        raise usage_error(
            f"{name.strip('_')} is asked of the backend gossamer", "allowed: all_reduce, broadcast, all_gather, barrier"
        )

    return refuse


for _one in _refused:
    setattr(ProcessGroup, _one, _refusing(_one))

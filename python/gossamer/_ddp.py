"""A communication hook of DistributedDataParallel that packs gradients by a codec."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import torch
from torch import distributed

from ._collectives import Collectives
from ._gossamer import Codec
from .errors import usage_error


class CodecState:
    """The state of ``codec_hook``, which packs the gradients that ``DistributedDataParallel`` averages::

        net = DistributedDataParallel(net)
        net.register_comm_hook(gossamer.torch.CodecState("uniform:bits=8"), gossamer.torch.codec_hook)

    Each process packs each bucket, gathers the packets of all, and takes the mean of what they hold, in the order of
    ranks: the same bits everywhere. So a process sends (n - 1) b bits an element, where an all-reduce of float32 sends
    64 (n - 1) / n: it pays for few processes, or few bits. For losses of processes, and for slow links that differ, see
    ``join``.

    codec           name of a codec: gossamer list codecs
    error_feedback  True: what a packet has lost is added to the next gradient. None: for codecs that are not unbiased
    seed            of the random numbers; the same in all processes
    group           a process group of PyTorch that carries tensors in main memory, as Gloo does; None: all processes.
                    Or a group of ``gossamer.collectives``: then Gossamer carries the gradients, and codecs that lose
                    nothing are all-reduced on a ring. When members are lost, the others take the mean of their own.

    Raises ``gossamer.UsageError`` for an unknown codec or a group over NCCL. For a gradient that is not finite,
    ``backward`` raises ``gossamer.DivergedError``, or PyTorch's ``RuntimeError`` with its sentence.
    """

    def __init__(self, codec: str, *, error_feedback: bool | None = None, seed: int = 1, group: Any = None):
        self._carrier = _OverGossamer(group) if isinstance(group, Collectives) else _OverTorch(group)
        self._codec = Codec(codec, seed, self._carrier.rank)
        self._lost: dict[Any, torch.Tensor] | None = None  # by parameter: DDP deals out its buckets anew
        if not self._codec.unbiased if error_feedback is None else error_feedback:
            self._lost = {}
        self._packets = 0
        self._thread = ThreadPoolExecutor(1)  # finishes one bucket while backward makes the next

    @property
    def sent_bits(self) -> int:
        """To all others together; over PyTorch with what fills packets up to the longest of all, over Gossamer with
        headers."""
        return self._carrier.sent_bits

    def _pack(self, bucket: distributed.GradBucket, values: torch.Tensor) -> numpy.ndarray:
        """Packs a bucket, with what was lost of its parameters' former gradients, and notes what is lost now."""
        if self._lost is not None:
            keys, sizes = _parts_of(bucket, values.numel())
            values = values.clone()
            for key, part in zip(keys, values.split(sizes)):
                lost = self._lost.get(key)
                if lost is not None and lost.numel() == part.numel():
                    part += lost
        packet = self._codec.encode(values.numpy(), self._packets)
        self._packets += 1
        if self._lost is not None:
            values -= torch.from_numpy(self._codec.decode(packet, values.numel()).copy())
            self._lost |= zip(keys, values.split(sizes))
        return packet


def _parts_of(bucket: distributed.GradBucket, elements: int) -> tuple[list[Any], list[int]]:
    """A bucket's parameters and their sizes. Versions of PyTorch that do not tell them have its number instead."""
    if not hasattr(bucket, "parameters"):
        return [bucket.index()], [elements]
    parameters = bucket.parameters()
    return parameters, [p.numel() for p in parameters]


class _OverGossamer:
    """Packets go through a group of Gossamer."""

    def __init__(self, group: Collectives):
        self.rank, self._group, self._before = group.rank, group, group.sent.wire_bits

    @property
    def sent_bits(self) -> int:
        return self._group.sent.wire_bits - self._before

    def start(self, index: int, packet: numpy.ndarray, codec: Codec, elements: int) -> Callable[[], numpy.ndarray]:
        """Returns a function that gives the mean. One thread calls such functions, in the order of buckets."""
        if codec.exact:
            values = codec.decode(packet, elements).copy()
            return lambda: self._group.all_reduce(values)
        about = f"codec_hook of {elements} elements of bucket {index} by {codec.spec}"

        def gather() -> numpy.ndarray:
            packets = self._group._gather(about, packet)
            return codec.mean([numpy.frombuffer(p, numpy.uint8) for p in packets], elements)

        return gather


class _OverTorch:
    """Packets go through a process group of PyTorch."""

    def __init__(self, group: Any):
        if distributed.get_backend(group) == "nccl":
            raise usage_error(
                "packets are in main memory, and NCCL carries what is on GPUs",
                'pass group=torch.distributed.new_group(backend="gloo")',
            )
        self.rank, self._group, self.sent_bits = distributed.get_rank(group), group, 0
        self._places: dict[int, _Places] = {}

    def start(self, index: int, packet: numpy.ndarray, codec: Codec, elements: int) -> Callable[[], numpy.ndarray]:
        places = self._places.get(index)
        if places is None:
            places = self._places[index] = _Places(distributed.get_world_size(self._group))
        longest = codec.most_bytes(elements) if codec.fixed_size else None
        under_way = places.gather(torch.from_numpy(packet.copy()), longest, self._group)
        self.sent_bits += places.sent_bits

        def finish() -> numpy.ndarray:
            for part in under_way:
                part.wait()
            return codec.mean(places.gathered(), elements)

        return finish


class _Places:
    """Memory for the packets of one bucket. It is kept from step to step, so that no thread of PyTorch is the last to
    hold a tensor of Python's: that thread would want the interpreter, which may have ended."""

    def __init__(self, n: int):
        self.size = torch.zeros(1, dtype=torch.int64)
        self.sizes = [torch.zeros_like(self.size) for _ in range(n)]
        self.packet = torch.zeros(0, dtype=torch.uint8)
        self.packets = [self.packet] * n

    @property
    def sent_bits(self) -> int:
        """Of the last round."""
        return 8 * (len(self.sizes) - 1) * (self.size.element_size() + self.packet.numel())

    def gather(self, packet: torch.Tensor, longest: int | None, group: Any) -> list[Any]:
        """Begins to fill in the packets of all processes, each as many bytes as the longest may have. If these are not
        given, waits for the sizes first: only in the thread of backward is the order of collectives that of all."""
        self.size[0] = packet.numel()
        sizes = distributed.all_gather(self.sizes, self.size, group=group, async_op=True)
        if longest is None:
            sizes.wait()
            longest = max(int(size) for size in self.sizes)
        if self.packet.numel() != longest:
            self.packet = torch.zeros(longest, dtype=torch.uint8)
            self.packets = [torch.zeros_like(self.packet) for _ in self.sizes]
        self.packet[: packet.numel()] = packet
        return [sizes, distributed.all_gather(self.packets, self.packet, group=group, async_op=True)]

    def gathered(self) -> list[numpy.ndarray]:
        return [p[: int(s)].numpy() for p, s in zip(self.packets, self.sizes)]


def codec_hook(state: CodecState, bucket: distributed.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket of gradients by packets of a codec. See ``CodecState``."""
    gradient = bucket.buffer()
    packet = state._pack(bucket, gradient.detach().float().cpu())
    mean_of_all = state._carrier.start(bucket.index(), packet, state._codec, gradient.numel())
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()

    def finish() -> None:
        try:
            done.set_result(gradient.copy_(torch.from_numpy(mean_of_all().copy())))
        except Exception as e:
            done.set_exception(e)  # type: ignore[arg-type]

    state._thread.submit(finish)
    return done

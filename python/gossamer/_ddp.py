"""A communication hook of DistributedDataParallel that packs gradients by a codec."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import torch
from torch import distributed

from ._gossamer import Codec

_longest_head = 8 + 2 * 10 + 255 * 8  # bytes before a packet's payload, see docs/wire-format.md


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
    group           a process group of PyTorch; None: all processes

    Raises ``gossamer.UsageError`` for an unknown codec. For a gradient that is not finite, ``backward`` raises
    PyTorch's ``RuntimeError`` with the sentence of ``gossamer.DivergedError``.
    """

    def __init__(self, codec: str, *, error_feedback: bool | None = None, seed: int = 1, group: Any = None):
        self._group = group
        self._codec = Codec(codec, seed, distributed.get_rank(group))
        self._lost: dict[int, torch.Tensor] | None = None
        if not self._codec.unbiased if error_feedback is None else error_feedback:
            self._lost = {}
        self._places: dict[int, _Places] = {}
        self._packets = 0
        self._thread = ThreadPoolExecutor(1)  # finishes one bucket while backward makes the next
        self.payload_bits = 0  #: that this process has sent, at most, to all others together

    def _pack(self, index: int, values: torch.Tensor) -> torch.Tensor:
        """Packs a bucket, with what was lost of the former one, and notes what is lost now."""
        lost = None if self._lost is None else self._lost.get(index)
        if lost is not None and lost.numel() == values.numel():  # DDP deals out its buckets anew after the first step
            values = values + lost
        packet = self._codec.encode(values.numpy(), self._packets)
        self._packets += 1
        self.payload_bits += (distributed.get_world_size(self._group) - 1) * self._codec.bits(values.numel())
        if self._lost is not None:
            self._lost[index] = values - torch.from_numpy(self._codec.decode(packet, values.numel()).copy())
        return torch.from_numpy(packet.copy())  # one that PyTorch may write to

    def _places_for(self, index: int, gradient: torch.Tensor) -> "_Places":
        most_bytes = _longest_head + -(-self._codec.bits(gradient.numel()) // 8)
        places = self._places.get(index)
        if places is None or places.packet.numel() != most_bytes:
            on_gpus = distributed.get_backend(self._group) == "nccl"
            device = gradient.device if on_gpus else torch.device("cpu")
            places = self._places[index] = _Places(most_bytes, distributed.get_world_size(self._group), device)
        return places


class _Places:
    """Memory for the packets of one bucket. It is kept from step to step, so that no thread of PyTorch is the last to
    hold a tensor of Python's: that thread would want the interpreter, which may have ended."""

    def __init__(self, most_bytes: int, n: int, device: torch.device):
        self.size = torch.zeros(1, dtype=torch.int64, device=device)
        self.packet = torch.zeros(most_bytes, dtype=torch.uint8, device=device)
        self.sizes = [torch.zeros_like(self.size) for _ in range(n)]
        self.packets = [torch.zeros_like(self.packet) for _ in range(n)]

    def gather(self, packet: torch.Tensor, group: Any) -> list[Any]:
        """Begins to fill in the packets of all processes."""
        self.size[0] = packet.numel()
        self.packet[: packet.numel()] = packet
        return [
            distributed.all_gather(self.sizes, self.size, group=group, async_op=True),
            distributed.all_gather(self.packets, self.packet, group=group, async_op=True),
        ]

    def gathered(self) -> list[numpy.ndarray]:
        return [p[: int(s)].cpu().numpy() for p, s in zip(self.packets, self.sizes)]


def codec_hook(state: CodecState, bucket: distributed.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket of gradients by packets of a codec. See ``CodecState``."""
    gradient, codec = bucket.buffer(), state._codec
    packet = state._pack(bucket.index(), gradient.detach().float().cpu())
    places = state._places_for(bucket.index(), gradient)
    under_way = places.gather(packet, state._group)
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()

    def finish() -> None:
        try:
            for part in under_way:
                part.wait()
            mean = codec.mean(places.gathered(), gradient.numel())
            done.set_result(gradient.copy_(torch.from_numpy(mean.copy())))
        except Exception as e:
            done.set_exception(e)  # type: ignore[arg-type]

    state._thread.submit(finish)
    return done

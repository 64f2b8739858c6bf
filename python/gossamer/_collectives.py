"""Collectives over the engine of Gossamer, for programs that have an algorithm of their own."""

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy

from ._carried import bytes_of, described, floats_of, like, put_bytes, put_floats, require_writable
from ._gossamer import Codec
from ._turns import Turns, nothing
from .errors import membership_changed, usage_error

Tensor = TypeVar("Tensor")
"""An array of NumPy, or a tensor of PyTorch."""

Call = TypeVar("Call", bound=Callable)

_ops = ("mean", "sum", "majority", "drawn-sign")


def _one_at_a_time(call: Call) -> Call:
    """Lets a thread wait for the end of another one's call."""

    @functools.wraps(call)
    def waiting(self: "Collectives", *arguments: Any, **options: Any) -> Any:
        with self._in_call:
            return call(self, *arguments, **options)

    return cast(Call, waiting)


class Traffic(NamedTuple):
    """All that a process has sent."""

    messages: int
    payload_bits: int  #: the information, as papers count it
    wire_bits: int  #: whole bytes, with headers


class Collectives:
    """A group of processes under way. See ``gossamer.collectives``.

    Beside its cost, each call of all members sends one message of about a hundred bytes, which says what it is, to the
    successor in the ring; in a group with a topology also one to each neighbour.
    """

    def __init__(self, topology: str | None, on_loss: str, settings: dict[str, Any]):
        if on_loss not in ("continue", "raise"):
            raise usage_error(f"on_loss is {on_loss!r}", 'allowed are "continue" and "raise"')
        if not isinstance(settings["seed"], int):
            raise usage_error(f"seed is {settings['seed']!r}", "give a whole number from 0 on")
        self._has_neighbours, self._raises = topology is not None, on_loss == "raise"
        self._turns = Turns(topology, settings)
        self._engine = self._turns.engine
        self._seed: int = settings["seed"]
        self._codecs: dict[str, Codec] = {}
        self._in_call = threading.RLock()

    def __enter__(self) -> "Collectives":
        self._turns.begin()
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, traceback: Any) -> None:
        self._turns.end() if value is None else self._turns.fall_out(value)

    # -- who takes part ------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """The number of this process, from 0 on; it stays the same when others are lost. -1 before the block."""
        return self._turns.rank

    @property
    def members(self) -> tuple[int, ...]:
        """The ranks that took part in the last call of all, ascending; before the first one, those of the beginning.
        The same in all members after the same call."""
        return self._turns.members

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.members)

    @property
    def sent(self) -> Traffic:
        """What this process had sent when its last call ended, counted where it is sent; control messages are not."""
        return Traffic(*self._engine.sent)

    # -- collectives ---------------------------------------------------------------------------------------------------

    @_one_at_a_time
    def all_reduce(self, x: Tensor, op: str = "mean", codec: str | None = None) -> Tensor:
        """Replaces x, in all members, by a reduction of all members' x: the same bits everywhere. Returns x.

        With n members, and x_i of d elements that of the i-th of them:

        "sum"         sum_i x_i. Without a codec: the vector is cut into n segments with edges floor(k d / n), and
                      segment k is summed in float32 in the order of members k, k + 1, ..., k - 1.
                      Cost: 2 (n - 1) messages of each member, with 64 (n - 1) / n bits an element; where segments are
                      1 MiB and more, as many messages for each 512 KiB of them. Up to 2^18 elements take two hops,
                      directly to the member that sums them and back; more take 2 (n - 1) on a ring.
                      With a codec C: sum_i C(x_i), in the order of the members. Each x_i is packed once, and its packet
                      goes to all others. Cost: n - 1 messages, with n - 1 packets.
        "mean"        1 / n, rounded to float32, times that sum
        "majority"    the sign, +1 or -1, of sum_i sign(x_i), where sign(0) and sign of a tie are +1.
                      Cost: 2 (n - 1) messages; ceil(log2(k + 1)) bits an element of sums of k signs, then 1.
        "drawn-sign"  the sign of an x_i drawn uniformly, for each element anew: its mean over the draws is the mean of
                      the signs. The one-bit all-reduce of Marsit (Wu and others, 2022).
                      Cost: 2 (n - 1) messages of each member, with 2 (n - 1) / n bits an element.

        x       float32, float16 or bfloat16, an array or a tensor, of the same shape and type in all members. It is
                added in float32, and rounded to its type at the end.
        codec   by name: "uniform:bits=8"; for "sum" and "mean"

        Raises ``UsageError`` where members differ in op, codec, shape or type: in all members, and the group is over.
        Raises ``DivergedError`` for an x that is not finite, in this process alone and before anything is sent: it may
        call again. A sum that overflows raises it in all members, and the group is over.
        """
        if op not in _ops:
            raise usage_error(f"op is {op!r}", f"allowed: {', '.join(_ops)}")
        packs = None
        if codec is not None:
            if op not in ("mean", "sum"):
                raise usage_error(
                    f"op={op!r} is given with a codec", "it sends single bits as they are: leave codec out"
                )
            packs = self._codec(codec)
        about = f"all_reduce(op={op}{f', codec={packs.spec}' if packs else ''}) of {described(x)}"
        return self._add_up(op, about, x, floats_of(x), packs)

    @_one_at_a_time
    def neighbour_average(self, x: Tensor, codec: str | None = None) -> Tensor:
        """Replaces x by W_ii x_i + sum_j W_ij C(x_j), over the neighbours j of this rank i. Returns x.

        W is the mixing matrix of the topology that the group was made with: symmetric, and its rows sum to 1. So the
        mean over all members is kept, up to rounding, where C is the identity. Nobody waits but for its neighbours.
        Cost: deg(i) messages, with as many packets of C.

        The vector of a neighbour that is lost is replaced by x_i. The next call of all members, such as ``barrier``,
        mends the graph. ``members`` stays as it is until then.

        x, codec and errors are as in ``all_reduce``; members may use different codecs.
        """
        if not self._has_neighbours:
            raise usage_error("this group has no topology", 'make it with gossamer.collectives(topology="ring")')
        packs = None if codec is None else self._codec(codec)
        values = floats_of(x)
        return self._add_up("neighbour-mean", f"neighbour_average of {values.size} elements", x, values, packs)

    @_one_at_a_time
    def broadcast(self, x: Tensor, source: int = 0) -> Tensor:
        """Replaces x by that of the member with the rank ``source``, bit for bit. Returns x.

        x may be of any type; shape and type are the same in all members. Cost: n - 1 messages of each member, one of
        which has the tensor, which takes n - 1 hops.

        Raises ``MembershipChanged`` in all members when the source is lost; x is then as it was. Raises ``UsageError``
        for a source that has never been a member.
        """
        require_writable(x)
        if self._turns.founders and source not in self._turns.founders:
            raise usage_error(
                f"rank {source!r} is to broadcast, and has never been a member",
                f"members are {_list(self.members)}",
            )
        self._require_member(source)
        about = f"broadcast(source={source}) of {described(x)}"
        parts = self._gather(about, bytes_of(x) if source == self.rank else nothing)
        self._require_member(source)
        put_bytes(x, parts[self.members.index(source)])
        return self._checked(x)

    @_one_at_a_time
    def all_gather(self, x: Tensor) -> list[Tensor]:
        """Returns the x of all members, bit for bit, in the order of ``members``.

        x may be of any type; shape and type are the same in all members. Cost: n - 1 messages of each member, with
        n - 1 tensors.
        """
        parts = self._gather(f"all_gather of {described(x)}", bytes_of(x))
        return self._checked([like(x, part) for part in parts])

    @_one_at_a_time
    def barrier(self) -> None:
        """Waits until all members have called it. Cost: n - 1 messages of each member, without payload."""
        self._gather("barrier", nothing)
        self._checked(None)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _codec(self, spec: str) -> Codec:
        if not isinstance(spec, str):
            raise usage_error(f"codec is {spec!r}", 'give its name, as "uniform:bits=8"')
        if spec not in self._codecs:
            self._codecs[spec] = Codec(spec, self._seed, max(self.rank, 0))
        return self._codecs[spec]

    def _add_up(self, op: str, about: str, x: Any, values: numpy.ndarray, codec: Codec | None) -> Any:
        self._turns.call(lambda job: self._engine.add_up(job, op, about, values, codec))
        self._engine.copy_values(values)
        put_floats(x, values)
        return self._checked(x)

    @_one_at_a_time
    def _gather(self, about: str, data: numpy.ndarray) -> list[bytes]:
        """The bytes of all members, in their order; of any sizes."""
        self._turns.call(lambda job: self._engine.gather(job, about, data))
        return self._engine.gathered()

    def _checked(self, result: Any) -> Any:
        """Notices losses. ``members`` is equal in all members here, so all raise in the same call."""
        lost = self._turns.lost
        if lost and self._raises:
            raise membership_changed(lost, f"{_named(lost)} lost; the call is done among the others")
        return result

    def _require_member(self, source: int) -> None:
        if source not in self.members:
            raise membership_changed(
                self._turns.lost or (source,),
                f"rank {source} is to broadcast, and is no member",
                f"members are {_list(self.members)}",
            )


def _list(ranks: tuple[int, ...]) -> str:
    return ", ".join(map(str, ranks))


def _named(ranks: tuple[int, ...]) -> str:
    return f"rank {ranks[0]} was" if len(ranks) == 1 else f"ranks {_list(ranks)} were"


def collectives(
    *,
    topology: str | None = None,
    mixing: str = "auto",
    on_loss: str = "continue",
    seed: int = 1,
    threads: int | None = None,
    under_way: int | None = None,
) -> Collectives:
    """Makes a group of processes that call collectives, for an algorithm of their own, over Gossamer's engine::

        with gossamer.collectives() as group:
            gradient = ...
            group.all_reduce(gradient, codec="uniform:bits=8")

    ``gossamer launch --hosts localhost:4 -- python train.py`` starts four processes, on several machines too; one that
    is started alone is a group of one. All members make the same calls in the same order, and leave the block after the
    same number of them: the end of the block waits for all.

    topology   of ``neighbour_average``: "ring", "torus", "exponential", ...: gossamer list topologies. None: no such call
    mixing     its weights: "auto", "uniform", "metropolis" or "lazy"
    on_loss    "continue": when members are lost, the call that is under way, and all later ones, are done among the
               others. "raise": likewise, and then the call raises ``gossamer.MembershipChanged`` in all of them, with
               its result in place
    seed       of the random numbers of codecs and of "drawn-sign"
    threads    for messages; None: one for each processor
    under_way  bytes that may be on their way to one other member before the next call waits; None: 8 MiB

    These are the same in all processes; those of the first one count.

    Losses: a process that is killed, whose machine dies, or whose block ends with an exception, is lost, at once or
    after the launcher's ``--patience`` (10 s) of silence. The others repeat the call under way among themselves, so
    all of them get the same result, as long as most of them live (of two, the first). Nobody comes to a group that has
    begun. A process that was cut off for longer raises ``RunError``.

    Threads: any may call, and waits for another one's call; the order of all calls is the same in all processes. No
    call holds Python's lock while it waits. Ctrl-C ends a wait.

    Vectors have at most 2^28 elements. Two runs, or a run and a group, cannot be in one process at a time.
    """
    settings = {"mixing": mixing, "seed": seed, "threads": threads, "under_way": under_way}
    return Collectives(topology, on_loss, settings)

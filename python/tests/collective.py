"""Calls of a group, for the tests: python collective.py SCENARIO OUT. Each process writes OUT-RANK.npz."""

import os
import pathlib
import signal
import sys
import time

import gossamer
import numpy
from waiting import await_file


def vector_of(rank, size=1001, seed=0):
    return numpy.random.default_rng([seed, rank]).normal(size=size).astype(numpy.float32)


def reductions(group, results, what):
    x = vector_of(group.rank)
    results["sum"] = group.all_reduce(x.copy(), op="sum")
    before = group.sent
    results["mean"] = group.all_reduce(x.copy())
    results["mean_bits"] = [group.sent.payload_bits - before.payload_bits, group.sent.messages - before.messages]
    results["packed"] = group.all_reduce(x.copy(), codec="uniform:bits=8")
    results["identity"] = group.all_reduce(x.copy(), op="sum", codec="identity")
    results["majority"] = group.all_reduce(x.copy(), op="majority")
    results["drawn"] = group.all_reduce(x.copy(), op="drawn-sign")
    results["half"] = group.all_reduce(x.astype(numpy.float16).reshape(7, 143))
    results["transposed"] = group.all_reduce(x[:1000].reshape(20, 50).copy().T)
    results["long"] = group.all_reduce(vector_of(group.rank, size=(1 << 18) + 5), op="sum")
    results["short"] = group.all_reduce(x[:1].copy(), op="sum")
    results["empty"] = group.all_reduce(numpy.empty(0, numpy.float32))
    results["gathered"] = group.all_gather(numpy.array([[group.rank, -1], [7, 8]]))
    results["sent"] = group.broadcast(numpy.full(3, group.rank, dtype=numpy.float64), source=1 % group.size)
    group.barrier()


def neighbours(group, results, what):
    x = vector_of(group.rank)
    results["first"] = group.neighbour_average(x.copy())
    results["packed"] = group.neighbour_average(x.copy(), codec="uniform:bits=8")
    for _ in range(60):
        group.neighbour_average(x)
    results["last"] = x
    results["mean"] = group.all_reduce(vector_of(group.rank))
    results["again"] = group.neighbour_average(vector_of(group.rank))


def killed(group, results, what):
    """Rank 2, or the one that leads, dies among many calls; the results say with whom each was done."""
    victim = 0 if what == "leader" else 2
    sums, counts = [], []
    while len(sums) < 400 or len(group.members) == 4:
        if group.rank == victim and len(sums) == 150:
            os.kill(os.getpid(), signal.SIGKILL)
        one = numpy.full(2000, 10.0**group.rank, dtype=numpy.float32)
        sums.append(float(group.all_reduce(one, op="sum")[1234]))
        counts.append(group.members)
    results["sums"], results["sizes"] = sums, [len(c) for c in counts]
    results["members"] = group.members


def killed_raise(group, results, what):
    """Rank 1 dies behind call 100 of all: sooner it would take frames with it that the others still wait for."""
    calls, caught = 0, 0
    while calls < 300 or not caught:
        if group.rank == 1 and calls == 100:
            for rank in (0, 2):
                await_file(f"done-{rank}")
            os.kill(os.getpid(), signal.SIGKILL)
        if calls == 100:
            pathlib.Path(f"done-{group.rank}").touch()
        calls += 1
        x = numpy.ones(10, dtype=numpy.float32)
        try:
            group.all_reduce(x, op="sum")
        except gossamer.MembershipChanged as e:
            assert e.lost == (1,) and x[0] == 2, (e.lost, x)
            caught = calls
    results["caught"] = [caught, calls]


def killed_neighbours(group, results, what):
    """Neighbour means go on beside a dead neighbour, and a call of all mends the ring."""
    x = vector_of(group.rank)
    for k in range(200):
        if group.rank == 2 and k == 50:
            os.kill(os.getpid(), signal.SIGKILL)
        group.neighbour_average(x)
    results["before"] = x.copy()
    group.barrier()
    for _ in range(100):
        group.neighbour_average(x)
    results["after"], results["members"] = x, group.members


def source_killed(group, results, what):
    group.barrier()
    if group.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    x = numpy.zeros(5)
    for _ in range(2):
        try:
            group.broadcast(x, source=1)
        except gossamer.MembershipChanged as e:
            results.setdefault("lost", []).append(e.lost)
    results["value"] = group.broadcast(x + group.rank, source=2)


def killed_end(group, results, what):
    """One dies where the others come to the end of the block."""
    group.barrier()
    if group.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)


def too_few(group, results, what):
    """Of two, the second does not outlive the first: it ends with an error, not in a wait. The first may die before its
    last message has left, so that the second gets the error in the call that the first has done."""
    try:
        group.barrier()
        if group.rank == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        while True:
            group.barrier()
    except gossamer.Error as e:
        results["error"] = f"{type(e).__name__}: {e}"


def differ(group, results, what):
    odd = group.rank == 1
    size = 11 if odd and what == "size" else 10
    x = numpy.ones(size, dtype=numpy.float16 if odd and what == "type" else numpy.float32)
    if odd and what == "call":
        group.barrier()
    elif odd and what == "neighbours":
        group.neighbour_average(x)
    elif odd and what == "end":
        return
    elif odd and what == "big":
        group.all_reduce(numpy.ones(3_000_000, dtype=numpy.float32))
    else:
        group.all_reduce(
            x, op="sum" if odd and what == "op" else "mean", codec="sign" if odd and what == "codec" else None
        )
    raise AssertionError("it was not noticed")


def neighbour_sizes(group, results, what):
    group.neighbour_average(numpy.ones(11 if group.rank == 1 else 10, dtype=numpy.float32))
    group.barrier()


def not_finite(group, results, what):
    for codec in (None, "uniform:bits=8"):
        x = numpy.array([1, numpy.nan if group.rank == 1 else 2], dtype=numpy.float32)
        try:
            group.all_reduce(x, codec=codec)
        except gossamer.DivergedError as e:
            results.setdefault("refused", []).append(str(e))
            x[1] = 2
            group.all_reduce(x, codec=codec)
        results.setdefault("mean", []).append(x)


def overflow(group, results, what):
    group.all_reduce(numpy.full(4, 3e38, dtype=numpy.float32), op="sum")


def raises(group, results, what):
    group.barrier()
    if group.rank == 1:
        raise KeyError("something of the user's")
    x = group.all_reduce(numpy.ones(3, dtype=numpy.float32), op="sum")
    while x[0] == 3:
        x = group.all_reduce(numpy.ones(3, dtype=numpy.float32), op="sum")
    results["sum"] = x


def waits(group, results, what):
    """A member that does not call makes the others wait, until it calls."""
    if group.rank == 1:
        await_file("calls")
        time.sleep(0.5)  # one that is not waited for comes too late
        pathlib.Path("called").touch()
    else:
        pathlib.Path("calls").touch()
    group.barrier()
    results["waited"] = os.path.exists("called")


def main():
    scenario, out = sys.argv[1:3]
    name, _, what = scenario.partition("-")
    has_neighbours = "neighbour" in scenario
    on_loss = "raise" if name == "killed_raise" else "continue"
    results: dict = {}
    with gossamer.collectives(topology="ring" if has_neighbours else None, on_loss=on_loss) as group:
        globals()[name](group, results, what)
    numpy.savez(f"{out}-{group.rank}.npz", **results)


if __name__ == "__main__":
    main()

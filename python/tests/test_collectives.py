"""Groups of processes that call collectives."""

import os
import subprocess
import sys

import gossamer
import numpy
import pytest
from collective import vector_of
from conftest import here

float32 = numpy.float32


def result_of(rank, out="out"):
    return numpy.load(f"{out}-{rank}.npz")


def ring_sum(vectors):
    """As all_reduce says: segment k is summed in the order of members k, k + 1, ..."""
    n, d = len(vectors), len(vectors[0])
    total = numpy.empty(d, dtype=float32)
    for k in range(n):
        part = slice(k * d // n, (k + 1) * d // n)
        total[part] = vectors[k][part]
        for i in range(1, n):
            total[part] += vectors[(k + i) % n][part]
    return total


def in_order(vectors):
    total = vectors[0].copy()
    for v in vectors[1:]:
        total += v
    return total


def check_reductions(n, results):
    x = [vector_of(rank) for rank in range(n)]
    share = float32(1) / float32(n)
    for name in results[0].files:
        if name not in ("mean_bits",):
            assert all(r[name].tobytes() == results[0][name].tobytes() for r in results), name
    r = results[0]
    assert (r["sum"] == ring_sum(x)).all() and (r["mean"] == ring_sum(x) * share).all()
    assert (r["identity"] == in_order(x)).all()
    codecs = [gossamer.Codec("uniform:bits=8", 1, rank) for rank in range(n)]
    packed = [c.decode(c.encode(v, 2), v.size) for c, v in zip(codecs, x)]  # the third call of the program
    assert (r["packed"] == in_order([numpy.array(p) for p in packed]) * share).all()
    signs = numpy.sign(numpy.sum([numpy.sign(v) for v in x], axis=0) + 0.5)
    assert (r["majority"] == signs).all()
    drawn, agreed = r["drawn"], numpy.abs(numpy.sum([numpy.sign(v) for v in x], axis=0)) == n
    assert (numpy.abs(drawn) == 1).all() and (drawn[agreed] == signs[agreed]).all()
    halves = ring_sum([v.astype(numpy.float16).astype(float32) for v in x]) * share
    assert r["half"].dtype == numpy.float16 and (r["half"] == halves.astype(numpy.float16).reshape(7, 143)).all()
    turned = [v[:1000].reshape(20, 50).T.ravel() for v in x]
    assert (r["transposed"] == (ring_sum(turned) * share).reshape(50, 20)).all()
    long = [vector_of(rank, size=(1 << 18) + 5) for rank in range(n)]  # round a ring, where the others go directly
    assert (r["long"] == ring_sum(long)).all()
    assert r["short"] == ring_sum([v[:1] for v in x]) and r["empty"].size == 0
    assert [g.tolist() for g in r["gathered"]] == [[[rank, -1], [7, 8]] for rank in range(n)]
    assert (r["sent"] == 1 % n).all() and r["sent"].dtype == numpy.float64
    if n > 1:
        others = 32 * sum(1001 * (k + 1) // n - 1001 * k // n for k in range(n)) * 2 * (n - 1)
        said = n * 8 * len("all_reduce(op=mean) of float32 of shape (1001,)")
        assert sum(r["mean_bits"][0] for r in results) == others + said
        assert all(r["mean_bits"][1] == 2 * (n - 1) + 1 for r in results)


def test_reductions_are_what_numpy_says(launch):
    done = launch(4, "collective.py", "reductions", "out")
    assert done.returncode == 0, done.stderr
    check_reductions(4, [result_of(rank) for rank in range(4)])
    assert "accuracy" not in done.stderr + done.stdout and not os.path.exists("runs")


def test_a_process_alone_is_a_group_of_one():
    done = subprocess.run(
        [sys.executable, str(here / "collective.py"), "reductions", "out"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "a group of one" in done.stderr and done.stdout == "", done.stderr
    assert "learning rate" not in done.stderr
    check_reductions(1, [result_of(0)])
    assert not os.path.exists("runs")


def test_neighbours_average_along_the_topology(launch):
    done = launch(4, "collective.py", "neighbours", "out")
    assert done.returncode == 0, done.stderr
    x, results = [vector_of(rank) for rank in range(4)], [result_of(rank) for rank in range(4)]
    third = float32(1) / float32(3)
    for rank, r in enumerate(results):
        mixed = float32(1 - 2 * third) * x[rank]
        for j in sorted(((rank - 1) % 4, (rank + 1) % 4)):
            mixed += third * x[j]
        assert numpy.allclose(r["first"], mixed, atol=2e-7) and (r["again"] == r["first"]).all()
        assert 0 < abs(r["packed"] - mixed).max() < 0.05
        assert (r["mean"] == results[0]["mean"]).all() and abs(r["last"] - r["mean"]).max() < 1e-5


@pytest.mark.parametrize("who", ["other", "leader"])
def test_the_others_go_on_when_one_is_killed(launch, who, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = launch(4, "collective.py", f"killed-{who}", "out")
    left = [1, 2, 3] if who == "leader" else [0, 1, 3]
    assert done.returncode == 0, done.stderr
    results = [result_of(rank) for rank in left]
    for r in results:
        assert (r["sums"] == results[0]["sums"]).all() and (r["sizes"] == results[0]["sizes"]).all()
        assert r["members"].tolist() == left
    r = results[0]
    all_of_them, rest = float(sum(float32(10) ** k for k in range(4))), float(sum(10**k for k in left))
    assert r["sums"].tolist() == [all_of_them if size == 4 else rest for size in r["sizes"]]
    # It has done 150 calls; what it sent last for the one before may have died with it.
    assert r["sizes"][148] == 4 and r["sizes"][150] == 3
    assert not os.path.exists("runs") and not list(tmp_path.glob("gossamer-*"))


def test_a_loss_is_raised_by_all_in_the_same_call(launch):
    done = launch(3, "collective.py", "killed_raise", "out")
    assert done.returncode == 0, done.stderr
    mine, other = [result_of(rank)["caught"].tolist() for rank in (0, 2)]
    assert mine == other and 100 < mine[0] <= 102


def test_neighbours_go_on_beside_a_dead_one(launch):
    done = launch(4, "collective.py", "killed_neighbours", "out")
    assert done.returncode == 0, done.stderr
    results = [result_of(rank) for rank in (0, 1, 3)]
    assert all(r["members"].tolist() == [0, 1, 3] for r in results)
    mean = sum(r["before"] for r in results) / 3
    assert all(abs(r["after"] - mean).max() < 1e-5 for r in results)


def test_a_broadcast_of_the_dead_is_refused(launch):
    done = launch(3, "collective.py", "source_killed", "out")
    assert done.returncode == 0, done.stderr
    for rank in (0, 2):
        r = result_of(rank)
        assert r["lost"].tolist() == [[1], [1]] and (r["value"] == 2).all()


def test_one_dies_where_the_others_leave(launch):
    done = launch(3, "collective.py", "killed_end", "out")
    assert done.returncode == 0 and os.path.exists("out-0.npz") and os.path.exists("out-1.npz"), done.stderr


def test_those_who_are_too_few_get_an_error(launch):
    done = launch(2, "collective.py", "too_few", "out")
    assert "RunError" in str(result_of(1)["error"]), done.stderr
    assert not os.path.exists("runs") and "--resume" not in done.stderr


@pytest.mark.parametrize("what", ["size", "big", "type", "op", "codec", "call", "neighbours", "end"])
def test_calls_that_differ_are_named_everywhere(launch, what):
    done = launch(3, "collective.py", f"differ-{what}", "out")
    assert done.returncode != 0
    assert done.stderr.count("gossamer.errors.UsageError: ") == 3, done.stderr
    assert "rank 1 calls" in done.stderr and "let all members of a group make the same calls" in done.stderr
    for text in {
        "size": ["shape (10,)", "shape (11,)"],
        "big": ["shape (10,)", "shape (3000000,)"],
        "type": ["float16", "float32"],
        "op": ["op=sum", "op=mean"],
        "codec": ["op=mean)", "codec=sign"],
        "call": ["calls barrier"],
        "neighbours": ["calls neighbour_average of 10 elements"],
        "end": ["nothing more, since it has left the group"],
    }[what]:
        assert text in done.stderr


def test_neighbours_with_other_sizes_are_named(launch):
    done = launch(3, "collective.py", "neighbour_sizes", "out")
    assert done.returncode != 0 and done.stderr.count("gossamer.errors.UsageError: ") == 3, done.stderr
    assert "neighbour_average of 10 elements" in done.stderr and "neighbour_average of 11 elements" in done.stderr


def test_what_is_not_finite_is_refused_before_it_is_sent(launch):
    done = launch(2, "collective.py", "not_finite", "out")
    assert done.returncode == 0, done.stderr
    assert "refused" not in result_of(0).files
    assert all("is nan" in text for text in result_of(1)["refused"])
    assert (result_of(0)["mean"] == result_of(1)["mean"]).all() and (result_of(0)["mean"][0] == [1, 2]).all()


def test_a_sum_that_overflows_ends_the_group(launch):
    done = launch(2, "collective.py", "overflow", "out")
    assert done.returncode != 0 and done.stderr.count("gossamer.errors.DivergedError: ") == 2, done.stderr
    assert done.stderr.count("a sum within all_reduce(op=sum) of float32 of shape (4,) is infinite") == 2, done.stderr


def test_an_exception_loses_one_member(launch):
    done = launch(3, "collective.py", "raises", "out")
    assert done.returncode == 0 and 'KeyError: "something of the user\'s"' in done.stderr, done.stderr
    assert all((result_of(rank)["sum"] == 2).all() for rank in (0, 2))


def test_a_slow_member_is_waited_for(launch):
    done = launch(2, "collective.py", "waits", "out")
    assert done.returncode == 0 and result_of(0)["waited"], done.stderr


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda g: g.all_reduce(numpy.ones(3)), "float64 of shape .3,. is to be added up, and a group adds in float32"),
        (lambda g: g.all_reduce([1.0]), "a list is given to a group"),
        (lambda g: g.all_reduce(numpy.ones(3, float32), op="max"), "op is 'max'; allowed: mean, sum"),
        (lambda g: g.all_reduce(numpy.ones(3, float32), op="majority", codec="sign"), "op='majority' is given with a"),
        (lambda g: g.all_reduce(numpy.ones(3, float32), codec="unifrom"), "did you mean 'uniform'"),
        (lambda g: g.all_reduce(numpy.broadcast_to(float32(1), 3)), "read-only"),
        (lambda g: g.neighbour_average(numpy.ones(3, float32)), "this group has no topology"),
        (lambda g: g.all_reduce(numpy.ones(3, float32), codec=8), "codec is 8; give its name"),
        (lambda g: g.broadcast(numpy.ones(3), source=5), "rank 5 is to broadcast, and has never been a member"),
        (lambda g: g.broadcast(numpy.ones(3), source="0"), "rank '0' is to broadcast"),
        (lambda g: g.all_gather(numpy.array([None])), "an array of objects"),
        (lambda g: g.__enter__(), "the same group is begun twice"),
    ],
)
def test_misuse_is_a_sentence(act, sentence):
    with gossamer.collectives() as group:
        with pytest.raises(gossamer.UsageError, match=sentence):
            act(group)
        assert group.all_reduce(numpy.full(2, 5, float32)).tolist() == [5, 5], "the group goes on"
    with pytest.raises(gossamer.UsageError, match="not under way"):
        group.barrier()
    with pytest.raises(gossamer.UsageError, match="allowed are"):
        gossamer.collectives(on_loss="ignore")
    with pytest.raises(gossamer.UsageError, match="seed is None"):
        gossamer.collectives(seed=None)
    with pytest.raises(gossamer.UsageError, match="begun twice"):
        group.__enter__()


def test_tensors_of_any_kind_are_carried():
    torch = pytest.importorskip("torch")
    with gossamer.collectives() as group:
        empty = torch.zeros(0, 3)
        assert group.broadcast(empty) is empty and group.all_gather(empty)[0].shape == (0, 3)
        turned = torch.tensor([1 + 2j, 3 - 4j]).conj()
        assert torch.equal(group.all_gather(turned)[0], turned)
        for wrong in (torch.ones(1).expand(3), torch.ones(3).to_sparse(), torch.ones(3, device="meta")):
            with pytest.raises(gossamer.UsageError, match="tensor"):
                group.all_reduce(wrong)


def test_nobody_comes_later(launch, monkeypatch):
    monkeypatch.setenv("GOSSAMER_JOIN", "127.0.0.1:1")
    with pytest.raises(gossamer.UsageError, match="nobody comes to a group that has begun"):
        gossamer.collectives().__enter__()

"""Groups of Gossamer under PyTorch: the hook of DistributedDataParallel, and the backend of torch.distributed."""

import json

import gossamer
import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
new_enough = hasattr(torch.distributed.distributed_c10d, "_is_barrier_after_init")
needs_backend = pytest.mark.skipif(
    not new_enough, reason=f"PyTorch {torch.__version__} begins groups with a barrier of its own"
)


def results(launch, n, kind, out, *codec):
    done = launch(n, "group_ddp.py", kind, out, *codec)
    assert done.returncode == 0, done.stderr
    loaded = []
    for rank in range(n):
        with open(f"{out}-{rank}.json") as file:
            loaded.append(json.load(file))
    return loaded


@needs_backend
def test_a_model_is_trained_without_gloo(launch):
    alone = results(launch, 1, "backend", "alone")[0]
    both, exact = results(launch, 2, "backend", "both"), results(launch, 2, "hook", "exact", "identity")
    assert both[0]["model"] == both[1]["model"], "the same bits in both processes"
    assert both[0]["accuracy"] > 0.85 and alone["accuracy"] > 0.85
    assert numpy.allclose(both[0]["model"], exact[0]["model"], atol=1e-4)
    assert both[0]["sent"]["payload_bits"] > 60 * 32 * 300


@pytest.mark.parametrize(
    ("kind", "codec"), [pytest.param("hook", "uniform:bits=8", marks=needs_backend), ("hook-gloo", "scaled-sign")]
)
def test_the_hook_packs_gradients_for_a_group(launch, kind, codec):
    exact = results(launch, 2, kind, "exact", "identity")
    a, b = results(launch, 2, kind, "packed", codec)
    assert a["model"] == b["model"] and a["accuracy"] > 0.85, codec
    assert 0 < a["bits"] < exact[0]["bits"]


@needs_backend
def test_a_loss_is_an_error_of_all_others(launch):
    done = launch(3, "group_ddp.py", "killed", "out")
    assert done.returncode == 0, done.stderr
    for rank in (0, 2):
        with open(f"out-{rank}.json") as file:
            r = json.load(file)
        assert "rank 1 is lost" in r["error"] and r["lost"] == [1]


@needs_backend
def test_functions_of_torch_distributed(launch):
    n = 3
    for rank, r in enumerate(results(launch, n, "collectives", "out")):
        assert (r["rank"], r["size"], r["name"]) == (rank, n, "gossamer")
        assert r["sum"] == [9.0] * 5 and r["avg"] == pytest.approx([3.0] * 5) and r["max"] == [4.0] * 5
        assert r["product"] == [24.0] * 5 and r["int64"] == [3, 3 * 2**60]
        assert r["gathered"] == [[k, 7] for k in range(n)] and r["joined"] == [[k, k] for k in range(n)]
        assert r["flag"] == [True, True] and r["objects"] == [{"rank": k} for k in range(n)]
        assert "allowed: all_reduce, broadcast, all_gather, barrier" in r["refused send"]
        assert rank != 0 or "call gossamer.torch.init_process_group" in r["refused new_group"]
        assert "allowed: SUM, AVG" in r["refused xor"]


@pytest.mark.skipif(new_enough, reason="this PyTorch has backends of Python")
def test_an_old_pytorch_is_named():
    import gossamer.torch

    with gossamer.collectives() as group, pytest.raises(gossamer.UsageError, match="use 2.1 or later"):
        gossamer.torch.init_process_group(group)

"""Codecs for programs that carry packets themselves, and the hook of DistributedDataParallel that is made of them."""

import json
import pathlib
import subprocess
import sys

import gossamer
import numpy
import pytest

here = pathlib.Path(__file__).parent
random = numpy.random.default_rng(3)
vector = random.normal(size=1000).astype(numpy.float32)


def test_packets_come_back_as_the_codec_says():
    exact, lossy = gossamer.Codec("identity"), gossamer.Codec("uniform:bits=8")
    assert (exact.decode(exact.encode(vector, 0), 1000) == vector).all()
    assert exact.exact and exact.unbiased and not lossy.exact and lossy.unbiased
    assert not gossamer.Codec("sign").unbiased
    assert lossy.bits(1000) == 32 + 8 * 1000 and lossy.spec.startswith("uniform:bits=8")
    packet = lossy.encode(vector, 0)
    assert numpy.signbit(exact.decode(exact.encode(-numpy.zeros(3, numpy.float32), 0), 3)).all()
    assert 0 < packet.nbytes - lossy.bits(1000) // 8 < 30
    assert packet.nbytes < lossy.most_bytes(1000)
    assert lossy.bits(2**32) == 32 + 8 * 2**32
    assert lossy.fixed_size and not gossamer.Codec("random-p").fixed_size
    assert 0 < abs(lossy.decode(packet, 1000) - vector).max() < 0.05


def test_no_packet_is_longer_than_the_longest_also_where_a_norm_overflows():
    codec = gossamer.Codec("qsgd:code=elias-dense")
    packet = codec.encode(numpy.full(20_000, 3e38, numpy.float32), 0)
    assert codec.bits(20_000) / 8 < packet.nbytes <= codec.most_bytes(20_000)


def test_steps_and_ranks_draw_their_own_numbers():
    codec = gossamer.Codec("uniform:bits=4", seed=5, rank=1)
    first = codec.encode(vector, 7)
    assert (gossamer.Codec("uniform:bits=4", seed=5, rank=1).encode(vector, 7) == first).all()
    for other in (codec.encode(vector, 8), gossamer.Codec("uniform:bits=4", seed=5, rank=2).encode(vector, 7)):
        assert (other != first).any()
    packets = [codec.encode(vector, step) for step in range(400)]
    assert abs(codec.mean(packets, 1000) - vector).max() < 0.1


@pytest.mark.parametrize(
    "act, kind, sentence",
    [
        (lambda: gossamer.Codec("unifrom"), gossamer.UsageError, "did you mean 'uniform'"),
        (
            lambda: gossamer.Codec("sign").encode(numpy.full(3, numpy.nan, numpy.float32), 0),
            gossamer.DivergedError,
            "nan",
        ),
        (lambda: gossamer.Codec("sign").decode(numpy.zeros(40, numpy.uint8), 3), gossamer.Error, "packet"),
        (lambda: gossamer.Codec("sign").mean([], 3), gossamer.UsageError, "no packets"),
        (lambda: gossamer.Codec("uniform:bits=8").bits(2**63), gossamer.UsageError, "up to 4294967296"),
        (lambda: gossamer.Codec("uniform:bits=8").most_bytes(2**32 + 1), gossamer.UsageError, "up to 4294967296"),
        (
            lambda: gossamer.Codec("sign").decode(gossamer.Codec("sign").encode(vector, 0), 999),
            gossamer.Error,
            "1000",
        ),
    ],
)
def test_misuse_is_a_sentence(act, kind, sentence):
    with pytest.raises(kind, match=sentence):
        act()


def run(out, *codec):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    store = pathlib.Path(f"{out}.store").absolute()
    started = [
        subprocess.Popen(
            [sys.executable, str(here / "ddp.py"), str(rank), str(store), out, *codec],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=100)[0] for process in started]
    return [process.returncode for process in started], said


def results(out, *codec):
    codes, said = run(out, *codec)
    assert codes == [0, 0], said
    return [json.loads(pathlib.Path(f"{out}-{rank}.json").read_text()) for rank in range(2)]


def test_ddp_averages_gradients_by_a_codec():
    plain, exact = results("plain"), results("exact", "identity")
    assert numpy.allclose(plain[0]["model"], exact[0]["model"], atol=1e-5)
    for codec in ("uniform:bits=8", "scaled-sign", "top-k:fraction=0.1"):
        a, b = results(codec.split(":")[0], codec)
        assert a["model"] == b["model"], "the same bits in both processes"
        assert a["accuracy"] > 0.85, codec
        assert a["bits"] == 60 * 8 * (8 + gossamer.Codec(codec).most_bytes(a["elements"])), "a size and a packet a step"


def test_ddp_sends_no_more_than_the_longest_packet_where_packets_differ():
    for codec in ("random-p:p=0.05", "qsgd:code=elias-dense"):
        a, b = results(codec.split(":")[0], codec)
        assert a["model"] == b["model"], "the same bits in both processes"
        assert len(a["packets"]) == 60 and a["packets"] != b["packets"]
        sent = [8 * (8 + max(sizes)) for sizes in zip(a["packets"], b["packets"])]
        assert a["bits"] == b["bits"] == sum(sent), "a size and a packet a step"
        assert max(a["packets"]) < gossamer.Codec(codec).most_bytes(a["elements"]) / 2


def test_ddp_refuses_a_group_over_nccl(monkeypatch):
    distributed = pytest.importorskip("torch.distributed", reason="PyTorch is not installed")
    import gossamer.torch

    monkeypatch.setattr(distributed, "get_backend", lambda group: "nccl")
    with pytest.raises(gossamer.UsageError, match="NCCL carries what is on GPUs; pass group="):
        gossamer.torch.CodecState("uniform:bits=8")


def test_ddp_refuses_a_gradient_that_is_not_finite():
    codes, said = run("nan", "identity")
    assert codes == [3, 3] and all("is nan, so it cannot be encoded" in text for text in said), said


class Bucket:
    """As DistributedDataParallel hands it to a hook."""

    def __init__(self, index, *parameters):
        self.index = lambda: index
        self.parameters = lambda: list(parameters)


def test_what_packets_have_lost_goes_with_the_parameters(monkeypatch):
    """DistributedDataParallel deals out its buckets anew after the first step."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    import gossamer.torch

    monkeypatch.setattr(torch.distributed, "get_backend", lambda group: "gloo")
    monkeypatch.setattr(torch.distributed, "get_rank", lambda group: 0)
    codec = "top-k:fraction=0.25"  # the largest of two and of four

    def sent(bucket, *gradient):
        packet = state._pack(bucket, torch.tensor(gradient))
        return gossamer.Codec(codec).decode(packet, len(gradient)).tolist()

    state = gossamer.torch.CodecState(codec)
    a, b, c = (torch.nn.Parameter(torch.zeros(2)) for _ in range(3))
    gradient = torch.tensor([1.0, 8.0, 3.0, 6.0])
    state._pack(Bucket(0, a, b), gradient)
    assert gradient.tolist() == [1, 8, 3, 6], "it is PyTorch's"
    assert sent(Bucket(0, b, c), 0.0, 0.0, 0.0, 0.0) == [0, 6, 0, 0], "of b, and none of a"
    assert sent(Bucket(1, a), 0.0, 0.0) == [1, 0]
    assert sent(Bucket(0, b, c), 0.0, 0.0, 0.0, 2.0) == [3, 0, 0, 0] and sent(Bucket(1, c), 0.0, 0.0) == [0, 2]

    state = gossamer.torch.CodecState(codec)
    old = Bucket(0)
    del old.parameters  # as in a version of PyTorch that does not tell them: buckets that stay as they are
    assert sent(old, 1.0, 8.0, 3.0, 6.0) == [0, 8, 0, 0] and sent(old, 0.0, 0.0, 0.0, 0.0) == [0, 0, 0, 6]
    assert sent(old, 5.0, 4.0) == [5, 0], "another one of this number"

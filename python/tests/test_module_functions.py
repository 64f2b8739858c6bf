"""A module as the functions of gossamer.train and gossamer.simulate."""

import gossamer
import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import gossamer.torch

torch.set_num_threads(1)
points = torch.from_numpy(numpy.random.default_rng(0).normal(size=(400, 32)).astype(numpy.float32))
classes = (points[:, 0] > 0).long() + 2 * (points[:, 1] > 0).long()


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.ReLU(), torch.nn.Linear(128, 4))


def loss_of(net, samples):
    return torch.nn.functional.cross_entropy(net(points[samples]), classes[samples])


def test_workers_compute_one_after_the_other_and_get_gradients_of_their_own():
    calls = {"all": 0, "inside": 0, "overlapping": 0}

    def loss(net, samples):
        calls["all"] += 1
        calls["inside"] += 1
        calls["overlapping"] += calls["inside"] > 1
        result = loss_of(net, samples)
        calls["inside"] -= 1
        return result

    f, x = gossamer.torch.gradient(network(), loss)
    other, _ = gossamer.torch.gradient(network(), loss_of)
    differing = []

    def compared(x, samples, rank, step):
        loss, gradient = f(x, samples, rank, step)
        if step % 10 == 0:
            differing.append(not numpy.allclose(gradient, other(x, samples, rank, step)[1], atol=1e-6))
        return loss, gradient

    run = gossamer.train(compared, x, samples=400, batch=32, steps=100, workers=4, lr=0.05, algorithm="all-reduce-sgd")
    assert calls == {"all": 400, "inside": 0, "overlapping": 0}
    assert len(differing) == 40 and not any(differing) and run.summary["end"] == "planned"


def test_a_gradient_is_not_changed_by_the_next_call():
    f, x = gossamer.torch.gradient(network(), loss_of)
    first = f(x, numpy.arange(32), 0, 0)[1]
    before = first.copy()
    second = f(x, numpy.arange(32, 64), 0, 1)[1]
    assert (first == before).all() and (second != before).any()


def test_an_evaluation_has_the_frozen_parameters_of_the_moment():
    net = network()
    net[0].requires_grad_(False)
    _, x = gossamer.torch.gradient(net, loss_of)
    evaluate = gossamer.torch.evaluation(net, lambda model: float(model[0].weight[0, 0]))
    with torch.no_grad():
        for value in (3.0, 4.0):
            net[0].weight.fill_(value)
            assert evaluate(x) == value

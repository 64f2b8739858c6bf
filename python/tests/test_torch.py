import math

import gossamer
import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import gossamer.torch

functional = torch.nn.functional
torch.set_num_threads(1)
random = numpy.random.default_rng(0)
points = torch.from_numpy(random.normal(size=(200, 6)).astype(numpy.float32))
targets = points @ torch.arange(6, dtype=torch.float32).reshape(6, 1)


def linear():
    torch.manual_seed(1)
    return torch.nn.Linear(6, 1)


def loss_of(net, samples):
    chosen = torch.from_numpy(samples)
    return functional.mse_loss(net(points[chosen]).float(), targets[chosen])


def train(net, own, seen=None, **settings):
    with gossamer.torch.join(net, own, **({"samples": 200, "batch": 10, "epochs": 3} | settings)) as run:
        for step in run:
            if seen is not None:
                seen.append(step.samples.copy())
            net.zero_grad()
            loss = loss_of(net, step.samples)
            loss.backward()
            if own is not None:
                own.step()
            step.done(loss)
    return run


def train_plainly(net, own, seen):
    """The same loop without Gossamer."""
    for samples in seen:
        own.zero_grad()
        loss_of(net, samples).backward()
        own.step()


@pytest.mark.parametrize("algorithm", ["ad-psgd", "all-reduce-sgd", "local-sgd", "async-sgd", "cser"])
def test_alone_it_is_the_loop_without_gossamer(algorithm):
    net, seen = linear(), []
    train(net, torch.optim.Adam(net.parameters(), lr=0.05), seen, algorithm=algorithm)
    plain = linear()
    train_plainly(plain, torch.optim.Adam(plain.parameters(), lr=0.05), seen)
    assert len(seen) == 60
    assert torch.allclose(net.weight, plain.weight, rtol=1e-4, atol=1e-5)


def test_a_run_says_who_takes_part_and_how_far_it_is():
    net, seen = linear(), []
    own = torch.optim.SGD(net.parameters(), lr=0.01)
    with gossamer.torch.join(net, own, samples=200, batch=10, epochs=3) as run:
        assert (run.members, run.epoch, run.progress) == ((), 0, 0)
        for step in run:
            seen.append((run.members, run.epoch, run.progress))
            own.zero_grad()
            loss = loss_of(net, step.samples)
            loss.backward()
            own.step()
            step.done(loss)
    assert {members for members, _, _ in seen} == {(0,)}
    assert [epoch for _, epoch, _ in seen] == pytest.approx([k / 20 for k in range(60)], abs=0.11)
    assert seen[0][2] == 0 and seen[-1][2] == pytest.approx(1, abs=0.05)
    with gossamer.torch.join(linear(), None, samples=200, batch=10, steps=40) as run:
        for step in run:
            step.done(1.0)
            assert run.progress == pytest.approx(step.number / 40, abs=0.03)
    with gossamer.torch.join(linear(), None, samples=200, batch=10, epochs=1e6, seconds=0.05) as run:
        for step in run:
            step.done(1.0)
            assert 0 <= run.progress < 0.5


def test_every_sample_comes_once_an_epoch():
    net, seen = linear(), []
    train(net, torch.optim.SGD(net.parameters(), lr=0.01), seen)
    assert sorted(numpy.concatenate(seen[:20]).tolist()) == list(range(200))


@pytest.mark.parametrize("algorithm", ["sign-sgd", "ssdm", "asy-lpg", "qsvrg", "d-psgd"])
def test_gradients_are_handed_over_where_there_is_no_optimiser(algorithm):
    net = linear()
    before = float(functional.mse_loss(net(points), targets))
    train(net, None, algorithm=algorithm, lr=0.02, optimiser="sgd", epochs=10)
    assert float(functional.mse_loss(net(points), targets)) < before / 3


class Language(torch.nn.Module):
    """Two inputs, dropout, an embedding, tied weights, a frozen part and a buffer."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(11, 8)
        self.position = torch.nn.Embedding(5, 8)
        self.position.weight.requires_grad_(False)
        self.norm = torch.nn.BatchNorm1d(8)
        self.drop = torch.nn.Dropout(0.1)
        self.head = torch.nn.Linear(8, 11, bias=False)
        self.head.weight = self.embedding.weight
        self.scale = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, token, place):
        return self.scale * self.head(self.drop(self.norm(self.embedding(token) + self.position(place))))


def language_loss(net, samples):
    token = torch.from_numpy(samples) % 11
    return functional.cross_entropy(net(token, token % 5), (token * 3 + 1) % 11)


def test_tied_frozen_and_buffered_parts_are_treated_as_they_are():
    torch.manual_seed(0)
    net = Language()
    frozen = net.position.weight.clone()
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.02)
    with gossamer.torch.join(net, optimiser, samples=400, batch=20, epochs=15, evaluate=lambda m: 1.0) as run:
        for step in run:
            optimiser.zero_grad()
            loss = language_loss(net, step.samples)
            loss.backward()
            optimiser.step()
            step.done(loss)
    assert float(loss) < 1
    assert net.head.weight is net.embedding.weight
    assert torch.equal(net.position.weight, frozen)
    assert gossamer.load(run.folder).settings["model"].startswith(f"module:parameters={11 * 8 + 8 + 8 + 1},")
    state = run.state_dict()
    assert state.keys() == net.state_dict().keys()
    # The mean of one worker's model is that model; the tied weight stands in both places.
    assert torch.allclose(state["embedding.weight"], net.embedding.weight, atol=1e-5)


def test_averaged_statistics_move_as_the_loop_moves_them():
    def normalised():
        return torch.nn.Sequential(torch.nn.BatchNorm1d(6), linear())

    net, seen = normalised(), []
    run = train(net, torch.optim.SGD(net.parameters(), lr=0.01), seen, running_statistics="average", algorithm="d-psgd")
    plain = normalised()
    train_plainly(plain, torch.optim.SGD(plain.parameters(), lr=0.01), seen)
    for statistics in ("running_mean", "running_var"):
        assert torch.allclose(getattr(net[0], statistics), getattr(plain[0], statistics), rtol=1e-4, atol=1e-5)
        assert torch.allclose(run.state_dict()[f"0.{statistics}"], getattr(net[0], statistics), atol=1e-5)


def test_a_variance_does_not_fall_below_zero():
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(6), linear())
    net[0].running_var.fill_(1e-6)
    with gossamer.torch.join(
        net, torch.optim.SGD(net.parameters(), lr=0), steps=3, running_statistics="average"
    ) as run:
        for step in run:
            assert (net[0].running_var >= 0).all()
            with torch.no_grad():
                net[0].running_var -= 1  # as the noise of a codec would
            step.done(1.0)
    assert torch.equal(net[0].running_var, torch.zeros(6) - 1)  # of the last step, which nobody has read again


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float64])
def test_other_kinds_of_numbers_travel_as_float32(kind):
    net = linear().to(kind)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    with gossamer.torch.join(net, optimiser, samples=200, batch=10, epochs=10) as run:
        for step in run:
            chosen = torch.from_numpy(step.samples)
            optimiser.zero_grad()
            loss = (net(points[chosen].to(kind)) - targets[chosen].to(kind)).square().mean()
            loss.backward()
            optimiser.step()
            step.done(loss)
    assert net.weight.dtype == kind
    assert float(functional.mse_loss(net(points.to(kind)).float(), targets)) < 1


def test_a_loop_with_its_own_batches_counts_steps():
    net, steps = linear(), 0
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    with gossamer.torch.join(net, optimiser, steps=25) as run:
        for step in run:
            with pytest.raises(gossamer.UsageError, match="deals out no samples"):
                step.samples
            optimiser.zero_grad()
            loss = functional.mse_loss(net(points), targets)
            loss.backward()
            optimiser.step()
            step.done(loss)
            steps += 1
    assert steps == 25 and run.summary["end"] == "planned"


def test_evaluations_see_the_mean_model_and_leave_the_loop_alone():
    net, modes = linear(), []
    net.train()

    def evaluate(model):
        modes.append((model.training, model is net, torch.is_grad_enabled()))
        return functional.mse_loss(model(points), targets), 0.25

    run = train(net, torch.optim.SGD(net.parameters(), lr=0.05), evaluate=evaluate)
    assert set(modes) == {(False, False, False)} and net.training
    curves = gossamer.load(run.folder).curves
    assert len(curves["test_loss"]) == len(modes) >= 2
    assert curves["test_accuracy"][-1] == 0.25
    assert run.summary["test_loss"] == pytest.approx(float(functional.mse_loss(net(points), targets)), rel=1e-3)


def test_a_loop_that_is_left_ends_the_run_in_good_order():
    net = linear()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    with gossamer.torch.join(net, optimiser, samples=200, batch=10, epochs=1000) as run:
        for step in run:
            step.done(1.0)
            if step.number == 7:
                break
    assert run.summary["end"] == "interrupted"
    with gossamer.torch.join(net, optimiser, samples=200, batch=10, epochs=1000) as run:
        for step in run:
            break  # within a step
    assert run.summary["end"] == "interrupted" and run.summary["epoch"] == 0


def test_a_step_that_was_left_does_not_count():
    for algorithm in ("ad-psgd", "all-reduce-sgd", "local-sgd"):
        with gossamer.torch.join(linear(), None, samples=200, batch=10, epochs=1000, algorithm=algorithm) as run:
            for step in run:
                step.done(1.0)
                if step.number == 6:
                    break
        assert run.summary["epoch"] == pytest.approx(7 / 20), algorithm


def test_an_exception_leaves_the_loop_and_the_next_run_works():
    net = linear()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    with pytest.raises(ZeroDivisionError):
        with gossamer.torch.join(net, optimiser, samples=200, batch=10) as run:
            for step in run:
                1 / 0
    assert train(net, optimiser).summary["end"] == "planned"


def test_an_evaluation_that_fails_is_raised_when_the_loop_is_over():
    net, calls = linear(), []

    def evaluate(model):
        calls.append(model)
        if over:
            raise RuntimeError("of the evaluation")
        return 1.0

    over = False
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    with pytest.raises(RuntimeError, match="of the evaluation"):
        with gossamer.torch.join(net, optimiser, samples=200, batch=10, epochs=1000, evaluate=evaluate) as run:
            for step in run:
                step.done(1.0)
                if step.number == 7:
                    over = True
                    break
    assert train(net, optimiser).summary["end"] == "planned"


def once(act, **settings):
    net = linear()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.0)
    with gossamer.torch.join(net, optimiser, **({"samples": 200, "batch": 10} | settings)) as run:
        for step in run:
            act(net, step)


def test_statistics_that_move_hide_no_optimiser_that_stands_still():
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(6), linear())
    optimiser = torch.optim.SGD(net.parameters(), lr=0.0)
    with pytest.raises(gossamer.UsageError, match="moved no parameter in 100 steps"):
        train(net, optimiser, epochs=100, running_statistics="average")


def replace(net, step):
    net.weight.data = net.weight.data.clone()
    step.done(1.0)


@pytest.mark.parametrize(
    ("act", "kind", "sentence"),
    [
        (lambda net, step: (step.done(1.0), step.done(1.0)), gossamer.UsageError, "handed over twice"),
        (lambda net, step: None, gossamer.UsageError, "was not handed over"),
        (lambda net, step: step.done(1.0), gossamer.UsageError, "moved no parameter in 100 steps"),
        (lambda net, step: step.done(1.0, gradient=True), gossamer.UsageError, "join got an optimiser"),
        (replace, gossamer.UsageError, "weight has been replaced"),
        (lambda net, step: step.done(math.nan), gossamer.DivergedError, "its loss is nan"),
        (lambda net, step: step.done("low"), ValueError, "low"),
    ],
)
def test_misuse_is_a_sentence(act, kind, sentence):
    with pytest.raises(kind, match=sentence):
        once(act, epochs=100)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lr": 0.1}, "the loop's own optimiser"),
        ({"algorithm": "sign-sgd"}, "pass None for the optimiser"),
        ({"algorithm": "asy-lpg"}, "pass None for the optimiser"),
        ({"batch": None}, "without batch="),
        ({"samples": None}, "without samples="),
        ({"data": "digits"}, "brings it itself"),
        ({"topology": "stern"}, "unknown topology 'stern'"),
        ({"codec": "uniform:bits=99"}, "out of range"),
        ({"running_statistics": "global"}, 'allowed are "local" and "average"'),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    with pytest.raises(gossamer.UsageError, match=sentence):
        once(lambda net, step: step.done(1.0), **settings)


def test_a_group_needs_one_of_pytorch():
    with pytest.raises(gossamer.UsageError, match="PyTorch has no process group"):
        once(lambda net, step: step.done(1.0), group="world")


def test_gradients_of_statistics_are_not_asked_for():
    with pytest.raises(gossamer.UsageError, match="of which statistics have none"):
        train(linear(), None, lr=0.1, running_statistics="average")


def test_modules_that_cannot_join_are_refused():
    frozen = linear().requires_grad_(False)
    with pytest.raises(gossamer.UsageError, match="no parameter that requires a gradient"):
        gossamer.torch.join(frozen, None, steps=3)
    torn = torch.nn.Sequential(linear(), torch.nn.Linear(1, 1, device="meta"))
    with pytest.raises(gossamer.UsageError, match="are on cpu and meta"):
        gossamer.torch.join(torn, None, steps=3)


def test_a_run_goes_on_from_its_checkpoint():
    net = linear()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    first = train(net, optimiser, epochs=2, checkpoint=10, out="first")
    again = linear()
    second = train(again, torch.optim.SGD(again.parameters(), lr=0.05), epochs=4, resume="first", out="second")
    assert second.summary["epoch"] == 4 and second.summary["test_loss"] is None
    assert second.summary["train_loss"] < first.summary["train_loss"]


def test_a_module_is_simulated():
    net = Language()
    f, x = gossamer.torch.gradient(net, language_loss)
    world = {"samples": 400, "batch": 20, "epochs": 4, "workers": 5, "seconds_per_sample": 1e-4, "lr": 0.1}
    evaluate = gossamer.torch.evaluation(net, lambda m: language_loss(m, numpy.arange(400)))
    hashes = [
        gossamer.simulate(f, x, **world, network="wan", chaos=3, horizon="2s", evaluate=evaluate).summary["hash"]
        for _ in range(2)
    ]
    assert hashes[0] == hashes[1]


class Points(torch.utils.data.Dataset):
    def __len__(self):
        return len(points)

    def __getitem__(self, index):
        return index, points[index], targets[index]


@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_a_loader_gets_the_batches_ready_in_processes_of_its_own(start):
    net, epochs = linear(), []
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    with gossamer.torch.join(net, optimiser, samples=200, batch=10, epochs=2) as run:
        loader = torch.utils.data.DataLoader(
            Points(),
            batch_sampler=run.batch_sampler,
            num_workers=2,
            persistent_workers=True,
            multiprocessing_context=start,
        )
        for step, (numbers, x, y) in run.with_batches(loader):
            assert numbers.tolist() == step.samples.tolist()
            epochs += numbers.tolist()
            optimiser.zero_grad()
            loss = functional.mse_loss(net(x), y)
            loss.backward()
            optimiser.step()
            step.done(loss)
    assert sorted(epochs[:200]) == sorted(epochs[200:]) == list(range(200))

"""What a loop keeps beside the model: states of optimisers and schedulers go with the worker's."""

import gc
import pickle
import weakref

import gossamer
import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import gossamer.torch
from gossamer._keeping import Kept, states_of, words_of
from test_torch import linear, loss_of, points, targets

torch.set_num_threads(1)


def parts():
    net = linear()
    own = torch.optim.AdamW(net.parameters(), lr=0.05)
    return net, own, torch.optim.lr_scheduler.StepLR(own, step_size=7, gamma=0.5)


def train(net, own, scheduler, **settings):
    with gossamer.torch.join(net, own, samples=200, batch=10, **settings) as run:
        run.keep(scheduler=scheduler)
        for step in run:
            own.zero_grad()
            loss = loss_of(net, step.samples)
            loss.backward()
            own.step()
            scheduler.step()
            step.done(loss)
    return run


@pytest.mark.parametrize("algorithm", ["all-reduce-sgd", "ad-psgd"])
def test_a_run_goes_on_to_the_bits_of_the_run_that_was_not_cut_off(algorithm):
    whole, cut, resumed = parts(), parts(), parts()
    train(*whole, algorithm=algorithm, steps=40, out="whole")
    train(*cut, algorithm=algorithm, steps=20, checkpoint=1000, out="cut")
    run = train(*resumed, steps=40, resume="cut", out="resumed")
    assert torch.equal(whole[0].weight, resumed[0].weight) and torch.equal(whole[0].bias, resumed[0].bias)
    mine, theirs = resumed[1].state_dict(), whole[1].state_dict()
    assert mine["state"][0]["step"] == theirs["state"][0]["step"] == 40
    assert torch.equal(mine["state"][0]["exp_avg_sq"], theirs["state"][0]["exp_avg_sq"])
    assert resumed[2].last_epoch == 40 and run.summary["epoch"] == 2


def normed():
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 1))
    own = torch.optim.AdamW(net.parameters(), lr=0.05)
    return net, own, torch.optim.lr_scheduler.StepLR(own, step_size=7, gamma=0.5)


def test_a_run_goes_on_with_the_buffers_of_its_checkpoint():
    whole, cut, resumed = normed(), normed(), normed()
    train(*whole, algorithm="all-reduce-sgd", steps=40, out="whole")
    train(*cut, algorithm="all-reduce-sgd", steps=20, checkpoint=1000, out="cut")
    train(*resumed, steps=40, resume="cut", out="resumed")
    assert whole[0][0].num_batches_tracked == 40
    for name, value in whole[0].state_dict().items():
        assert torch.equal(value, resumed[0].state_dict()[name]), name


class Drawing:
    """A loop whose gradients depend on random numbers of PyTorch, of two generators of its own, and of evaluations."""

    def __init__(self):
        self.net = torch.nn.Sequential(torch.nn.Dropout(0.5), linear())
        self.own = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.noise, self.more = torch.Generator().manual_seed(2), numpy.random.default_rng(3)
        self.seen = []

    def evaluate(self, model):
        loader = torch.utils.data.DataLoader(points, batch_size=100)  # draws a seed
        return torch.cat([model(part) for part in loader]).square().mean() + torch.rand(())

    def train(self, seed, with_loader, **settings):
        torch.manual_seed(seed)
        with gossamer.torch.join(
            self.net, self.own, samples=200, batch=10, evaluate=self.evaluate, algorithm="all-reduce-sgd", **settings
        ) as run:
            run.keep(noise=self.noise, more=self.more)
            loader = torch.utils.data.DataLoader(range(200), batch_sampler=run.batch_sampler)
            for step, samples in run.with_batches(loader) if with_loader else ((step, step.samples) for step in run):
                noise = torch.randn(1, generator=self.noise) + self.more.normal()
                self.own.zero_grad()
                loss = (self.net(points[samples]) - targets[samples]).square().mean() + noise * self.net[1].bias.sum()
                loss.backward()
                self.own.step()
                step.done(loss)
                self.seen.append(loss.item())


@pytest.mark.parametrize("with_loader", [False, True])
def test_a_run_that_goes_on_draws_what_it_would_have_drawn(with_loader):
    whole, cut, resumed = Drawing(), Drawing(), Drawing()
    whole.train(4, with_loader, steps=40, eval_every=1, out="whole")
    cut.train(4, with_loader, steps=20, eval_every=0.3, checkpoint=1000, out="cut")
    resumed.train(5, with_loader, steps=40, resume="cut", out="resumed")
    assert whole.seen == cut.seen + resumed.seen
    assert torch.equal(whole.net[1].weight, resumed.net[1].weight)


class Generators:
    """Those that a worker has, beside those of PyTorch."""

    def __init__(self):
        self.noise, self.more = torch.Generator().manual_seed(2), numpy.random.default_rng(3)
        self.kept = Kept(torch.device("cpu"))
        self.kept.add({"noise": self.noise, "more": self.more})

    def draw(self):
        return [torch.rand(()).item(), torch.rand((), generator=self.noise).item(), self.more.random()]


@pytest.mark.parametrize(("rank", "goes_on"), [(1, True), (2, False)])
def test_a_worker_that_begins_with_another_ones_state_draws_numbers_of_its_own(rank, goes_on):
    donor, heir = Generators(), Generators()
    donor.kept.begin_step(1)
    donor.draw()
    words = donor.kept.save()
    heir.kept.restore(words)
    torch.rand(3)
    assert str(states_of(heir.kept.save())) == str(states_of(words))  # saved again before its first step
    heir.kept.begin_step(rank)
    own = heir.draw()
    heir.kept.restore(words)
    heir.kept.begin_step(1)
    assert [a == b for a, b in zip(own, heir.draw())] == [goes_on] * 3


def test_another_name_is_refused():
    train(*parts(), steps=5, checkpoint=1000, out="cut")
    net, own, scheduler = parts()
    with pytest.raises(gossamer.UsageError, match="keeps optimiser, scheduler, and this loop keeps optimiser, rate"):
        with gossamer.torch.join(net, own, samples=200, batch=10, steps=9, resume="cut") as run:
            run.keep(rate=scheduler)
            for step in run:
                step.done(0.0)


@pytest.mark.parametrize(
    "kind, why",
    [(torch.optim.SGD, "it has amsgrad, betas"), (lambda _, lr: torch.optim.AdamW([torch.ones(2)], lr), "ValueError")],
)
def test_a_state_of_another_kind_is_refused(kind, why):
    train(*parts(), steps=5, checkpoint=1000, out="cut")
    net = linear()
    other = kind(net.parameters(), lr=0.05)
    with pytest.raises(gossamer.UsageError, match=f"optimiser, a .*, does not take the state .*: {why}"):
        with gossamer.torch.join(net, None, samples=200, batch=10, steps=9, resume="cut") as run:
            run.keep(optimiser=other, scheduler=torch.optim.lr_scheduler.StepLR(other, 7))
            for step in run:
                step.done(0.0)


def test_a_state_that_cannot_be_kept_says_where():
    class Odd:
        def state_dict(self):
            return {"a": [1, {"b": object()}]}

        def load_state_dict(self, state):
            pass

    with pytest.raises(gossamer.UsageError, match=r"odd\.state_dict\(\)\['a'\]\[1\]\['b'\] is a object"):
        with gossamer.torch.join(linear(), None, samples=200, batch=10, steps=5, checkpoint=1000) as run:
            run.keep(odd=Odd())
            for step in run:
                step.done(0.0)


def test_a_state_that_cannot_be_kept_is_refused_before_the_first_step():
    net, own, _ = parts()
    odd = torch.optim.swa_utils.SWALR(own, swa_lr=0.05)
    odd.something = len  # as schedulers hold functions in some versions of PyTorch
    with pytest.raises(gossamer.UsageError, match=r"odd\.state_dict\(\)\['[a-z_]*'\] is a .*, which is not kept"):
        with gossamer.torch.join(net, own, samples=200, batch=10, steps=5) as run:
            run.keep(odd=odd)
            pytest.fail("it was kept")


class Trainer:
    """One that keeps itself, and holds the run."""

    def __init__(self):
        self.net, self.steps = linear(), 0

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state):
        self.steps = state["steps"]

    def train(self, **settings):
        with gossamer.torch.join(self.net, None, samples=200, batch=10, **settings) as self.run:
            self.run.keep(trainer=self)
            for step in self.run:
                self.steps += 1
                step.done(1.0)


def test_what_refers_to_its_run_is_kept_and_goes_with_it():
    one, other = Trainer(), Trainer()
    one.train(steps=5, checkpoint=1000, out="cut")
    other.train(steps=9, resume="cut", out="resumed")
    assert (one.steps, other.steps) == (5, 9)
    left = [weakref.ref(one), weakref.ref(other)]
    del one, other
    gc.collect()
    assert [ref() for ref in left] == [None, None]


@pytest.mark.parametrize(
    "act, sentence",
    [
        (lambda run, own: run.keep(net=3), "net is a int, without state_dict and load_state_dict"),
        (lambda run, own: run.keep(optimiser=linear()), "two objects are kept as optimiser"),
    ],
)
def test_misuse_is_a_sentence(act, sentence):
    net, own, _ = parts()
    with pytest.raises(gossamer.UsageError, match=sentence):
        with gossamer.torch.join(net, own, samples=200, batch=10, steps=5) as run:
            act(run, own)


def test_keep_comes_before_the_loop():
    net, own, scheduler = parts()
    with pytest.raises(gossamer.UsageError, match="call it before the first step"):
        with gossamer.torch.join(net, own, samples=200, batch=10, steps=5) as run:
            for step in run:
                run.keep(scheduler=scheduler)


def test_values_come_back_as_they_were():
    value = {
        "state": {0: {"step": torch.tensor(3.0), "m": torch.arange(6.0).reshape(2, 3)}},
        "half": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
        "groups": [{"lr": 0.1, "betas": (0.9, 0.999), "name": "ü", "none": None, "flag": True, "inf": float("inf")}],
        "counts": numpy.arange(3),
        "word": numpy.float32(0.1),
    }
    back = states_of(words_of(value))
    assert torch.equal(back["half"], value["half"]) and back["half"].dtype == torch.bfloat16
    assert torch.equal(back["state"][0]["m"], value["state"][0]["m"]) and back["state"][0]["step"] == 3
    assert back["groups"] == value["groups"] and (back["counts"] == value["counts"]).all()
    assert back["word"] == value["word"]


def words(content):
    return numpy.frombuffer(len(content).to_bytes(8, "little") + content + bytes(-len(content) % 4), numpy.float32)


def test_kinds_of_lists_and_tuples_come_back_as_plain_ones():
    class Own(list):
        pass

    back = states_of(words_of({"a": {"shape": torch.Size([2, 3]), "own": Own([1, (2,)])}}))
    assert back == {"a": {"shape": (2, 3), "own": [1, (2,)]}}
    assert type(back["a"]["shape"]) is tuple and type(back["a"]["own"]) is list


def test_bytes_of_others_are_never_run(tmp_path):
    class Smuggled:
        def __reduce__(self):
            return open, (str(tmp_path / "run"), "w")

    objects = tmp_path / "objects.npz"
    numpy.savez(objects, tree=numpy.array([Smuggled()], dtype=object))
    for content in (objects.read_bytes(), pickle.dumps(Smuggled()), b"", b"PK\3\4 nothing", bytes(64)):
        with pytest.raises(gossamer.BadDataError, match="cannot be read"):
            states_of(words(content))
    compressed = tmp_path / "compressed.npz"
    numpy.savez_compressed(compressed, tree=numpy.zeros(100_000_000, numpy.uint8))
    with pytest.raises(gossamer.BadDataError, match="it is compressed"):
        states_of(words(compressed.read_bytes()))
    whole = words_of({"a": torch.arange(100.0)}).tobytes()
    for k in range(0, len(whole) - 4, 12):
        torn = bytearray(whole)
        torn[k] ^= 0x41
        try:
            states_of(numpy.frombuffer(bytes(torn), numpy.float32))
        except gossamer.BadDataError:
            pass
    assert not (tmp_path / "run").exists()


def test_a_group_keeps_nothing_in_any_of_its_processes():
    for kind in (gossamer.torch.Joined, gossamer.torch.Member):
        one = object.__new__(kind)
        one._group = "a group"
        with pytest.raises(gossamer.UsageError, match="a group of processes keeps nothing"):
            one.keep(scheduler=parts()[2])


def test_a_schedule_may_follow_the_evaluations_of_the_run():
    net = linear()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.04)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.5, patience=0)
    heard = [None]
    settings = {"samples": 200, "batch": 10, "epochs": 10000, "eval_every": 0.5, "evaluate": lambda model: 1.5}
    with gossamer.torch.join(net, optimiser, **settings) as run:
        run.keep(scheduler=scheduler)
        for step in run:
            if run.evaluation != heard[-1]:
                heard.append(run.evaluation)
                scheduler.step(heard[-1].test_loss)
            if len(heard) == 4:
                break
            optimiser.zero_grad()
            loss = loss_of(net, step.samples)
            loss.backward()
            optimiser.step()
            step.done(loss)
    assert optimiser.param_groups[0]["lr"] == 0.01, "the first of three was the best"
    assert [one.test_loss for one in heard[1:]] == [1.5] * 3 and heard[1].test_accuracy is None
    assert heard[1].epoch < heard[2].epoch < heard[3].epoch

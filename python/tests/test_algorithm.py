import asyncio

import numpy
import pytest

import gossamer

random = numpy.random.default_rng(0)
rows = random.normal(size=(240, 12)).astype(numpy.float32)
targets = rows @ numpy.arange(12, dtype=numpy.float32)


def gradient(x, samples, rank, step):
    difference = rows[samples] @ x - targets[samples]
    return float(0.5 * numpy.mean(difference**2)), rows[samples].T @ difference / len(samples)


# snippet d-psgd begin
class DPSGD(gossamer.Algorithm):
    """x_i,t+1 = sum_j W_ij x_j,t - gamma_t u(grad F_i(x_i,t)) (Lian and others, 2017, algorithm 1)."""

    exchange = "neighbours"

    async def run(self, w):
        while await w.next_step(self.t):
            computing = w.start_gradient(self.x, self.t)
            mixed = await w.neighbour_mean(self.x, self.t)
            self.x = w.update(mixed, await computing, self.t, at=self.x)
            self.t += 1


# snippet d-psgd end


class AllReduceSGD(gossamer.Algorithm):
    exchange = "all"

    async def run(self, w):
        while await w.next_step(self.t):
            g = await w.start_gradient(self.x, self.t)
            self.x = w.update(self.x, await w.mean_of_all(g, self.t), self.t)
            self.t += 1


job = {"samples": 240, "batch": 8, "epochs": 12, "workers": 6, "lr": 0.05, "checkpoint": 10}
world = {"seconds_per_sample": 1e-4, "network": "wan", "trace": "no"}
start = numpy.zeros(12)


@pytest.mark.parametrize(("own", "built_in"), [(DPSGD, "d-psgd"), (AllReduceSGD, "all-reduce-sgd")])
def test_it_has_the_bits_of_the_same_algorithm_in_cpp(own, built_in):
    runs = [gossamer.simulate(gradient, start, **job, **world, algorithm=a) for a in (own, built_in)]
    assert runs[0].curves["train_loss"] == runs[1].curves["train_loss"]
    assert runs[0].curves["consensus_distance"] == runs[1].curves["consensus_distance"]
    assert runs[0].summary["payload_bits"] == runs[1].summary["payload_bits"] > 0
    assert runs[0].summary["time_s"] == runs[1].summary["time_s"]
    assert runs[0].settings["algorithm"] == own.__name__.lower()


@pytest.mark.parametrize("own", [DPSGD, AllReduceSGD])
def test_it_survives_drawn_faults(own):
    for seed in range(8):
        faults = {"chaos": seed, "horizon": 2, "seed": seed}
        first = gossamer.simulate(gradient, start, **job, **world, **faults, algorithm=own)
        again = gossamer.simulate(gradient, start, **job, **world, **faults, algorithm=own)
        assert first.summary["hash"] == again.summary["hash"]
        assert first.summary["end"] == "planned" and first.summary["train_loss"] < 20


def test_it_trains_in_threads_and_goes_on_from_a_checkpoint():
    first = gossamer.train(gradient, start, **(job | {"epochs": 6}), algorithm=DPSGD, out="first")
    second = gossamer.train(gradient, start, **job, algorithm=DPSGD, resume="first", out="second")
    whole = gossamer.train(gradient, start, **job, algorithm="d-psgd", out="whole")
    assert first.summary["train_loss"] > second.summary["train_loss"]
    assert second.summary["steps_per_worker"] == whole.summary["steps_per_worker"]
    assert second.summary["consensus_distance"] == whole.summary["consensus_distance"]


class InPlace(DPSGD):
    """Changes the array that self.x is, and which it holds."""

    async def run(self, w):
        x = self.x
        while await w.next_step(self.t):
            computing = w.start_gradient(x, self.t)
            mixed = await w.neighbour_mean(x, self.t)
            x[:] = w.update(mixed, await computing, self.t, at=x)
            self.t += 1


def test_a_state_that_is_saved_stays_the_same_object():
    saved, bare = (
        gossamer.simulate(gradient, start, **(job | {"checkpoint": often}), **world, algorithm=InPlace)
        for often in (10, None)
    )
    assert saved.curves["consensus_distance"] == bare.curves["consensus_distance"]
    assert saved.curves["consensus_distance"][-1] > 0


class NumPyNumbers(DPSGD):
    state = ("x", "t", "whole", "part")

    def __init__(self, initial):
        super().__init__(initial)
        self.whole, self.part = numpy.int64(3), numpy.float32(0.25)


def test_attributes_may_be_numbers_of_numpy():
    first = gossamer.train(gradient, start, **(job | {"epochs": 6}), algorithm=NumPyNumbers, out="first")
    second = gossamer.train(gradient, start, **job, algorithm=NumPyNumbers, resume="first", out="second")
    assert first.summary["train_loss"] > second.summary["train_loss"]


class ReadOnly(DPSGD):
    async def run(self, w):
        while await w.next_step(self.t):
            g = await w.start_gradient(read_only(self.x), self.t)
            mixed = await w.neighbour_mean(read_only(self.x), self.t)
            self.x = read_only(w.update(read_only(mixed), read_only(g), self.t, at=read_only(self.x)))
            self.t += 1


def read_only(x):
    x = numpy.array(x, numpy.float32)
    x.flags.writeable = False
    return x


def test_vectors_may_be_read_only():
    def constant(*where):
        loss, g = gradient(*where)
        return loss, read_only(g)

    plain = gossamer.simulate(gradient, start, **job, **world, algorithm=DPSGD)
    other = gossamer.simulate(constant, read_only(start), **job, **world, algorithm=ReadOnly)
    assert other.curves["consensus_distance"] == plain.curves["consensus_distance"]


class Raises(DPSGD):
    async def run(self, w):
        assert await w.next_step(0)
        raise KeyError("in the algorithm")


class WrongSize(DPSGD):
    async def run(self, w):
        await w.next_step(0)
        await w.neighbour_mean(self.x[:3].copy(), 0)


class TwoGradients(DPSGD):
    async def run(self, w):
        await w.next_step(0)
        w.start_gradient(self.x, 0)
        w.start_gradient(self.x, 0)


class NoVector(DPSGD):
    async def run(self, w):
        self.x = "model"
        await w.next_step(0)


class GradientTwice(DPSGD):
    async def run(self, w):
        await w.next_step(0)
        computing = w.start_gradient(self.x, 0)
        await computing
        await computing


class Unawaited(DPSGD):
    async def run(self, w):
        while w.next_step(self.t):
            self.t += 1


class Plain(DPSGD):
    def run(self, w):
        pass


class Yields(DPSGD):
    async def run(self, w):
        yield w.next_step(0)


class OfAsyncio(DPSGD):
    async def run(self, w):
        await asyncio.sleep(0)


class Forgets(DPSGD):
    async def run(self, w):
        while await w.next_step(self.t):
            self.x = w.update(self.x, await w.start_gradient(self.x, self.t), self.t)


class MeanOfAll(DPSGD):
    async def run(self, w):
        while await w.next_step(self.t):
            self.x = await w.mean_of_all(self.x, self.t)
            self.t += 1


class Early(DPSGD):
    async def run(self, w):
        if w.id != 1:
            await super().run(w)


@pytest.mark.parametrize(
    ("own", "kind", "sentence"),
    [
        (GradientTwice, gossamer.UsageError, "a gradient is awaited, and none is under way"),
        (Unawaited, gossamer.UsageError, "next_step is used, and was not awaited"),
        (Plain, gossamer.UsageError, "Plain.run is no coroutine"),
        (Yields, gossamer.UsageError, "Yields.run is no coroutine"),
        (OfAsyncio, gossamer.UsageError, "waits for something that is not its worker's"),
        (MeanOfAll, gossamer.UsageError, 'awaits mean_of_all, and its exchange is "neighbours"'),
        (Early, gossamer.UsageError, "Early.run has returned before training is over"),
        (Forgets, gossamer.UsageError, "Forgets.run begins step 0 after step 0; count the steps: self.t "),
        (type("___", (DPSGD,), {}), gossamer.UsageError, "a name without a letter"),
        (Raises, KeyError, "in the algorithm"),
        (WrongSize, gossamer.UsageError, "has 3 elements, and the model 12"),
        (TwoGradients, gossamer.UsageError, "while another one is under way"),
        (NoVector, gossamer.UsageError, "attribute x is no contiguous vector"),
        (dict, gossamer.UsageError, "derived from gossamer.Algorithm"),
    ],
)
def test_mistakes_are_sentences(own, kind, sentence):
    with pytest.raises(kind, match=sentence):
        gossamer.simulate(gradient, start, **job, **world, algorithm=own)


class Counts(DPSGD):
    state = ("x", "t", "steps")

    def __init__(self, initial):
        super().__init__(initial)
        self.steps = self.beginning

    def inherit(self):
        self.inherited.append(self.steps)

    async def run(self, w):
        while await w.next_step(self.t):
            computing = w.start_gradient(self.x, self.t)
            mixed = await w.neighbour_mean(self.x, self.t)
            self.x = w.update(mixed, await computing, self.t, at=self.x)
            self.steps += 0.5
            self.t += 1


def counted(beginning):
    """Runs while a worker dies and comes back. Returns what it has found in the state of another one."""
    own = type("Counts", (Counts,), {"beginning": beginning, "inherited": []})
    with open("plan.toml", "w") as file:
        file.write('[[fault]]\nkind = "kill"\nworkers = [1]\nat = 0.5\nfor = 0.5\n')
    gossamer.simulate(gradient, start, **job, **world, algorithm=own, faults="plan.toml")
    return own.inherited


def test_a_number_comes_from_another_worker_as_it_was():
    (inherited,) = counted(0.0)
    assert isinstance(inherited, float) and inherited > 0 and inherited % 0.5 == 0


def test_a_number_that_became_a_float_is_refused_where_it_was_none():
    sentence = "steps of Counts is a whole number here, and a float in the state that it goes on from; let it have one"
    with pytest.raises(gossamer.UsageError, match=sentence):
        counted(0)


def test_a_step_that_is_not_counted_ends_a_run_in_threads():
    with pytest.raises(gossamer.UsageError, match="Forgets.run begins step 0 after step 0"):
        gossamer.train(gradient, start, **job, algorithm=Forgets)


def test_a_neighbour_that_returns_early_ends_a_run_in_threads():
    with pytest.raises(gossamer.UsageError, match="Early.run has returned"):
        gossamer.train(gradient, start, **job, algorithm=Early)


@pytest.mark.parametrize("run", [gossamer.train, gossamer.simulate])
def test_a_worker_that_is_used_after_its_run_is_refused(run):
    seen = []

    class Keeps(DPSGD):
        async def run(self, w):
            seen.append(w)
            await super().run(w)

    run(gradient, start, **job, **(world if run is gossamer.simulate else {}), algorithm=Keeps)
    x = numpy.zeros(12, numpy.float32)
    for use in (
        lambda w: w.id,
        lambda w: w.members,
        lambda w: w.mixing(0),
        lambda w: w.learning_rate(0),
        lambda w: w.update(x, x, 0),
        lambda w: w.start_gradient(x, 0),
    ):
        with pytest.raises(gossamer.UsageError, match="used outside of its own run"):
            use(seen[0])


def test_a_worker_is_not_used_by_another_one():
    everybody = []

    class Meddles(DPSGD):
        async def run(self, w):
            everybody.append(w)
            while await w.next_step(self.t):
                for other in everybody:
                    await other.start_gradient(self.x, self.t)

    with pytest.raises(gossamer.UsageError, match="used outside of its own run"):
        gossamer.simulate(gradient, start, **job, **world, algorithm=Meddles)

"""Loops that are not as the documentation has them, and modules of rarer kinds."""

import sys
import threading

import pytest

torch = pytest.importorskip("torch")

import gossamer.torch  # noqa: E402

job = {"samples": 40, "batch": 4, "epochs": 2}


def joined(net=None, optimiser=None, **settings):
    net = net or torch.nn.Linear(3, 1)
    optimiser = optimiser or torch.optim.SGD(net.parameters(), lr=0.01)
    return gossamer.torch.join(net, optimiser, **(job | settings))


def train(net, **settings):
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    with joined(net, optimiser, **settings) as run:
        for step in run:
            optimiser.zero_grad()
            loss = net(torch.ones(4, 3)).pow(2).mean()
            loss.backward()
            optimiser.step()
            step.done(loss)
    return run


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"samples": 0}, "samples is 0; give the number of all samples"),
        ({"samples": -4}, "samples is -4"),
        ({"samples": "40"}, "samples is '40'"),
        ({"optimiser": "sgd"}, "the optimiser is 'sgd'; pass one of torch.optim"),
        ({"optimiser": torch.optim.SGD}, "pass one of torch.optim"),
        ({"net": "net", "optimiser": torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=1)}, "the module is a str"),
        ({"help": True}, "help is no setting"),
        ({"workers": 2}, "the processes are the workers"),
        ({"evaluate": 3}, "evaluate is 3"),
        ({"net": torch.nn.LazyLinear(1), "optimiser": None}, "weight has no shape yet; call the module once"),
        ({"net": torch.nn.Linear(3, 1, device="meta")}, "weight is on the device meta"),
        ({"algorithm": type("Idle", (gossamer.Algorithm,), {})}, "the class Idle has no run"),
    ],
)
def test_what_cannot_join_is_refused(settings, sentence):
    with pytest.raises(gossamer.UsageError, match=sentence):
        joined(**settings).__enter__()


@pytest.mark.parametrize(("loss", "what"), [(None, "None"), (torch.ones(2), r"a tensor of the shape \(2,\)")])
def test_a_loss_is_one_number(loss, what):
    with pytest.raises(gossamer.UsageError, match="the loss of step 0 is " + what):
        with joined() as run:
            for step in run:
                step.done(loss)


@pytest.mark.parametrize("where", ["algorithm", "config", "resume"])
def test_an_algorithm_that_wants_gradients_is_refused_wherever_it_is_named(where):
    net = torch.nn.Linear(3, 1)
    with gossamer.torch.join(net, None, **job, algorithm="one-bit-adam", checkpoint=5, out="run") as run:
        for step in run:
            net(torch.ones(4, 3)).mean().backward()
            step.done(1.0)
    with open("one-bit.toml", "w") as file:
        file.write('algorithm = "one-bit-adam"')
    named = {"algorithm": "one-bit-adam", "config": "one-bit.toml", "resume": "run"}
    sentence = "one-bit-adam scales signs by the rate itself, .* in Python pass None for the optimiser, and lr="
    with pytest.raises(gossamer.UsageError, match=sentence):
        train(torch.nn.Linear(3, 1), **{where: named[where]})


@pytest.mark.parametrize(
    ("net", "settings", "sentence"),
    [
        (torch.nn.Linear(4, 1), {}, "the model of this process has 5 parameters, and the run's has 4"),
        (torch.nn.Sequential(torch.nn.Linear(3, 1)), {}, "the tensors of this process's model differ from the run's"),
        (torch.nn.Linear(3, 1), {"samples": 48}, "this process has 48 samples, and the run deals out 40"),
    ],
)
def test_a_run_goes_on_with_its_model_and_samples(net, settings, sentence):
    train(torch.nn.Linear(3, 1), checkpoint=5, out="run")
    with pytest.raises(gossamer.UsageError, match=sentence):
        train(net, resume="run", **settings)


def replace(net):
    net.weight = torch.nn.Parameter(net.weight.detach().clone())


def unfreeze(net):
    net.late = torch.nn.Parameter(torch.zeros(2))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [(replace, "weight has been replaced by another tensor"), (unfreeze, "late requires a gradient now")],
)
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])  # in place, and copied
def test_parameters_that_come_later_are_noticed(change, sentence, kind):
    net = torch.nn.Linear(3, 1).to(kind)
    with pytest.raises(gossamer.UsageError, match=sentence):
        with joined(net, epochs=10) as run:
            for step in run:
                if step.number == 5:
                    change(net)
                step.done(1.0)


def test_a_loop_after_one_that_left_its_step_is_refused():
    with pytest.raises(gossamer.UsageError, match="another one has left step 0 without handing it over"):
        with joined() as run:
            for _ in run:
                break
            list(run)


def test_a_loop_goes_on_where_another_one_was_left_after_its_step():
    net, numbers = torch.nn.Linear(3, 1), []
    with joined(net) as run:
        for _ in range(2):
            for step in run:
                net.weight.data += 0.01
                step.done(1.0)
                numbers.append(step.number)
                if step.number == 3:
                    break
    assert numbers == list(range(20)) and run.summary["end"] == "planned"


def test_a_run_is_begun_once():
    net = torch.nn.Linear(3, 1)
    run = joined(net)
    with run:
        for step in run:
            net.weight.data += 0.01
            step.done(1.0)
    with pytest.raises(gossamer.UsageError, match="begun twice"):
        run.__enter__()


def test_a_loader_that_ends_before_the_run_is_named():
    data = torch.utils.data.TensorDataset(torch.ones(40, 3))
    with pytest.raises(gossamer.UsageError, match="the loader has come to its end before the run"):
        with joined() as run:
            for step, _ in run.with_batches(torch.utils.data.DataLoader(data, batch_size=4)):
                step.done(1.0)


@pytest.mark.parametrize("kind", ["weight_norm", "script"])
def test_a_module_without_copies_is_evaluated_itself(kind):
    linear = torch.nn.Linear(3, 1)
    net = torch.nn.utils.weight_norm(linear) if kind == "weight_norm" else torch.jit.script(linear)
    modes = []

    def evaluate(model):
        modes.append(model.training)
        return model(torch.ones(4, 3)).pow(2).mean()

    run = train(net, evaluate=evaluate)
    assert not any(modes) and net.training
    assert run.summary["test_loss"] == pytest.approx(float(net(torch.ones(4, 3)).pow(2).mean()), rel=1e-5)


@pytest.mark.parametrize("what", [threading.Lock, lambda: sys.__stderr__, lambda: iter(x for x in (1, 2))])
def test_a_module_with_something_that_has_no_copy_is_evaluated_itself(what):
    net, evaluated = torch.nn.Linear(3, 1), []
    net.something = what()

    def evaluate(model):
        evaluated.append(model)
        return model(torch.ones(4, 3)).pow(2).mean()

    run = train(net, evaluate=evaluate)
    assert all(model is net for model in evaluated) and run.summary["end"] == "planned"
    assert run.summary["test_loss"] == pytest.approx(float(net(torch.ones(4, 3)).pow(2).mean()), rel=1e-5)


def test_an_evaluation_has_the_frozen_parameters_and_buffers_of_the_moment():
    net = torch.nn.Linear(3, 1)
    net.teacher = torch.nn.Linear(3, 1).requires_grad_(False)
    net.register_buffer("count", torch.zeros(()))
    optimiser, seen = torch.optim.SGD(net.parameters(), lr=0.01), []

    def evaluate(model):
        assert model is not net
        seen.append((float(model.count), float(model.teacher.weight[0, 0]), float(net.teacher.weight[0, 0])))
        return 0.0

    # A synchronous run: others leave out evaluations that are due while one is under way.
    with joined(net, optimiser, evaluate=evaluate, eval_every=0.5, algorithm="all-reduce-sgd") as run:
        for step in run:
            optimiser.zero_grad()
            loss = net(torch.ones(4, 3)).pow(2).mean()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                net.teacher.weight.fill_(step.number)
                net.count += 1
            step.done(loss)
    assert len(seen) > 3 and seen[-1] == (20, 19, 19)
    assert all(teacher == own and (count == 0 or teacher == count - 1) for count, teacher, own in seen)
    assert all(copied == own for _, copied, own in seen)


@pytest.mark.parametrize("result", [None, [1.0, 0.5], (1.0, 0.5, 0.5), (None, 0.5), {"loss": [1.0]}, "low"])
def test_an_evaluation_without_a_loss_is_a_sentence(result):
    with pytest.raises(gossamer.UsageError, match="evaluate gave a .* in place of a number; return the loss, or"):
        train(torch.nn.Linear(3, 1), evaluate=lambda model: result)


@pytest.mark.parametrize("accuracy", [93.4, -0.1, float("nan")])
def test_an_accuracy_is_a_share(accuracy):
    with pytest.raises(gossamer.UsageError, match=f"gave the accuracy {accuracy}; return a share from 0 to 1"):
        train(torch.nn.Linear(3, 1), evaluate=lambda model: {"loss": 1.0, "accuracy": accuracy})


def test_a_mean_of_shares_may_be_rounded_up():
    run = train(torch.nn.Linear(3, 1), evaluate=lambda model: (1.0, 1.0 + 1e-7))
    assert run.summary["test_accuracy"] == pytest.approx(1)


def test_a_dictionary_without_a_loss_is_a_sentence():
    with pytest.raises(gossamer.UsageError, match="a dictionary with .'los'. and without 'loss'; return {\"loss\""):
        train(torch.nn.Linear(3, 1), evaluate=lambda model: {"los": 1})


@pytest.mark.parametrize("partition", ["label", "dirichlet:alpha=0.5"])
def test_a_partition_by_class_asks_for_labels(partition):
    with pytest.raises(gossamer.UsageError, match="labels= is not given; pass labels=, the class of each sample"):
        joined(partition=partition)
    assert train(torch.nn.Linear(3, 1), partition=partition, labels=[0, 1] * 20).summary["end"] == "planned"


def test_a_short_loop_that_moves_nothing_is_an_error_at_its_end():
    with pytest.raises(gossamer.UsageError, match="moved no parameter in 12 steps; .* call step"):
        with joined(epochs=1.2, out="run") as run:
            for step in run:
                step.done(1.0)
    assert gossamer.load("run").summary["end"] == "planned"  # it is written down whole


@pytest.mark.parametrize("how", ["few", "gradients", "left", "moved", "later"])
def test_no_alarm_where_nothing_must_move(how):
    net = torch.nn.Linear(3, 1)
    optimiser = None if how == "gradients" else torch.optim.SGD(net.parameters(), lr=0.1)
    with gossamer.torch.join(net, optimiser, steps=9 if how == "few" else 30, out="run", checkpoint="5") as run:
        for step in run:
            if how == "moved" and step.number == 29 or how == "later" and step.number < 10:
                net.weight.data += 1
            step.done(1.0)
            if how == "left" and step.number == 20 or how == "later" and step.number == 15:
                break
    if how == "later":
        with gossamer.torch.join(net, optimiser, steps=30, resume="run") as run:
            numbers = []
            for step in run:
                step.done(1.0)
                numbers.append(step.number)
        assert len(numbers) >= 10 and numbers[0] > 0
    assert run.summary["end"] == ("interrupted" if how == "left" else "planned")


def test_the_numbers_of_samples_index_tensors():
    points, seen = torch.arange(40.0), []
    with joined(epochs=0.9) as run:
        for step in run:
            assert step.samples.flags.writeable  # or from_numpy warns
            chosen = points[step.samples]
            assert torch.equal(chosen, points[torch.from_numpy(step.samples)])
            assert torch.equal(chosen, points[torch.tensor(step.samples)])
            seen += chosen.tolist()
            step.done(1.0)
    assert len(set(seen)) == len(seen) == 36


def test_a_schedule_may_end_at_zero():
    net = torch.nn.Linear(3, 1)
    optimiser, steps = torch.optim.SGD(net.parameters(), lr=0.01), 0
    with joined(net, optimiser, epochs=20) as run:
        for step in run:
            optimiser.zero_grad()
            loss = net(torch.ones(4, 3)).pow(2).mean()
            loss.backward()
            optimiser.param_groups[0]["lr"] = max(0.0, 0.01 - 0.001 * step.number)
            optimiser.step()
            step.done(loss)
            steps += 1
    assert steps == 200 and run.summary["end"] == "planned"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("how", ["in place", "copied", "by gradients"])
def test_a_step_that_is_not_finite_ends_a_run_of_one_worker(how, value):
    """The losses do not show it: no sample has the row."""
    table = torch.nn.Embedding(4, 2).to(torch.float64 if how == "copied" else torch.float32)
    optimiser = None if how == "by gradients" else torch.optim.SGD(table.parameters(), lr=0.01)
    settings = {"lr": 0.01} if optimiser is None else {}
    with pytest.raises(
        gossamer.DivergedError, match="at worker 0, step 3: what the loop has handed over is not finite"
    ):
        with gossamer.torch.join(table, optimiser, steps=60, **settings) as run:
            for step in run:
                table.zero_grad()
                loss = table(torch.tensor([0, 1])).pow(2).mean()
                loss.backward()
                if optimiser is not None:
                    optimiser.step()
                if step.number == 3:
                    (table.weight.grad if optimiser is None else table.weight.data)[3, 1] = value
                step.done(loss)


def test_sparse_gradients_are_handed_over():
    table = torch.nn.Embedding(20, 3, sparse=True)
    before = table.weight.detach().clone()
    with gossamer.torch.join(table, None, lr=1.0, steps=1) as run:
        for step in run:
            loss = table(torch.arange(5)).sum()
            loss.backward()
            step.done(loss)
    moved = before - run.state_dict()["weight"]
    assert torch.allclose(moved[:5], torch.ones(5, 3)) and not moved[5:].any()


def test_labels_need_a_number_of_samples():
    net = torch.nn.Linear(3, 1)
    with pytest.raises(gossamer.UsageError, match="labels= is given without samples="):
        gossamer.torch.join(net, None, steps=3, labels=[0])


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))

    def get_extra_state(self):
        return {"version": 3}

    def set_extra_state(self, state):
        assert state == {"version": 3}


def test_the_state_has_the_mean_under_all_names_of_a_shared_parameter():
    net = Tied()
    run = train(net)
    with torch.no_grad():
        wanted = net.first.weight.clone()
        net.first.weight.zero_()  # as the model of one worker differs from the mean
    state = run.state_dict()
    assert torch.allclose(state["first.weight"], wanted) and torch.equal(state["second.weight"], state["first.weight"])
    net.load_state_dict(state)
    assert torch.allclose(net.second.weight, wanted) and list(state) == list(net.state_dict())


def test_an_evaluation_in_a_simulation_has_the_running_statistics():
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    points = torch.randn(40, 3) + 5
    f, x = gossamer.torch.gradient(net, lambda model, samples: model(points[samples]).pow(2).mean())
    seen = []

    def evaluate(model):
        seen.append(model[0].running_mean.clone())
        return model(points).pow(2).mean()

    world = {"workers": 2, "seconds_per_sample": 1e-4, "lr": 0.01, "network": "wan"}
    gossamer.simulate(f, x, **(job | world), evaluate=gossamer.torch.evaluation(net, evaluate))
    assert (seen[-1] > 3).all() and torch.equal(seen[-1], net[0].running_mean)

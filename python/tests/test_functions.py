import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading

import gossamer
import numpy
import pytest
from conftest import here
from gossamer import _command

random = numpy.random.default_rng(0)
rows = random.normal(size=(400, 10)).astype(numpy.float32)
wanted = numpy.arange(10, dtype=numpy.float32)
targets = rows @ wanted


def gradient(x, samples, rank, step):
    difference = rows[samples] @ x - targets[samples]
    return float(0.5 * numpy.mean(difference**2)), rows[samples].T @ difference / len(samples)


def distance(x):
    return float(numpy.abs(x - wanted).max())


job = {"samples": 400, "batch": 8, "epochs": 20, "lr": 0.05}
world = {"seconds_per_sample": 1e-4, "workers": 6, "algorithm": "d-psgd", "network": "wan"}


def test_a_simulation_repeats_itself_and_learns():
    first = gossamer.simulate(gradient, numpy.zeros(10), **job, **world, evaluate=distance)
    second = gossamer.simulate(gradient, numpy.zeros(10), **job, **world, evaluate=distance)
    other = gossamer.simulate(gradient, numpy.zeros(10), **job, **world, seed=2)
    assert first.summary["hash"] == second.summary["hash"] != other.summary["hash"]
    assert first.curves["test_loss"][0] == pytest.approx(9)
    assert first.summary["test_loss"] < 0.1
    assert first.settings["algorithm"].startswith("d-psgd") and first.settings["workers"] == 6


def test_an_interrupt_before_the_run_has_begun_is_not_forgotten(monkeypatch):
    start = threading.Thread.start

    def interrupted(self):
        start(self)
        if self.name == "gossamer":
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    endless = job | {"epochs": 1e8}
    with pytest.raises(KeyboardInterrupt):
        gossamer.train(gradient, numpy.zeros(10), **endless, workers=2)


def test_faults_are_injected():
    plan = '[[fault]]\nkind = "kill"\nworkers = [2]\nat = 0.5\n'
    with open("plan.toml", "w") as file:
        file.write(plan)
    run = gossamer.simulate(gradient, numpy.zeros(10), **job, **world, faults="plan.toml", evaluate=distance)
    assert run.summary["lost"] == 1
    assert run.summary["test_loss"] < 0.2


def test_several_workers_train_in_threads():
    threads, all_of_them = set(), threading.Barrier(3)

    def noting(x, samples, rank, step):
        if step == 0:
            all_of_them.wait()  # two fast ones would be at the end before a slow one has begun
        threads.add(threading.get_ident())
        return gradient(x, samples, rank, step)

    run = gossamer.train(noting, numpy.zeros(10), **job, workers=3, algorithm="ad-psgd", evaluate=distance)
    assert len(threads) == 3
    assert run.summary["end"] == "planned" and run.summary["test_loss"] < 0.1
    assert run.summary["payload_bits"] > 0


def test_each_worker_gets_its_share_of_the_samples():
    seen = [set(), set()]

    def noting(x, samples, rank, step):
        seen[rank].update(samples.tolist())
        return gradient(x, samples, rank, step)

    labels = [0] * 200 + [1] * 200
    share = {"partition": "label:per-worker=1", "labels": labels, "algorithm": "all-reduce-sgd", "workers": 2}
    gossamer.train(noting, numpy.zeros(10), **job, **share)
    assert sorted(map(sorted, seen)) == [list(range(200)), list(range(200, 400))]


def test_an_exception_of_the_function_is_raised_as_it_is():
    class Mine(Exception):
        pass

    def failing(x, samples, rank, step):
        if step == 3:
            raise Mine("of the user")
        return gradient(x, samples, rank, step)

    for algorithm in ("ad-psgd", "all-reduce-sgd"):
        with pytest.raises(Mine, match="of the user"):
            gossamer.train(failing, numpy.zeros(10), **job, algorithm=algorithm)
    with pytest.raises(Mine):
        gossamer.simulate(failing, numpy.zeros(10), **job, **world)
    with pytest.raises(Mine):
        gossamer.train(gradient, numpy.zeros(10), **job, evaluate=lambda x: (_ for _ in ()).throw(Mine()))
    assert gossamer.train(gradient, numpy.zeros(10), **job).summary["end"] == "planned"  # nothing is left of the others


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        ({"algorithm": "adpsgd"}, gossamer.UsageError, "did you mean 'ad-psgd'"),
        ({"lr": "much"}, gossamer.UsageError, "'much', which is not a number"),
        ({"colour": "red"}, gossamer.UsageError, "--colour"),
        ({"model": "mlp"}, gossamer.UsageError, "brings it itself"),
        ({"batch": 401}, gossamer.UsageError, "the training set has 400 samples"),
        ({"labels": [1, 2]}, gossamer.UsageError, r"shape \(2,\)"),
        ({"partition": "label"}, gossamer.UsageError, "deals by class, and labels= is not given; pass labels="),
        ({"partition": "dirichlet"}, gossamer.UsageError, "deals by class, and labels= is not given; pass labels="),
        ({"partition": "labels"}, gossamer.UsageError, "did you mean 'label'"),
        ({"resume": "nowhere"}, gossamer.Error, "nowhere"),
        ({"samples": 0}, gossamer.UsageError, "samples is 0; give the number of all samples"),
        ({"samples": -1}, gossamer.UsageError, "samples is -1"),
        ({"samples": "400"}, gossamer.UsageError, "samples is '400'"),
        ({"data_id": 5}, gossamer.UsageError, "data_id is 5"),
        ({"evaluate": 5}, gossamer.UsageError, "evaluate is no function"),
        ({"evaluate": lambda x: None}, gossamer.UsageError, "evaluate gave a NoneType in place of a number"),
        ({"evaluate": lambda x: [1.0]}, gossamer.UsageError, r"evaluate gave a list .* the pair \(loss, accuracy\)"),
        ({"evaluate": lambda x: "low"}, gossamer.UsageError, "evaluate gave a str in place of a number"),
        ({"evaluate": lambda x: (1.0, 93.4)}, gossamer.UsageError, "the accuracy 93.4; return a share from 0 to 1"),
        ({"help": True}, gossamer.UsageError, "help is no setting"),
        ({"out": "a\0b"}, gossamer.UsageError, "no text in UTF-8"),
        ({"out": "\udcff"}, gossamer.UsageError, "no text in UTF-8"),
    ],
)
def test_bad_settings_are_refused(arguments, kind, sentence):
    with pytest.raises(kind, match=sentence):
        gossamer.train(gradient, numpy.zeros(10), **(job | arguments))


@pytest.mark.parametrize(
    ("function", "kind", "sentence"),
    [
        (lambda *a: None, gossamer.UsageError, "returned no pair"),
        (lambda *a: (1.0, numpy.zeros(3, numpy.float32)), gossamer.UsageError, "3 elements for 10 parameters"),
        (lambda *a: (1.0, "vector"), gossamer.UsageError, "no contiguous vector of float32"),
        (lambda *a: ("loss", numpy.zeros(10, numpy.float32)), (gossamer.UsageError, ValueError), "loss"),
        (lambda *a: (math.nan, numpy.zeros(10, numpy.float32)), gossamer.DivergedError, "its loss is nan"),
        (lambda *a: (1.0, numpy.full(10, numpy.inf, numpy.float32)), gossamer.DivergedError, "training diverged"),
    ],
)
def test_bad_results_end_the_run(function, kind, sentence):
    with pytest.raises(kind, match=sentence):
        gossamer.train(function, numpy.zeros(10), **job)


@pytest.mark.parametrize(
    ("function", "kind", "sentence"),
    [
        (lambda *a: None, gossamer.UsageError, "returned no pair"),
        (lambda *a: (1.0, "vector"), gossamer.UsageError, "no contiguous vector of float32"),
        (lambda *a: (math.nan, numpy.zeros(10, numpy.float32)), gossamer.DivergedError, "its loss is nan"),
    ],
)
def test_bad_results_end_a_simulation_with_the_same_words(function, kind, sentence):
    with pytest.raises(kind, match=sentence):
        gossamer.simulate(function, numpy.zeros(10), **job, **world)


@pytest.mark.parametrize("initial", [None, "abc", {}, [math.nan] * 10, [1e300] * 10, numpy.zeros((10, 1))])
def test_a_beginning_that_is_no_vector_is_refused(initial):
    with pytest.raises(gossamer.UsageError, match="initial"):
        gossamer.train(gradient, initial, **job)


def test_settings_may_be_numbers_of_numpy_and_paths():
    settings = {
        "lr": numpy.float64(0.05),
        "epochs": numpy.int64(2),
        "out": pathlib.Path("run"),
        "batch": numpy.uint8(8),
    }
    gossamer.train(gradient, numpy.zeros(10), **(job | settings))
    run = gossamer.train(gradient, numpy.zeros(10), **(job | settings), overwrite=numpy.True_)
    assert run.settings["lr"] == 0.05 and run.settings["batch"] == 8
    assert gossamer.load(b"run").summary == run.summary


def test_flags_with_yes_or_no_take_truth_values():
    gossamer.simulate(gradient, numpy.zeros(10), **job, **world, out="plain", report=False, trace=False, check=False)
    gossamer.simulate(gradient, numpy.zeros(10), **job, **world, out="full", report=True, trace=True, check=True)
    assert gossamer.load("plain").settings["check"] == "no" and gossamer.load("full").settings["check"] == "yes"
    assert os.path.isfile("full/trace.json") and not os.path.exists("plain/trace.json")
    assert not os.path.exists("plain/report.html")
    for trace in (False, True):  # a flag without a value here
        gossamer.train(gradient, numpy.zeros(10), **job, out="run", overwrite=True, trace=trace, live_control=False)
        assert os.path.exists("run/trace.json") == trace


def test_all_flags_with_yes_or_no_are_known(command):
    known = set()
    for name in ("train", "simulate"):
        text = subprocess.run([command, name, "--help"], capture_output=True, text=True, timeout=60).stdout
        known.update(re.findall(r"--([a-z-]+) yes\|no", text))
    assert {flag.replace("-", "_") for flag in known} == _command._yes_or_no


def test_all_flags_without_a_value_are_known(command):
    known = set()
    for name in ("train", "simulate"):
        text = subprocess.run([command, name, "--help"], capture_output=True, text=True, timeout=60).stdout
        known.update(re.findall(r"^ +--([a-z-]+)(?=  |$)", text, re.MULTILINE))
    assert {flag.replace("-", "_") for flag in known} - _command._yes_or_no == _command._switches


@pytest.mark.parametrize("truth", [True, False, numpy.True_])
def test_a_truth_value_is_no_number_and_no_text(truth):
    with pytest.raises(gossamer.UsageError, match=f"checkpoint is {truth}, and takes no truth value; give it a number"):
        gossamer.train(gradient, numpy.zeros(10), **job, checkpoint=truth, out="run")


def test_a_flag_without_a_value_takes_none():
    with pytest.raises(gossamer.UsageError, match="overwrite is 'yes'; give it a truth value"):
        gossamer.train(gradient, numpy.zeros(10), **job, overwrite="yes", out="run")


def test_a_function_gets_numbers_of_samples_that_index_tensors():
    seen = []

    def noting(x, samples, rank, step):
        seen.append(samples)
        return gradient(x, samples, rank, step)

    gossamer.train(noting, numpy.zeros(10), **job, workers=1)
    assert all(samples.dtype == numpy.int64 for samples in seen)
    assert sorted(numpy.concatenate(seen[:50]).tolist()) == list(range(400))  # each is an array of the call's own


heard = threading.Event()


def hear(*_):
    heard.set()
    raise KeyboardInterrupt


def interrupting(times):
    def f(x, samples, rank, step):
        if rank == 0 and step == 200:
            os.kill(os.getpid(), signal.SIGINT)
            if times > 1:
                heard.wait()
                os.kill(os.getpid(), signal.SIGINT)
                threading.Event().wait()  # a second one does not wait for the run
        return gradient(x, samples, rank, step)

    return f


def test_ctrl_c_ends_a_run_in_good_order():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            gossamer.train(interrupting(1), numpy.zeros(10), **(job | {"epochs": 2000}), workers=2, out="run")
    finally:
        signal.signal(signal.SIGINT, before)
    assert gossamer.load("run").summary["end"] == "interrupted"
    assert gossamer.train(gradient, numpy.zeros(10), **job).summary["end"] == "planned"


def test_a_second_ctrl_c_ends_the_process():
    code = (
        "import signal; import test_functions as t; signal.signal(signal.SIGINT, t.hear);"
        "t.gossamer.train(t.interrupting(2), t.numpy.zeros(10), **(t.job | {'epochs': 2000}), workers=2)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(here)])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 130 and "KeyboardInterrupt" in done.stderr, done
    assert "terminate" not in done.stderr and "leaked" not in done.stderr


def test_a_fork_after_a_run_keeps_its_sockets():
    gossamer.train(gradient, numpy.zeros(10), **job)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        child = os.fork()
        if child == 0:
            try:
                one.getsockname()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0


def test_a_gradient_that_is_no_function_is_found_in_simulations():
    random = numpy.random.default_rng()
    with pytest.raises(gossamer.UsageError, match="two results for the same arguments"):
        gossamer.simulate(
            lambda x, *rest: (1.0, random.normal(size=10).astype(numpy.float32)), numpy.zeros(10), **job, **world
        )


def test_one_run_at_a_time():
    def nested(x, samples, rank, step):
        gossamer.train(gradient, numpy.zeros(10), **job)

    with pytest.raises(gossamer.UsageError, match="a run is under way"):
        gossamer.train(nested, numpy.zeros(10), **job)


def test_what_would_fork_this_process_is_refused():
    with pytest.raises(gossamer.UsageError, match="--seeds starts processes"):
        gossamer.simulate(gradient, numpy.zeros(10), **job, **world, seeds="1..3")


def test_runs_are_read_back():
    for name in ("runs/a", "runs/b"):
        gossamer.train(gradient, numpy.zeros(10), **job, out=name)
    assert [run.folder for run in gossamer.runs()] == ["runs/a", "runs/b"]
    epochs = gossamer.load("runs/a").curves["epoch"]
    with open("runs/a/metrics.jsonl", "a") as file:
        file.write('{"step": 1')  # killed within a line
    assert gossamer.load("runs/a").curves["epoch"] == epochs
    with open("runs/b/summary.json", "w") as file:
        file.write("{")
    with pytest.raises(gossamer.BadDataError, match="summary.json"):
        gossamer.load("runs/b")
    for folder in ("runs/c", "runs/a/metrics.jsonl"):
        with pytest.raises(FileNotFoundError, match=f"{folder} holds no run: .*config.toml") as refusal:
            gossamer.load(folder)
        assert refusal.type is gossamer.NoRunError and refusal.value.code == "io"
    gossamer.plot("runs/a", out="a.svg")
    assert os.path.isfile("a.svg")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metrics.jsonl", b"\xff\n"),
        ("metrics.jsonl", b"3\n[1]\n"),
        ("config.toml", b"\xff"),
        ("summary.json", b"[1, 2]"),
    ],
)
def test_a_damaged_file_is_named(name, content):
    gossamer.train(gradient, numpy.zeros(10), **(job | {"epochs": 1}), out="run")
    with open(f"run/{name}", "wb") as file:
        file.write(content)
    with pytest.raises(gossamer.BadDataError, match=name):
        gossamer.load("run")


def test_importing_it_imports_no_torch():
    code = "import sys, gossamer; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0

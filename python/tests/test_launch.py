"""Several processes, each with a loop of its own."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
here = pathlib.Path(__file__).parent


def result_of(rank, out="out"):
    with open(f"{out}-{rank}.json") as file:
        return json.load(file)


@pytest.mark.parametrize(
    "settings",
    [
        ["algorithm=ad-psgd", "codec=uniform:bits=8"],
        ["algorithm=all-reduce-sgd"],
        ["algorithm=dcd-psgd", "codec=uniform:bits=8"],
    ],
)
def test_four_processes_train_one_model(launch, settings):
    done = launch(4, "loop.py", "out", *settings)
    assert done.returncode == 0, done.stderr
    all_of_them = [result_of(rank) for rank in range(4)]
    assert [r["leads"] for r in all_of_them] == [True, False, False, False]
    summary = all_of_them[0]["summary"]
    assert summary["end"] == "planned" and summary["workers"] == 4 and summary["lost"] == 0
    assert summary["test_accuracy"] > 0.9
    assert all_of_them[0]["accuracy"] == pytest.approx(summary["test_accuracy"], abs=0.006)
    assert sum(r["steps"] for r in all_of_them) >= 400
    found = [summary[key] for key in ("epoch", "train_loss", "test_loss", "test_accuracy")]
    assert [r["evaluation"] for r in all_of_them] == [found] * 4


@pytest.mark.parametrize("kind", ["ddp", "sharded"])
@pytest.mark.parametrize("algorithm", ["all-reduce-sgd", "ad-psgd"])
def test_groups_of_processes_are_workers(launch, kind, algorithm):
    if kind == "sharded":
        pytest.importorskip("torch.distributed.device_mesh", reason="this PyTorch is older than fully_shard")
    done = launch(2, "group.py", "out", kind, f"algorithm={algorithm}")
    assert done.returncode == 0, done.stderr
    workers = [[result_of(rank, f"out-{worker}") for rank in range(2)] for worker in range(2)]
    assert [one["leads"] for worker in workers for one in worker] == [True, False, False, False]
    summary = workers[0][0]["summary"]
    assert summary["end"] == "planned" and summary["workers"] == 2 and summary["test_accuracy"] > 0.9
    for speaker, other in workers:
        assert speaker["steps"] == other["steps"] and speaker["held"] == other["held"]
        assert speaker["evaluation"][2:] == [summary["test_loss"], summary["test_accuracy"]]
    # Both processes of the group that leads hold the mean after the last evaluation.
    assert [one["accuracy"] for one in workers[0]] == [pytest.approx(summary["test_accuracy"], abs=1e-6)] * 2
    assert (workers[0][0]["held"] == workers[1][0]["held"]) == (algorithm == "all-reduce-sgd")


def test_a_group_is_lost_as_one_worker(launch):
    done = launch(2, "group.py", "out", "ddp", "algorithm=ad-psgd", "event=kill", "mark=dies", "epochs=20")
    assert done.returncode == 0, done.stderr
    summary = result_of(0, "out-0")["summary"]
    assert summary["end"] == "planned" and summary["lost"] == 1 and summary["test_accuracy"] > 0.9


def test_a_group_leaves_its_loop_together(launch):
    # Many epochs: until the run has heard of the break, the steps of a loop that was left move nothing, and go fast.
    done = launch(2, "group.py", "out", "ddp", "algorithm=dcd-psgd", "event=break", "epochs=100000")
    assert done.returncode == 0, done.stderr
    assert result_of(0, "out-0")["summary"]["end"] == "interrupted"
    for worker in range(2):
        speaker, other = [result_of(rank, f"out-{worker}")["steps"] for rank in range(2)]
        assert speaker == other <= 30


def test_a_group_is_interrupted_together(launch):
    # All of its processes get Ctrl-C, in the middle of a step; the run ends as it does for a process alone.
    done = launch(2, "group.py", "out", "ddp", "algorithm=dcd-psgd", "event=interrupt", "epochs=100000")
    assert done.returncode == 0, done.stderr
    assert result_of(0, "out-0")["summary"]["end"] == "interrupted"
    both = [result_of(rank, "out-0") for rank in range(2)]
    assert [one["interrupted"] for one in both] == [True, True]
    assert both[0]["steps"] == both[1]["steps"] >= 30


@pytest.mark.parametrize("statistics", ["local", "average"])
def test_running_statistics_are_averaged_where_that_is_wanted(launch, statistics):
    settings = ["algorithm=all-reduce-sgd", "epochs=2"]
    done = launch(2, "loop.py", "out", f"running_statistics={statistics}", *settings)
    assert done.returncode == 0, done.stderr
    mine, other = [result_of(rank)["statistics"] for rank in range(2)]
    assert (mine == other) == (statistics == "average")
    assert max(mine[0], key=abs) != 0 and mine[1] != [1.0] * 16


@pytest.mark.parametrize("event", ["raise", "kill"])
@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("algorithm", ["ad-psgd", "all-reduce-sgd"])
def test_the_others_go_on_when_one_ends(launch, event, rank, algorithm):
    # Without a wait for each other, the others could be at the end before a slow one has come to its own.
    words = ["mark=ends"] if algorithm == "ad-psgd" else []
    settings = [f"algorithm={algorithm}", f"event={event}", f"at_rank={rank}", "epochs=40", *words]
    done = launch(4, "loop.py", "out", *settings)
    assert done.returncode == 0, done.stderr
    assert ('KeyError: "something of the user\'s"' in done.stderr) == (event == "raise")
    left = [r for r in range(4) if r != rank]
    assert not os.path.exists(f"out-{rank}.json")
    leaders = [r for r in left if result_of(r)["leads"]]
    assert leaders == [0 if rank else leaders[0]]
    summary = result_of(leaders[0])["summary"]
    assert summary["end"] == "planned" and summary["test_accuracy"] > 0.9
    # A leader that dies may take with it that it has counted its own worker (docs/clusters.md, limits).
    assert result_of(leaders[0])["members"] == left and result_of(leaders[0])["progress"] > 0.9
    assert summary["lost"] == 1 or (rank == 0 and summary["lost"] == 0)


def test_workers_of_a_loader_hold_no_connection_open(launch):
    done = launch(3, "loop.py", "out", "event=fork", "at_rank=1", "mark=dies", "epochs=100")
    lines = [line for line in done.stderr.splitlines() if "node 1 is lost" in line]
    assert done.returncode == 0 and len(lines) == 1, done.stderr
    for number in pathlib.Path("loaders-1").read_text().split():
        os.kill(int(number), signal.SIGKILL)  # an error if it has ended by itself
    # The loader's workers look after their parent every 60 s; until then they would hold its connections open, and the
    # patience is as long. Those of the leader hold copies of what its connections are told by to have ended.
    assert float(lines[0].split()[0]) < 40
    assert lines[0].endswith("its process is gone")


def test_a_launched_program_may_want_no_report(launch):
    done = launch(2, "loop.py", "out", "epochs=1", "report=no")
    assert done.returncode == 0, done.stderr
    assert os.path.exists("out/summary.json") and not os.path.exists("out/report.html")


def test_ctrl_c_ends_the_run_in_good_order(launch):
    done = launch(3, "loop.py", "out", "event=interrupt", "at_rank=1", "epochs=100000")
    assert done.returncode == 130, done.stderr
    with open("out/summary.json") as file:
        assert json.load(file)["end"] == "interrupted"


def test_a_loop_that_is_left_where_the_run_is_led_ends_it(launch):
    done = launch(3, "loop.py", "out", "event=break", "at_rank=0", "epochs=100000")
    assert done.returncode in (0, 130), done.stderr
    assert result_of(0)["summary"]["end"] == "interrupted"


def test_a_loop_that_is_left_elsewhere_leaves_the_run(launch):
    done = launch(3, "loop.py", "out", "event=break", "at_rank=1", "epochs=60", "algorithm=all-reduce-sgd")
    assert done.returncode == 0, done.stderr
    summary = result_of(0)["summary"]
    assert result_of(1)["steps"] == 40 and summary["end"] == "planned" and summary["test_accuracy"] > 0.9
    assert "node 1 has left" in done.stderr


def test_another_model_is_refused(launch):
    done = launch(2, "loop.py", "out", "event=wrong-model")
    assert done.returncode != 0
    assert "the model of this process has 293 parameters, and the run's has 276" in done.stderr


def test_a_second_run_in_a_launched_process_is_refused(launch):
    done = launch(2, "twice.py", "out")
    assert done.returncode == 0, done.stderr
    for what in ("join", "collectives"):
        sentence = f"{what}: this process has taken part in its launcher's run already; launch the program once for"
        assert (done.stdout + done.stderr).count(sentence) == 2, done.stdout + done.stderr
    with open("out/summary.json") as file:
        assert json.load(file)["end"] == "planned"


def test_processes_that_are_started_alike_meet(tmp_path):
    """As Slurm's are: each is told its number, and the first one leads."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        door = f"127.0.0.1:{free.getsockname()[1]}"
    started = [
        subprocess.Popen(
            [sys.executable, str(here / "loop.py"), "out", "epochs=8"],
            env=os.environ | {"GOSSAMER_NODE": f"node --rendezvous {door} --nodes 3 --number {k} --no-token"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for k in range(3)
    ]
    try:
        assert [process.wait(100) for process in started] == [0, 0, 0], [p.stderr.read() for p in started]
    finally:
        for process in started:
            process.kill()
    summary = result_of(0)["summary"]
    assert summary["workers"] == 3 and summary["lost"] == 0 and summary["test_accuracy"] > 0.9


def test_a_process_joins_a_run_under_way(command, tmp_path):
    words = ["until=joined", "epochs=100000", "max_workers=3", "algorithm=all-reduce-sgd"]
    started = [command, "launch", "--hosts", "localhost:2", "--patience", "5", "--"]
    with open("said.txt", "w") as said:
        run = subprocess.Popen(
            [*started, sys.executable, str(here / "loop.py"), "out", *words],
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
        )
        door = None
        while door is None and run.poll() is None:  # ends with the run at the latest
            door = door_of("out/nodes/nodes.json")
        try:
            come = subprocess.run(
                [sys.executable, str(here / "loop.py"), "other", "mark=joined", "at_rank=2", *words],
                env=os.environ | {"GOSSAMER_JOIN": door or "nowhere:1"},
                capture_output=True,
                text=True,
                timeout=100,
            )
            assert run.wait(60) in (0, 130)
        finally:
            run.kill()
    assert come.returncode == 0, come.stderr + pathlib.Path("said.txt").read_text()
    joined = result_of(2, "other")
    assert joined["steps"] > 40
    assert joined["counted"] > joined["steps"], "its optimiser goes on from the state of another one"
    assert result_of(0)["summary"]["end"] == "interrupted"


@pytest.mark.parametrize("algorithm", ["ad-psgd", "async-sgd"])
def test_optimisers_go_on_from_checkpoints_within_steps(launch, algorithm):
    first = launch(2, "loop.py", "out", f"algorithm={algorithm}", "checkpoint=0.05s")
    assert first.returncode == 0, first.stderr
    second = launch(2, "loop.py", "on", f"algorithm={algorithm}", "checkpoint=0.05s", "resume=out", "epochs=16")
    assert second.returncode == 0, second.stderr
    before = sum(result_of(rank)["counted"] for rank in range(2))
    after = [result_of(rank, "on") for rank in range(2)]
    assert sum(r["counted"] - r["steps"] for r in after) == before
    assert after[0]["summary"]["test_accuracy"] > 0.9


def door_of(path):
    try:
        with open(path) as file:
            nodes = json.load(file)
    except (FileNotFoundError, ValueError):
        return None
    nodes = nodes["nodes"] if isinstance(nodes, dict) else nodes
    return next((node["address"] for node in nodes if node.get("address")), None)

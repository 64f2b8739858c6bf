"""A training loop of a group of two: python group.py OUT ddp|sharded [KEY=VALUE...]. Each process writes OUT-*.json."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time


def start_both():
    """What torchrun does, which the PyTorch of Debian 12 has without being able to run it."""
    with tempfile.TemporaryDirectory() as folder:
        given = {**os.environ, "MEET_AT": f"file://{folder}/meeting", "WORLD_SIZE": "2"}
        both = []
        for rank in range(2):
            group = both[0].pid if both else 0
            # A group of their own, as that of a terminal's job.
            how = {"process_group": group} if "event=interrupt" in sys.argv else {}
            both.append(subprocess.Popen([sys.executable, *sys.argv], env={**given, "RANK": str(rank)}, **how))
        while any(one.poll() is None for one in both):
            if any(one.poll() for one in both):
                for one in both:
                    one.kill()
            time.sleep(0.05)
        return max(abs(one.wait()) for one in both)


if "RANK" not in os.environ:
    sys.exit(start_both())

import gossamer.torch
import torch
import torch.distributed as distributed
from blobs import labels, points
from waiting import await_file

out, kind, *rest = sys.argv[1:]
settings = dict(word.split("=", 1) for word in rest)
event = settings.pop("event", "")
mark = settings.pop("mark", "")  # a file that is written just before the event "kill"; the other worker waits for it
torch.set_num_threads(1)
torch.manual_seed(os.getpid())
number, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
distributed.init_process_group("gloo", init_method=os.environ.get("MEET_AT"), rank=number, world_size=size)

net = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
if kind == "sharded":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    fully_shard(net, mesh=init_device_mesh("cpu", (size,)))
else:
    net = torch.nn.parallel.DistributedDataParallel(net)
optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3)


def evaluate(model):
    scores = model(points[800:])
    return torch.nn.functional.cross_entropy(scores, labels[800:]), (scores.argmax(1) == labels[800:]).float().mean()


def whole(p):
    return p.full_tensor() if hasattr(p, "full_tensor") else p


steps, interrupted = 0, True
with contextlib.suppress(KeyboardInterrupt), gossamer.torch.join(
    net,
    optimiser,
    samples=800,
    batch=16,
    evaluate=evaluate,
    group=distributed.group.WORLD,
    out=out,
    **({"epochs": 6} | settings),
) as run:
    for step in run:
        held = [whole(p).detach().sum().item() for p in net.parameters()]
        chosen = step.samples[number::size]
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(points[chosen]), labels[chosen])
        loss.backward()
        optimiser.step()
        step.done(loss)
        steps += 1
        if steps == 30 and event == "kill":
            if run.rank == 1:
                pathlib.Path(mark).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            await_file(mark)
        if steps == 30 and event == "break":
            break
        if steps == 30 and event == "interrupt" and run.rank == 0 and number == 1:
            os.killpg(0, signal.SIGINT)  # a terminal's
            os.killpg(0, signal.SIGINT)  # and torchrun's, which sends it on
    interrupted = False

with torch.no_grad():
    loss, accuracy = evaluate(net.eval())
with open(f"{out}-{run.rank}-{number}.json", "w") as file:
    what = {"steps": steps, "leads": run.leads, "held": held, "summary": run.summary, "accuracy": float(accuracy)}
    what["interrupted"] = interrupted
    what["evaluation"] = run.evaluation if number == 0 else None  # the first process hears of it
    json.dump(what, file)
distributed.destroy_process_group()

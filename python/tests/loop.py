"""A training loop for the tests: python loop.py OUT [KEY=VALUE...]. It says in OUT-RANK.json how it went."""

import json
import os
import pathlib
import signal
import sys

import gossamer.torch
import torch
from blobs import labels, points
from waiting import await_file

torch.set_num_threads(1)
torch.manual_seed(os.getpid())  # every process draws other weights; the leader's are everybody's
out = sys.argv[1]
settings = dict(word.split("=", 1) for word in sys.argv[2:])
event = settings.pop("event", "")  # raise, kill, fork, break, interrupt, wrong-model
at_rank, at_step = int(settings.pop("at_rank", -1)), int(settings.pop("at_step", 40))
until = settings.pop("until", "")  # a file that ends the loop where the run is led
mark = settings.pop("mark", "")  # a file that is written at that step; the others wait for it at theirs

width = 17 if event == "wrong-model" and "--number 1" in os.environ.get("GOSSAMER_NODE", "") else 16
norm = torch.nn.BatchNorm1d(width) if "running_statistics" in settings else torch.nn.Identity()
net = torch.nn.Sequential(torch.nn.Linear(12, width), norm, torch.nn.ReLU(), torch.nn.Linear(width, 4))
optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3)


def evaluate(model):
    scores = model(points[800:])
    return {
        "loss": torch.nn.functional.cross_entropy(scores, labels[800:]),
        "accuracy": (scores.argmax(1) == labels[800:]).float().mean(),
    }


steps = 0
with gossamer.torch.join(
    net, optimiser, samples=800, batch=16, evaluate=evaluate, out=out, **({"epochs": 8} | settings)
) as run:
    for step in run:
        chosen = step.samples
        statistics = [buffer.tolist() for buffer in norm.buffers()][:2]
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(points[chosen]), labels[chosen])
        loss.backward()
        optimiser.step()
        step.done(loss)
        steps += 1
        if until and run.leads and os.path.exists(until):
            break
        if steps != at_step:
            continue
        if event == "fork":  # workers of a loader in each process, which outlive it by a minute
            torch.utils.data._utils.worker.MP_STATUS_CHECK_INTERVAL = 60
            numbers = torch.utils.data.TensorDataset(torch.arange(1000))
            loader = iter(torch.utils.data.DataLoader(numbers, num_workers=2, prefetch_factor=2))
            next(loader)
            pathlib.Path(f"loaders-{run.rank}").write_text(" ".join(str(worker.pid) for worker in loader._workers))
        if run.rank != at_rank:
            if mark:
                await_file(mark)
            continue
        if event == "fork":
            for other in run.members:
                await_file(f"loaders-{other}")
        if mark:
            pathlib.Path(mark).touch()
        if event == "raise":
            raise KeyError("something of the user's")
        if event in ("kill", "fork"):
            os.kill(os.getpid(), signal.SIGKILL)
        if event == "interrupt":
            os.kill(os.getppid(), signal.SIGINT)
        if event == "break":
            break

with open(f"{out}-{run.rank}.json", "w") as file:
    counted = int(optimiser.state_dict()["state"][0]["step"])  # with what another worker's optimiser had counted
    result = {
        "steps": steps,
        "counted": counted,
        "members": run.members,
        "progress": run.progress,
        "leads": run.leads,
        "evaluation": run.evaluation,
        "summary": run.summary,
        "statistics": statistics,
    }
    if run.leads:
        net.load_state_dict(run.state_dict())
        result["accuracy"] = float(evaluate(net.eval())["accuracy"])
    json.dump(result, file)

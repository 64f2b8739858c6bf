"""DistributedDataParallel over a group of Gossamer: python group_ddp.py KIND OUT [CODEC]. Each process writes
OUT-RANK.json.

KIND is "backend" (of torch.distributed), "hook" (over the backend), "hook-gloo", "killed" (over the backend; rank 1
dies), or "collectives" for its functions.
"""

import json
import os
import signal
import sys

import gossamer.torch
import torch
from blobs import labels, points
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

kind, out, codec = sys.argv[1], sys.argv[2], (sys.argv[3:] or [None])[0]
torch.set_num_threads(1)


def train(group):
    torch.manual_seed(group.rank)  # DistributedDataParallel sends the model of the first one
    norm = torch.nn.BatchNorm1d(16)  # with buffers, one of int64, which it sends in every step
    net = torch.nn.Sequential(torch.nn.Linear(12, 16), norm, torch.nn.ReLU(), torch.nn.Linear(16, 4))
    parallel = DistributedDataParallel(net)
    state = gossamer.torch.CodecState(codec, group=group) if codec else None
    if state is not None:
        parallel.register_comm_hook(state, gossamer.torch.codec_hook)
    optimiser = torch.optim.SGD(parallel.parameters(), lr=0.2)
    for step in range(60):
        chosen = (torch.arange(step * 32, step * 32 + 32) % 800)[group.rank :: group.size]
        if kind == "killed" and group.rank == 1 and step == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(parallel(points[chosen]), labels[chosen]).backward()
        optimiser.step()
    accuracy = (net.eval()(points[800:]).argmax(1) == labels[800:]).float().mean()
    flat = torch.cat([p.detach().flatten() for p in net.parameters()])
    return {"model": flat.tolist(), "accuracy": float(accuracy), "bits": state.sent_bits if state else None}


def call_all(group):
    rank, n = group.rank, group.size
    result = {"rank": distributed.get_rank(), "size": distributed.get_world_size(), "name": distributed.get_backend()}
    for name, op in (("sum", "SUM"), ("avg", "AVG"), ("max", "MAX"), ("product", "PRODUCT")):
        x = torch.full((5,), rank + 2.0)
        distributed.all_reduce(x, getattr(distributed.ReduceOp, op))
        result[name] = x.tolist()
    whole = torch.tensor([rank, 2**60])
    distributed.all_reduce(whole)
    result["int64"] = whole.tolist()
    parts = [torch.zeros(2, dtype=torch.int64) for _ in range(n)]
    work = distributed.all_gather(parts, torch.tensor([rank, 7]), async_op=True)
    work.wait()
    result["gathered"] = [p.tolist() for p in parts]
    joined = torch.zeros(n, 2)
    distributed.all_gather_into_tensor(joined, torch.full((1, 2), float(rank)))
    result["joined"] = joined.tolist()
    flag = torch.tensor([rank == 1, True])
    distributed.broadcast(flag, src=1)
    result["flag"] = flag.tolist()
    objects = [None] * n
    distributed.all_gather_object(objects, {"rank": rank})
    result["objects"] = objects
    distributed.barrier()
    for name, act in (
        ("send", lambda: distributed.send(flag, (rank + 1) % n)),
        ("new_group", lambda: distributed.new_group([0])),
        ("xor", lambda: distributed.all_reduce(whole, distributed.ReduceOp.BXOR)),
    ):
        try:
            act()
        except Exception as e:
            result[f"refused {name}"] = f"{type(e).__name__}: {e}"
    return result


with gossamer.collectives() as group:
    if kind == "hook-gloo":
        store = f"file://{os.path.abspath(out)}.store"
        distributed.init_process_group("gloo", init_method=store, rank=group.rank, world_size=group.size)
    else:
        gossamer.torch.init_process_group(group)
    if kind == "killed":
        try:
            train(group)
        except RuntimeError as e:
            result = {"error": str(e)}
        try:
            distributed.barrier()
        except gossamer.MembershipChanged as e:
            result["lost"] = e.lost
    else:
        result = call_all(group) if kind == "collectives" else train(group)
    result["sent"] = group.sent._asdict()
    distributed.destroy_process_group()
with open(f"{out}-{group.rank}.json", "w") as file:
    json.dump(result, file)

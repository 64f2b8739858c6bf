"""A loop of DistributedDataParallel for the tests: python ddp.py RANK STORE OUT [CODEC]."""

import json
import os
import sys

import gossamer.torch
import torch
from blobs import labels, points
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

rank, store, out, codec = int(sys.argv[1]), sys.argv[2], sys.argv[3], (sys.argv[4:] or [None])[0]
torch.set_num_threads(1)
distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
parallel = DistributedDataParallel(net)
state = gossamer.torch.CodecState(codec) if codec else None
packets = []
if state is not None:
    pack = state._pack

    def noted(bucket, values):
        packets.append(pack(bucket, values))
        return packets[-1]

    state._pack = noted
    parallel.register_comm_hook(state, gossamer.torch.codec_hook)
optimiser = torch.optim.SGD(parallel.parameters(), lr=0.2)
for step in range(60):
    mine = torch.arange(step * 32, step * 32 + 32) % 800
    mine = mine[rank::2]
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(parallel(points[mine]), labels[mine])
    if codec == "identity" and step == 59 and out.endswith("nan"):
        loss = loss * float("nan")
    try:
        loss.backward()
    except (RuntimeError, gossamer.DivergedError) as e:
        print("refused:", e)
        sys.stdout.flush()
        os._exit(3)
    optimiser.step()
accuracy = (net(points[800:]).argmax(1) == labels[800:]).float().mean()
flat = torch.cat([p.detach().flatten() for p in net.parameters()])
with open(f"{out}-{rank}.json", "w") as file:
    about = {"model": flat.tolist(), "accuracy": float(accuracy), "elements": flat.numel()}
    json.dump(about | {"bits": state.sent_bits if state else 0, "packets": [p.nbytes for p in packets]}, file)
distributed.destroy_process_group()

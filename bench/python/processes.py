"""Four processes on one machine: loops in Python under Gossamer, and under DistributedDataParallel over Gloo.

python bench/python/processes.py [PAIRS]: gradients per second of all processes together, in alternating pairs, for the
MLP of loop.py (79,510 parameters, batch 32, SGD with momentum, a thread each). With --rate 20mbit the processes stand
in network namespaces of their own, with links of that rate (root; Linux); Gossamer then sends 8 bits an element, DDP 32,
or 16 with its own hook. DDP and all-reduce-sgd average all gradients at each step, DCD-PSGD each model with those of
two neighbours; AD-PSGD averages two models when it can, and computes on meanwhile.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
seconds, nodes = 6, 4


def data():
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    return torch.randn(2000, 784), torch.randint(0, 10, (2000,))


def work(net, x, y, optimiser, chosen):
    from torch.nn.functional import cross_entropy

    optimiser.zero_grad()
    loss = cross_entropy(net(x[chosen]), y[chosen])
    loss.backward()
    optimiser.step()
    return loss


def joined(algorithm, codec):
    import torch
    from loop import mlp

    import gossamer.torch

    x, y = data()
    net = mlp()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    # epochs without end: the time ends the run, and evaluations are far apart
    with gossamer.torch.join(
        net, optimiser, samples=2000, batch=32, seconds=seconds, eval_every=1e6, algorithm=algorithm, codec=codec
    ) as run:
        for step in run:
            step.done(work(net, x, y, optimiser, step.samples))
    if run.leads:
        with open("rate.json", "w") as file:
            json.dump(sum(run.summary["steps_per_worker"]) / run.summary["time_s"], file)


def ddp(rank, address, hook):
    import torch
    import torch.distributed
    from loop import mlp
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    x, y = data()
    torch.distributed.init_process_group("gloo", init_method=f"tcp://{address}:29544", rank=rank, world_size=nodes)
    net = torch.nn.parallel.DistributedDataParallel(mlp())
    if hook == "fp16":
        net.register_comm_hook(None, default_hooks.fp16_compress_hook)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    random = torch.Generator().manual_seed(rank)
    steps, over = 0, torch.zeros(1)
    torch.distributed.barrier()
    begin = time.perf_counter()
    while not over:
        for _ in range(8):  # between two looks at the clock
            work(net, x, y, optimiser, torch.randint(0, 2000, (32,), generator=random))
        steps += 8
        over = torch.tensor([float(time.perf_counter() - begin > seconds)])
        torch.distributed.broadcast(over, 0)
    if rank == 0:
        with open("rate.json", "w") as file:
            json.dump(nodes * steps / (time.perf_counter() - begin), file)


class Network:
    """A bridge with a namespace for each process, whose way out has the rate; or, without a rate, this machine."""

    def __init__(self, rate):
        self.rate, self.names = rate, [f"gossamer-{os.getpid()}-{k}" for k in range(nodes)]
        if not rate:
            return
        self.bridge = f"gb{os.getpid()}"[:15]
        self.ip(f"link add {self.bridge} type bridge")
        self.ip(f"link set {self.bridge} up")
        for k, name in enumerate(self.names):
            outer = f"gv{os.getpid() % 100000}x{k}"
            self.ip(f"netns add {name}")
            self.ip(f"link add {outer} type veth peer name eth0 netns {name}")
            self.ip(f"link set {outer} master {self.bridge} up")
            self.ip(f"-n {name} addr add 10.77.0.{k + 1}/24 dev eth0")
            self.ip(f"-n {name} link set eth0 up")
            self.ip(f"-n {name} link set lo up")
            shape = f"tc -n {name} qdisc add dev eth0 root tbf rate {rate} burst 32kb latency 100ms"
            subprocess.run(shape.split(), check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.rate:
            for name in self.names:
                self.ip(f"netns del {name}")
            self.ip(f"link del {self.bridge}")

    @staticmethod
    def ip(words):
        subprocess.run(["ip", *words.split()], check=True)

    def command(self, k, words):
        return ["ip", "netns", "exec", self.names[k], *words] if self.rate else words

    def address(self, k):
        return f"10.77.0.{k + 1}" if self.rate else "127.0.0.1"


def measure(start):
    """Gradients per second of the processes that are started, each by its own words."""
    with tempfile.TemporaryDirectory() as folder:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": open(os.path.join(folder, "errors"), "w")}
        all_of_them = [subprocess.Popen(words, cwd=folder, env=env, **quiet) for words, env in start]
        try:
            for process in all_of_them:
                if process.wait(seconds + 60) != 0:
                    with open(os.path.join(folder, "errors")) as file:
                        sys.exit(file.read())
        finally:
            for process in all_of_them:
                process.kill()
        with open(os.path.join(folder, "rate.json")) as file:
            return json.load(file)


def gossamers(network, algorithm, codec):
    me = [sys.executable, os.path.abspath(__file__), "--role", f"joined {algorithm} {codec}"]
    door = f"{network.address(0)}:4177"
    common = "--no-token --insecure --no-shared-memory" if network.rate else "--no-token"
    for k in range(nodes):
        way = f"--rendezvous {door} --number {k} --nodes {nodes}"
        yield network.command(k, me), os.environ | {"GOSSAMER_NODE": f"node {way} {common}"}


def ddps(network, hook):
    for k in range(nodes):
        words = [sys.executable, os.path.abspath(__file__), "--role", f"ddp {k} {network.address(0)} {hook}"]
        device = {"GLOO_SOCKET_IFNAME": "eth0" if network.rate else "lo"}
        yield network.command(k, words), os.environ | device


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pairs", type=int, nargs="?", default=5)
    parser.add_argument("--rate", default="")
    parser.add_argument("--role", default="")
    given = parser.parse_args()
    if given.role:
        role, *words = given.role.split()
        return joined(*words) if role == "joined" else ddp(int(words[0]), *words[1:])
    with Network(given.rate) as network:
        codec = "uniform:bits=8"
        ways = {
            "all-reduce-sgd": lambda: gossamers(network, "all-reduce-sgd", "identity"),
            f"dcd-psgd, {codec}": lambda: gossamers(network, "dcd-psgd", codec),
            f"ad-psgd, {codec}": lambda: gossamers(network, "ad-psgd", codec),
            "DDP over Gloo": lambda: ddps(network, "none"),
        }
        if given.rate:
            ways["DDP over Gloo, 16 bits"] = lambda: ddps(network, "fp16")
        rates = {name: [] for name in ways}
        for _ in range(given.pairs):
            for name, start in ways.items():
                rates[name].append(measure(start()))
    print("| four processes | gradients/s | ratio to DDP (quartiles) |\n|---|---|---|")
    for name, own in rates.items():
        ratios = [a / b for a, b in zip(own, rates["DDP over Gloo"])]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        print(f"| {name} | {statistics.median(own):.0f} | {middle:.2f} ({low:.2f} to {high:.2f}) |")


if __name__ == "__main__":
    sys.path.insert(0, here)
    main()

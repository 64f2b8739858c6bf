#!/usr/bin/env python3
"""Times all-reduces of Gossamer, OpenMPI and Gloo in turn, and prints one table.

  bench/all_reduce/run.py build/release/bin [--rounds 5] [--nodes 2 4] [--kib 64 1024 16384 65536] [--only PATTERN]
                          [--congestion reno] [--rate 1gbit]

Vectors hold real values, and every program checks its sums. A cell has the median of all batches of all rounds and the
quartiles, in milliseconds, and the median of the processors', of all processes together; start-up is left out. The
processes meet on loopback. With --congestion they do so in a network namespace of their own, where all connections of
all programs begin under that congestion control. With --rate each process has a namespace and a card of that rate in
both directions (scripts/namespaces.sh); both need root. OpenMPI and Gloo are left out where they are not built in;
sudo apt-get install libopenmpi-dev libgloo-dev before cmake brings them.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMES = "alpha beta gamma delta epsilon zeta eta theta".split()


class loopback:
    """All processes of a command begin on this machine, as they are."""
    hosts = None

    def __init__(self, congestion):
        self.before = [] if congestion is None else [
            "unshare", "--net", "sh", "-c", "ip link set lo up && echo $0 > "
            "/proc/sys/net/ipv4/tcp_congestion_control && exec \"$@\"", congestion]

    def run(self, command, folder):
        return [subprocess.Popen(self.before + command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)]


class links:
    """A network namespace for each process, whose card has a rate."""
    def __init__(self, n, rate):
        self.hosts, self.rate, self.mine = NAMES[:n], rate, f"all-reduce-{os.getpid()}"

    def network(self, function, *arguments):
        done = subprocess.run([HERE.parent.parent / "scripts/namespaces.sh", self.mine, ",".join(self.hosts), function,
                               *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    def __enter__(self):
        self.network("make_network")
        for host in self.hosts:
            for where, card in ((host, "eth0"), ("switch", host)):
                self.network("inside", where, "tc", "qdisc", "replace", "dev", card, "root", "tbf", "rate", self.rate,
                             "burst", self.burst(), "latency", "50ms")
        return self

    def __exit__(self, *_):
        self.network("remove_network")

    def burst(self):
        """What passes unslowed: at slow rates less than any vector, or it would hide them."""
        return "256kb" if self.rate.endswith("gbit") else "16kb"

    def inside(self, host):
        return ["ip", "netns", "exec", f"{self.mine}-{host}"]

    def run(self, commands, folder):
        """One command, begun on the first host, or one for each host."""
        each = commands if isinstance(commands[0], list) else [commands]
        return [subprocess.Popen(self.inside(host) + command, cwd=folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for host, command in zip(self.hosts, each)]


def fastest(kib, where):
    """The way of a sum among few processes: hops count where it is short, and what meets in one card over links."""
    if kib < 64:
        return "halving"
    return "ring" if kib > 4096 or where.hosts else "direct"


def gossamer(flags, code, codec="identity"):
    def command(bins, n, kib, folder, where):
        hosts = f"localhost:{n}"
        if where.hosts:
            hosts = f"{folder}/hosts.toml"
            pathlib.Path(hosts).write_text(where.network("list_hosts", f"{bins}/all_reduce", folder))
        hidden = kib * 256 // 75 + 1  # of a model of 64 inputs and 10 classes, as large as the vector
        algorithm = f"all-reduce:kib={kib},code={code},collective={fastest(kib, where)}"
        return [f"{bins}/all_reduce", "launch", "--hosts", hosts, "--insecure", *flags(folder, bins), "--", "train",
                "--algorithm", algorithm, "--codec", codec, "--steps", "1", "--eval-every",
                "100", "--data", "digits:samples=40,test=10", "--batch", "1", "--lr", "0.1", "--model",
                f"mlp:hidden={hidden}", "--out", f"{folder}/run"]
    return command


def sockets(folder, bins):
    return ["--no-shared-memory"]


def memory(folder, bins):
    return []


def tls(folder, bins):
    subprocess.run([f"{bins}/all_reduce", "certs", "--out", f"{folder}/certs", "--hosts", "127.0.0.1"], check=True,
                   stdout=subprocess.DEVNULL)
    return ["--no-shared-memory", "--certs", f"{folder}/certs/127.0.0.1"]


def openmpi(*transport):
    def command(bins, n, kib, folder, where):
        hosts = []
        if where.hosts:
            agent = pathlib.Path(folder) / "agent"
            agent.write_text(f"#!/bin/sh\nhost=$1\nshift\nexec ip netns exec {where.mine}-$host sh -c \"$*\"\n")
            agent.chmod(0o755)
            hosts = ["--host", ",".join(where.hosts), "--mca", "plm_rsh_agent", str(agent), "--mca",
                     "oob_tcp_if_include", "eth0"]
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(n), *hosts,
                *transport, f"{bins}/all_reduce_openmpi", str(kib)]
    return command


def openmpi_tcp(bins, n, kib, folder, where):
    card = "eth0" if where.hosts else "lo"
    return openmpi("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", card)(bins, n, kib, folder, where)


def gloo(how):
    def command(bins, n, kib, folder, where):
        one = [f"{bins}/all_reduce_gloo", str(kib), str(n), how]
        return one if not where.hosts else [one + [str(k), f"10.77.0.{k + 1}"] for k in range(n)]
    return command


WAYS = {
    "gossamer": gossamer(sockets, "dense"),
    "gossamer, TLS": gossamer(tls, "dense"),
    "gossamer, memory": gossamer(memory, "dense"),
    "gossamer, 8 bits": gossamer(sockets, "owners", "uniform:bits=8"),
    "gossamer, 8 bits gathered": gossamer(sockets, "gathered", "uniform:bits=8"),
    "gossamer, one bit": gossamer(sockets, "one-bit"),
    "openmpi": openmpi_tcp,
    "openmpi, memory": openmpi(),
    "gloo, ring": gloo("ring"),
    "gloo, halving": gloo("halving"),
}
OF_ONE_MACHINE = ("gossamer, TLS", "gossamer, memory", "openmpi, memory")


def batches(command, where, folder):
    """Pairs of microseconds: of the clock, of processors."""
    running = where.run(command, folder)
    try:
        texts = [process.communicate(timeout=300) for process in running]
    finally:
        for process in running:
            process.kill()
    found = [line.split()[4:] for out, _ in texts for line in out.splitlines() if line.startswith("R ")]
    if not found:
        print("\n", command, "failed:", *(err[-500:] for _, err in texts), file=sys.stderr)
    return [(float(took), float(used)) for took, used in found]


def cell(times):
    if len(times) < 2:
        return "-"
    low, median, high = statistics.quantiles((took for took, _ in times), n=4)
    return (f"{median / 1000:.3g} ({low / 1000:.3g}, {high / 1000:.3g}), "
            f"cpu {statistics.median(used for _, used in times) / 1000:.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bins", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--kib", type=int, nargs="+", default=[64, 1024, 16384, 65536])
    parser.add_argument("--only", default=".")
    parser.add_argument("--congestion")
    parser.add_argument("--rate")
    given = parser.parse_args()
    bins = given.bins.resolve()
    missing = [peer for peer in ("openmpi", "gloo") if not (bins / f"all_reduce_{peer}").exists()]
    missing += OF_ONE_MACHINE if given.rate else ()
    ways = {name: way for name, way in WAYS.items()
            if re.search(given.only, name) and not any(name.startswith(peer) for peer in missing)}
    cells = collections.defaultdict(list)
    for turn in range(given.rounds):
        for n in given.nodes:
            with links(n, given.rate) if given.rate else contextlib.nullcontext(loopback(given.congestion)) as where:
                for kib in given.kib:
                    for name, way in ways.items():
                        print(f"\rround {turn + 1}: {n} processes, {kib} KiB, {name}        ", end="", file=sys.stderr)
                        with tempfile.TemporaryDirectory() as folder:
                            cells[name, n, kib] += batches(way(bins, n, kib, folder, where), where, folder)
    print(file=sys.stderr)
    print("| processes | | " + " | ".join(f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB" for kib in given.kib)
          + " |\n|---|---|" + "---|" * len(given.kib))
    for n in given.nodes:
        for name in ways:
            print(f"| {n} | {name} | " + " | ".join(cell(cells[name, n, kib]) for kib in given.kib) + " |")


if __name__ == "__main__":
    main()

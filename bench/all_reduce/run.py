#!/usr/bin/env python3
"""Times all-reduces of Gossamer, OpenMPI and Gloo in turn, and prints one table.

  bench/all_reduce/run.py build/release/bin [--rounds 5] [--nodes 2 4] [--kib 64 1024 16384 65536] [--only PATTERN]

Cells are the smallest and the median time of all batches of all rounds, in milliseconds, and the median of the
processor's, of all processes together. Everything runs on loopback. OpenMPI and Gloo are left out where they are not
built in; sudo apt-get install libopenmpi-dev libgloo-dev before cmake brings them.
"""
import argparse
import collections
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile


def gossamer(flags, code, codec="identity"):
    def command(bins, n, kib, folder):
        hidden = kib * 256 // 75 + 1  # of a model of 64 inputs and 10 classes, as large as the vector
        return [f"{bins}/all_reduce", "launch", "--hosts", f"localhost:{n}", *flags(folder, bins), "--", "train",
                "--algorithm", f"all-reduce:kib={kib},code={code}", "--codec", codec, "--steps", "1", "--eval-every",
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
    def command(bins, n, kib, folder):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(n), *transport,
                f"{bins}/all_reduce_openmpi", str(kib)]
    return command


def gloo(how):
    return lambda bins, n, kib, folder: [f"{bins}/all_reduce_gloo", str(kib), str(n), how]


WAYS = {
    "gossamer": gossamer(sockets, "dense"),
    "gossamer, TLS": gossamer(tls, "dense"),
    "gossamer, memory": gossamer(memory, "dense"),
    "gossamer, 8 bits": gossamer(sockets, "gathered", "uniform:bits=8"),
    "gossamer, one bit": gossamer(sockets, "one-bit"),
    "openmpi": openmpi("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"),
    "openmpi, memory": openmpi(),
    "gloo, ring": gloo("ring"),
    "gloo, halving": gloo("halving"),
}


def batches(command, folder):
    """Pairs of microseconds: of the clock, of processors."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
    found = [line.split()[4:] for line in done.stdout.splitlines() if line.startswith("R ")]
    if not found:
        print(" ".join(command), "failed:", done.stderr[-500:], file=sys.stderr)
    return [(float(took), float(used)) for took, used in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bins", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--kib", type=int, nargs="+", default=[64, 1024, 16384, 65536])
    parser.add_argument("--only", default=".")
    given = parser.parse_args()
    bins = given.bins.resolve()
    missing = [peer for peer in ("openmpi", "gloo") if not (bins / f"all_reduce_{peer}").exists()]
    ways = {name: way for name, way in WAYS.items()
            if re.search(given.only, name) and not any(name.startswith(peer) for peer in missing)}
    cells = collections.defaultdict(list)
    for turn in range(given.rounds):
        for n in given.nodes:
            for kib in given.kib:
                for name, way in ways.items():
                    print(f"\rround {turn + 1}: {n} processes, {kib} KiB, {name}        ", end="", file=sys.stderr)
                    with tempfile.TemporaryDirectory() as folder:
                        cells[name, n, kib] += batches(way(bins, n, kib, folder), folder)
    print(file=sys.stderr)
    print("| processes | | " + " | ".join(f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB" for kib in given.kib)
          + " |\n|---|---|" + "---|" * len(given.kib))
    for n in given.nodes:
        for name in ways:
            row = []
            for kib in given.kib:
                times = cells[name, n, kib]
                row.append("-" if not times else f"{min(t for t, _ in times) / 1000:.3g} / "
                           f"{statistics.median(t for t, _ in times) / 1000:.3g}, cpu "
                           f"{statistics.median(p for _, p in times) / 1000:.3g}")
            print(f"| {n} | {name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()

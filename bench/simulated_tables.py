#!/usr/bin/env python3
"""Predicts published comparisons in the simulated world and prints them as Markdown.

  bench/simulated_tables.py build/release/bin/gossamer

One worker s times slower (the law: synchronous time x s, AD-PSGD time x n / (n - 1 + 1 / s)), and the grid of networks
of Tang et al., NeurIPS 2018 (8 workers on a ring, 0.27 M weights, 49 iterations an epoch, 4 s of computing): both
without the costs of what workers do beside gradients, as the formulas are. Then what these costs come to, split as in
figure 5 of Wu et al., 2022. Times are virtual: they do not depend on the machine that runs this.
"""
import json
import subprocess
import sys
import tempfile

WORKERS, WEIGHTS, ITERATIONS, COMPUTING = 8, 270_000, 49, 4.0


def simulated(gossamer, *options):
    with tempfile.TemporaryDirectory() as folder:
        command = [gossamer, "simulate", "--json", "--trace", "no", "--check", "no", "--out", folder + "/run", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(" ".join(command) + ": " + done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def virtual_seconds(gossamer, *options):
    return simulated(gossamer, "--cost", "none", *options)["time_s"]


def tang(latency, bandwidth):
    """One epoch of the grid's task; nothing but the optimiser and the codec may differ."""
    return ["--workers", str(WORKERS), "--model", "quadratic", "--data", f"quadratic:samples=64,dim={WEIGHTS}",
            "--batch", "1", "--sample-time", str(COMPUTING / ITERATIONS), "--steps", str(ITERATIONS),
            "--eval-every", "1000", "--lr", "0.01", "--optimiser", "sgd",
            "--network", f"uniform:latency={latency},bandwidth={bandwidth}"]


def slow_worker(gossamer, n=16, steps=8000):
    print(f"| one of {n} workers is slower by | all-reduce-sgd | d-psgd | ad-psgd | law: synchronous, ad-psgd |")
    print("|---|---|---|---|---|")
    plain = ["--model", "quadratic", "--data", "quadratic:samples=400,dim=10", "--workers", str(n), "--batch", "10",
             "--sample-time", "0.001", "--lr", "0.01", "--optimiser", "sgd", "--network", "ideal"]
    calm = {}
    for slow in (1, 2, 5, 10, 100):
        cells = []
        for algorithm in ("all-reduce-sgd", "d-psgd", "ad-psgd"):
            count = steps if algorithm == "ad-psgd" else 100
            time = virtual_seconds(gossamer, *plain, "--algorithm", algorithm, "--steps", str(count), "--slow",
                                   f"3:{slow}x") / count
            calm.setdefault(algorithm, time)
            cells.append(f"{time / calm[algorithm]:.2f}")
        print(f"| {slow}x | {' | '.join(cells)} | {slow}, {n / (n - 1 + 1 / slow):.2f} |")


def network_grid(gossamer):
    def run(algorithm, codec, latency, bandwidth):
        return virtual_seconds(gossamer, "--algorithm", algorithm, "--codec", codec, *tang(latency, bandwidth))

    def model(messages, bits, latency, bandwidth):
        return messages * (latency + bits / bandwidth)

    bits = 32 * WEIGHTS
    print("| latency, bandwidth | all-reduce | formula | gossip | formula | gossip, 8 bit | formula |")
    print("|---|---|---|---|---|---|---|")
    for latency, bandwidth, name in ((0.00013, 1.4e9, "0.13 ms, 1.4 Gb/s"), (0.00013, 5e6, "0.13 ms, 5 Mb/s"),
                                     (0.02, 1.4e9, "20 ms, 1.4 Gb/s"), (0.02, 20e6, "20 ms, 20 Mb/s"),
                                     (0.02, 5e6, "20 ms, 5 Mb/s")):
        hops = 2 * (WORKERS - 1)
        reduce = COMPUTING + ITERATIONS * model(hops, bits / WORKERS, latency, bandwidth)
        # D-PSGD computes its gradient while the models travel.
        gossip = ITERATIONS * max(COMPUTING / ITERATIONS, model(1, 2 * bits, latency, bandwidth))
        small = ITERATIONS * max(COMPUTING / ITERATIONS, model(1, bits / 2, latency, bandwidth))
        cells = [f"{run('all-reduce-sgd', 'identity', latency, bandwidth):.1f}", f"{reduce:.1f}",
                 f"{run('d-psgd', 'identity', latency, bandwidth):.1f}", f"{gossip:.1f}",
                 f"{run('d-psgd', 'uniform:bits=8', latency, bandwidth):.1f}", f"{small:.1f}"]
        print(f"| {name} | {' | '.join(cells)} |")


def split(gossamer):
    print("| algorithm, codec | without costs | with | computing | compressing | communicating |")
    print("|---|---|---|---|---|---|")
    for algorithm, codec in (("all-reduce-sgd", "identity"), ("d-psgd", "identity"), ("d-psgd", "uniform:bits=8"),
                             ("ef-sgd", "top-k:fraction=0.01"), ("ssdm", "auto"), ("marsit", "auto")):
        options = ["--algorithm", algorithm, "--codec", codec, *tang(0.00013, 1.4e9)]
        run = simulated(gossamer, *options)
        workers = run["time_by_worker"]
        means = [sum(w[f"{what}_s"] for w in workers for what in whats) / len(workers)
                 for whats in (("computing",), ("compressing",), ("communicating", "waiting"))]
        name = f"`{algorithm}`" + ("" if codec in ("identity", "auto") else f", `{codec}`")
        print(f"| {name} | {virtual_seconds(gossamer, *options):.3f} | {run['time_s']:.3f} | "
              f"{' | '.join(f'{mean:.3f}' for mean in means)} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    slow_worker(sys.argv[1])
    print()
    network_grid(sys.argv[1])
    print()
    split(sys.argv[1])

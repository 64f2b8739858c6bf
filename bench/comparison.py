#!/usr/bin/env python3
"""Runs every algorithm on real data in the simulated world, and writes a page of tables.

  bench/comparison.py build/release/bin/gossamer DATA [docs/results.md]

DATA is a folder with mnist/ (IDX files) and libsvm/ (a9a, agnews_bow). Without a file, prints. Times are virtual: 8
workers, each on a node of its own, links of 1 Gb/s and 1 ms, a fixed time a sample, and the default costs of everything
that workers and masters do beside gradients (docs/simulation.md); they do not depend on the machine that runs this.
Payload is what links counted, beside the formula of the paper where one gives it exactly.
"""
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

N = 8  # workers
D = 784 * 100 + 100 + 100 * 10 + 10  # parameters of the MLP
BLOCKS = 7951  # of ten elements each, so that all are of one size
WORLD = ["--network", "uniform:latency=0.001,bandwidth=1e9", "--sample-time", "2e-5", "--check", "no", "--trace", "no"]
MOMENTUM = ["--optimiser", "momentum:beta=0.9", "--lr", "0.02"]
PLAIN = ["--optimiser", "sgd"]


@dataclass
class Row:
    algorithm: str
    counterpart: str = ""  # at full precision
    codec: str = ""
    options: list[str] = field(default_factory=lambda: MOMENTUM)
    formula: object = None  # payload bits of the whole run, given the steps of each worker
    remark: str = ""

    @property
    def name(self):
        return self.algorithm + (f" with {self.codec}" if self.codec else "") + self.remark

    def command(self):
        codec = ["--codec", self.codec] if self.codec else []
        return ["--algorithm", self.algorithm, *codec, *self.options]


def grbs(ratio):
    return f"grbs/ratio={ratio}/blocks={BLOCKS}"


def kept(ratio):
    return D // BLOCKS * round(BLOCKS / ratio)


def ring(bits):
    """Every element goes n - 1 times round, twice."""
    return lambda steps: 2 * (N - 1) * bits * steps[0]


def gossip(bits):
    return lambda steps: 2 * bits * sum(steps)


def width(contributors):
    return max(1, contributors.bit_length())


def sign_sums(last):
    """Reduce phase with growing widths, then a gather phase of width `last`."""
    return lambda steps: D * (sum(width(k) for k in range(1, N)) + (N - 1) * last) * steps[0]


def marsit(period):
    def bits(steps):
        full = 0 if period == 0 else -(-steps[0] // period)
        return 2 * (N - 1) * (D * (steps[0] - full) + 32 * D * full + (32 if period == 0 else 0))
    return bits


EXACT, MEAN, GOSSIP, SVRG = 32 * D, "all-reduce-sgd", "d-psgd", "asy-fpg"
MIN_MAX = {bits: 64 + bits * D for bits in (4, 8)}
LARGE_STEPS = ", without momentum"
SIGNS = PLAIN + ["--lr", "0.0005"]

MNIST = [
    Row(MEAN, formula=ring(EXACT)),
    Row(MEAN, options=PLAIN + ["--lr", "0.2"], formula=ring(EXACT), remark=LARGE_STEPS),
    Row("all-reduce-sgd:collective=torus", MEAN, formula=ring(EXACT)),
    Row("parameter-server-sgd", MEAN, formula=lambda steps: 64 * D * sum(steps)),
    Row("async-sgd", MEAN, options=PLAIN + ["--lr", "0.05"], formula=lambda steps: 64 * D * sum(steps)),
    Row("async-sgd:staleness=8", MEAN, options=PLAIN + ["--lr", "0.05"], formula=lambda steps: 64 * D * sum(steps)),
    Row("eamsgd:period=4", MEAN, options=PLAIN + ["--lr", "0.02"],
        formula=lambda steps: 64 * D * sum(-(-t // 4) for t in steps)),
    Row("local-sgd:period=8", MEAN, formula=lambda steps: ring(EXACT)([steps[0] // 8])),
    Row(GOSSIP, MEAN, formula=gossip(EXACT)),
    Row("d-psgd:order=adapt-then-combine", GOSSIP, formula=gossip(EXACT)),
    Row("naive-d-psgd", GOSSIP, "min-max:bits=4", formula=gossip(MIN_MAX[4])),
    Row("dcd-psgd", GOSSIP, "min-max:bits=8", formula=gossip(MIN_MAX[8])),
    Row("dcd-psgd", GOSSIP, "min-max:bits=4", formula=gossip(MIN_MAX[4])),
    Row("ecd-psgd", GOSSIP, "min-max:bits=8", formula=gossip(MIN_MAX[8])),
    Row("ecd-psgd", GOSSIP, "min-max:bits=4", formula=gossip(MIN_MAX[4])),
    Row("ad-psgd", GOSSIP),
    Row("ad-psgd", GOSSIP, "min-max:bits=8"),
    Row("ef-sgd", MEAN, f"grbs:ratio=64,blocks={BLOCKS}", formula=ring(32 * kept(64))),
    Row("qsparse-local-sgd:period=4", MEAN, f"grbs:ratio=16,blocks={BLOCKS}",
        formula=lambda steps: ring(32 * kept(16))([steps[0] // 4])),
    Row(f"csea:c1={grbs(64)}", MEAN, formula=ring(32 * kept(64))),
    Row(f"cser:c1={grbs(8)},c2={grbs(128)},period=16", MEAN,
        formula=lambda steps: ring(32 * kept(128))(steps) + ring(32 * kept(8))([steps[0] // 16])),
    Row(f"m-cser:c1={grbs(8)},c2={grbs(128)},period=16", MEAN, options=["--lr", "0.02"],
        formula=lambda steps: ring(32 * kept(128))(steps) + ring(32 * kept(8))([steps[0] // 16])),
    Row(f"cser-pl:c1={grbs(16)},period=4", MEAN, formula=lambda steps: ring(32 * kept(16))([steps[0] // 4])),
    Row("sign-sgd", MEAN, options=SIGNS, formula=sign_sums(1)),
    Row("ef-sign-sgd", MEAN, formula=lambda steps: N * (N - 1) * (D + 32) * steps[0]),
    Row("ssdm", MEAN, options=SIGNS, formula=sign_sums(width(N))),
    Row("cascading-ssdm", MEAN, options=SIGNS),
    Row("marsit:period=100", MEAN + LARGE_STEPS, options=PLAIN + ["--lr", "0.2"], formula=marsit(100)),
    Row("marsit:period=0", MEAN + LARGE_STEPS, options=PLAIN + ["--lr", "0.2"], formula=marsit(0)),
]


def svrg(lr):
    options = PLAIN + ["--lr", lr]
    return [Row(name, "" if name == SVRG else SVRG, options=options)
            for name in (SVRG, "acc-asy-fpg", "qsvrg", "halp", "asy-lpg", "asy-lpg:model-bits=0", "asy-lpg:centred=true",
                         "sparse-asy-lpg", "acc-asy-lpg")]


def measured(gossamer, row, options):
    with tempfile.TemporaryDirectory() as folder:
        command = [gossamer, "simulate", "--json", "--out", folder + "/run", *WORLD, *options, *row.command()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if "diverged" in done.stderr:
        return None
    sys.exit(" ".join(command) + ": " + done.stderr.strip().splitlines()[-1])


def results(gossamer, rows, options):
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda row: measured(gossamer, row, options), rows))
    return {row.name: (row, result) for row, result in zip(rows, found)}


def against_formula(row, result):
    if row.formula is None:
        return ""
    expected = row.formula(result["steps_per_worker"])
    return "exact" if result["payload_bits"] == expected else f"off: {expected / 1e9:.4f} Gb expected"


def table(found, quality, title):
    lines = [f"| algorithm | {title} | virtual seconds | payload, Gb | formula | wire, Gb | framing | "
             "payload of its counterpart |", "|---|---|---|---|---|---|---|---|"]
    for row, result in found.values():
        if result is None:
            lines.append(f"| `{row.name}` | diverged | | | | | | |")
            continue
        payload, wire = result["payload_bits"], result["wire_bits"]
        other = found[row.counterpart][1] if row.counterpart else None
        ratio = f"{other['payload_bits'] / payload:.2f} times as much, `{row.counterpart}`" if other else ""
        lines.append(f"| `{row.name}` | {result[quality]:.4f} | {result['time_s']:.2f} | {payload / 1e9:.3f} | "
                     f"{against_formula(row, result)} | {wire / 1e9:.3f} | {100 * (wire / payload - 1):.2f} % | {ratio} |")
    return lines


def main(gossamer, data, page=None):
    mnist = ["--data", f"idx:dir={data}/mnist", "--model", "mlp:hidden=100", "--workers", str(N), "--batch", "16",
             "--epochs", "3"]
    logistic = {name: ["--data", f"libsvm:train={data}/libsvm/{name}.gz,test={data}/libsvm/{name}.t.gz", "--model",
                       model, "--workers", str(N), "--batch", "200", "--epochs", "5"]
                for name, model in (("a9a", "logistic:l1=1e-5,l2=1e-4"), ("agnews_bow", "softmax:l1=1e-5,l2=1e-4"))}
    lines = ["# Results", "", "Written by `bench/comparison.py build/release/bin/gossamer DATA docs/results.md`, which "
             "says how.", "", "## MNIST, MLP 784-100-10", "",
             f"{D:,} parameters, 8 workers, 16 samples a gradient, 3 epochs (1406 steps of each worker), on a ring where "
             "there is a", "topology. Each family has the learning rate and optimiser that it needs; see the script.", ""]
    lines += table(results(gossamer, MNIST, mnist), "test_accuracy", "test accuracy")
    lines += ["", "The variance-reduced family, with minibatches of 20 and l2 = 1e-4; three of its epochs are nine "
              "passes over the data:", ""]
    small = mnist[:-4] + ["--batch", "20", "--epochs", "3"]
    small[small.index("mlp:hidden=100")] = "mlp:hidden=100,l2=1e-4"
    lines += table(results(gossamer, svrg("0.05"), small), "test_accuracy", "test accuracy")
    for name, options in logistic.items():
        lines += ["", f"## {name}, regression with l1 = 1e-5 and l2 = 1e-4", "",
                  "8 workers, minibatches of 200, 5 epochs; the objective on the training set:", ""]
        lines += table(results(gossamer, svrg("0.2" if name == "a9a" else "0.1"), options), "train_loss", "objective")
    text = "\n".join(lines) + "\n"
    if page:
        Path(page).write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Runs every algorithm on real data in the simulated world, and writes a page of tables.

  bench/comparison.py build/release/bin/gossamer DATA [docs/results.md [RUNS.jsonl]]

DATA is a folder with mnist/ (IDX files) and libsvm/ (a9a, agnews_bow). Without a file, prints; of a file that is there,
all from the line `## Why` on stays. Runs that RUNS.jsonl holds are not repeated; those that are new are added to it.

Every row is the best of the same learning rates, RATES, for the whole length of the run: by test accuracy on MNIST, by
the objective elsewhere. Times are virtual: 8 workers, each on a node of its own, links of 1 Gb/s and 1 ms, a fixed time
a sample, and the default costs of everything that workers and masters do beside gradients (docs/simulation.md); they do
not depend on the machine that runs this. Payload is what links counted, beside the formula of the paper where one gives
it exactly.
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
RATES = [0.0002, 0.001, 0.005, 0.02, 0.1, 0.5]
WORLD = ["--network", "uniform:latency=0.001,bandwidth=1e9", "--sample-time", "2e-5", "--check", "no", "--trace", "no"]
MOMENTUM = ["--optimiser", "momentum:beta=0.9"]
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


def low_rank(rank):
    """Numbers in the factors of the two matrices, and the biases."""
    return rank * (784 + 100) + rank * (100 + 10) + 100 + 10


def two_bits_of(one_in, chunk=4096):
    """Bits of chunked-top-k: two magnitudes a chunk, and two bits and a place for each element that is kept."""
    def bits(size):
        return 64 + (size + one_in // 2) // one_in * (2 + (size - 1).bit_length())
    return D // chunk * bits(chunk) + bits(D % chunk)


def in_two_fragments(t):
    """Models up and down in t steps of a learner, with H = 10: a pull, halves, and what is left of them at the end."""
    return 1 + sum(done // 10 + -(-done // 10) for done in (t, t + 5)) / 2


def width(contributors):
    return max(1, contributors.bit_length())


def sign_sums(last):
    """Reduce phase with growing widths, then a gather phase of width `last`."""
    return lambda steps: D * (sum(width(k) for k in range(1, N)) + (N - 1) * last) * steps[0]


def marsit(period):
    """One bit an element or 32, and in one-bit rounds a number for the size of the step."""
    def bits(steps):
        full = 0 if period == 0 else -(-steps[0] // period)
        return 2 * (N - 1) * ((D + 32) * (steps[0] - full) + 32 * D * full)
    return bits


EXACT, MEAN, GOSSIP, SVRG = 32 * D, "all-reduce-sgd", "d-psgd", "asy-fpg"
MIN_MAX = {bits: 64 + bits * D for bits in (4, 8)}
LARGE_STEPS = ", without momentum"

MNIST = [
    Row(MEAN, formula=ring(EXACT)),
    Row(MEAN, options=PLAIN, formula=ring(EXACT), remark=LARGE_STEPS),
    Row("all-reduce-sgd:collective=torus", MEAN, formula=ring(EXACT)),
    Row("parameter-server-sgd", MEAN, formula=lambda steps: 64 * D * sum(steps)),
    Row("async-sgd", MEAN, options=PLAIN, formula=lambda steps: 64 * D * sum(steps)),
    Row("async-sgd:staleness=8", MEAN, options=PLAIN, formula=lambda steps: 64 * D * sum(steps)),
    Row("eamsgd:period=4", MEAN, options=PLAIN,
        formula=lambda steps: 64 * D * sum(-(-t // 4) for t in steps)),
    Row("local-sgd:period=8", MEAN, formula=lambda steps: ring(EXACT)([steps[0] // 8])),
    Row("diloco:period=10", MEAN, formula=lambda steps: ring(EXACT)([steps[0] // 10])),
    Row("diloco:period=10", MEAN, "e3m0", formula=lambda steps: 2 * (N - 1) * (32 * N + 4 * D) * (steps[0] // 10)),
    Row("diloco:period=50", MEAN, formula=lambda steps: ring(EXACT)([steps[0] // 50])),
    Row("diloco:period=10,outer=slowmo,outer-lr=1,outer-momentum=0.5", MEAN,
        formula=lambda steps: ring(EXACT)([steps[0] // 10])),
    Row("streaming-diloco:period=10,fragments=2,overlap=1", MEAN, "e3m0"),
    Row("sparse-loco:period=10", MEAN, "top-k:fraction=0.0156"),
    Row("sparse-loco:period=10", MEAN, "chunked-top-k",
        formula=lambda steps: N * (N - 1) * two_bits_of(64) * (steps[0] // 10)),
    Row("async-diloco:period=10", MEAN, formula=lambda steps: 64 * D * sum(-(-t // 10) for t in steps)),
    *[Row("decoupled-diloco:period=10" + more, MEAN, formula=lambda steps: EXACT * sum(map(in_two_fragments, steps)))
      for more in ("", ",merge=mean")],
    Row("noloco:period=10", MEAN, formula=lambda steps: N * EXACT * (steps[0] // 10)),
    Row(GOSSIP, MEAN, formula=gossip(EXACT)),
    Row("d-psgd:order=adapt-then-combine", GOSSIP, formula=gossip(EXACT)),
    Row("naive-d-psgd", GOSSIP, "min-max:bits=4", formula=gossip(MIN_MAX[4])),
    Row("dcd-psgd", GOSSIP, "min-max:bits=8", formula=gossip(MIN_MAX[8])),
    Row("dcd-psgd", GOSSIP, "min-max:bits=4", formula=gossip(MIN_MAX[4])),
    Row("ecd-psgd", GOSSIP, "min-max:bits=8", formula=gossip(MIN_MAX[8])),
    Row("ecd-psgd", GOSSIP, "min-max:bits=4", formula=gossip(MIN_MAX[4])),
    Row("choco-sgd:consensus-rate=0.3", GOSSIP, "top-k:fraction=0.1"),
    Row("deep-squeeze:consensus-rate=0.1", GOSSIP, "top-k:fraction=0.1"),
    Row("d2", GOSSIP, formula=gossip(EXACT)),
    Row("gradient-tracking", GOSSIP, formula=gossip(2 * EXACT)),
    Row("relay-sgd", GOSSIP, formula=lambda steps: 2 * (N - 1) * (EXACT + 32) * steps[0]),
    Row("sgp", GOSSIP, formula=lambda steps: (EXACT + 32) * sum(steps)),
    Row("sgp:overlap=1", GOSSIP, formula=lambda steps: (EXACT + 32) * sum(steps)),
    Row("sgp:graph=topology", GOSSIP, formula=gossip(EXACT + 32)),
    Row("ad-psgd", GOSSIP),
    Row("ad-psgd", GOSSIP, "min-max:bits=8"),
    Row("ad-psgd:in-flight=4,owed=8", GOSSIP),
    Row("ad-psgd:in-flight=4,owed=8", GOSSIP, "min-max:bits=8"),
    Row("ef-sgd", MEAN, f"grbs:ratio=64,blocks={BLOCKS}", formula=ring(32 * kept(64))),
    Row("qsparse-local-sgd:period=4", MEAN, f"grbs:ratio=16,blocks={BLOCKS}",
        formula=lambda steps: ring(32 * kept(16))([steps[0] // 4])),
    Row(f"csea:c1={grbs(64)}", MEAN, formula=ring(32 * kept(64))),
    Row(f"cser:c1={grbs(8)},c2={grbs(128)},period=16", MEAN,
        formula=lambda steps: ring(32 * kept(128))(steps) + ring(32 * kept(8))([steps[0] // 16])),
    Row(f"m-cser:c1={grbs(8)},c2={grbs(128)},period=16", MEAN, options=[],
        formula=lambda steps: ring(32 * kept(128))(steps) + ring(32 * kept(8))([steps[0] // 16])),
    Row(f"cser-pl:c1={grbs(16)},period=4", MEAN, formula=lambda steps: ring(32 * kept(16))([steps[0] // 4])),
    Row("quantised-sgd", MEAN, "uniform:bits=8"),  # less where all gradients of a segment are 0
    Row("quantised-sgd:mean=gathered", MEAN, "uniform:bits=8",
        formula=lambda steps: N * (N - 1) * (32 + 8 * D) * steps[0]),
    Row("power-sgd:rank=2", MEAN, formula=ring(32 * low_rank(2))),
    Row("power-sgd:rank=4", MEAN, formula=ring(32 * low_rank(4))),
    Row("one-bit-adam:warm-up=80", MEAN, options=[]),
    Row("zero-one-adam:warm-up=80", MEAN, options=[]),
    Row("zero-one-adam:warm-up=80,variance-updates=4,double-after=40,max-period=16", MEAN, options=[]),
    *(Row("demo" + of, MEAN, "chunked-top-k", options=[], formula=lambda steps: N * (N - 1) * two_bits_of(64) * steps[0])
      for of in ("", ":aggregate=senders")),
    Row("sign-sgd", MEAN, options=PLAIN, formula=sign_sums(1)),
    Row("ef-sign-sgd", MEAN, formula=lambda steps: N * (N - 1) * (D + 32) * steps[0]),
    Row("ssdm", MEAN, options=PLAIN, formula=sign_sums(width(N))),
    Row("cascading-ssdm", MEAN, options=PLAIN),
    Row("marsit:period=100", MEAN + LARGE_STEPS, options=PLAIN, formula=marsit(100)),
    Row("marsit:period=0", MEAN + LARGE_STEPS, options=PLAIN, formula=marsit(0)),
]


VARIANCE_REDUCED = [Row(name, "" if name == SVRG else SVRG, options=PLAIN)
                    for name in (SVRG, "acc-asy-fpg", "qsvrg", "halp", "asy-lpg", "asy-lpg:model-bits=0",
                                 "asy-lpg:centred=true", "sparse-asy-lpg", "acc-asy-lpg")]


class Runs:
    """What has been measured, kept in a file. None is a run that diverged."""

    def __init__(self, gossamer, path=None):
        self.gossamer, self.path = gossamer, Path(path) if path else None
        lines = self.path.read_text().splitlines() if self.path and self.path.exists() else []
        self.known = dict(map(json.loads, lines))

    def __call__(self, options):
        key = " ".join(options)
        if key not in self.known:
            self.known[key] = self.measured(options)
            if self.path:
                with self.path.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]

    def measured(self, options):
        with tempfile.TemporaryDirectory() as folder:
            command = [self.gossamer, "simulate", "--json", "--out", folder + "/run", *WORLD, *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found = json.loads(done.stdout)
            return {key: found[key] for key in ("test_accuracy", "train_loss", "time_s", "payload_bits", "wire_bits",
                                                "steps_per_worker")}
        if "diverged" in done.stderr:
            return None
        sys.exit(" ".join(command) + ": " + done.stderr.strip().splitlines()[-1])


def best(found, quality):
    """The rate and what came of it; None where every rate diverged."""
    ended = {rate: result for rate, result in found.items() if result}
    sign = -1 if quality == "train_loss" else 1
    return max(ended.items(), key=lambda item: sign * item[1][quality]) if ended else (None, None)


def results(runs, rows, options, quality):
    with ThreadPoolExecutor(2) as pool:
        tried = [(row, rate, pool.submit(runs, [*options, *row.command(), "--lr", str(rate)]))
                 for row in rows for rate in RATES]
        found = {row.name: {} for row in rows}
        for row, rate, result in tried:
            found[row.name][rate] = result.result()
    return {row.name: (row, *best(found[row.name], quality)) for row in rows}


def against_formula(row, result):
    if row.formula is None:
        return ""
    expected = row.formula(result["steps_per_worker"])
    return "exact" if result["payload_bits"] == expected else f"off: {expected / 1e9:.4f} Gb expected"


def table(found, quality, title):
    lines = [f"| algorithm | {title} | rate | virtual seconds | payload, Gb | formula | wire, Gb | framing | "
             "payload of its counterpart |", "|---|---|---|---|---|---|---|---|---|"]
    for row, rate, result in found.values():
        if result is None:
            lines.append(f"| `{row.name}` | diverged | all | | | | | | |")
            continue
        payload, wire = result["payload_bits"], result["wire_bits"]
        other = found[row.counterpart][2] if row.counterpart else None
        ratio = f"{other['payload_bits'] / payload:.2f} times as much, `{row.counterpart}`" if other else ""
        edge = " (edge)" if rate in (RATES[0], RATES[-1]) else ""
        lines.append(f"| `{row.name}` | {result[quality]:.4f} | {rate}{edge} | {result['time_s']:.2f} | "
                     f"{payload / 1e9:.3f} | {against_formula(row, result)} | {wire / 1e9:.3f} | "
                     f"{100 * (wire / payload - 1):.2f} % | {ratio} |")
    return lines


def main(gossamer, data, page=None, kept=None):
    runs = Runs(gossamer, kept)

    def trained(epochs, batch, *options):
        return [*options, "--workers", str(N), "--batch", str(batch), "--epochs", str(epochs), "--eval-every",
                str(epochs)]

    mnist = ["--data", f"idx:dir={data}/mnist", "--model"]
    logistic = {name: trained(epochs, 200, "--data",
                              f"libsvm:train={data}/libsvm/{name}.gz,test={data}/libsvm/{name}.t.gz", "--model", model)
                for name, model, epochs in (("a9a", "logistic:l1=1e-5,l2=1e-4", 5),
                                            ("agnews_bow", "softmax:l1=1e-5,l2=1e-4", 1))}
    lines = ["# Results", "", "For readers who choose an algorithm: its accuracy, virtual time and bits on real data, "
             "beside those of the others.", "",
             "`bench/comparison.py build/release/bin/gossamer DATA docs/results.md` writes the tables, and says how it "
             "measures.",
             f"Each row has the best of the learning rates {', '.join(map(str, RATES))} for the whole run: by test "
             "accuracy", "on MNIST, by the objective on the training set elsewhere. At an edge of these rates a wider "
             "choice might do better.",
             "The formula is `exact` where the payload equals that of the paper to the bit; framing is headers and "
             "padding.",
             "",
             "## MNIST, MLP 784-100-10", "",
             f"{D:,} parameters, 8 workers, 16 samples a gradient, 1 epoch (469 steps of each worker), on a ring "
             "where there is", "a topology; momentum of 0.9, or none where the name or the script says so.", ""]
    accurate = "test_accuracy", "test accuracy"
    lines += table(results(runs, MNIST, trained(1, 16, *mnist, "mlp:hidden=100"), accurate[0]), *accurate)
    lines += ["", "The variance-reduced family, with minibatches of 20 and l2 = 1e-4; its epoch is three passes over "
              "the data:", ""]
    small = trained(1, 20, *mnist, "mlp:hidden=100,l2=1e-4")
    lines += table(results(runs, VARIANCE_REDUCED, small, accurate[0]), *accurate)
    for name, options in logistic.items():
        epochs = options[options.index("--epochs") + 1]
        lines += ["", f"## {name}, regression with l1 = 1e-5 and l2 = 1e-4", "",
                  f"8 workers, minibatches of 200, epochs: {epochs}; the objective on the training set:", ""]
        lines += table(results(runs, VARIANCE_REDUCED, options, "train_loss"), "train_loss", "objective")
    old = Path(page).read_text(encoding="utf-8") if page and Path(page).exists() else ""
    text = "\n".join(lines) + "\n" + ("\n" + old[old.index("## Why"):] if "## Why" in old else "")
    if page:
        Path(page).write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])

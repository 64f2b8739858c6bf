#!/usr/bin/env python3
"""Trains ResNet-20 on CIFAR-10 and a transformer on a text with each newer method, and writes a section of a page.

  bench/newer_methods.py build/release/bin/gossamer CIFAR10 RUNS [docs/results.md [--there]]

CIFAR10 is a folder with the binary batches. RUNS gets the data, cut to size, and a run folder for each run; those that
are there are not repeated. Without a page, prints. One run at a time; all take half an hour of one core. With --there
nothing is run, and what is not there is named.

Each row is simulated, then trained by four processes. The script ends with an error where a run fails or ends early,
where losses or payload of four processes are not those of the simulation, to the bit, though no message of the method
can overtake another, and where a transformer does no better than pairs of bytes. A run that diverges is a result.
"""
import gzip
import json
import math
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from page import write_section

LICENCES = Path("/usr/share/common-licenses")  # of base-files, which every Debian has
CONTEXT, HOLDOUT = 64, 0.1
PICTURES, TEST_PICTURES, RECORD = 3000, 2000, 1 + 3 * 1024
COMMON = ["--workers", "4", "--schedule", "cosine:warmup=0.2", "--eval-every", "1e6", "--seed", "1"]
WAN = ["--network", "wan", "--trace", "no"]


@dataclass
class Task:
    title: str
    quality: str
    options: list[str]
    optimiser: str
    rates: list[float]
    period: int  # in steps of a worker, as warm_up
    warm_up: int
    sample_time: str


@dataclass
class Row:
    algorithm: str
    codec: str = ""
    rate: float | None = None  # that it suggests, with an optimiser of its own
    outer: bool = False  # an outer momentum makes steps longer, so that smaller rates are tried too
    overtakes: bool = False  # messages may, so that each run differs

    def spec(self, task):
        return self.algorithm.format(period=task.period, warm_up=task.warm_up)


TASKS = {
    "cifar10": Task("### ResNet-20 on CIFAR-10", "test accuracy",
                    ["--model", "resnet:depth=20", "--batch", "16", "--epochs", "2"],
                    "momentum:beta=0.9,weight-decay=1e-4", [0.02, 0.06], period=5, warm_up=19,
                    sample_time="0.002"),
    "text": Task("### Transformer on a text", "bits a byte",
                 ["--model", f"transformer:layers=2,width=32,context={CONTEXT}", "--batch", "4", "--epochs", "6"],
                 "adamw:clip=1", [0.004, 0.012], period=10, warm_up=250, sample_time="0.001"),
}
ROWS = {  # folder: method
    "all-reduce-sgd": Row("all-reduce-sgd"),
    "local-sgd": Row("local-sgd:period={period}"),
    "diloco": Row("diloco:period={period},outer-momentum=0.5", outer=True),
    "diloco-e3m0": Row("diloco:period={period},outer-momentum=0.5", "e3m0", outer=True),
    "streaming-diloco": Row("streaming-diloco:period={period},fragments=2,overlap=1", "e3m0", outer=True),
    "sparse-loco": Row("sparse-loco:period={period}", "chunked-top-k"),
    "async-diloco": Row("async-diloco:period={period}", overtakes=True, outer=True),
    "noloco": Row("noloco:period={period}", outer=True),
    "choco-sgd": Row("choco-sgd:consensus-rate=0.3", "top-k:fraction=0.1"),
    "deep-squeeze": Row("deep-squeeze", "top-k:fraction=0.1"),
    "gradient-tracking": Row("gradient-tracking"),
    "d2": Row("d2"),
    "relay-sgd": Row("relay-sgd"),
    "sgp": Row("sgp"),
    "power-sgd": Row("power-sgd:rank=2"),
    "quantised-sgd": Row("quantised-sgd", "uniform:bits=8"),
    "one-bit-adam": Row("one-bit-adam:warm-up={warm_up}", rate=0.001),
    "zero-one-adam": Row("zero-one-adam:warm-up={warm_up}", rate=0.001),
    "demo": Row("demo", "chunked-top-k", rate=0.002),
}
REFERENCE = "all-reduce-sgd"
HEADING = "## Newer methods, ResNet-20 and a transformer"
INTRODUCTION = """\
4 workers, simulated on `--network wan` (a region each) and as four processes of one machine, by `gossamer launch
--hosts localhost:4`. *Same*: losses and payload of the four processes are those of the simulation, to the bit; messages
of the others may overtake each other. One seed, and a cosine. All have the rate, of two, that is best for
`{reference}` by training loss; methods with an outer momentum have this one or a third of it, and `demo` and both
1-bit Adams, which have optimisers of their own, the rate that they suggest.

Transformer: `{text}`
on the {bytes:,} bytes of the licences that every Debian has (in `/usr/share/common-licenses`, by name, without links).
The table has bits a byte of the last tenth; pairs of bytes, counted in the rest and one added, take {bigrams:.3f}, and
the script fails where a method takes more.

ResNet-20: `{cifar10}`
on {pictures:,} pictures of CIFAR-10, augmented; accuracy on {test:,} test pictures, to a point or so."""
WHY = """
### What does worse, and why

These runs check that each method learns, and rank none: 93 steps of ResNet-20 and 1,251 of the transformer, one seed
and hardly any tuning.

* **`diloco`** has an outer momentum of 0.5, chosen after 0.9 had failed: with this default progress goes seven times as
  far in the end, while `adamw` makes steps of one length however small the gradient, and `e3m0` takes 4.076 bits a byte
  at the best of three rates, more than pairs of bytes. `streaming-diloco` bears 0.9, for workers keep half of their own
  elements: with all of them replaced and one fragment it is as bad as `diloco`.
* **`local-sgd`**, **`noloco`**, **`async-diloco`**, **`sparse-loco`** and **`choco-sgd`** feed `adamw` with gradients
  of 4 samples on each worker, `all-reduce-sgd` with means of 16.
* **`deep-squeeze`** sends a tenth of a model, not of a difference, and cannot hold workers together as `choco-sgd` does
  with as many bits.
* **`async-diloco`** takes the workers' progress one by one, and had 18 and 125 rounds of each; on MNIST, with 46, it is
  as good as `diloco`.
* **`power-sgd`** takes twice the virtual time of `all-reduce-sgd`: two all-reduces a step, over up to 110 ms. With
  `adamw` it learns less, probably since the variance of an element of a matrix of rank 2 says little about that
  element; the paper has SGD with momentum, as ResNet-20 has here.
* **`demo`**, **`one-bit-adam`** and **`zero-one-adam`** have rates that were not tuned. On MNIST 0.005 was best for
  `demo`.
"""


def licences():
    """The files themselves, by name: GPL and others are links to the newest of their kind."""
    return b"".join(one.read_bytes() for one in sorted(LICENCES.iterdir()) if not one.is_symlink())


def bigram_bits(text):
    """Bits per byte of the held-out part, each byte given the one before, with counts of the training part plus one."""
    held = int(HOLDOUT * len(text))
    train, test = text[:-held], text[-held:]
    test = test[:(held - 1) // CONTEXT * CONTEXT + 1]  # whole samples, as the data has them
    counts = [[1] * 256 for _ in range(256)]
    for a, b in pairwise(train):
        counts[a][b] += 1
    return -sum(math.log2(counts[a][b] / sum(counts[a])) for a, b in pairwise(test)) / (len(test) - 1)


def cut_pictures(source, into):
    """The first pictures of the first training batch and of the test batch."""
    into.mkdir(parents=True, exist_ok=True)
    for pattern, count in (("data_batch_1.bin*", PICTURES), ("test_batch*.bin*", TEST_PICTURES)):
        path = next(Path(source).glob(pattern))
        with (gzip.open if path.suffix == ".gz" else open)(path) as whole:
            (into / path.name.removesuffix(".gz")).write_bytes(whole.read(count * RECORD))
    return into


class Runs:
    def __init__(self, gossamer, cifar10, folder, may_run):
        self.gossamer, self.folder, self.may_run, self.text = gossamer, folder, may_run, licences()
        pictures, text = cut_pictures(cifar10, folder / "pictures"), folder / "licences.txt"
        text.write_bytes(self.text)
        self.data = {"cifar10": f"cifar10:dir={pictures},augment=yes",
                     "text": f"text:file={text},context={CONTEXT},holdout={HOLDOUT}"}

    def run(self, command, out):
        """The summary, or None where the run diverged."""
        summary, diverged = out / "summary.json", out.with_name(out.name + ".diverged")
        if not summary.exists() and not diverged.exists():
            if not self.may_run:
                raise FileNotFoundError(out)
            done = subprocess.run([self.gossamer, *command, "--out", out, "--overwrite"], capture_output=True,
                                  text=True, check=False)
            if done.returncode and "diverged" not in done.stderr:
                sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr[-2000:]}")
            if done.returncode:
                diverged.write_text(done.stderr)
        if diverged.exists():
            return None
        found = json.loads(summary.read_text())
        if found["end"] != "planned":
            sys.exit(f"{out}: the run ended early: {found['end']}")
        return found

    def rates(self, task, name):
        if name == REFERENCE:
            return TASKS[task].rates
        row = ROWS[name]
        common = row.rate or self.simulated(task, REFERENCE)[0]
        return [float(f"{common / smaller:.2g}") for smaller in ((1, 3) if row.outer else (1,))]

    def train(self, task, name, rate):
        row, settings = ROWS[name], TASKS[task]
        return ["--algorithm", row.spec(settings), *(["--codec", row.codec] if row.codec else []),
                *([] if row.rate else ["--optimiser", settings.optimiser]), "--data", self.data[task],
                *settings.options, *COMMON, "--lr", str(rate)]

    def simulated(self, task, name):
        """The best rate and its summary; None for both where every rate diverged."""
        found = {rate: self.run(["simulate", *self.train(task, name, rate), *WAN, "--sample-time",
                                TASKS[task].sample_time],
                                self.folder / task / name / f"rate-{rate}")
                 for rate in self.rates(task, name)}
        ended = {rate: summary for rate, summary in found.items() if summary}
        return min(ended.items(), key=lambda one: one[1]["train_loss"]) if ended else (None, None)

    def launched(self, task, name):
        rate, simulated = self.simulated(task, name)
        if simulated is None:
            return None
        summary = self.run(["launch", "--hosts", "localhost:4", "--no-token", "--report", "no", "--", "train",
                            *self.train(task, name, rate)], self.folder / task / name / f"processes-{rate}")
        differ = [key for key in ("train_loss", "test_loss", "payload_bits")
                  if summary is None or summary[key] != simulated[key]]
        if differ and not ROWS[name].overtakes:
            sys.exit(f"{task}, {name}: four processes differ from the simulation in {', '.join(differ)}")
        return summary


def below(name, bits, bigrams):
    if bits >= bigrams:
        sys.exit(f"text, {name}: {bits:.3f} bits a byte, pairs of bytes have {bigrams:.3f}")
    return f"{bits:.3f}"


def quality(task, name, summary, bigrams):
    if task == "text":
        return below(name, summary["test_loss"] / math.log(2), bigrams)
    return f"{summary['test_accuracy']:.4f}"


def label(task, name):
    row = ROWS[name]
    return f"`{row.spec(TASKS[task])}`" + (f" with `{row.codec}`" if row.codec else "")


def line(known, task, name, bigrams):
    rate, simulated = known.simulated(task, name)
    if simulated is None:
        return f"| {label(task, name)} | all | diverged | | | | |"
    try:
        launched = known.launched(task, name)
        other = quality(task, name, launched, bigrams) if ROWS[name].overtakes else "same"
    except FileNotFoundError:
        other = "not run"
    return (f"| {label(task, name)} | {rate} | {quality(task, name, simulated, bigrams)} | {other} | "
            f"{simulated['train_loss']:.4f} | {simulated['payload_bits'] / 1e9:.3f} | {simulated['time_s']:.1f} |")


def table(known, task, bigrams):
    columns = ["method", "rate", f"{TASKS[task].quality}, simulated", "four processes", "training loss", "payload, Gb",
               "virtual seconds"]
    lines = ["", TASKS[task].title, "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    absent = []
    for name in ROWS:
        try:
            lines.append(line(known, task, name, bigrams))
        except FileNotFoundError:
            absent.append(label(task, name))
    wrapped = textwrap.fill(f"Not run: {', '.join(absent)}.", 120, break_on_hyphens=False, break_long_words=False)
    return lines + (["", wrapped] if absent else [])


def section(known, command):
    bigrams = bigram_bits(known.text)
    given = {name: " ".join([*one.options, "--optimiser", one.optimiser]) for name, one in TASKS.items()}
    introduction = INTRODUCTION.format(reference=REFERENCE, pictures=PICTURES, test=TEST_PICTURES,
                                       bytes=len(known.text), bigrams=bigrams, **given)
    lines = [HEADING, "", f"`{command}` writes this section.", "", introduction]
    for task in reversed(TASKS):  # the faster first
        lines += table(known, task, bigrams)
    return "\n".join([*lines, WHY])


def main(gossamer, cifar10, runs, page=None, *options):
    if set(options) - {"--there"}:
        sys.exit(__doc__)
    known = Runs(gossamer, cifar10, Path(runs).resolve(), may_run=not options)
    text = section(known, " ".join(["bench/newer_methods.py build/release/bin/gossamer CIFAR10 RUNS docs/results.md",
                                    *options]))
    if page:
        write_section(page, HEADING, text)
    else:
        print(text)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])

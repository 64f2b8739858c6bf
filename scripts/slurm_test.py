#!/usr/bin/env python3
"""Trains under a real Slurm: munged, slurmctld and slurmd are started here, for one host, and ended again.

usage: slurm_test.py GOSSAMER [CASE...]

Tries the examples of the documentation: the line of docs/clusters.md and apps/examples/slurm_job.sh. Needs no rights,
but Debian's slurmctld, slurmd, slurm-client and munge; elsewhere it says so and ends with status 77.

cases, all of them if none is named:
  line      the line of the documentation trains
  steps     two steps of one job at a time do not meet
  cancel    scancel ends a job as Ctrl-C ends a run: it is evaluated and written down
  requeue   a job that is put back and started again goes on from its checkpoint, and comes to the same bits as an
            undisturbed run
"""

import argparse
import json
import re
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

from slurm_cluster import Failure, Slurm, await_that, is_free, missing_programs

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = 77
SLOTS = 4
JOB_S = 120  # limit of any job, from its submission to its end
MOST_S = 300  # limit of all cases together
PORTS = (20_000, 10_000)  # ports on which tasks meet: the first, and their number
MOST_JOBS = 20
SMALL = "--data digits:samples=2000,test=500 --model mlp:hidden=32 --lr 0.1"
UNENDING = f"{SMALL} --epochs 1000000 --seconds {2 * JOB_S}"


def expect(holds: bool, what: str, *told: object) -> None:
    if not holds:
        raise Failure("\n".join([what, *map(str, told)]))


def may_be_first(job: int) -> bool:
    return all(is_free(PORTS[0] + (job + k) % PORTS[1]) for k in range(MOST_JOBS))


def summary_of(run: Path) -> dict:
    path = run / "summary.json"
    expect(path.exists(), f"there is no {path}")
    return json.loads(path.read_text())


class Bench:
    """Surroundings of the cases: a Slurm, a folder, and the commands of the documentation."""

    def __init__(self, slurm: Slurm, gossamer: Path, folder: Path) -> None:
        slurm.environment["GOSSAMER_TOKEN"] = secrets.token_hex(16)  # srun and sbatch hand it on
        slurm.environment["PATH"] = f"{gossamer.parent}:{slurm.environment['PATH']}"
        self.slurm = slurm
        self.folder = folder

    def call(self, line: str) -> str:
        """Returns the output of a command to both streams. Fails unless the command ends well."""
        done = subprocess.run(line, shell=True, env=self.slurm.environment, cwd=self.folder, text=True, timeout=JOB_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        expect(done.returncode == 0, f"{line} ended with status {done.returncode}", done.stdout)
        return done.stdout

    def submit(self, flags: str) -> str:
        return self.call(f"sbatch --parsable {shlex.quote(str(ROOT / 'apps/examples/slurm_job.sh'))} {flags}").strip()

    def output(self, job: str) -> str:
        path = self.folder / f"slurm-{job}.out"
        return path.read_text() if path.exists() else ""

    def await_job(self, job: str, what: str, holds: Callable[[], object]) -> None:
        try:
            await_that(what, holds, JOB_S)
        except Failure as failure:
            raise Failure(f"{failure}\n{self.slurm.job(job)}\n{self.output(job)}") from failure

    def await_steps(self, job: str, evaluations: int) -> None:
        self.await_job(job, "it trains", lambda: len(re.findall(r"^epoch", self.output(job), re.M)) >= evaluations)

    def await_end(self, job: str) -> dict[str, str]:
        """Waits until a job and all of its tasks have ended. Returns the fields of the job."""
        self.await_job(job, "it has ended", lambda: not self.slurm.say("squeue", "--noheader", "--jobs", job))
        return self.slurm.job(job)


def case_line(bench: Bench) -> None:
    page = (ROOT / "docs/clusters.md").read_text()
    line = re.search(r"^\$ (srun .*gossamer node --slurm.*)$", page, re.M)
    expect(line is not None, "docs/clusters.md shows no line of srun")
    said = bench.call(f"{line[1]} {SMALL} --epochs 8 --out line")
    all_are_there = all(f"this is node {k}" in said for k in range(1, SLOTS))
    expect(all_are_there and said.count("the run is over") == SLOTS - 1, "not all nodes took part", said)
    came_to = summary_of(bench.folder / "line")
    expect(came_to["end"] == "planned" and came_to["test_accuracy"] > 0.5, "it did not train", came_to)


def case_steps(bench: Bench) -> None:
    def step(out: str) -> str:
        return ("srun --exact --ntasks 2 gossamer node --slurm --insecure -- train --workers 2 "
                f"{SMALL} --epochs 4 --out {out}")
    script = f"{step('first')} & first=$!; {step('second')} && wait $first"
    bench.call(f"salloc --ntasks {SLOTS} bash -c {shlex.quote(script)}")
    for name in ("first", "second"):
        came_to = summary_of(bench.folder / name)
        expect(came_to["end"] == "planned" and len(came_to["steps_per_worker"]) == 2, f"{name} went wrong", came_to)


def case_cancel(bench: Bench) -> None:
    job = bench.submit(f"--algorithm ad-psgd {UNENDING} --eval-every 5")
    bench.await_steps(job, 3)
    bench.slurm.order("scancel", job)
    ended = bench.await_end(job)
    said = bench.output(job)
    expect(ended["JobState"] == "CANCELLED" and ended["ExitCode"] == "143:0", "the status is another", ended, said)
    came_to = summary_of(bench.folder / f"run-{job}-0")
    expect(came_to["end"] == "interrupted" and came_to["test_accuracy"] > 0.5, "it was not ended well", came_to, said)
    expect("interrupted after" in said and "has left" not in said, "not all ended together", said)


def case_requeue(bench: Bench) -> None:
    flags = f"--algorithm cser {SMALL} --epochs 400 --eval-every 20"
    bench.call(f"gossamer train {flags} --out undisturbed")
    job = bench.submit(f"{flags} --checkpoint 200")
    bench.await_steps(job, 2)
    bench.slurm.order("scontrol", "requeue", job)

    def is_back() -> bool:  # Slurm would wait two minutes, and takes no other start time before the job's end
        bench.slurm.say("scontrol", "update", f"JobId={job}", "StartTime=now")
        return (bench.folder / f"run-{job}-1").exists()
    bench.await_job(job, "it is started again", is_back)
    ended = bench.await_end(job)
    said = bench.output(job)
    expect(ended["JobState"] == "COMPLETED" and ended["Restarts"] == "1", "it did not end well", ended, said)
    first, second, alone = (summary_of(bench.folder / name) for name in (f"run-{job}-0", f"run-{job}-1", "undisturbed"))
    expect(first["end"] == "interrupted" and second["end"] == "planned", "the ends are others", first, second)
    expect(said.count("epoch   0.00") == 1, "it begins anew", said)
    for key in ("steps_per_worker", "train_loss", "test_accuracy", "payload_bits"):
        expect(second[key] == alone[key], f"{key} is not what it is undisturbed", second, alone)
    expect(max(first["steps_per_worker"]) > 0, "it was put back too early", first)


CASES = {name.removeprefix("case_"): case for name, case in globals().items() if name.startswith("case_")}


def end_once(number: int, _: object) -> None:
    """Exits, and ends all started processes on the way out. No signal interrupts that."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(one, signal.SIG_IGN)
    sys.exit(f"slurm_test.py: not done within {MOST_S} s" if number == signal.SIGALRM else 128 + number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gossamer", type=Path)
    parser.add_argument("case", nargs="*", choices=[*CASES, []], help="which to run")
    arguments = parser.parse_args()
    if missing := missing_programs():
        print(f"slurm_test.py: skipped: there is no {', '.join(missing)}")
        sys.exit(SKIPPED)
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(one, end_once)
    signal.alarm(MOST_S)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gossamer-slurm-") as scratch:
        folders = Path(scratch, "slurm"), Path(scratch, "work")
        for one in folders:
            one.mkdir()
        with Slurm(folders[0], SLOTS, may_be_first) as slurm:
            for name in arguments.case or CASES:
                try:
                    CASES[name](Bench(slurm, arguments.gossamer.resolve(), folders[1]))
                    print(f"{name}: passed", flush=True)
                except (Failure, subprocess.TimeoutExpired) as failure:
                    failed += 1
                    print(f"{name}: failed: {failure}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

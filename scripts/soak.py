#!/usr/bin/env python3
"""Kills nodes of a run at random while it goes on, and compares what it comes to with a run that is left alone.

usage: soak.py GOSSAMER [--nodes N] [--seconds S] [--alone S] [--every S] [--restart-after S] [--tolerance A] [--seed K]
               -- train FLAGS...

Starts `gossamer launch --hosts localhost:N --restart ...` twice: alone, and for so many seconds while a node other than
the leader is killed (SIGKILL) every few seconds, and launch starts it again, --restart-after seconds later. Fails when
the run does not end by itself, when a node was started again that nobody had killed, or when its accuracy is lower than
the undisturbed one's by more than the tolerance. Says how long the run stood still around deaths (median, 95th
percentile, maximum): these are as many of the longest times between two evaluations as there were deaths.
"""

import argparse
import itertools
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

LONGEST_END_S = 60  # from the time limit of a run to its end


class Run:
    """A launched run, and which processes its nodes are."""

    def __init__(self, arguments: argparse.Namespace, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.killed = 0
        self.restarted = 0
        self.processes: dict[int, int] = {}
        self.process = subprocess.Popen(
            [arguments.gossamer, "launch", "--hosts", f"localhost:{arguments.nodes}", "--restart", "1000000",
             "--restart-delay", str(arguments.restart_after), "--", *arguments.job, "--out", str(folder),
             "--seconds", str(seconds)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stderr:
            if introduced := re.search(r"this is node (\d+), process (\d+)", line):
                self.processes[int(introduced[1])] = int(introduced[2])
            self.restarted += "is started again" in line
            if "epoch" not in line:
                print(f"  {line}", end="", flush=True)

    def kill_one(self, chance: random.Random) -> None:
        if self.processes:
            node = chance.choice(sorted(self.processes))
            try:
                os.kill(self.processes.pop(node), signal.SIGKILL)
                self.killed += 1
            except ProcessLookupError:
                pass  # it is being started again

    def finish(self, limit_s: float) -> dict:
        try:
            status = self.process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"soak: the run still goes on {LONGEST_END_S} s after its time was over")
        self.reader.join()
        if status != 0:
            sys.exit(f"soak: the run ended with status {status}")
        return json.loads((self.folder / "summary.json").read_text())

    def pauses_s(self) -> list[float]:
        times = [json.loads(line)["time_s"] for line in (self.folder / "metrics.jsonl").read_text().splitlines()]
        return sorted(b - a for a, b in itertools.pairwise(times))[-max(self.killed, 1):]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gossamer")
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--alone", type=float, help="seconds of the undisturbed run, if not as many")
    parser.add_argument("--every", type=float, default=5)
    parser.add_argument("--restart-after", type=float, default=0, help="seconds from a death to the node's next start")
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("job", nargs="+", help="train FLAGS...")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as scratch:
        print("undisturbed:", flush=True)
        alone_s = arguments.alone or arguments.seconds
        alone = Run(arguments, Path(scratch) / "alone", alone_s).finish(alone_s + LONGEST_END_S)
        print("with deaths:", flush=True)
        run = Run(arguments, Path(scratch) / "soaked", arguments.seconds)
        end = time.monotonic() + arguments.seconds
        while time.monotonic() + arguments.every < end and run.process.poll() is None:
            time.sleep(arguments.every)
            run.kill_one(chance)
        soaked = run.finish(arguments.seconds + LONGEST_END_S)
        pauses = run.pauses_s()
    print(f"accuracy {soaked['test_accuracy']:.4f} after {run.killed} deaths ({soaked['lost']} lives lost, "
          f"{soaked['returned']} begun anew), {alone['test_accuracy']:.4f} undisturbed; "
          f"{soaked['step']} and {alone['step']} steps; between evaluations around a death "
          f"{statistics.median(pauses):.2f} s (median), {pauses[math.ceil(0.95 * len(pauses)) - 1]:.2f} s (p95), "
          f"{pauses[-1]:.2f} s (maximum)")
    if run.restarted > run.killed:
        sys.exit(f"soak: {run.restarted} nodes were started again, and only {run.killed} had been killed")
    if soaked["test_accuracy"] < alone["test_accuracy"] - arguments.tolerance:
        sys.exit("soak: the deaths cost more accuracy than is tolerated")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Strikes nodes of a run at random while it goes on, and compares what it comes to with a run that is left alone.

usage: soak.py GOSSAMER [--nodes N] [--seconds S] [--every S] [--blows KIND,...] [--leader-share P]
               [--seed K] [--patience S] [--restart-after S] [--at-once N] [--tolerance A] [--keep DIR]
               -- train FLAGS...

Starts `gossamer launch --hosts localhost:N --restart ...` and every few seconds does something to one of its processes,
be it the one that leads:

  kill      SIGKILL; launch starts it again, --restart-after seconds later
  leave     SIGTERM, of a node that does not lead, and is of the second half, so that launch keeps some: it hands over
            what it has, ends, and comes back as one that is started by hand, of which launch knows nothing
  blink     SIGSTOP, and SIGCONT before the patience is over
  faint     SIGSTOP, and SIGCONT when the patience is over

No blow falls before the run has recovered from those before; with --at-once N up to N nodes may be struck at a time,
but always fewer than half. Then the same job trains for as many epochs, undisturbed. Says how often what was struck, how
long the run stood still around it, how many epochs were counted twice, and both accuracies.

Fails when the run does not end by itself in its time or ends with an error, does not recover, when a node was started
again that nobody had struck, when a process outlives the run, when the time in metrics.jsonl goes back, and when the
accuracy is lower than the undisturbed one by more than the tolerance. The folder of a run that has failed is kept.
"""

import argparse
import contextlib
import itertools
import math
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from launched_run import LOOK_EVERY_S, SETTLED_S, Failure, Run

LONGEST_RECOVERY_S = 30  # beside the patience, twice, and the pause before a restart
KINDS = ("kill", "leave", "blink", "faint")


@dataclass
class Blow:
    kind: str
    node: int
    process: int
    hit_leader: bool
    at_s: float
    lasts_s: float = 0  # of stops
    goes_on: bool = False

    @property
    def stops(self) -> bool:
        return self.kind in ("blink", "faint")

    @property
    def until_s(self) -> float:
        return self.at_s + self.lasts_s


class Striker:
    """Strikes a run, and waits until it has recovered."""

    def __init__(self, arguments: argparse.Namespace, run: Run) -> None:
        self.arguments = arguments
        self.run = run
        self.chance = random.Random(arguments.seed)
        self.blows: list[Blow] = []
        self.open: list[Blow] = []  # the run has not recovered from them
        self.most_at_once = min(arguments.at_once, (arguments.nodes - 1) // 2)
        self.slack_s = 2 * arguments.patience + arguments.restart_after

    def strike(self) -> None:
        next_s = math.inf
        while self.run.process.poll() is None:
            time.sleep(LOOK_EVERY_S)
            self.recover()
            end_s = self.run.first_s() + self.arguments.seconds
            if self.run.now() > end_s:
                return
            if next_s == math.inf and self.is_complete(0):
                next_s = self.run.now() + self.arguments.every
            if self.run.now() >= next_s and len(self.open) < self.most_at_once:
                self.strike_one(end_s)
                next_s = self.run.now() + self.arguments.every

    def settle(self) -> None:
        """Nobody is left stopped, and all come back."""
        while self.open and self.run.process.poll() is None:
            time.sleep(LOOK_EVERY_S)
            self.recover()

    def is_complete(self, since: float) -> bool:
        """Nobody has been missed for a while that began then, or later."""
        return self.run.now() - max(since, self.run.complete_since) > SETTLED_S and self.run.epochs[-1][0] > since

    def recover(self) -> None:
        self.run.let_join()
        children = {one.number for one in self.run.look()}
        for blow in self.open:
            is_own = blow.kind == "leave" or blow.node in self.run.own
            is_away = blow.process not in children and self.run.processes[blow.node] == blow.process
            if is_own and is_away and not self.run.lets_join(blow.node):
                self.run.due_s.setdefault(blow.node, self.run.now() + self.arguments.restart_after)
            if blow.stops and not blow.goes_on and self.run.now() > blow.until_s:
                blow.goes_on = True
                self.signal(blow.process, signal.SIGCONT)
            elif self.run.now() > blow.until_s + self.slack_s + LONGEST_RECOVERY_S:
                raise Failure(f"the run has not recovered from this blow: {blow}")
        self.open = [blow for blow in self.open if not self.has_healed(blow, children)]

    def has_healed(self, blow: Blow, children: set[int]) -> bool:
        process = self.run.processes.get(blow.node)
        is_back = process in children and (blow.stops or process != blow.process)
        return is_back and (blow.goes_on or not blow.stops) and self.is_complete(blow.until_s)

    def strike_one(self, end_s: float) -> None:
        kind = self.chance.choice(self.arguments.blows)
        role, share, length = (self.chance.random() for _ in range(3))  # as many for each blow, whatever it is
        children = {one.number for one in self.run.look()}
        struck = {blow.node for blow in self.open}
        nodes = sorted(k for k, process in self.run.processes.items() if process in children and k not in struck)
        if self.arguments.leader_share is not None or kind == "leave":
            leads = kind != "leave" and role < self.arguments.leader_share
            nodes = [k for k in nodes if (k == self.run.leader) == leads]
        if kind == "leave":
            nodes = [k for k in nodes if k in self.run.own or k >= self.arguments.nodes / 2]
        if not nodes or (kind == "leave" and self.open):
            return
        node = nodes[int(share * len(nodes))]
        lasts_s = {"blink": 0.2 + 0.5 * length, "faint": 1.2 + 0.8 * length}.get(kind, 0) * self.arguments.patience
        if self.run.now() + lasts_s + self.slack_s > end_s:
            return  # it would still be away at the end
        blow = Blow(kind, node, self.run.processes[node], node == self.run.leader, self.run.now(), lasts_s)
        print(f"{blow.at_s:8.2f} s  -- blow {len(self.blows) + 1}: {kind}"
              f"{f' for {lasts_s:.1f} s' if lasts_s else ''}: node {node}, process {blow.process}"
              f"{', which leads' if blow.hit_leader else ''}", flush=True)
        signals = {"kill": signal.SIGKILL, "leave": signal.SIGTERM}
        self.signal(blow.process, signals.get(kind, signal.SIGSTOP))
        self.blows.append(blow)
        self.open.append(blow)

    def signal(self, process: int, what: signal.Signals) -> None:
        if process in {one.number for one in self.run.look()}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, what)

    def report(self) -> Iterator[str]:
        ends = [blow.at_s for blow in self.blows[1:]] + [math.inf]
        pauses = [self.run.pause_s(blow.at_s, end) for blow, end in zip(self.blows, ends)]
        yield f"{'blow':8}{'to':8}{'times':>6}{'pause: median':>15}{'95 %':>8}{'longest':>9}"
        for kind, hit_leader in itertools.product((*KINDS, "all"), (False, True)):
            of_these = sorted(pause for blow, pause in zip(self.blows, pauses)
                              if kind in (blow.kind, "all") and hit_leader == blow.hit_leader)
            if of_these:
                yield (f"{kind:8}{'leader' if hit_leader else 'others':8}{len(of_these):6}"
                       f"{statistics.median(of_these):13.2f} s{of_these[math.ceil(0.95 * len(of_these)) - 1]:6.2f} s"
                       f"{of_these[-1]:7.2f} s")


@contextlib.contextmanager
def launched(arguments: argparse.Namespace, folder: Path, limit: list[str]) -> Iterator[Run]:
    run = Run(arguments, folder, limit)
    try:
        yield run
    finally:
        run.end()


def soak(arguments: argparse.Namespace, folder: Path) -> Iterator[str]:
    """What is wrong, beside failures that end it."""
    print(f"struck, seed {arguments.seed}:", flush=True)
    with launched(arguments, folder / "struck", ["--seconds", str(arguments.seconds)]) as run:
        striker = Striker(arguments, run)
        striker.strike()
        striker.settle()
        struck = run.finish(arguments.seconds)
    for line in striker.report():
        print(line, flush=True)
    print(f"{run.restarted} restarts; {run.lost_epochs():.2f} epochs counted twice, {struck['epoch']:.2f} in the end",
          flush=True)

    print("undisturbed:", flush=True)
    with launched(arguments, folder / "alone", ["--epochs", f"{struck['epoch']:.2f}"]) as alone_run:
        alone = alone_run.finish(2 * arguments.seconds)
    print(f"accuracy {struck['test_accuracy']:.4f} after {len(striker.blows)} blows, of which "
          f"{sum(blow.hit_leader for blow in striker.blows)} hit the leader; {alone['test_accuracy']:.4f} undisturbed; "
          f"{struck['time_s']:.1f} s and {alone['time_s']:.1f} s; longest pause undisturbed "
          f"{alone_run.pause_s(0, math.inf):.2f} s", flush=True)
    if striker.open:
        yield f"the run ended before it had recovered from {striker.open}"
    away = sum(not blow.kind == "blink" for blow in striker.blows)
    if run.restarted > away:
        yield f"{run.restarted} nodes were started again, and only {away} had been away"
    if backward := sum(b < a for a, b in itertools.pairwise(run.times_s())):
        yield f"the time in metrics.jsonl goes back {backward} times"
    if struck["test_accuracy"] < alone["test_accuracy"] - arguments.tolerance:
        yield "the blows cost more accuracy than is tolerated"


def blows(text: str) -> list[str]:
    if unknown := set(text.split(",")) - set(KINDS):
        raise argparse.ArgumentTypeError(f"no blow: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    return text.split(",")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gossamer")
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--every", type=float, default=5, help="seconds between two blows, at least")
    parser.add_argument("--blows", type=blows, default=list(KINDS), help="which kinds, separated by commas")
    parser.add_argument("--leader-share", type=float, help="of the blows; if not given, it is one of the nodes")
    parser.add_argument("--patience", type=float, default=3, help="of the nodes")
    parser.add_argument("--restart-after", type=float, default=0, help="seconds from a death to the node's next start")
    parser.add_argument("--at-once", type=int, default=1, help="how many nodes may be struck at a time")
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1, help="of the sequence of blows")
    parser.add_argument("--keep", type=Path, help="where the run folders go")
    parser.add_argument("job", nargs="+", help="train FLAGS...")
    arguments = parser.parse_args()
    if arguments.nodes < 3:
        parser.error("fewer than half of the nodes may be away, so there must be 3 or more")
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="gossamer-soak-"))
    try:
        problems = list(soak(arguments, folder))
    except Failure as failure:
        problems = [str(failure)]
    if problems:
        sys.exit(f"soak: {'; '.join(problems)}; see {folder}")
    if not arguments.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

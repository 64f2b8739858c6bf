#!/usr/bin/env python3
"""Strikes nodes of a run at random while it goes on, and compares its result with that of an undisturbed run.

usage: soak.py GOSSAMER [--nodes N] [--seconds S] [--every S] [--blows KIND,...] [--leader-share P]
               [--seed K] [--patience S] [--restart-after S] [--at-once N] [--tolerance A] [--spare NODE]
               [--most-growth KIB] [--keep DIR] -- train FLAGS...

Starts `gossamer launch --restart ...` and strikes one of its nodes every few seconds, the leader included:

  kill      SIGKILL; launch starts it again, --restart-after seconds later
  leave     SIGTERM to a node of the second half, so that launch keeps some, which does not lead: it hands over its
            state, ends, and comes back started by hand, unknown to launch
  blink     SIGSTOP, and SIGCONT before the patience is over
  faint     SIGSTOP, and SIGCONT when the patience is over
  partition fewer than half of the nodes do not reach the others, and reach each other, for half the patience or for
            up to twice as long as it; each node then has a network namespace of its own (namespaces.sh), which only
            root makes. Without --blows there are partitions where that works; without partitions all nodes are on
            localhost, and hand each other frames through memory

No blow falls before the run has recovered from the blows before; with --at-once N up to N nodes may be struck at a
time, but always fewer than half; partitions come alone. Then the same job trains for as many epochs, undisturbed.
Prints the number of blows of each kind, the pause of the run around them, the time until all were back, the loss of
reported epochs, the number of lives that are not counted to their end, and both accuracies.

Fails when no blow falls, when the run does not end by itself in its time, ends with an error or does not recover, when
a node was started again without a blow, when a process outlives the run, when a count in metrics.jsonl goes back, when
the accuracy is lower than the undisturbed one by more than the tolerance, and when processes that have warmed up hold
more than --most-growth KiB more with each blow that they survive, even where they grow least (soak_memory.py, samples
in memory.csv); --spare lets one process live long enough to tell. A model of mlp:hidden=32 has 100 KiB, so a leak for
each life of other nodes shows. The folder of a failed run is kept.
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
from separate_hosts import Network
from soak_memory import Memory, grown, watched

LONGEST_RECOVERY_S = 30  # beyond twice the patience and the pause before a restart
KINDS = ("kill", "leave", "blink", "faint", "partition")
NEVER_GO_BACK = ("time_s", "step", "epoch", "payload_bits", "wire_bits")
LASTS = {"blink": (0.2, 0.7), "faint": (1.2, 2.0), "partition": (0.5, 2.0)}  # shortest and longest, in patiences


@dataclass
class Blow:
    kind: str
    processes: dict[int, int]  # by struck node
    leader: int
    at_s: float
    lasts_s: float  # 0: the blow ends processes
    is_over: bool
    return_s: float = math.inf  # time until no node was missing any more

    def __str__(self) -> str:
        nodes = (f"node {node}, process {process}{', which leads' if node == self.leader else ''}"
                 for node, process in self.processes.items())
        return f"{self.kind}{f' for {self.lasts_s:.1f} s' if self.lasts_s else ''}: {'; '.join(nodes)}"

    @property
    def hit_leader(self) -> bool:
        return self.leader in self.processes

    @property
    def until_s(self) -> float:
        return self.at_s + self.lasts_s


class Striker:
    """Strikes a run, and waits until it has recovered."""

    def __init__(self, arguments: argparse.Namespace, run: Run, memory: Memory) -> None:
        self.arguments = arguments
        self.run = run
        self.memory = memory
        self.chance = random.Random(arguments.seed)
        self.blows: list[Blow] = []
        self.open: list[Blow] = []  # blows from which the run has not recovered
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
            may_strike = len(self.open) < self.most_at_once if self.open else self.is_complete(0)
            if self.run.now() >= next_s and may_strike:
                self.strike_one(end_s)
                next_s = self.run.now() + self.arguments.every

    def settle(self) -> None:
        """Waits until the run has recovered from all blows, so that no node is left stopped."""
        while self.open and self.run.process.poll() is None:
            time.sleep(LOOK_EVERY_S)
            self.recover()

    def is_complete(self, since: float) -> bool:
        """Returns true if no node has been missing for a while that began then, or later."""
        return self.run.now() - max(since, self.run.complete_since) > SETTLED_S and self.run.epochs[-1][0] > since

    def recover(self) -> None:
        self.run.let_join()
        children = {one.number for one in self.run.look()}
        for blow in self.open:
            for node, process in blow.processes.items():
                is_own = blow.kind == "leave" or node in self.run.own
                is_away = process not in children and self.run.processes[node] == process
                if is_own and is_away and not self.run.lets_join(node):
                    self.run.due_s.setdefault(node, self.run.now() + self.arguments.restart_after)
            if not blow.is_over and self.run.now() > blow.until_s:
                self.end(blow)
            elif self.run.now() > blow.until_s + self.slack_s + LONGEST_RECOVERY_S:
                raise Failure(f"the run has not recovered from this blow: {blow}")
        still_open = [blow for blow in self.open if not self.has_healed(blow, children)]
        for blow in self.open:
            if blow not in still_open:
                blow.return_s = max(self.run.complete_since - blow.at_s, 0)
        if self.open and not still_open:
            self.memory.look(len(self.blows), self.run.look(), self.run.processes.get(self.run.leader))
        self.open = still_open

    def has_healed(self, blow: Blow, children: set[int]) -> bool:
        now = {node: self.run.processes.get(node) for node in blow.processes}
        are_back = all(process in children and (blow.lasts_s or process != blow.processes[node])
                       for node, process in now.items())
        noticed_s = blow.at_s + self.arguments.patience  # a cut connection rests for as long again
        since = max(blow.until_s, noticed_s) if blow.kind == "partition" else blow.until_s
        return are_back and blow.is_over and self.is_complete(since)

    def most_away(self, blow: Blow) -> int:
        """Returns the most nodes that a blow can cost. A leader that is cut off may give up all others, not itself."""
        if blow.kind == "partition" and blow.hit_leader:
            return self.arguments.nodes
        return 0 if blow.kind == "blink" else len(blow.processes)

    def strike_one(self, end_s: float) -> None:
        kind = self.chance.choice(self.arguments.blows)
        role, share, length = (self.chance.random() for _ in range(3))  # the same number for each kind of blow
        nodes = self.choose(kind, role, random.Random(share))
        first, last = (self.arguments.patience * bound for bound in LASTS.get(kind, (0, 0)))
        lasts_s = first + (last - first) * length
        comes_alone = kind in ("leave", "partition") or any(blow.kind == "partition" for blow in self.open)
        if not nodes or (comes_alone and self.open) or self.run.now() + lasts_s + self.slack_s > end_s:
            return  # in the last case the node would still be away at the end
        processes = {node: self.run.processes[node] for node in nodes}
        blow = Blow(kind, processes, self.run.leader, self.run.now(), lasts_s, is_over=not lasts_s)
        print(f"{blow.at_s:8.2f} s  -- blow {len(self.blows) + 1}: {blow}", flush=True)
        self.begin(blow)
        self.blows.append(blow)
        self.open.append(blow)

    def choose(self, kind: str, role: float, chance: random.Random) -> list[int]:
        """Returns the nodes to strike. Empty if there is no suitable node."""
        children = {one.number for one in self.run.look()}
        struck = {self.arguments.spare, *(node for blow in self.open for node in blow.processes)}
        nodes = sorted(k for k, process in self.run.processes.items() if process in children and k not in struck)
        count = chance.randint(1, (self.arguments.nodes - 1) // 2) if kind == "partition" else 1
        chosen = []
        if self.arguments.leader_share is not None or kind == "leave":
            if kind != "leave" and role < self.arguments.leader_share:
                chosen = [k for k in nodes if k == self.run.leader]
                count -= len(chosen)
            nodes = [k for k in nodes if k != self.run.leader]
        if kind == "leave":
            nodes = [k for k in nodes if k in self.run.own or k >= self.arguments.nodes / 2]
        return sorted(chosen + chance.sample(nodes, min(count, len(nodes))))

    def begin(self, blow: Blow) -> None:
        if blow.kind == "partition":
            self.run.network.cut_off(blow.processes.values())
        else:
            signals = {"kill": signal.SIGKILL, "leave": signal.SIGTERM}
            self.signal(blow, signals.get(blow.kind, signal.SIGSTOP))

    def end(self, blow: Blow) -> None:
        if blow.kind == "partition":
            self.run.network.heal()
            print(f"{self.run.now():8.2f} s  -- healed after {self.run.now() - blow.at_s:.1f} s", flush=True)
        else:
            self.signal(blow, signal.SIGCONT)
        blow.is_over = True
        blow.lasts_s = self.run.now() - blow.at_s  # longer than planned on a busy machine

    def signal(self, blow: Blow, what: signal.Signals) -> None:
        for process in {one.number for one in self.run.look()} & set(blow.processes.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, what)

    def report(self) -> Iterator[str]:
        ends = [blow.at_s for blow in self.blows[1:]] + [math.inf]
        pauses = [self.run.pause_s(blow.at_s, end) for blow, end in zip(self.blows, ends)]
        columns = f"{'median':>9}{'95 %':>9}{'longest':>9}"
        yield f"{'':25}{'pause':^27}{'until all are back':^27}"
        yield f"{'blow':11}{'to':8}{'times':>6}{columns}{columns}"
        for kind, hit_leader in itertools.product((*KINDS, "all"), (False, True)):
            of_these = [(pause, blow.return_s) for blow, pause in zip(self.blows, pauses)
                        if kind in (blow.kind, "all") and hit_leader == blow.hit_leader]
            if of_these:
                yield (f"{kind:11}{'leader' if hit_leader else 'others':8}{len(of_these):6}"
                       + "".join(distribution(sorted(times)) for times in zip(*of_these)))


def distribution(times: list[float]) -> str:
    return "".join(f"{time:7.2f} s"
                   for time in (statistics.median(times), times[math.ceil(0.95 * len(times)) - 1], times[-1]))


@contextlib.contextmanager
def launched(arguments: argparse.Namespace, folder: Path, limit: list[str], network: Network | None,
             also: dict[str, str] | None = None) -> Iterator[Run]:
    run = Run(arguments, folder, limit, network, also)
    try:
        yield run
    finally:
        run.end()


@contextlib.contextmanager
def separate(arguments: argparse.Namespace, folder: Path) -> Iterator[Network | None]:
    """Yields the nodes' hosts for partitions. Without --blows, yields None on a machine that cannot have partitions."""
    network = None
    if arguments.blows is None or "partition" in arguments.blows:
        try:
            network = Network(arguments.nodes, folder, arguments.gossamer)
        except OSError as why:
            if arguments.blows is not None:
                raise Failure(f"there can be no partitions: {why}") from why
            print(f"without partitions: {why}", flush=True)
        else:
            print(f"with partitions: each node has a network namespace, {network.mine}-...", flush=True)
    else:
        print("without partitions: --blows does not name them", flush=True)
    arguments.blows = arguments.blows or [kind for kind in KINDS if network or kind != "partition"]
    try:
        yield network
    finally:
        if network:
            network.remove()


def soak(arguments: argparse.Namespace, folder: Path, network: Network | None) -> Iterator[str]:
    """Yields all faults, except failures that end the soak."""
    print(f"struck, seed {arguments.seed}:", flush=True)
    heaps = folder / "heaps"
    limit = ["--seconds", str(arguments.seconds)]
    with launched(arguments, folder / "struck", limit, network, watched(heaps)) as run:
        striker = Striker(arguments, run, Memory(heaps))
        striker.strike()
        striker.settle()
        striker.memory.write(folder / "memory.csv")
        fat = list(grown(striker.memory, arguments.most_growth))
        struck = run.finish(arguments.seconds)
    for line in striker.report():
        print(line, flush=True)
    print(f"{run.restarted} restarts; progress went back by {run.lost_epochs():.2f} epochs in all, and came to "
          f"{struck['epoch']:.2f}; of {struck['unreported']} lives what they did last is in no count", flush=True)

    print("undisturbed:", flush=True)
    epochs = f"{struck['epoch']:.2f}"
    with launched(arguments, folder / "alone", ["--epochs", epochs], network) as alone_run:
        alone = alone_run.finish(2 * arguments.seconds)
    print(f"accuracy {struck['test_accuracy']:.4f} after {len(striker.blows)} blows, of which "
          f"{sum(blow.hit_leader for blow in striker.blows)} hit the leader; {alone['test_accuracy']:.4f} undisturbed; "
          f"{struck['time_s']:.1f} s and {alone['time_s']:.1f} s; longest pause undisturbed "
          f"{alone_run.pause_s(0, math.inf):.2f} s", flush=True)
    if not striker.blows:
        yield "no blow has fallen: the run is too short, or its progress is not understood"
    if striker.open:
        yield f"the run ended before it had recovered from {striker.open}"
    away = sum(striker.most_away(blow) for blow in striker.blows)
    if run.restarted > away:
        yield f"{run.restarted} nodes were started again, and no more than {away} can have been away"
    for what in NEVER_GO_BACK:
        if backward := sum(b < a for a, b in itertools.pairwise(run.recorded(what))):
            yield f"{what} in metrics.jsonl goes back {backward} times"
    yield from fat
    if struck["test_accuracy"] < alone["test_accuracy"] - arguments.tolerance:
        yield "the blows cost more accuracy than is tolerated"


def blows(text: str) -> list[str]:
    if unknown := set(text.split(",")) - set(KINDS):
        raise argparse.ArgumentTypeError(f"no blow: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    return text.split(",")


def end_once(number: int, _: object) -> None:
    """Exits, and ends all started processes on the way out. No signal interrupts that."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    sys.exit(128 + number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gossamer")
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--every", type=float, default=5, help="seconds between two blows, at least")
    parser.add_argument("--blows", type=blows, help="which kinds, separated by commas")
    parser.add_argument("--leader-share", type=float, help="of the blows; if not given, it is one of the nodes")
    parser.add_argument("--patience", type=float, default=3, help="of the nodes")
    parser.add_argument("--restart-after", type=float, default=0, help="seconds from a death to the node's next start")
    parser.add_argument("--at-once", type=int, default=1, help="how many nodes may be struck at a time")
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("--spare", type=int, help="the number of a node that is never struck, so that it sees them all")
    parser.add_argument("--most-growth", type=float, default=16, help="of a process, KiB with each blow")
    parser.add_argument("--seed", type=int, default=1, help="of the sequence of blows")
    parser.add_argument("--keep", type=Path, help="where the run folders go")
    parser.add_argument("job", nargs="+", help="train FLAGS...")
    arguments = parser.parse_args()
    if arguments.nodes < 3:
        parser.error("fewer than half of the nodes may be away, so there must be 3 or more")
    if arguments.spare is not None and arguments.spare not in range(arguments.nodes):
        parser.error(f"--spare is {arguments.spare}, and nodes are 0 to {arguments.nodes - 1}")
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, end_once)
    folder = (arguments.keep or Path(tempfile.mkdtemp(prefix="gossamer-soak-"))).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with separate(arguments, folder) as network:
            problems = list(soak(arguments, folder, network))
    except (Failure, OSError) as failure:
        problems = [str(failure)]
    if problems:
        sys.exit(f"soak: {'; '.join(problems)}; see {folder}")
    if not arguments.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

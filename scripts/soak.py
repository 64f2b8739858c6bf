#!/usr/bin/env python3
"""Strikes nodes of a run at random while it goes on, and compares what it comes to with a run that is left alone.

usage: soak.py GOSSAMER [--nodes N] [--seconds S] [--every S] [--blows KIND,...] [--leader-share P]
               [--seed K] [--patience S] [--restart-after S] [--at-once N] [--tolerance A] [--keep DIR]
               -- train FLAGS...

Starts `gossamer launch --hosts localhost:N --restart ...` and every few seconds does something to one of its processes,
be it the one that leads:

  kill      SIGKILL; launch starts it again, --restart-after seconds later
  leave     SIGTERM, of a node that does not lead: it hands over what it has, ends, and comes back as one that is
            started by hand, which launch knows nothing of; only the second half of the nodes do, so that launch keeps some
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
import json
import math
import os
import pty
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

LONGEST_END_S = 20  # from the time limit of a run to its end
LONGEST_RECOVERY_S = 30  # beside the patience, twice, and the pause before a restart
JOIN_WAIT_S = 5  # so long a node looks for the leader at one address
SETTLED_S = 0.5  # so long nobody has been missed
LOOK_EVERY_S = 0.05
KINDS = ("kill", "leave", "blink", "faint")


class Failure(Exception):
    pass


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


@dataclass(frozen=True)
class Process:
    number: int
    started: int  # in ticks since the machine started: another process may get the number

    @staticmethod
    def read(number: int) -> tuple["Process", int] | None:
        """It and its parent; nothing when it is gone."""
        try:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (Process(number, int(fields[19])), int(fields[1])) if fields[0] not in "ZX" else None

    def lives(self) -> bool:
        return (now := Process.read(self.number)) is not None and now[0] == self


def children_of(parent: int) -> list[Process]:
    read = (Process.read(int(one.name)) for one in Path("/proc").iterdir() if one.name.isdigit())
    return [one[0] for one in read if one and one[1] == parent]


class Run:
    """A launched run: how far it is, and which processes its nodes are."""

    def __init__(self, arguments: argparse.Namespace, folder: Path, limit: list[str]) -> None:
        self.folder = folder
        self.nodes = arguments.nodes
        self.restarted = 0
        self.leader = 0
        self.processes: dict[int, int] = {}  # by the number of the node; but that of the first leader says nothing
        self.present = 0
        self.complete_since = math.inf
        self.epochs: list[tuple[float, float]] = []  # when, and how far
        self.seen: set[Process] = set()
        self.gossamer = arguments.gossamer
        self.address = ""  # of whoever leads, once that has changed
        self.own: dict[int, subprocess.Popen] = {}  # nodes that are no children of launch, by number
        self.due_s: dict[int, float] = {}  # when one of them is to be started
        screen, self.terminal = pty.openpty()  # launch shows progress to terminals
        self.process = subprocess.Popen(
            [arguments.gossamer, "launch", "--hosts", f"localhost:{arguments.nodes}", "--restart", "1000000",
             "--restart-delay", str(arguments.restart_after), "--patience", str(arguments.patience), "--",
             *arguments.job, "--out", str(folder), *limit],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.terminal)
        self.launched = time.monotonic()
        self.reader = threading.Thread(target=self.read, args=[screen], daemon=True)
        self.reader.start()

    def now(self) -> float:
        return time.monotonic() - self.launched

    def read(self, screen: int) -> None:
        rest = b""
        with contextlib.suppress(OSError):  # that is how terminals end
            while more := os.read(screen, 65536):
                *lines, rest = re.split(rb"(?:\r|\n|\x1b\[K)+", rest + more)
                if re.search(rb" nodes$", rest):  # of a line that will be replaced
                    lines, rest = [*lines, rest], b""
                for line in lines:
                    self.hear(line.decode(errors="replace"))
        os.close(screen)

    def hear(self, line: str) -> None:
        if progress := re.match(r"epoch ([\d.]+)\S*  loss .* (\d+) of \d+ nodes$", line):
            self.epochs.append((self.now(), float(progress[1])))
            self.present = int(progress[2])
            self.complete_since = min(self.complete_since, self.now()) if self.present == self.nodes else math.inf
            return
        if introduced := re.search(r"this is node (\d+), process (\d+)", line):
            self.processes[int(introduced[1])] = int(introduced[2])
        if leads := re.search(r"node (\d+) leads the run from now on", line):
            self.leader = int(leads[1])
        if leads := re.search(r"this node leads the run from now on, at (\S+)", line):
            self.address = leads[1]
        self.restarted += "is started again" in line
        if line and not line.startswith("epoch"):
            print(f"{self.now():8.2f} s  {line}", flush=True)

    def look(self) -> list[Process]:
        """Its nodes: nothing but what this launch, or this program, has started itself."""
        now = children_of(self.process.pid)
        now += [one[0] for node in self.own.values() if node.poll() is None and (one := Process.read(node.pid))]
        self.seen.update(now)
        if 0 not in self.processes and now:
            self.processes[0] = min(now, key=lambda one: one.started).number  # launch starts the leader first
        return now

    def let_join(self) -> None:
        """Starts those that have left, and those of them that have died since."""
        for node, due_s in list(self.due_s.items()):
            if self.now() < due_s or (node in self.own and self.own[node].poll() is None):
                continue
            self.due_s[node] = self.now() + JOIN_WAIT_S
            where = self.address or tomllib.loads((self.folder / "launch.toml").read_text())["leader"]
            self.own[node] = subprocess.Popen(
                [self.gossamer, "node", "--join", where, "--number", str(node), "--wait", str(JOIN_WAIT_S)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.terminal)

    def first_s(self) -> float:
        """When its time began to count."""
        return self.epochs[0][0] if self.epochs else self.now()

    def finish(self, seconds: float) -> dict:
        while self.process.poll() is None:
            if self.now() > self.first_s() + seconds + LONGEST_END_S:
                raise Failure(f"the run still goes on {LONGEST_END_S} s after its time was over")
            self.look()
            time.sleep(LOOK_EVERY_S)
        time.sleep(SETTLED_S)
        if left := [one.number for one in self.seen if one.lives()]:
            raise Failure(f"processes outlive the run: {left}")
        self.close()
        self.reader.join(timeout=SETTLED_S)
        for what, process in {"the run": self.process, **{f"node {k}": one for k, one in self.own.items()}}.items():
            if process.poll() != 0:
                raise Failure(f"{what} ended with status {process.returncode}")
        return json.loads((self.folder / "summary.json").read_text())

    def close(self) -> None:
        if self.terminal >= 0:
            os.close(self.terminal)
        self.terminal = -1

    def end(self) -> None:
        """Of whatever is left of it, and was started by it."""
        self.close()
        if self.process.poll() is None:
            self.look()
            self.process.kill()
            self.process.wait()
        for one in self.seen:
            if one.lives():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.number, signal.SIGKILL)

    def pause_s(self, begin: float, end: float) -> float:
        """The longest time without a step that ended in this one."""
        rises = [b[0] for a, b in itertools.pairwise(self.epochs) if b[1] > a[1]]
        return max((b - a for a, b in itertools.pairwise([*rises, self.epochs[-1][0]]) if begin < b <= end),
                   default=0)

    def times_s(self) -> list[float]:
        """Of the evaluations, as they were written down."""
        return [json.loads(line)["time_s"] for line in (self.folder / "metrics.jsonl").read_text().splitlines()]

    def lost_epochs(self) -> float:
        return sum(max(a[1] - b[1], 0) for a, b in itertools.pairwise(self.epochs))


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
            if (blow.kind == "leave" or blow.node in self.run.own) and blow.process not in children:
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

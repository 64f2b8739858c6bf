"""A run that is launched on this machine: its progress, the processes of its nodes, and its end."""

import argparse
import contextlib
import itertools
import json
import math
import os
import pty
import re
import secrets
import signal
import subprocess
import threading
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from separate_hosts import Network

LONGEST_END_S = 20  # from the time limit of a run to its end
JOIN_WAIT_S = 5  # time for which a node looks for the leader at one address
SETTLED_S = 0.5  # time without a missing node
LOOK_EVERY_S = 0.05


class Failure(Exception):
    pass


@dataclass(frozen=True)
class Process:
    number: int
    started: int  # in ticks since the machine started; another process may get the number

    @staticmethod
    def read(number: int) -> tuple["Process", int] | None:
        """Returns the process and its parent. None if the process is gone."""
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
    """A launched run: its progress, and the processes of its nodes."""

    def __init__(self, arguments: argparse.Namespace, folder: Path, limit: list[str], network: Network | None,
                 also: dict[str, str] | None = None) -> None:
        """
        :param also: environment of all processes, also of nodes that join by hand
        """
        self.folder = folder
        self.launch_folder = folder.with_name(f"{folder.name}-launch")  # folder for the output of other hosts
        self.network = network
        self.nodes = arguments.nodes
        self.restarted = 0
        self.leader = 0
        self.processes: dict[int, int] = {}  # by node; the first leader does not print its own
        self.missed: set[int] = set()  # missing nodes, as the leader has reported
        self.complete_since = math.inf
        self.epochs: list[tuple[float, float]] = []  # time, and epoch
        self.seen: set[Process] = set()
        self.gossamer = os.path.abspath(arguments.gossamer)
        self.address = ""  # address of the leader, once the lead has changed
        self.own: dict[int, subprocess.Popen] = {}  # nodes that are not children of launch, by number
        self.due_s: dict[int, float] = {}  # start time of nodes in `own`
        screen, self.terminal = pty.openpty()  # launch shows progress to terminals
        self.flags = ["--patience", str(arguments.patience), *(["--insecure"] if network else [])]
        hosts = str(network.hosts) if network else f"localhost:{arguments.nodes}"
        if network:
            self.launch_folder.mkdir(exist_ok=True)
        self.environment = {**os.environ, **(also or {}), "GOSSAMER_TOKEN": secrets.token_hex(16)}
        self.process = subprocess.Popen(
            [self.gossamer, "launch", "--hosts", hosts, "--restart", "1000000", "--restart-delay",
             str(arguments.restart_after), *self.flags, "--", *arguments.job, "--out", str(folder), *limit],
            cwd=self.launch_folder if network else None, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.terminal, env=self.environment)
        self.launched = time.monotonic()
        self.reader = threading.Thread(target=self.read, args=[screen], daemon=True)
        self.reader.start()

    def now(self) -> float:
        return time.monotonic() - self.launched

    def read(self, screen: int) -> None:
        rest = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while more := os.read(screen, 65536):
                *lines, rest = re.split(rb"(?:\r|\n|\x1b\[\d*[A-Z])+", rest + more)
                for line in lines:
                    self.hear(line.decode(errors="replace"))
        os.close(screen)

    def hear(self, line: str) -> None:
        if progress := re.match(r"epoch ([\d.]+)\S*  \S+ left  (\d+) of \d+ nodes", line):
            present = int(progress[2])
            if present > self.nodes - len(self.missed):
                return  # from a former leader that has yet to learn of its successor
            self.epochs.append((self.now(), float(progress[1])))
            self.complete_since = min(self.complete_since, self.now()) if present == self.nodes else math.inf
            return
        if gone := re.match(r" *[\d.]+ s  node (\d+) (?:is lost|has left)", line):  # launch marks lines of other nodes
            self.missed.add(int(gone[1]))
            self.complete_since = math.inf
        if back := re.match(r" *[\d.]+ s  node (\d+) (?:is back|has come|is heard again)$", line):
            self.missed.discard(int(back[1]))
        if introduced := re.search(r"this is node (\d+), process (\d+)", line):
            self.processes[int(introduced[1])] = int(introduced[2])
        if leads := re.search(r"node (\d+) leads the run from now on", line):
            self.leader = int(leads[1])
            self.missed.clear()  # a new leader reports the nodes that it misses
        if leads := re.search(r"this node leads the run from now on, at (\S+)", line):
            self.address = leads[1]
        self.restarted += "is started again" in line
        if line and not re.match(r"epoch|loss| *worker \d+ +\d+ steps", line):  # evaluations and the rest of the block
            print(f"{self.now():8.2f} s  {line}", flush=True)

    def look(self) -> list[Process]:
        """Returns the processes of nodes, which this launch or this program has started itself."""
        now = children_of(self.process.pid)
        now += [one[0] for node in self.own.values() if node.poll() is None and (one := Process.read(node.pid))]
        self.seen.update(now)
        if 0 not in self.processes and now:
            self.processes[0] = min(now, key=lambda one: one.started).number  # launch starts the leader first
        return now

    def lets_join(self, node: int) -> bool:
        return node in self.own and self.own[node].poll() is None

    def let_join(self) -> None:
        """Starts nodes that are due, and again nodes that have not found the leader."""
        for node, process in self.own.items():
            if process.poll() == 1:
                self.due_s.setdefault(node, self.now() + SETTLED_S)
        for node in [node for node, due_s in self.due_s.items() if self.now() >= due_s]:
            del self.due_s[node]
            command = [self.gossamer, "node", "--join", self.address or self.launched_leader(), "--number", str(node),
                       "--wait", str(JOIN_WAIT_S), *self.flags]
            self.own[node] = subprocess.Popen(
                self.network.on(node, command) if self.network else command,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.terminal, env=self.environment)

    def launched_leader(self) -> str:
        """Returns the address of the last leader among the nodes that launch has started."""
        folder = max(self.launch_folder.glob("runs/*")) if self.network else self.folder
        record = folder / "launch.toml"
        return tomllib.loads(record.read_text())["leader"]

    def first_s(self) -> float:
        """Returns the time at which the run's time began to count."""
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
        """Kills the processes of the run that are left."""
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
        """Returns the longest time without a step that ended in this interval."""
        rises = [b[0] for a, b in itertools.pairwise(self.epochs) if b[1] > a[1]]
        return max((b - a for a, b in itertools.pairwise([*rises, self.epochs[-1][0]]) if begin < b <= end),
                   default=0)

    def recorded(self, what: str) -> list[float]:
        """Returns a value of all recorded evaluations."""
        return [json.loads(line)[what] for line in (self.folder / "metrics.jsonl").read_text().splitlines()]

    def lost_epochs(self) -> float:
        return sum(max(a[1] - b[1], 0) for a, b in itertools.pairwise(self.epochs))

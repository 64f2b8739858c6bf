"""A Slurm of one host, in a folder of its own: munged, slurmctld and slurmd, as ordinary programs of its user.

It listens on the loopback device alone, on ports that are free, has its own key and configuration, and knows nothing of
a Slurm that this machine may belong to.
"""

import contextlib
import getpass
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("srun", "salloc", "sbatch", "scancel", "scontrol", "sinfo", "squeue")
WHERE = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"  # Debian's daemons are there
READY_S = 30
END_S = 10
LOOK_EVERY_S = 0.1
STARTS = 3  # a free port may be taken before a daemon has it

CONFIGURATION = """\
ClusterName=gossamer
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
FirstJobId={first_job}
NodeName=localhost NodeAddr=127.0.0.1 CPUs={slots}
PartitionName=all Nodes=localhost Default=YES MaxTime=10
"""


class Failure(Exception):
    pass


def missing_programs() -> list[str]:
    return [name for name in (*DAEMONS, *COMMANDS) if shutil.which(name, path=WHERE) is None]


def await_that(what: str, holds: Callable[[], object], most_s: float) -> None:
    until = time.monotonic() + most_s
    while not holds():
        if time.monotonic() > until:
            raise Failure(f"not within {most_s} s: {what}")
        time.sleep(LOOK_EVERY_S)


def is_free(port: int) -> bool:
    with socket.socket() as one:
        with contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return True
    return False


def free_ports() -> list[int]:
    with socket.socket() as a, socket.socket() as b:
        for one in (a, b):
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in (a, b)]


class Slurm:
    """A running Slurm, for use in a `with` statement. No process of it outlives the statement."""

    def __init__(self, folder: Path, slots: int, is_good_job: Callable[[int], bool]) -> None:
        """
        :param folder: exists, and is empty
        :param is_good_job: true if the first job may have that number, and the next jobs the next numbers
        """
        self.folder = folder
        self.slots = slots
        self.environment = {**os.environ, "PATH": WHERE, "SLURM_CONF": str(folder / "slurm.conf")}
        self.first_job = next(job for job in iter(lambda: random.randrange(1, 10**6), None) if is_good_job(job))
        self.daemons: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> "Slurm":
        try:
            for attempt in range(1, STARTS + 1):
                try:
                    self.start()
                    break
                except Failure:
                    self.end()
                    if attempt == STARTS:
                        raise
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self) -> None:
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        for name in ("state", "spool"):
            (self.folder / name).mkdir(exist_ok=True)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, ports=free_ports(), user=getpass.getuser(), first_job=self.first_job, slots=self.slots))
        # munged insists on a socket that all users reach; --force overrides that.
        self.start_one("munged", "--foreground", "--force", "--key-file", str(key),
                       *(f"--{what}={self.folder}/munge.{what.partition('-')[0]}"
                         for what in ("socket", "pid-file", "seed-file", "log-file")))
        self.await_daemons("munged listens", (self.folder / "munge.socket").exists)
        self.start_one("slurmctld", "-D", "-c")
        self.start_one("slurmd", "-D", "-N", "localhost")
        self.await_daemons("the host is ready", lambda: self.say("sinfo", "--noheader", "--format=%t") == "idle")

    def start_one(self, name: str, *flags: str) -> None:
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons[name] = subprocess.Popen([name, *flags], env=self.environment, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log, cwd=self.folder)

    def await_daemons(self, what: str, holds: Callable[[], bool]) -> None:
        def holds_or_never_will() -> bool:
            for name, process in self.daemons.items():
                if process.poll() is not None:
                    log = (self.folder / f"{name}.log").read_text(errors="replace")
                    raise Failure(f"{name} ended with status {process.returncode}: {log[-1000:]}")
            return holds()
        await_that(what, holds_or_never_will, READY_S)

    def say(self, *command: str) -> str:
        """Returns the output of a command. Empty if it fails."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=READY_S,
                              check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def order(self, *command: str) -> str:
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=READY_S, check=False)
        if done.returncode != 0:
            raise Failure(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def job(self, number: str) -> dict[str, str]:
        """Returns the fields that Slurm has of a job: JobState, Restarts, ExitCode, ..."""
        return dict(word.split("=", 1) for word in self.order("scontrol", "show", "job", number).split() if "=" in word)

    def own_processes(self) -> list[int]:
        """Returns all processes with this configuration, also those that Slurm has started."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for one in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if one.name.isdigit() and mark in (one / "environ").read_bytes().split(b"\0"):
                    found.append(int(one.name))
        return found

    def end(self) -> None:
        """Ends the daemons, and the processes of jobs that are left."""
        for name in reversed(DAEMONS):
            if process := self.daemons.pop(name, None):
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
                if process.poll() is None:
                    process.kill()
                    process.wait()
        for number in self.own_processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

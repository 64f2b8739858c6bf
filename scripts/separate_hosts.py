"""A network of the hosts of namespaces.sh, one for each node of a run, which can be cut off from each other."""

import os
import subprocess
from pathlib import Path
from typing import Iterable


class Network:
    def __init__(self, nodes: int, folder: Path, gossamer: str) -> None:
        """
        :raises OSError: if this machine cannot have one; the text gives the reason
        """
        self.mine = f"gossamer-{os.getpid()}"
        self.names = [f"node{k}" for k in range(nodes)]
        self.hosts = folder / "hosts.toml"
        self.away: list[str] = []  # names of hosts that are cut off
        try:
            self.call("make_network")
            self.hosts.write_text(self.call("list_hosts", os.path.abspath(gossamer), os.getcwd()))
        except BaseException:
            self.remove()
            raise

    def call(self, *command: str) -> str:
        """Runs namespaces.sh to its end. A terminal's interrupt does not reach it; this program waits for it."""
        with subprocess.Popen([Path(__file__).with_name("namespaces.sh"), self.mine, ",".join(self.names), *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            said, problem = process.communicate()
        if process.returncode != 0:
            raise OSError(f"{command[0]}: {(problem.strip() or 'it has failed').splitlines()[-1]}")
        return said

    def cut_off(self, processes: Iterable[int]) -> None:
        """Cuts off the hosts of these processes from all others, but not from each other, until `heal`."""
        self.away = [self.host_of(process) for process in processes]
        self.call("cut_off", *self.away)

    def heal(self) -> None:
        self.call("heal", *self.away)

    def host_of(self, process: int) -> str:
        """Returns the host of a process. Its number may differ from the node's, because a late node may get another."""
        there = os.stat(f"/proc/{process}/ns/net")
        return next(name for name in self.names if os.path.samestat(there, os.stat(f"/run/netns/{self.mine}-{name}")))

    def on(self, node: int, command: list[str]) -> list[str]:
        return ["ip", "netns", "exec", f"{self.mine}-{self.names[node]}", *command]

    def remove(self) -> None:
        self.call("remove_network")

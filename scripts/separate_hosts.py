"""A network of hosts, one for each node of a run, that can be cut off from each other: those of namespaces.sh."""

import os
import subprocess
from pathlib import Path
from typing import Iterable


class Network:
    def __init__(self, nodes: int, folder: Path, gossamer: str) -> None:
        """
        :raises OSError: where there can be none; the text says why
        """
        self.mine = f"gossamer-{os.getpid()}"
        self.names = [f"node{k}" for k in range(nodes)]
        self.hosts = folder / "hosts.toml"
        try:
            self.call("make_network")
            self.hosts.write_text(self.call("list_hosts", os.path.abspath(gossamer), os.getcwd()))
        except BaseException:
            self.remove()
            raise

    def call(self, *command: str) -> str:
        """Not broken off: it hears nothing of a terminal's interrupt, and whoever else is interrupted waits for it."""
        with subprocess.Popen([Path(__file__).with_name("namespaces.sh"), self.mine, ",".join(self.names), *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            said, problem = process.communicate()
        if process.returncode != 0:
            raise OSError(f"{command[0]}: {(problem.strip() or 'it has failed').splitlines()[-1]}")
        return said

    def cut_off(self, nodes: Iterable[int]) -> None:
        """From all others, but not from each other."""
        self.call("cut_off", *(self.names[k] for k in nodes))

    def heal(self, nodes: Iterable[int]) -> None:
        self.call("heal", *(self.names[k] for k in nodes))

    def on(self, node: int, command: list[str]) -> list[str]:
        return ["ip", "netns", "exec", f"{self.mine}-{self.names[node]}", *command]

    def remove(self) -> None:
        self.call("remove_network")

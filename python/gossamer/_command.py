"""Runs a command of Gossamer in a thread of its own, while the calling thread listens to signals."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import _gossamer


def words_of(settings: dict[str, Any]) -> list[str]:
    """Turns keywords into flags: ``lr=0.1, overwrite=True`` -> ``["--lr", "0.1", "--overwrite"]``."""
    words: list[str] = []
    for key, value in settings.items():
        flag = "--" + key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            for item in value:
                words += [flag, str(item)]
        else:
            words += [flag, repr(value) if isinstance(value, float) else str(value)]
    return words


def _sockets() -> Iterator[tuple[int, str]]:
    """The descriptors of this process that are sockets, with the kernel's name for each."""
    for entry in os.listdir("/proc/self/fd"):
        try:
            name = os.readlink(f"/proc/self/fd/{entry}")
        except OSError:
            continue
        if name.startswith("socket:"):
            yield int(entry), name


_before: set[str] | None = None  # sockets that were there when the run began; None: no run


def _close_sockets_of_run() -> None:
    """In a process that was forked, as the workers of a DataLoader are.

    Others see that a process has died when its last socket closes. So a copy of it must hold none.
    """
    if _before is None:
        return
    for descriptor, name in list(_sockets()):
        if name not in _before:
            one = socket.socket(fileno=descriptor)
            if one.family in (socket.AF_INET, socket.AF_INET6):
                one.close()
            else:
                one.detach()


os.register_at_fork(after_in_child=_close_sockets_of_run)


class Command:
    """A command under way. Its end, with an exit status or an exception, is known after ``finish``."""

    def __init__(self, source: "_gossamer.Source", words: list[str]):
        global _before
        _before = {name for _, name in _sockets()}
        self.folder: str | None = None
        self.status: int | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(source, words), name="gossamer", daemon=True)
        self._thread.start()

    def _run(self, source: "_gossamer.Source", words: list[str]) -> None:
        try:
            self.status = source.run(words, self._take_folder)
        except BaseException as e:  # whatever it is, it belongs into the calling thread
            self._failure = e

    def _take_folder(self, folder: str) -> None:
        self.folder = folder

    @property
    def is_under_way(self) -> bool:
        return self._thread.is_alive()

    def finish(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Waits for the end, and raises what the command has failed with. Ctrl-C asks the run to stop."""
        interrupt: BaseException | None = None
        while self._thread.is_alive():
            try:
                meanwhile()
                self._thread.join(0.05)
            except KeyboardInterrupt as e:
                if interrupt is not None:
                    raise
                interrupt = e
                _gossamer.stop()
        if interrupt is not None:
            raise interrupt
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

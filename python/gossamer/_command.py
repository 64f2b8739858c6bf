"""Runs a command of Gossamer in a thread of its own, while the calling thread listens to signals."""

import atexit
import os
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from . import _gossamer
from .errors import Error, usage_error

_yes_or_no = {"check", "processes", "report", "trace"}  # flags with one of these words for a value
_switches = {"json", "keep_going", "live_control", "overwrite", "shrink", "twice"}  # flags without a value


def words_of(settings: dict[str, Any]) -> list[str]:
    """Turns keywords into flags: ``lr=0.1, overwrite=True`` -> ``["--lr", "0.1", "--overwrite"]``."""
    words: list[str] = []
    for key, value in settings.items():
        flag = "--" + key.replace("_", "-")
        if flag == "--help":
            raise usage_error("help is no setting", "python -m gossamer train --help lists the flags")
        if isinstance(value, numpy.generic):
            value = value.item()
        if isinstance(value, (bytes, os.PathLike)):
            value = os.fsdecode(value)
        if isinstance(value, bool):
            words += _words_of_truth(key, flag, value)
        elif value is None:
            continue
        elif key.replace("-", "_") in _switches:
            raise usage_error(f"{key} is {value!r}", "give it a truth value: True or False")
        elif isinstance(value, (list, tuple)):
            for item in value:
                words += [flag, _text_of(key, str(item))]
        else:
            words += [flag, _text_of(key, repr(value) if isinstance(value, float) else str(value))]
    return words


def _words_of_truth(key: str, flag: str, value: bool) -> list[str]:
    name = key.replace("-", "_")
    if name in _yes_or_no:
        return [f"{flag}={'yes' if value else 'no'}"]  # also as a flag without a value, as train has --trace
    if name not in _switches:
        raise usage_error(
            f"{key} is {value}, and takes no truth value",
            "give it a number or a text, or None to leave it out; truth values are for "
            + ", ".join(sorted(_yes_or_no | _switches)),
        )
    return [flag] if value else []


def _text_of(key: str, word: str) -> str:
    if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
        raise usage_error(f"{key} is {word!r}, which is no text in UTF-8", "use letters that can be written down")
    return word


_has_used_launcher = False


def _use_launcher_once(node: list[str]) -> None:
    """A launcher writes a token to each process once, and looks for one run; nodes that meet without one may do so
    again."""
    global _has_used_launcher
    if "--until-input-ends" not in node:
        return
    if _has_used_launcher:
        raise usage_error(
            "this process has taken part in its launcher's run already", "launch the program once for each run"
        )
    _has_used_launcher = True


def process_words(job: Callable[[dict[str, Any]], list[str]], alone: str, report: Any = None) -> list[str]:
    """The command of this process: what a launcher has told it, or a run of its own.

    job(flags) gives the job where this process leads, with these flags of its launcher's in place of its own; alone
    says what a process without a launcher does; report is the program's setting of that name, which the launcher may
    have decided.
    """
    told = os.environ.get("GOSSAMER_NODE", "")
    door = os.environ.get("GOSSAMER_JOIN", "")
    if told:
        words = shlex.split(told)
    elif door:
        words = ["node", "--join", door]
    else:
        print(
            f"gossamer: this process {alone}; gossamer launch --hosts localhost:4 -- python "
            f"{sys.argv[0] or 'train.py'} has four",
            file=sys.stderr,
        )
        return job({})
    end = words.index("--") if "--" in words else len(words)
    node, told_job = words[:end], dict(zip(words[end + 2 :: 2], words[end + 3 :: 2]))  # behind "-- train"
    _use_launcher_once(node)
    # One that is started like the others may join: then it gets the leader's files.
    if "--listen" not in node and "--data-from-peers" not in node:
        node.append("--data-from-peers")
    if "--report" not in node:  # written by the node that leads at the end, with a flag before "--"
        node += words_of({"report": report})
    if "--join" in node:
        return node
    nodes = node[node.index("--nodes") + 1] if "--nodes" in node else os.environ.get("SLURM_NTASKS", "2")
    flags = {"--workers": nodes} | told_job
    return [*node, "--", *job({flag[2:].replace("-", "_"): value for flag, value in flags.items()} | {"report": None})]


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
_latest: "Command | None" = None


def _close_sockets_of_run() -> None:
    """In a process that was forked, as the workers of a DataLoader are.

    Others see that a process has died when its last socket closes. So a copy of it must hold none.
    """
    global _before
    if _before is None:
        return
    for descriptor, name in list(_sockets()):
        if name not in _before:
            one = socket.socket(fileno=descriptor)
            if one.family in (socket.AF_INET, socket.AF_INET6):
                one.close()
            else:
                one.detach()
    _before = None


os.register_at_fork(after_in_child=_close_sockets_of_run)


class Command:
    """A command under way. Its end, with an exit status or an exception, is known after ``finish``."""

    def __init__(self, source: "_gossamer.Source", words: list[str]):
        global _before, _latest
        self.folder: str | None = None
        self.status: int | None = None
        self._failure: BaseException | None = None
        self._interrupt: BaseException | None = None
        self._process = os.getpid()
        # Not what the thread says of itself: one whose `join` is interrupted passes for ended in some versions of Python.
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(source, words), name="gossamer", daemon=True)
        if _latest is None or not _latest.is_under_way:
            _latest, _before = self, {name for _, name in _sockets()}
        try:
            self._thread.start()
        except KeyboardInterrupt as e:  # within the wait for its first sign of life
            self._interrupt = e
            _gossamer.stop()

    def _run(self, source: "_gossamer.Source", words: list[str]) -> None:
        global _before
        try:
            self.status = source.run(words, self._take_folder)
        except BaseException as e:  # whatever it is, it belongs into the calling thread
            self._failure = e
        finally:
            if _latest is self:
                _before = None
            self._is_over.set()

    def _take_folder(self, folder: str) -> None:
        self.folder = folder

    @property
    def is_under_way(self) -> bool:
        return self._process == os.getpid() and not self._is_over.is_set()

    def fall_out(self, source: "_gossamer.Source", reason: BaseException) -> None:
        """An exception ends this process's worker as a death does, and the others go on."""
        source.leave(f"its program has failed: {type(reason).__name__}: {reason}".split("\n")[0])
        if "GOSSAMER_NODE" in os.environ and self.is_under_way:
            global _has_fallen_out
            _has_fallen_out = True
            return
        _gossamer.stop()
        try:
            self.finish()
        except Error:
            pass  # follows from the reason, which is on its way

    def finish(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Waits for the end, and raises what the command has failed with. Ctrl-C asks the run to stop."""
        interrupt = self._interrupt
        while self.is_under_way:
            if interrupt is not None:
                _gossamer.stop()  # again and again: a run forgets what was asked before it began
            try:
                meanwhile()
                self._is_over.wait(0.05)
            except KeyboardInterrupt as e:
                if interrupt is not None:
                    raise
                interrupt = e
        if self._process == os.getpid():
            self._thread.join()  # that was its last act
        if interrupt is not None:
            raise interrupt
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure


_has_fallen_out = False


def _end_process() -> None:
    """The node of a program that has failed stays until its process ends, and ends with it: nothing waits for the run.

    Nor for one that is still under way after a second Ctrl-C: its threads would call an interpreter that has gone.
    """
    if _has_fallen_out or (_latest is not None and _latest.is_under_way):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130 if getattr(sys, "last_type", None) is KeyboardInterrupt else 1)


atexit.register(_end_process)  # at once, so that what others register later is called before

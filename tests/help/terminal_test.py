#!/usr/bin/env python3
"""What the program writes to a terminal: a line that is written over where the terminal can do that, and no more than
its width; on a dumb one plain lines alone.

usage: terminal_test.py GOSSAMER
"""

import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios

RUN = ["train", "--data", "digits:samples=600,test=200", "--seconds", "3", "--overwrite", "--out", "run"]


def shown(command: str, words: list[str], columns: int, **variables: str) -> str:
    """Returns what the program writes to a terminal of so many columns."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.environ.pop("COLUMNS", None)
        os.environ.pop("NO_COLOR", None)
        os.execve(command, [command, *words], os.environ | {"LC_ALL": "C.UTF-8"} | variables)
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # its end on Linux
            break
        if not piece:
            break
        text += piece
    os.close(terminal)
    if os.waitpid(child, 0)[1] != 0:
        raise AssertionError(f"{words} fails: {text.decode()}")
    return text.decode()


def main() -> int:
    command = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        able = shown(command, RUN, 60, TERM="xterm")
        assert "\033[J" in able, able  # the block of progress is renewed
        for line in re.split(r"\r\033\[(?:\d+A\033\[)?J|\r\n", able):
            if line.startswith("epoch ") and "left" in line:  # that of progress
                assert len(line) < 60, line
        for term in ("dumb", ""):
            plain = shown(command, RUN, 60, TERM=term)
            assert "\033" not in plain, plain
            assert "training loss" in plain, plain
        for columns in (50, 100):
            help_text = shown(command, ["train", "--help"], columns, TERM="xterm")
            assert max(map(len, help_text.splitlines())) <= columns, help_text
            assert "\033" not in help_text, help_text
    print("terminal: nothing that it cannot show")
    return 0


if __name__ == "__main__":
    sys.exit(main())

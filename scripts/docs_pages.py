"""The pages of the documentation, and the world that docs_check.py compares them with."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Callable, Iterator


class Problem(Exception):
    """A fault of a page and its remedy."""


@dataclass
class World:
    """The repository and the command, to which pages are compared."""
    read: Callable[[str], str | None]  # a file of the repository; None if there is none
    exists: Callable[[str], bool]
    gossamer: Callable[..., str]  # output of the command; raises a Problem if it refuses
    tests: set[str]  # suite.case
    refusal: Callable[..., str]  # standard error of the command; raises a Problem if it does not refuse


@dataclass
class Page:
    path: PurePosixPath
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def blocks(self) -> Iterator[tuple[int, int, str]]:
        """Yields fenced blocks: index of the first line inside, of the closing fence, and the language."""
        begin, language = None, ""
        for i, line in enumerate(self.lines):
            fence = re.match(r"\s*```(\w*)", line)
            if fence and begin is None:
                begin, language = i + 1, fence[1]
            elif fence:
                yield begin, i, language
                begin = None

    def prose(self) -> Iterator[tuple[int, str]]:
        """Yields the lines outside fenced blocks, with their numbers."""
        fenced = {i for begin, end, _ in self.blocks() for i in range(begin - 1, end + 1)}
        yield from ((i + 1, line) for i, line in enumerate(self.lines) if i not in fenced)

    def headings(self) -> list[str]:
        return [line for _, line in self.prose() if re.match(r"#+ ", line)]


Finding = tuple[int, str]  # line, and its fault

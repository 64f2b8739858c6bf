"""How much memory the processes of a run hold, and how much more with each blow that they survive."""

import re
from pathlib import Path
from typing import Iterable

from launched_run import Process

WARM_UP = 20  # blows after which pools, and heaps of threads, have nearly what they ever need
FEWEST = 50  # blows survived, all processes together: fewer do not tell growth from what is taken once


def own_kib(process: Process) -> int | None:
    """What the process has for itself: no code, no files, no memory that is shared. Nothing when it is gone."""
    try:
        text = Path(f"/proc/{process.number}/status").read_text()
    except OSError:
        return None
    found = re.search(r"^RssAnon:\s+(\d+) kB", text, re.M)
    return int(found[1]) if found and process.lives() else None


class Memory:
    """Of each process, what it has had after each blow that it has survived; apart as long as it leads, because it
    needs more for that from the moment when it begins."""

    def __init__(self) -> None:
        self.samples: dict[tuple[Process, bool], list[tuple[int, int]]] = {}

    def look(self, blows: int, processes: Iterable[Process], leader: int | None) -> None:
        """
        :param blows: that there have been so far
        :param leader: the process that leads, if it is known
        """
        for one in processes:
            if (kib := own_kib(one)) is not None:
                self.samples.setdefault((one, one.number == leader), []).append((blows, kib))

    def growth(self) -> tuple[float, int]:
        """In KiB a blow, and over how many blows: the mean over all of these times, behind the warm-up of each."""
        kib = blows = 0
        for samples in self.samples.values():
            if warm := [one for one in samples if one[0] - samples[0][0] >= WARM_UP]:
                blows += warm[-1][0] - warm[0][0]
                kib += warm[-1][1] - warm[0][1]
        return kib / max(blows, 1), blows

    def oldest(self) -> list[tuple[int, int]]:
        return max(self.samples.values(), key=lambda samples: samples[-1][0] - samples[0][0], default=[])

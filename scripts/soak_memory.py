"""The memory that the processes of a run hold, and its growth with each blow that they survive."""

import re
from pathlib import Path
from typing import Iterable, Iterator

from launched_run import Process

WARM_UP = 20  # blows after which pools and heaps of threads have nearly reached their final size
FEWEST = 50  # blows survived, over all processes; fewer do not tell growth from one-time costs


def own_kib(process: Process) -> int | None:
    """Returns the private memory of a process: no code, no files, no shared memory. None if the process is gone."""
    try:
        text = Path(f"/proc/{process.number}/status").read_text()
    except OSError:
        return None
    found = re.search(r"^RssAnon:\s+(\d+) kB", text, re.M)
    return int(found[1]) if found and process.lives() else None


class Memory:
    """The memory of each process after each blow that it has survived. The time as leader counts apart, because a
    leader needs more from its first moment on."""

    def __init__(self) -> None:
        self.samples: dict[tuple[Process, bool], list[tuple[int, int]]] = {}

    def look(self, blows: int, processes: Iterable[Process], leader: int | None) -> None:
        """
        :param blows: number of blows so far
        :param leader: the process of the leader, if it is known
        """
        for one in processes:
            if (kib := own_kib(one)) is not None:
                self.samples.setdefault((one, one.number == leader), []).append((blows, kib))

    def growth(self) -> tuple[float, int]:
        """Returns the mean growth in KiB a blow, and the number of blows, without the warm-up of each process."""
        blows = sum(warm[-1][0] - warm[0][0] for _, _, warm in self.warm())
        kib = sum(warm[-1][1] - warm[0][1] for _, _, warm in self.warm())
        return kib / max(blows, 1), blows

    def warm(self) -> Iterator[tuple[Process, bool, list[tuple[int, int]]]]:
        """Yields each process that has warmed up, whether that is its time as leader, and what it held since."""
        for (process, leads), samples in self.samples.items():
            if warm := [one for one in samples if one[0] - samples[0][0] >= WARM_UP]:
                yield process, leads, warm

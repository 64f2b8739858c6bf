#!/usr/bin/env python3
"""What is in use of the heaps of a run's processes, and its growth with each blow that they survive.

It rises for two reasons. When a process meets something for the first time, such as the lead, or more bytes under way
to a peer than ever before, it rises by a step, ever more seldom. A leak, of each life of another node say, adds the
same again and again. So the blows are taken in windows of ten, and the quarter of them that grows least tells: a step
falls into one window, and a leak into each if one blow in eight brings it. What leaks more seldom shows when there is
no other kind of blow (`--blows`).

usage: soak_memory.py --self-test
"""

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Iterable, Iterator

from launched_run import Failure, Process

WARM_UP = 20  # blows after which a process has met most of what there is
WINDOW = 10  # blows
FEWEST = 8  # windows, over all processes; fewer do not tell a leak from steps


def watched(folder: Path) -> dict[str, str]:
    """Returns the environment of processes that tell what they use, in files of this folder named by their numbers.
    They have one heap, so that what is needed at first is taken once, not once for each thread."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "heap_in_use.so"
    source = Path(__file__).with_name("heap_in_use.c")
    try:
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-pthread", source, "-o", library], check=True)
    except (OSError, subprocess.CalledProcessError) as why:
        raise Failure(f"cannot compile {source}: {why}") from why
    return {"MALLOC_ARENA_MAX": "1", "LD_PRELOAD": str(library), "GOSSAMER_HEAP_IN_USE": str(folder)}


def kib_in_use(folder: Path, process: Process) -> int | None:
    """Returns None if the process is gone."""
    try:
        return int((folder / str(process.number)).read_text()) // 1024 if process.lives() else None
    except (OSError, ValueError):  # the file is still empty
        return None


class Memory:
    """The memory of each process after each blow that it has survived. The time as leader counts apart, because a
    leader needs more from its first moment on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.samples: dict[tuple[Process, bool], list[tuple[int, int]]] = {}

    def look(self, blows: int, processes: Iterable[Process], leader: int | None) -> None:
        """
        :param blows: number of blows so far
        :param leader: the process of the leader, if it is known
        """
        for one in processes:
            if (kib := kib_in_use(self.folder, one)) is not None:
                self.note(blows, one, one.number == leader, kib)

    def note(self, blows: int, process: Process, leads: bool, kib: int) -> None:
        self.samples.setdefault((process, leads), []).append((blows, kib))

    def write(self, file: Path) -> None:
        rows = (f"{blows},{process.number},{int(leads)},{kib}\n"
                for (process, leads), samples in self.samples.items() for blows, kib in samples)
        file.write_text("".join(["blows,process,leads,kib\n", *rows]))

    def warm(self) -> Iterator[tuple[Process, bool, list[tuple[int, int]]]]:
        """Yields each process that has warmed up, whether that is its time as leader, and what it held since."""
        for (process, leads), samples in self.samples.items():
            if warm := [one for one in samples if one[0] - samples[0][0] >= WARM_UP]:
                yield process, leads, warm

    def growth(self) -> list[float]:
        """Returns the growth in KiB a blow in each window of each process that has warmed up."""
        return [rate for _, _, samples in self.warm() for rate in in_windows(samples)]


def in_windows(samples: list[tuple[int, int]]) -> Iterator[float]:
    """Yields the growth a blow in consecutive windows; the last blows may be too few for one."""
    first_blow, first_kib = samples[0]
    for blow, kib in samples:
        if blow - first_blow >= WINDOW:
            yield (kib - first_kib) / (blow - first_blow)
            first_blow, first_kib = blow, kib


def grown(memory: Memory, most_kib: float) -> Iterator[str]:
    """Yields a fault if there is a leak, and prints what tells."""
    windows = memory.growth()
    if len(windows) < FEWEST:
        print(f"memory: {len(windows)} windows of {WINDOW} blows, survived by warm processes, are too few to tell "
              f"whether it grows; {FEWEST} do", flush=True)
        return
    least, median, most = statistics.quantiles(windows, n=4)
    print(f"memory: of {len(windows)} windows of {WINDOW} blows, a quarter grows by less than {least:.1f} KiB a blow, "
          f"half by less than {median:.1f}, a quarter by more than {most:.1f}", flush=True)
    for process, leads, warm in memory.warm():
        print(f"    process {process.number}{', which leads' if leads else ''}: from {warm[0][1]} to {warm[-1][1]} KiB "
              f"in {warm[-1][0] - warm[0][0]} blows", flush=True)
    if least > most_kib:
        yield f"memory grows by {least:.1f} KiB with each blow"


def self_test() -> None:
    def faults(leak_kib: int, every: int = 1, survived: int = 100) -> list[str]:
        memory = Memory(Path())
        steps_kib = {1: 900, 2: 600, 4: 500, 8: 700, 15: 600, 31: 1300, 42: 5000, 77: 300}  # as processes were seen to
        for blow in range(survived):
            stepped = sum(kib for first, kib in steps_kib.items() if first <= blow)
            for number in range(2):
                memory.note(blow, Process(number, 0), False, 28000 + stepped + leak_kib * (blow // every))
        return list(grown(memory, 16))

    assert faults(leak_kib=0) == []
    assert faults(leak_kib=15) == []
    assert faults(leak_kib=17) == ["memory grows by 17.0 KiB with each blow"]
    assert faults(leak_kib=200, every=8) == ["memory grows by 20.0 KiB with each blow"]
    assert faults(leak_kib=100, survived=WARM_UP + 3 * WINDOW) == []  # too few windows
    assert faults(leak_kib=100, survived=WARM_UP + 5 * WINDOW) == ["memory grows by 100.0 KiB with each blow"]


if __name__ == "__main__":
    if sys.argv[1:] != ["--self-test"]:
        sys.exit(__doc__)
    self_test()

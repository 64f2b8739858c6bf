"""What a run has written down, as plain dictionaries and arrays."""

import glob
import json
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from . import _gossamer
from .errors import NoRunError, _error

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Run:
    """A run folder, read.

    ``settings`` are those of config.toml, ``summary`` is summary.json, and ``curves`` has a list for each column of
    metrics.jsonl ("epoch", "time_s", "train_loss", ...); all lists are of one length.
    """

    folder: str
    settings: dict[str, Any]
    summary: dict[str, Any]
    curves: dict[str, list] = field(repr=False)

    def frame(self):
        """The curves as a pandas DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.curves)


def load(folder: Path) -> Run:
    """Reads a run folder. A run that is under way, or was killed, has an empty summary.

    Raises ``gossamer.BadDataError`` where a file is damaged, with its line, and ``gossamer.NoRunError``, which is a
    ``FileNotFoundError``, where there is no run.
    """
    folder = os.fsdecode(folder)
    try:
        settings = _read(folder, "config.toml", tomllib.loads)
        rows = _read(folder, "metrics.jsonl", _rows_of)
    except (FileNotFoundError, NotADirectoryError) as e:
        raise NoRunError(
            "io", f"{folder} holds no run: there is no {e.filename}", "name a folder like runs/001-ad-psgd"
        ) from None
    try:
        summary = _read(folder, "summary.json", _object_of)
    except FileNotFoundError:
        summary = {}
    keys = dict.fromkeys(key for row in rows for key in row)
    return Run(folder, settings, summary, {key: [row.get(key) for row in rows] for key in keys})


def runs(pattern: str = "runs/*") -> list[Run]:
    """Reads all run folders whose paths match a pattern, in the order of their names."""
    return [load(path) for path in sorted(glob.glob(pattern)) if os.path.isfile(os.path.join(path, "config.toml"))]


def plot(
    folders: Sequence[Path],
    *,
    x: str = "seconds",
    y: str = "train-loss",
    out: Path = "comparison.svg",
    log: bool | None = None,
    smooth: int = 1,
    band: bool = False,
) -> None:
    """Draws the curves of several runs in one picture, as ``gossamer plot`` does: an SVG file.

    x is "seconds", "epochs" or "bits"; y is "train-loss", "test-loss" or "accuracy". ``log`` is the scale of y; by
    default logarithmic for losses that span more than a decade. ``smooth`` evaluations around each one are averaged.
    With ``band``, runs that differ only in the seed become one curve, their median, in a band of all their values.
    """
    if isinstance(folders, (str, os.PathLike)):
        folders = [folders]
    words = ["plot", *(os.fspath(folder) for folder in folders), "--x", x, "--y", y]
    words += ["--out", os.fspath(out), "--smooth", f"{smooth}"]
    if log is not None:
        words.append("--log" if log else "--linear")
    if band:
        words.append("--band")
    _gossamer.command(words)


def _read(folder: str, name: str, parse):
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        content = file.read()
    try:
        return parse(content.decode())
    except ValueError as e:
        raise _error("bad-data", f"{path}: {e}", "the file is damaged, or of another program") from None


def _object_of(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"an object is expected, and {text[:40]!r} stands there")
    return value


def _rows_of(text: str) -> list[dict[str, Any]]:
    lines = text.splitlines()
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(_object_of(line))
        except ValueError as e:
            if number == len(lines) and not text.endswith("\n"):
                break  # a run that was killed may have left half a line
            raise ValueError(f"line {number}: {e}") from None
    return rows

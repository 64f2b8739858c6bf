import os
import pathlib
import shutil
import subprocess
import sys

import pytest

here = pathlib.Path(__file__).parent
limit_s = 300  # of a program that hangs
patience_s = 60  # deaths are noticed sooner, by connections that close; no process that only stands still is lost


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("GOSSAMER_NODE", "GOSSAMER_JOIN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def command():
    """The path of the command gossamer."""
    path = os.environ.get("GOSSAMER_COMMAND") or shutil.which("gossamer")
    if not path:
        pytest.skip("there is no command gossamer: set GOSSAMER_COMMAND to its path")
    return path


@pytest.fixture
def launch(command):
    """Launches a Python program with several nodes. Returns the finished process."""

    def run(nodes, script, *words):
        return subprocess.run(
            [
                command,
                "launch",
                "--hosts",
                f"localhost:{nodes}",
                "--patience",
                str(patience_s),
                "--",
                sys.executable,
                str(here / script),
            ]
            + [str(word) for word in words],
            capture_output=True,
            text=True,
            timeout=limit_s,
        )

    return run

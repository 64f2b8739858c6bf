"""The programs of docs/python.md do what it says."""

import re
import subprocess
import sys

import pytest
from conftest import here

pytest.importorskip("torch", reason="PyTorch is not installed")
examples = here.parent / "examples"


def number_in(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return float(found[1])


def test_images(launch):
    done = launch(2, examples / "images.py")
    assert done.returncode == 0, done.stderr
    assert number_in(r"accuracy ([0-9.]+); shapes.pt", done.stdout) > 0.85


def test_language(launch):
    done = launch(4, examples / "language.py")
    assert done.returncode == 0, done.stderr
    assert number_in(r"([0-9.]+) bits a letter", done.stdout) < 3.4


def test_simulated(tmp_path):
    runs = [
        subprocess.run([sys.executable, examples / "simulated.py"], capture_output=True, text=True, timeout=120)
        for _ in range(2)
    ]
    lines = [[line for line in run.stdout.splitlines() if ": accuracy" in line] for run in runs]
    assert len(lines[0]) == 3 and lines[0] == lines[1], runs[0].stderr
    assert all("1 lost" in line and number_in(r"accuracy ([0-9.]+)", line) > 0.95 for line in lines[0])
    assert "<svg" in (tmp_path / "algorithms.svg").read_text()


def test_diloco(launch):
    done = launch(4, examples / "diloco.py")
    assert done.returncode == 0, done.stderr
    assert number_in(r"accuracy ([0-9.]+) with 4 members", done.stdout) > 0.85
    bits = 15 * 3 * (8 * 2762 + 32) + 3 * 32 * 2762  # 15 rounds, and a tensor that one member broadcasts
    assert number_in(r"; ([0-9.]+) Mb sent", done.stdout) * 1e6 < 1.2 * bits

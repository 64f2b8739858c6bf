#!/usr/bin/env python3
"""Exports modules of Python, has gossamer train them, and imports the result: export_test.py GOSSAMER.

Skipped (77) where this Python has no PyTorch, or gossamer no LibTorch. Works with any two versions of them.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError as missing:
    print(missing)
    sys.exit(77)

import nets

HERE = pathlib.Path(__file__).resolve().parent
GOSSAMER = pathlib.Path(sys.argv[1]).resolve()


def run(folder, *command):
    print("+", *command)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    print(done.stdout + done.stderr)
    return done


def script(folder, *arguments):
    done = run(folder, sys.executable, HERE / "../../scripts/export_model.py", *arguments)
    assert done.returncode == 0, arguments


def train(folder, name, data, epochs=2):
    return run(folder, GOSSAMER, "train", "--workers", "2", "--epochs", str(epochs), "--algorithm", "d-psgd",
               "--checkpoint", "60s", "--out", name, "--model", f"torchscript:file={name}.pt", "--data", f"npz:file={data}.npz")


def pictures(folder):
    """Saves bright columns, of which the first one counts."""
    numbers = numpy.random.default_rng(1)
    arrays = {}
    for suffix, samples in ("", 1000), ("_test", 200):
        y = numbers.integers(0, 10, samples)
        x = numbers.normal(0, 1, (samples, 28, 28)).astype("float32")
        x[numpy.arange(samples), :, 2 * y] += 0.7
        arrays |= {"X" + suffix: x, "y" + suffix: y}
    numpy.savez(folder / "pictures.npz", **arrays)
    return arrays


def imported_module_has_the_loss_of_the_run(folder):
    arrays = pictures(folder)
    script(folder, "export", f"{HERE}/nets.py:Dropping", "dropping.pt")
    assert train(folder, "dropping", "pictures").returncode == 0
    assert run(folder, GOSSAMER, "export", "dropping", "--out", "trained.npz").returncode == 0
    script(folder, "import", f"{HERE}/nets.py:Dropping", "trained.npz", "trained.pt")
    net = nets.Dropping()
    net.load_state_dict(torch.load(folder / "trained.pt"))
    net.eval()
    with torch.no_grad():
        outputs = net(torch.from_numpy(arrays["X_test"]).unsqueeze(1))
        theirs = torch.nn.functional.cross_entropy(outputs, torch.from_numpy(arrays["y_test"])).item()
    ours = json.loads((folder / "dropping/summary.json").read_text())["test_loss"]
    print("test loss", ours, "and imported", theirs)
    assert 0.05 < ours < 2 and abs(ours - theirs) < 1e-4 * ours


def encoder_trains_whatever_the_versions(folder):
    script(folder, "export", "--plain-attention", f"{HERE}/nets.py:Encoder", "encoder.pt")
    assert train(folder, "encoder", "pictures", 1).returncode == 0


def ids_of_tokens_are_whole_numbers(folder):
    numbers = numpy.random.default_rng(2)
    y = numbers.integers(0, 3, 300)
    x = (numbers.integers(0, 16, (300, 6)) + 16 * y[:, None]).astype("int64")
    script(folder, "export", f"{HERE}/nets.py:Tokens", "tokens.pt")
    numpy.savez(folder / "ids.npz", X=x, y=y)
    assert train(folder, "tokens", "ids").returncode == 0
    for name, wrong, said in (("large", x + 30, "from 30 to 77: index out of range"),
                              ("halves", x / 2, "not all features of the data, from 0 to 23.5, are whole")):
        numpy.savez(folder / f"{name}.npz", X=wrong, y=y)
        refused = train(folder, "tokens", name)
        assert refused.returncode == 1 and said in refused.stderr, said


def main():
    with tempfile.TemporaryDirectory() as name:
        if "needs LibTorch" in run(name, GOSSAMER, "train", "--model", "cnn", "--epochs", "0.01").stderr:
            sys.exit(77)
        for test in imported_module_has_the_loss_of_the_run, encoder_trains_whatever_the_versions, \
                ids_of_tokens_are_whole_numbers:
            print("==", test.__name__)
            test(pathlib.Path(name))


if __name__ == "__main__":
    main()

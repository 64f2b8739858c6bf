#!/usr/bin/env python3
"""Writes a module of PyTorch as gossamer reads it, and reads back what gossamer has trained.

    scripts/export_model.py export FILE.py:NAME model.pt      NAME() makes the module: a class, or a function
    scripts/export_model.py import FILE.py:NAME model.npz trained.pt
                                                              a state_dict, for module.load_state_dict

docs/your-own-model.md walks through it. Needs PyTorch and NumPy.
"""
import argparse
import importlib.util
import pathlib
import sys

import numpy
import torch


def module_of(text):
    path, _, name = text.rpartition(":")
    if not path or not pathlib.Path(path).is_file():
        sys.exit(f"'{text}' is not FILE.py:NAME with a file that is there")
    found = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    loaded = importlib.util.module_from_spec(found)
    # TorchScript reads the sources of the code that it scripts, and finds them by the name of the module.
    sys.modules[found.name] = loaded
    found.loader.exec_module(loaded)
    if not hasattr(loaded, name):
        sys.exit(f"'{path}' has no '{name}'")
    return getattr(loaded, name)()


def export(arguments):
    module = module_of(arguments.module).float()
    torch.jit.script(module).save(arguments.out)
    parameters = sum(p.numel() for p in module.parameters())
    print(f"{arguments.out} holds {parameters} parameters; train it with --model torchscript:file={arguments.out}")


def state_in(path, module):
    """Returns the arrays of a model.npz as a state_dict of this module."""
    arrays = dict(numpy.load(path))
    wanted = module.state_dict()
    if arrays.keys() != wanted.keys():
        sys.exit(f"'{path}' is of another module: only one of them has {sorted(arrays.keys() ^ wanted.keys())[:5]}")
    return {name: torch.from_numpy(array).reshape(wanted[name].shape).to(wanted[name].dtype)
            for name, array in arrays.items()}


def read_back(arguments):
    module = module_of(arguments.module)
    module.load_state_dict(state_in(arguments.npz, module))
    torch.save(module.state_dict(), arguments.out)
    print(f"{arguments.out} holds a state_dict of {arguments.module}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("export")
    one.add_argument("module")
    one.add_argument("out")
    one.set_defaults(run=export)
    one = commands.add_parser("import")
    one.add_argument("module")
    one.add_argument("npz")
    one.add_argument("out")
    one.set_defaults(run=read_back)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()

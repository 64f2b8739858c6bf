#!/usr/bin/env python3
"""Writes a module of PyTorch as gossamer reads it, and reads back what gossamer has trained.

    scripts/export_model.py export FILE.py:NAME model.pt      NAME() makes the module: a class, or a function
                                                              --plain-attention: for a LibTorch before 2.0
    scripts/export_model.py import FILE.py:NAME model.npz trained.pt
                                                              a state_dict, for module.load_state_dict

docs/your-own-model.md walks through it. Needs PyTorch and NumPy.
"""
import argparse
import importlib.util
import math
import pathlib
import sys
import warnings
from typing import Optional

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


def plain_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                    attn_mask: Optional[torch.Tensor] = None, dropout_p: float = 0.0, is_causal: bool = False,
                    scale: Optional[float] = None, enable_gqa: bool = False) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention, by functions that PyTorch 1.13 has."""
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    factor = 1 / math.sqrt(query.size(-1))
    if scale is not None:
        factor = scale
    scores = torch.matmul(query, key.transpose(-2, -1)) * factor
    if is_causal:
        future = torch.ones([query.size(-2), key.size(-2)], dtype=torch.bool, device=query.device).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(attn_mask.logical_not(), float("-inf"))
        else:
            scores = scores + attn_mask
    return torch.matmul(torch.dropout(torch.softmax(scores, -1), dropout_p, dropout_p > 0.0), value)


def export(arguments):
    if arguments.plain_attention:
        torch.nn.functional.scaled_dot_product_attention = plain_attention
    module = module_of(arguments.module).float()
    # PyTorch deprecates it for torch.export, whose packages LibTorch cannot train.
    warnings.filterwarnings("ignore", message=".*torch.jit.script.* is deprecated")
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
    one.add_argument("--plain-attention", action="store_true")
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

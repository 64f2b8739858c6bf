"""The parameters of a module as one vector."""

import itertools
from collections.abc import Collection
from typing import Any

import torch

from . import _gossamer
from .errors import usage_error


def running_statistics(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The means and variances that normalising layers keep, by name."""
    return {
        name: buffer
        for name, buffer in module.named_buffers()
        if name.rpartition(".")[2] in ("running_mean", "running_var") and buffer.is_floating_point()
    }


def copy_what_stays(module: torch.nn.Module, other: torch.nn.Module, travels: Collection[str]) -> None:
    """Gives a copy of a module what does not travel, as the loop has it now: frozen parameters and buffers."""
    places = dict(itertools.chain(other.named_parameters(), other.named_buffers()))
    with torch.no_grad():
        for name, value in itertools.chain(module.named_parameters(), module.named_buffers()):
            if name in places and name not in travels:
                places[name].copy_(value)


def _whole(t: torch.Tensor) -> torch.Tensor:
    """Gathers a tensor whose parts lie in several processes. All of them call it. And fills in a sparse one."""
    if t.is_sparse:
        return t.to_dense()
    return t.full_tensor() if hasattr(t, "full_tensor") else t


def _put(t: Any, value: torch.Tensor) -> None:
    """t <- value, or this process's part of it. All processes that have parts call it."""
    if hasattr(t, "full_tensor"):
        from torch.distributed.tensor import distribute_tensor

        value = distribute_tensor(value.to(t.device, t.dtype), t.device_mesh, t.placements)
    t.copy_(value)


def _replaced(name: str) -> Exception:
    return usage_error(
        f"the parameter {name} has been replaced by another tensor during the run",
        "change its values in place (copy_, load_state_dict), or move the module before join",
    )


class Buffers:
    """The persistent buffers of a module that do not travel, as one object that can be kept."""

    def __init__(self, module: torch.nn.Module, travels: Collection[str]):
        self._module, self._travels = module, travels

    def state_dict(self) -> dict[str, torch.Tensor]:
        persistent = self._module.state_dict()
        return {
            name: buffer
            for name, buffer in self._module.named_buffers()
            if name in persistent and name not in self._travels
        }

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        own = self.state_dict()
        if own.keys() != state.keys():
            raise ValueError(f"the module has the buffers {sorted(own)}, and the state those of {sorted(state)}")
        with torch.no_grad():
            for name, buffer in own.items():
                buffer.copy_(state[name])


class Tensors:
    """The parameters of a module that are trained, as one flat vector in main memory; its running statistics behind
    them, where they are averaged too.

    Where all are float32 in main memory they become views of the vector, so that nothing is copied between the two.
    """

    def __init__(self, module: torch.nn.Module, with_statistics: bool = False, group: Any = None):
        self.has_statistics, self.group = with_statistics, group
        self._module = module
        # Shared parameters have one name here, and travel once.
        named: list[tuple[str, torch.Tensor]] = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise usage_error("the module has no parameter that requires a gradient", "unfreeze what is to be trained")
        for name, p in named:
            if torch.nn.parameter.is_lazy(p):
                raise usage_error(f"the parameter {name} has no shape yet", "call the module once before join")
        if with_statistics:
            named += running_statistics(module).items()
        self.names = [name for name, _ in named]
        self.parameters = [p for _, p in named]
        devices = sorted({str(p.device) for p in self.parameters})
        if len(devices) > 1:
            raise usage_error(
                f"the module's parameters are on {' and '.join(devices)}", "move the module to one device"
            )
        if devices == ["meta"]:
            raise usage_error(f"the parameter {self.names[0]} is on the device meta, without values", "give it some")
        kinds = {p.dtype for p in self.parameters}
        if not all(kind.is_floating_point for kind in kinds):
            raise usage_error(f"the module has parameters of {kinds}", "train floating-point parameters")
        self.shapes = [list(p.shape) or [1] for p in self.parameters]
        sizes = [p.numel() for p in self.parameters]
        self.trained = sum(p.numel() for p in self.parameters if p.requires_grad)  # the first elements
        pinned = self.parameters[0].is_cuda
        self.flat = torch.empty(sum(sizes), dtype=torch.float32, pin_memory=pinned)
        self.array = self.flat.numpy()
        self._parts = [part.view(p.shape) for part, p in zip(self.flat.split(sizes), self.parameters)]
        self._variances = [part for name, part in zip(self.names, self._parts) if name.endswith("running_var")]
        self._rounds = kinds != {torch.float32}
        is_spread = any(hasattr(p, "full_tensor") for p in self.parameters)
        self.is_direct = devices == ["cpu"] and not self._rounds and not is_spread
        self.read()
        if self.is_direct:
            for p, part in zip(self.parameters, self._parts):
                p.data = part
            self._places = [p.data_ptr() for p in self.parameters]
        else:
            self.before = torch.empty_like(self.flat)

    def read(self) -> None:
        """Module to vector."""
        with torch.no_grad():
            for p, part in zip(self.parameters, self._parts):
                part.copy_(_whole(p.data))

    def write(self) -> None:
        """Vector to module."""
        if self.is_direct:
            return
        with torch.no_grad():
            for p, part in zip(self.parameters, self._parts):
                _put(p.data, part)
        if self._rounds:
            self.read()  # what the optimiser moves is counted from there
        self.before.copy_(self.flat)

    def load(self, job: "_gossamer.Job") -> None:
        """The job's model to vector and module, in all processes of a group."""
        job.copy_x(self.array)
        if self.group is not None:
            self.group.tell(job, self.flat, self.parameters[0].device)
        self._settle()

    def hear(self) -> Any:
        """The same where the first process of the group loads. Returns what it tells: see ``Told``."""
        told = self.group.hear(self.flat, self.parameters[0].device)
        if told.has_model:
            self._settle()
        return told

    def _settle(self) -> None:
        for part in self._variances:
            part.clamp_(min=0)  # a lossy codec may lead below
        self.write()

    def check_places(self) -> None:
        """Notes a parameter whose values are elsewhere by now; of models that share their memory with the vector."""
        for name, p, place in zip(self.names, self.parameters, self._places):
            if p.data_ptr() != place:
                raise _replaced(name)

    def check_names(self) -> None:
        """Notes a parameter that another one has replaced, and one that has been unfrozen since."""
        known = dict(zip(self.names, self.parameters))
        present = dict(self._module.named_parameters())
        for name, p in present.items():
            if name in known and known[name] is not p:
                raise _replaced(name)
            if name not in known and p.requires_grad:
                raise usage_error(
                    f"the parameter {name} requires a gradient now, and did not when the module joined: it would stay "
                    "each process's own",
                    "unfreeze it before join, with a rate of 0 until it is to move",
                )
        for name, tensor in known.items():
            if tensor.requires_grad and name not in present:
                raise _replaced(name)

    def gradients(self, to: torch.Tensor) -> None:
        sizes = [p.numel() for p in self.parameters]
        with torch.no_grad():
            for p, part in zip(self.parameters, to.split(sizes)):
                part.zero_() if p.grad is None else part.copy_(_whole(p.grad).reshape(-1))

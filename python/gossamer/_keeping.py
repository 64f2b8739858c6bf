"""States of optimisers and the like as bytes, without pickle: no byte of a file or a peer is ever run."""

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy
import torch

from .errors import BadDataError, usage_error

_plain = (type(None), bool, int, float, str)
_random = "random numbers"  # no keyword of keep


class Stream:
    """Generators of random numbers that are each worker's own.

    A worker that goes on from its own state draws on where it was; one that begins with the state of another worker
    keeps its own generators as they are, or two would draw the same.
    """

    def __init__(self, generators: Mapping[str, Any]):
        self._generators = generators
        self._rank: int | None = None
        self._given: dict[str, Any] | None = None  # until the rank is known

    def state_dict(self) -> dict[str, Any]:
        if self._given is not None:
            return self._given
        return {"rank": self._rank, "states": {name: _state_of(one) for name, one in self._generators.items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._given = {"rank": state["rank"], "states": dict(state["states"])}

    def begin_step(self, rank: int) -> None:
        self._rank = rank
        given, self._given = self._given, None
        if given is None or given["rank"] != rank:
            return
        for name, state in given["states"].items():
            if name in self._generators:  # a program may go on on another device
                _draw_on_from(self._generators[name], state)


def _is_generator(one: Any) -> bool:
    return isinstance(one, (torch.Generator, numpy.random.Generator))


def _state_of(generator: Any) -> Any:
    return generator.get_state() if isinstance(generator, torch.Generator) else generator.bit_generator.state


def _draw_on_from(generator: Any, state: Any) -> None:
    try:
        if isinstance(generator, torch.Generator):
            generator.set_state(state)
        else:
            generator.bit_generator.state = state
    except Exception as e:
        raise usage_error(
            f"a {type(generator).__name__} does not take the state that the run goes on from: {e}",
            "go on with the kind of generator that the state was kept of",
        ) from None


def _default_generators(device: torch.device) -> dict[str, torch.Generator]:
    found = {"cpu": torch.default_generator}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.default_generators[device.index]
    return found


@contextlib.contextmanager
def apart(step: int) -> Iterator[None]:
    """What draws random numbers within leaves no trace in those of the loop, and draws others in each step."""
    seed = torch.initial_seed() + step
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed % (1 << 63))
        yield


class Kept:
    """Objects with ``state_dict`` and ``load_state_dict``, by name, whose states go with those of the worker; and
    PyTorch's own generators of random numbers."""

    def __init__(self, device: torch.device) -> None:
        self._objects: dict[str, Any] = {}
        self._drawn = Stream(_default_generators(device))

    def add(self, objects: Mapping[str, Any]) -> None:
        """Takes objects whose states can be written down, as the present ones show, and refuses others."""
        taken = dict(objects)
        for name, one in objects.items():
            if _is_generator(one):
                one = taken[name] = Stream({"": one})
            if not callable(getattr(one, "state_dict", None)) or not callable(getattr(one, "load_state_dict", None)):
                raise usage_error(
                    f"{name} is a {type(one).__name__}, without state_dict and load_state_dict",
                    "give keep objects that have both, such as optimisers and schedulers, or generators of random numbers",
                )
            if self._objects.get(name, one) is not one:
                raise usage_error(f"two objects are kept as {name}", "give each its own name")
            words_of({name: one.state_dict()})
        self._objects |= taken

    def begin_step(self, rank: int) -> None:
        for one in (self._drawn, *self._objects.values()):
            if isinstance(one, Stream):
                one.begin_step(rank)

    def save(self) -> numpy.ndarray:
        """Returns the states of all objects, as the float32 elements of a vector that are not meant as numbers."""
        return words_of({name: one.state_dict() for name, one in {**self._objects, _random: self._drawn}.items()})

    def restore(self, words: numpy.ndarray) -> None:
        states = states_of(words)
        if drawn := states.pop(_random, None):  # which former versions did not keep
            _load(_random, self._drawn, drawn)
        if states.keys() != self._objects.keys():
            raise usage_error(
                f"the run goes on from a state that keeps {_names(states)}, and this loop keeps {_names(self._objects)}",
                "call run.keep with the same names",
            )
        for name, state in states.items():
            _load(name, self._objects[name], state)


def _load(name: str, one: Any, state: Any) -> None:
    """PyTorch notices only in the next step, if at all, that an optimiser has got the state of another kind."""
    own, given = _settings_of(one.state_dict()), _settings_of(state)
    problem = ""
    if own - given and given - own:
        problem = f"it has {', '.join(sorted(given - own))}, and not {', '.join(sorted(own - given))}"
    else:
        try:
            one.load_state_dict(state)
        except Exception as e:
            problem = f"{type(e).__name__}: {e}"
    if problem:
        raise usage_error(
            f"{name}, a {type(one).__name__}, does not take the state that the run goes on from: {problem}",
            "go on with the kind of object that the state was kept of",
        )


def _settings_of(state: Any) -> set[str]:
    groups = state.get("param_groups", ()) if isinstance(state, Mapping) else ()
    return {key for group in groups for key in group}


def _names(named: Mapping[str, Any]) -> str:
    return ", ".join(sorted(named)) or "nothing"


def words_of(states: Mapping[str, Any]) -> numpy.ndarray:
    """The length in bytes, then a file of NumPy with the tensors and, as JSON, the rest; padded to whole words."""
    arrays: list[numpy.ndarray] = []
    tree = {name: _tree_of(state, f"{name}.state_dict()", arrays) for name, state in states.items()}
    file = io.BytesIO()
    numpy.savez(
        file,
        tree=numpy.frombuffer(json.dumps(tree).encode(), numpy.uint8),
        **{f"a{k}": a for k, a in enumerate(arrays)},
    )
    content = file.getvalue()
    padding = -len(content) % 4
    return numpy.frombuffer(len(content).to_bytes(8, "little") + content + bytes(padding), numpy.float32)


def states_of(words: numpy.ndarray) -> dict[str, Any]:
    """The inverse. Raises ``gossamer.BadDataError`` where the bytes are none that ``words_of`` has written."""
    raw = words.tobytes()
    try:
        content = raw[8 : 8 + int.from_bytes(raw[:8], "little")]
        with zipfile.ZipFile(io.BytesIO(content)) as all_parts:
            if any(part.compress_type != zipfile.ZIP_STORED for part in all_parts.infolist()):
                raise ValueError("it is compressed, and may hold more than it has bytes")
        with numpy.load(io.BytesIO(content), allow_pickle=False) as file:
            tree = json.loads(file["tree"].tobytes())
            return {name: _value_of(state, file) for name, state in tree.items()}
    except Exception as e:
        raise BadDataError("bad-data", f"the state that a loop has kept cannot be read: {e}") from e


def _tree_of(value: Any, place: str, arrays: list[numpy.ndarray]) -> Any:
    if isinstance(value, numpy.generic):
        value = value.item()
    if type(value) in _plain:
        return {"plain": value}
    if isinstance(value, (torch.Tensor, numpy.ndarray)):
        return _tree_of_tensor(value, place, arrays)
    if isinstance(value, Mapping):
        items = [(key, _tree_of(one, f"{place}[{key!r}]", arrays)) for key, one in value.items()]
        if all(type(key) in (str, int) for key in value):
            return {"dict": items}
    elif isinstance(value, (list, tuple)):  # subclasses, such as torch.Size, come back as plain ones
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_tree_of(one, f"{place}[{k}]", arrays) for k, one in enumerate(value)]}
    raise usage_error(
        f"{place} is a {type(value).__name__}, which is not kept",
        "allowed are tensors, arrays, numbers, strings, None, and lists, tuples and dicts of them",
    )


def _tree_of_tensor(value: Any, place: str, arrays: list[numpy.ndarray]) -> Any:
    kind = "array"
    if isinstance(value, torch.Tensor):
        value, kind = value.detach().cpu(), "tensor"
        if value.dtype == torch.bfloat16:  # which NumPy does not have
            value, kind = value.view(torch.int16), "bfloat16"
        value = value.numpy()
    if value.dtype.hasobject:
        raise usage_error(f"{place} is an array of objects, which is not kept", "keep numbers alone")
    arrays.append(value)
    return {kind: len(arrays) - 1}


def _value_of(tree: Any, file: Any) -> Any:
    ((kind, value),) = tree.items()
    if kind == "plain":
        return value
    if kind == "dict":
        return {key: _value_of(one, file) for key, one in value}
    if kind in ("list", "tuple"):
        parts = [_value_of(one, file) for one in value]
        return parts if kind == "list" else tuple(parts)
    array = file[f"a{int(value)}"]
    if kind == "array":
        return array
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if kind == "bfloat16" else tensor

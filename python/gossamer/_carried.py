"""Arrays of NumPy and tensors of PyTorch as what a group carries: vectors of float32, and bytes."""

from typing import Any

import numpy

from .errors import usage_error

_added = ("float32", "float16", "bfloat16")


def _is_tensor(x: Any) -> bool:
    return hasattr(x, "detach") and hasattr(x, "cpu")


def _is_array(x: Any) -> bool:
    return isinstance(x, numpy.ndarray)


def _type_of(x: Any) -> str:
    if not (_is_array(x) or _is_tensor(x)):
        raise usage_error(f"a {type(x).__name__} is given to a group", "pass an array of NumPy or a tensor of PyTorch")
    if _is_array(x) and x.dtype.hasobject:
        raise usage_error("an array of objects is given to a group", "pass numbers")
    if _is_tensor(x) and (str(x.layout) != "torch.strided" or x.is_quantized or x.device.type == "meta"):
        raise usage_error("a sparse, quantised or empty kind of tensor is given to a group", "pass a dense one")
    return str(x.dtype).removeprefix("torch.")


def described(x: Any) -> str:
    """Shape and type in words, the same for an array and a tensor."""
    return f"{_type_of(x)} of shape {tuple(x.shape)}"


def is_added(x: Any) -> bool:
    """True if ``floats_of`` takes it."""
    return _type_of(x) in _added


def floats_of(x: Any) -> numpy.ndarray:
    """All elements as a vector of float32, in the memory of x where that is possible."""
    if not is_added(x):
        raise usage_error(
            f"a tensor of {described(x)} is to be added up, and a group adds in float32",
            f"allowed: {', '.join(_added)}; convert it, or use all_gather, which carries any type as it is",
        )
    require_writable(x)
    if _is_array(x):
        return numpy.ascontiguousarray(x, dtype=numpy.float32).reshape(-1)
    return x.detach().float().cpu().contiguous().reshape(-1).numpy()


def require_writable(x: Any) -> None:
    if _is_array(x) and not x.flags.writeable:
        raise usage_error("the array is read-only, and the result is written into it", "pass a copy")
    if _is_tensor(x) and any(size > 1 and step == 0 for size, step in zip(x.shape, x.stride())):
        raise usage_error("elements of the tensor share their places, and the result is written into it", "pass a copy")


def _place_of(x: Any) -> int:
    if _is_array(x):
        return x.__array_interface__["data"][0]
    return x.data_ptr()


def put_floats(x: Any, values: numpy.ndarray) -> None:
    """x <- values, which may be in the memory of x already."""
    if values.size and _place_of(x) == values.__array_interface__["data"][0]:
        return
    if _is_array(x):
        x[...] = values.reshape(x.shape)
    else:
        x.detach().copy_(_tensor_of(values).view(x.shape))


def bytes_of(x: Any) -> numpy.ndarray:
    _type_of(x)
    if _is_array(x):
        return numpy.ascontiguousarray(x).reshape(-1).view(numpy.uint8)
    import torch

    if x.numel() == 0:
        return numpy.empty(0, numpy.uint8)
    return x.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy()


def like(x: Any, data: bytes) -> Any:
    """A new array or tensor of the type, shape and device of x, from its bytes."""
    if _is_array(x):
        return numpy.frombuffer(data, dtype=x.dtype).reshape(x.shape).copy()
    if x.numel() == 0:
        return x.detach().clone()
    return _tensor_of(numpy.frombuffer(data, dtype=numpy.uint8).copy()).view(x.dtype).view(x.shape).to(x.device)


def put_bytes(x: Any, data: bytes) -> None:
    if _is_array(x):
        x[...] = like(x, data)
    else:
        x.detach().copy_(like(x, data))


def _tensor_of(values: numpy.ndarray) -> Any:
    import torch

    return torch.from_numpy(values)

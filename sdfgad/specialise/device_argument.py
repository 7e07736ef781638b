"""Arguments on a device: arrays of any library there, which the compiled program reads where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.errors import ArgumentError, Location

if TYPE_CHECKING:
    from sdfgad.runtime.gpu.caller import Caller

# How an array becomes one of NumPy, by the package of its library.
TO_HOST = {"cupy": "{}.get()", "torch": "{}.numpy(force=True)", "jax": "np.asarray({})", "jaxlib": "np.asarray({})"}
TO_HOST |= {"numba": "{}.copy_to_host()", "sdfgad": "{}.to_numpy()"}
CONTIGUOUS = {"cupy": "cupy.ascontiguousarray({})", "torch": "{}.contiguous()"}


class OnGpu(ArgumentError):
    """An argument is on a device, and the program runs on the CPU."""


class DeviceArgument:
    """An array on a device, of any library, as an argument of a call.

    Attributes:
        owner: the user's array.
        caller: the device and the stream that the call works on.
        pointer: the address of the first element.
        stream: what the call's stream has to wait for; None: nothing.
    """

    __slots__ = ("caller", "dtype", "name", "owner", "pointer", "shape", "stream")

    def __init__(self, name: str, owner: Any, caller: Caller, of: tuple[Any, ...]) -> None:
        self.name, self.owner, self.caller = name, owner, caller
        self.pointer, self.shape, self.dtype, self.stream = of

    @property
    def ordinal(self) -> int:
        return self.caller.ordinal

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        return self.caller.to_numpy(self)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray[Any, Any]:
        """A copy on the host: of integers, which may decide what the program is.

        Raises:
            ArgumentError: it has other elements.
        """
        if self.dtype.kind not in "iub":
            raise on_gpu(self.name, self.owner, None)
        return self.to_numpy()

    def overlaps(self, other: Any) -> bool:
        """Whether it shares memory with another argument."""
        if not isinstance(other, DeviceArgument):
            return False
        ends = self.pointer + self.nbytes, other.pointer + other.nbytes
        return max(self.pointer, other.pointer) < min(ends)


def may_be_on_device(kind: type) -> bool:
    """Whether arrays of a class may be on a device, by the protocols that the class has."""
    return hasattr(kind, "__dlpack_device__") or hasattr(kind, "__cuda_array_interface__")


def device_argument(
    name: str, value: Any, found: Mapping[str, DeviceArgument] | None, where_of: Callable[[], Location | None]
) -> DeviceArgument | None:
    """An argument on a device; None for an array that is not on one.

    Args:
        found: the arguments of the call that are on a device; None where it runs on the CPU.
        where_of: where the function is defined, for errors.

    Raises:
        ArgumentError: it cannot be used there, or others are on another device.
    """
    # Only now: calls without such arrays need nothing of this.
    from sdfgad.runtime.gpu.arrays import is_device_array
    from sdfgad.runtime.gpu.caller import caller_of, ordinal_of

    if not is_device_array(value):
        return None
    if found is None:
        raise on_gpu(name, value, where_of())
    first = next(iter(found.values()), None)
    ordinal = ordinal_of(value)
    caller = caller_of(value, ordinal) if first is None else first.caller
    if first is not None and ordinal != caller.ordinal:
        raise ArgumentError(
            f"the arguments `{first.name}` and `{name}` are on different devices, {caller.ordinal} and {ordinal}",
            where_of(),
            "Copy one of them to the other's device.",
        )
    try:
        *place, is_contiguous = caller.address_of(value)
    except ArgumentError as error:
        raise ArgumentError(f"argument `{name}`: {error.what}", where_of(), error.todo) from None
    except (BufferError, RuntimeError, TypeError) as error:
        what = f"argument `{name}`, a {type(value).__name__}, does not show its memory: {error}"
        raise ArgumentError(what, where_of(), "Pass a plain array; of PyTorch's, one that is detached.") from None
    if not is_contiguous:
        copy = CONTIGUOUS.get(_package(value), "a copy of {}").format(name)
        raise ArgumentError(
            f"argument `{name}` is on a device, and its elements are not stored row by row, one after the other",
            where_of(),
            f"Pass a contiguous copy: {copy}.",
        )
    return DeviceArgument(name, value, caller, tuple(place))


def on_device_of(call: Any, name: str, value: Any) -> DeviceArgument | None:
    """An array on the device that a call works on; None for an array that is not on one.

    Raises:
        ArgumentError: it is on another device than the call's arguments.
    """
    # Arrays of NumPy have DLPack, too.
    if isinstance(value, np.ndarray) or not may_be_on_device(type(value)):
        return None
    found = {leaf: one for leaf, one in call.values.items() if isinstance(one, DeviceArgument)}
    return device_argument(name, value, found if call.caller is not None else None, lambda: None)


def on_gpu(name: str, value: Any, where: Location | None) -> OnGpu:
    """The error for an array on a device where the program runs on the CPU."""
    copy = TO_HOST.get(_package(value), "a copy of {} on the host").format(name)
    return OnGpu(
        f"argument `{name}`, a {type(value).__name__}, is on a GPU, and this runs on the CPU",
        where,
        f'Pass an array of NumPy: {copy}; or device="gpu" to `differentiate`.',
    )


def _package(value: Any) -> str:
    return type(value).__module__.partition(".")[0]

"""Argument marshalling: the arrays and integers of a call as the compiled program takes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.messages.host import raise_failure
from sdfgad.parse.callbacks import raised
from sdfgad.parse.overlap import may_overlap
from sdfgad.parse.primal import Primal
from sdfgad.parse.structure import repeated
from sdfgad.specialise.device_argument import DeviceArgument
from sdfgad.specialise.signature import Call, as_contiguous

Array = np.ndarray[Any, Any]


class Arguments:
    """The arguments of one program, and the checks that it makes of them."""

    def __init__(self, primal: Primal) -> None:
        self.primal = primal

    def inputs(self, call: Call) -> dict[str, Array]:
        """The inputs by buffer name; arrays that are not contiguous, or of another dtype, are copied.

        Raises:
            ArgumentError: the program updates an argument that shares memory with another one, or that NumPy would copy
                where the program has a view, or it changes a container and one is passed twice.
        """
        self._refuse_shared_memory(call)
        self._refuse_shared_containers(call)
        self._refuse_adopted(call)
        self._refuse_other_orders(call)
        arrays = {name: as_contiguous(array, array.dtype) for name, array in self.primal.captured.items()}
        arrays |= call.numbers(self.primal.draws)
        for name, buffer in self.primal.inputs.items():
            # The user's own where it is such an array already.
            arrays[buffer] = as_contiguous(call.values[name], call.kinds[name].dtype)
        return arrays

    def integers(self, call: Call) -> dict[str, int]:
        """The run-time integers by symbol."""
        return {symbol: call.kinds[name] for name, symbol in self.primal.integers.items()}

    def copied_bytes(self, call: Call) -> int:
        """The size of the copies that `inputs` makes, because the compiled code reads row by row."""
        arrays = [(call.values[name], call.kinds[name]) for name in self.primal.inputs]
        return sum(np.size(v) * kind.dtype.itemsize for v, kind in arrays if not _is_plain(v, kind.dtype))

    def has_same_arrays(self, call: Call) -> bool:
        """Whether the integer arrays of a call have the elements that are constants of the program."""
        return all(np.array_equal(call.values[name], copy) for name, copy in self.primal.decisive.items())

    def fits(self, call: Call) -> bool:
        """Whether the program is valid for the values of a call's integers."""
        has_same_integers = all(call.kinds[name] == value for name, value in self.primal.fixed.items())
        if not (has_same_integers and self.has_same_arrays(call)):
            return False
        values = self.integers(call)
        point = " and ".join(f"{symbol} = {value}" for symbol, value in values.items())
        return not (self.primal.context & isl.Set(f"[{', '.join(values)}] -> {{ : {point or '0 = 0'} }}")).is_empty()

    def raise_failed_checks(self, arrays: Mapping[str, Array]) -> None:
        """Raises what a run of the program found, such as InvalidIndex."""
        raise_failure()
        program = self.primal.program
        failed = program.failed(int(arrays["status"])) if program.checks else None
        if failed is not None:
            raise failed.failure() from raised()

    def _refuse_shared_memory(self, call: Call) -> None:
        """An update of one argument must not change another: the compiled program sees them as separate."""
        for name in self._updated:
            others = {n: call.values[n] for n in self.primal.inputs if n != name} | dict(self.primal.captured)
            for other, array in others.items():
                if _may_overlap(call.values[name], array):
                    raise ArgumentError(
                        f"the arguments `{name}` and `{other}` share memory, and the program updates `{name}`",
                        self.primal.source.where(self.primal.source.node),
                        "Pass a copy of one of them.",
                    )

    def _refuse_shared_containers(self, call: Call) -> None:
        """A change of one container must not change another: the program has been parsed with separate ones."""
        if not self.primal.changes_containers:
            return
        found = repeated((call.structures[name], value, name) for name, value in call.containers.items())
        if found is not None:
            raise ArgumentError(
                f"the arguments `{found[1]}` and `{found[0]}` are one object, and the program changes such an argument",
                self.primal.source.where(self.primal.source.node),
                "Pass a copy of one of them.",
            )

    def _refuse_adopted(self, call: Call) -> None:
        """What the program changes of the outside must be no argument: it has a copy of its own of that."""
        if not self.primal.adopted:
            return
        for name, value in {**call.values, **call.containers}.items():
            if any(_is_same(value, one) for one in self.primal.adopted):
                raise ArgumentError(
                    f"the argument `{name}` is, or shares memory with, a global or free name that the program changes",
                    self.primal.source.where(self.primal.source.node),
                    "Pass a copy, or use the argument instead of the other name.",
                )

    def _refuse_other_orders(self, call: Call) -> None:
        """What the program reshapes without a copy, and updates, must be stored as the program takes it to be."""
        for name in self.primal.row_major:
            value = call.values[name]
            if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
                raise ArgumentError(
                    f"the argument `{name}` is not stored row by row, so that NumPy may copy it to reshape it, and the "
                    "program updates it or what it has reshaped",
                    self.primal.source.where(self.primal.source.node),
                    "Pass np.ascontiguousarray of it, or copy it in the program first.",
                )

    @cached_property
    def _updated(self) -> list[str]:
        return [name for name in self.primal.inputs if name in self.primal.program.outputs]


def _is_plain(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether an array is passed to the compiled code as it is."""
    return not isinstance(value, np.ndarray) or (value.flags.c_contiguous and value.dtype == dtype)


def _is_same(x: Any, y: Any) -> bool:
    """Whether two values are one container, or arrays that share memory."""
    return x is y or (isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and _may_overlap(x, y))


def _may_overlap(x: Any, y: Any) -> bool:
    if isinstance(x, DeviceArgument) or isinstance(y, DeviceArgument):
        return isinstance(x, DeviceArgument) and x.overlaps(y)
    return may_overlap(x, y)

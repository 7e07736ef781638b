"""Builder of the statements that a library call becomes on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, Read, cast
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Buffer, Call, Compute, Params, Whole

Index = tuple[Lin, ...]
INT32 = np.dtype(np.int32)


def wide(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type in which matrices are factorised."""
    return np.result_type(dtype, np.float64)


def conjugate(value: Expr) -> Expr:
    return Op("conjugate", (value,), value.dtype) if value.dtype.kind == "c" else value


def real(value: Expr) -> Expr:
    """The real part, in the type of the value."""
    if value.dtype.kind != "c":
        return value
    return cast(Op("real", (value,), np.empty(0, value.dtype).real.dtype), value.dtype)


def choose(condition: Expr, yes: Expr, no: Expr) -> Expr:
    return Op("select", (condition, yes, no), yes.dtype)


def compared(name: str, a: Lin, b: Lin) -> Expr:
    return Op(name, (Int(a), Int(b)), BOOL)


def at(whole: Whole, index: Sequence[Lin]) -> Read:
    return Read(whole.buffer, tuple(index), whole.dtype)


def _failed(failed: Whole, index: Index) -> Expr:
    return cast(Op("not_equal", (at(failed, index), Const(0, INT32)), BOOL), INT)


class CallSteps:
    """The call that is lowered, and storage for what is between.

    Attributes:
        stack: the extents of its batch of matrices: the axes before the last two of its first array.
        wide: the type in which it is computed.
    """

    def __init__(self, call: Call, names: Names, buffers: dict[str, Buffer]) -> None:
        self.call, self._names, self._buffers = call, names, buffers
        first = call.inputs[0]
        self.stack, self.wide = first.shape[:-2], wide(first.dtype)

    def new(self, base: str, shape: Sequence[int | Lin], dtype: np.dtype[np.generic] | None = None) -> Whole:
        """A new array; for each matrix of the stack, if it is of `matrices`."""
        extents = tuple(map(Lin.of, shape))
        buffer = Buffer(self._names.fresh(base), extents, dtype or self.wide)
        self._buffers[buffer.name] = buffer
        return Whole(buffer.name, extents, buffer.dtype)

    def matrices(self, base: str, *shape: int, dtype: np.dtype[np.generic] | None = None) -> Whole:
        """A new array with so many elements for each matrix of the stack."""
        return self.new(base, (*self.stack, *map(Lin.of, shape)), dtype)

    def counter(self, base: str) -> str:
        """A name for the counter of a loop."""
        return self._names.fresh(base)

    def one(self, target: Whole, index: Index, value: Expr) -> Compute:
        """``target[index] = value``."""
        return Compute((), Access(target.buffer, index), value, where=self.call.where)

    def fill(self, target: Whole, value: Callable[[Index], Expr]) -> Compute:
        """``target[index] = value(index)`` for all indices."""
        params = self.params(target.shape)
        index = tuple(Lin.symbol(name) for name, _ in params)
        return Compute(params, Access(target.buffer, index), cast(value(index), target.dtype), where=self.call.where)

    def total(self, target: Whole, extents: Sequence[Lin], value: Callable[[Index], Expr]) -> Compute:
        """The sums of ``value(index)`` over the last indices, of these extents."""
        params = self.params((*target.shape, *extents))
        index = tuple(Lin.symbol(name) for name, _ in params)
        access = Access(target.buffer, index[: len(target.shape)])
        return Compute(params, access, cast(value(index), target.dtype), "add", self.call.where, fresh=True)

    def turned(self, target: Whole, source: Whole, change: Callable[[Expr], Expr] = lambda value: value) -> Compute:
        """The transposes of matrices in another type, each element of them changed."""
        return self.fill(target, lambda i: change(cast(at(source, (*i[:-2], i[-1], i[-2])), target.dtype)))

    def run(self, name: str, inputs: Sequence[Whole], outputs: Sequence[Whole], *sizes: int) -> Call:
        return Call(name, tuple(inputs), tuple(outputs), sizes, self.call.where)

    def any_failed(self, failed: Whole) -> Compute:
        """The status of the call: how many matrices failed."""
        return self._status(failed.shape, lambda i: _failed(failed, i))

    def any_failed_or_nan(self, failed: Whole, numbers: Callable[[Index], Expr], count: int) -> Compute:
        """The same of what LAPACK refuses if it is not a number, as some of these `count` numbers of each are then."""

        def value(i: Index) -> Expr:
            is_nan = cast(Op("isnan", (numbers(i),), BOOL), INT)
            return Op("add", (_failed(failed, i[:-1]), is_nan), INT)

        return self._status((*failed.shape, Lin(count)), value)

    def _status(self, extents: Index, value: Callable[[Index], Expr]) -> Compute:
        status = self.call.outputs[-1]
        return self.total(status, extents, value) if extents else self.fill(status, lambda _: value(()))

    def params(self, extents: Sequence[Lin]) -> Params:
        return tuple((self._names.fresh("p"), extent) for extent in extents)

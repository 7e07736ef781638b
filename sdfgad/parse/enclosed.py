"""Values of an enclosing program: hidden inputs of a program that is made of one of its nested functions.

They are bound where that program is inlined, which may be in others before the enclosing one.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Buffer
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor, view_of


@dataclass(frozen=True, eq=False)
class Enclosed:
    """An array or number of an enclosing program, whose builder is `b`."""

    b: Builder
    tensor: Tensor
    name: str


class EnclosingFails(Exception):
    """An enclosing program has to be parsed again under other assumptions; internal, it never reaches the user."""

    def __init__(self, b: Builder, failure: Exception) -> None:
        super().__init__(str(failure))
        self.b, self.failure = b, failure


def enclosed_value(b: Builder, one: Enclosed) -> Tensor:
    """The value of an enclosing program, as a value of that of `b`: itself, or a hidden input."""
    if one.b is b:
        return one.tensor
    same = (name for name, other in b.captured.items() if isinstance(other, Enclosed) and other.tensor is one.tensor)
    buffer = next((b.buffers[name] for name in same if name in b.buffers), None)
    if buffer is None:
        shape = tuple(Lin(one.b.constant(extent)) for extent in one.tensor.shape)
        buffer = Buffer(b.fresh(one.name), shape, one.tensor.dtype, one.name, b.where)
        b.buffers[buffer.name] = buffer
        b.captured[buffer.name] = one
    return view_of(buffer, one.tensor.weak).as_value(settled=True)

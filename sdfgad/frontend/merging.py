"""What a name holds where several paths of a program meet.

Values are copied into common storage. An array is a reference in Python, so a copy stands for an array only until
one of those that it may stand for changes; `Tensor.copy_of` remembers which those are.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.errors import Location, UnboundVariable, UnsupportedProgram
from sdfgad.frontend.builder import Builder
from sdfgad.frontend.values import AfterLoop, Tensor, Unbound, as_tensor, is_integer, is_number
from sdfgad.ir.linear import Lin

if TYPE_CHECKING:
    from sdfgad.frontend.interpreter import Frame


def bound_value(frame: Frame, node: ast.Name, value: Any) -> Any:
    """The value of a name, once it is certain that it has one and that it is the one Python would see."""
    where = frame.source.where(node)
    if isinstance(value, AfterLoop):
        if not frame.b.holds(value.trips - 1):
            raise UnboundVariable(
                f"`{node.id}` is bound only inside a loop that may not run", where, "Assign it before the loop."
            )
        frame.env[node.id] = value.value
        return bound_value(frame, node, value.value)
    if isinstance(value, Unbound):
        raise UnboundVariable(f"`{node.id}` may have no value here: {value.reason}", where, "Assign it before.")
    if isinstance(value, Tensor) and frame.b.changed_since(value):
        raise stale(node.id, where)
    return value


def stale(name: str, where: Location | None) -> UnsupportedProgram:
    return UnsupportedProgram(
        f"`{name}` may stand for several arrays, chosen at run time, and one of them has changed since",
        where,
        "Copy the array where it is chosen, or update it afterwards.",
    )


def joined(b: Builder, name: str, ends: list[tuple[Any, list[Any]]], sources: set[str]) -> Tensor:
    """Storage that each of several blocks fills with its own value of a name.

    Args:
        ends: each block's value, and its statements, to which the copy is added.
        sources: buffers of arrays that the result may stand for.
    """
    tensors = [as_mergeable(b, name, value) for value, _ in ends]
    shape = same_shape(b, name, tensors)
    dtype, weak = common_type(tensors)
    result = b.new_view(name, shape, dtype, weak)
    for tensor, (_, block) in zip(tensors, ends, strict=True):
        b.blocks.append(block)
        b.assign(result, tensor)
        b.blocks.pop()
    return as_name(b, result, sources)


def as_name(b: Builder, store: Tensor, sources: set[str]) -> Tensor:
    """What a name holds whose value is in `store`."""
    if not store.ndim:
        return store.as_value(settled=True)
    return replace(b.frozen(store, sources), settled=True) if sources else store


def shared(frame: Frame, name: str, env: dict[str, Any]) -> set[str]:
    """The buffers of the arrays that `name` refers to, if anything else may refer to them, too."""
    value = env[name]
    if not isinstance(value, Tensor):
        return set()
    if value.place is None:
        return {buffer for buffer, _ in value.copy_of}
    buffer = str(value.buffer)
    others = [other for n, other in env.items() if n != name]
    is_sole = buffer not in frame.known and not any(refers(other, buffer) for other in others)
    return set() if is_sole else {buffer}


def refers(value: Any, buffer: str) -> bool:
    """Whether a value is, or holds, an array in a buffer."""
    if isinstance(value, AfterLoop):
        return refers(value.value, buffer)
    if isinstance(value, (tuple, list)):
        return any(refers(v, buffer) for v in value)
    if isinstance(value, dict):
        return any(refers(v, buffer) for v in value.values())
    return isinstance(value, Tensor) and value.buffer == buffer


def same_static(x: Any, y: Any) -> bool:
    if is_number(x) and is_number(y):
        return type(x) is type(y) and x == y
    return is_integer(x) and is_integer(y) and Lin.of(x) == Lin.of(y)


def as_mergeable(b: Builder, name: str, value: Any) -> Tensor:
    if is_number(value) or isinstance(value, (Tensor, Lin)):
        return as_tensor(value)
    raise b.unsupported(f"`{name}` is re-bound to a {type(value).__name__} in a branch or loop")


def same_shape(b: Builder, name: str, tensors: list[Tensor]) -> Any:
    first, *rest = tensors
    for other in rest:
        if len(other.shape) != len(first.shape) or not all(
            b.is_zero(x - y) for x, y in zip(first.shape, other.shape, strict=True)
        ):
            raise b.unsupported(f"`{name}` changes its shape in a branch or loop", "Use another name.")
    return first.shape


def common_type(tensors: list[Tensor]) -> tuple[np.dtype[Any], bool]:
    weak = all(t.weak for t in tensors)
    if weak:
        return np.result_type(*(t.dtype for t in tensors)), True
    # A Python number that meets a NumPy value takes its precision, as in NumPy's own promotion.
    zeros = {"b": False, "i": 0, "f": 0.0}
    return np.result_type(*(zeros.get(t.dtype.kind, t.dtype) if t.weak else t.dtype for t in tensors)), False

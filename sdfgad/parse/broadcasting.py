"""Broadcasting of shapes and tensors by NumPy's rules."""

from __future__ import annotations

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import BOOL, INT, Int, Lin, Op, as_linear
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.emitter import Emitter
from sdfgad.parse.values import Index, Tensor, shape_text


def broadcast_shapes(b: Emitter, *shapes: Index) -> Index:
    """NumPy's broadcast shape.

    Raises:
        ShapeMismatch: there is none.
    """
    result: list[Lin] = []
    for position in range(max(map(len, shapes), default=0)):
        extents = [shape[-1 - position] for shape in shapes if position < len(shape)]
        result.append(_common_extent(b, extents, shapes))
    return tuple(reversed(result))


def _common_extent(b: Emitter, extents: list[Lin], shapes: tuple[Index, ...]) -> Lin:
    wide = [e for e in extents if e != Lin(1)]
    if not wide:
        return Lin(1)
    first = next((e for e in wide if e.is_const), wide[0])
    for extent in wide:
        if extent != first and not b.is_zero(extent - first):
            symbols = b.symbols_behind((extent - first).symbols)
            if symbols:
                raise NeedsConstant(symbols, b.where)
            if not (extent.is_const and first.is_const):
                first = _equal_at_run_time(b, first, extent)
                continue
            text = " and ".join(map(shape_text, shapes))
            raise ShapeMismatch(
                f"shapes {text} do not broadcast",
                b.where,
                "Make each extent equal or 1, by a slice or reshape; `x[:, None]` adds an axis of length 1.",
            )
    return first


def _equal_at_run_time(b: Emitter, x: Lin, y: Lin) -> Lin:
    """Require, by a run-time check, that two sizes are equal; their minimum, so that no access is out of bounds."""
    is_equal = Op("equal", (Int(x), Int(y)), BOOL)
    b.check(is_equal, (), "shapes do not broadcast", ShapeMismatch, "NumPy raises ValueError here, too.")
    return as_linear(Op("minimum", (Int(x), Int(y)), INT))


def broadcast_to(b: Emitter, tensor: Tensor, shape: Index) -> Tensor:
    """A view of the tensor, broadcast to another shape.

    Raises:
        ShapeMismatch: it does not broadcast to it.
    """
    if tensor.shape == shape:
        return tensor
    b.check_size(shape)
    extra = tensor.ndim - len(shape)
    if extra > 0 and all(e == Lin(1) for e in tensor.shape[:extra]):
        # Assignment drops leading extents of 1.
        tensor = tensor.reindexed(tensor.shape[extra:], lambda p: (*(Lin(0),) * extra, *p))
    if tensor.ndim > len(shape) or not _broadcasts(b, tensor.shape, shape):
        raise ShapeMismatch(
            f"shape {shape_text(tensor.shape)} does not broadcast to {shape_text(shape)}",
            b.where,
            "Make each extent equal or 1, by a slice or reshape; `x[:, None]` adds an axis of length 1.",
        )
    offset = len(shape) - tensor.ndim
    narrow = tuple(e == Lin(1) for e in tensor.shape)

    def old_index(index: Index) -> Index:
        return tuple(Lin(0) if one else i for one, i in zip(narrow, index[offset:], strict=True))

    return tensor.reindexed(shape, old_index)


def _broadcasts(b: Emitter, shape: Index, wide: Index) -> bool:
    if not all(extent.is_const for extent in (*shape, *wide)):
        # Sizes that are known only at run time are checked there.
        wanted = zip(shape, wide[len(wide) - len(shape) :], strict=True)
        if not all(e == Lin(1) or w != Lin(1) for e, w in wanted):
            return False
        broadcast_shapes(b, shape, wide)
        return True
    return broadcast_shapes(b, shape, wide) == broadcast_shapes(b, wide)

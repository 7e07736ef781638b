"""Einstein summation, and products that are special cases of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Const, Expr, Lin, Op
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.assembly import common_dtype
from sdfgad.parse.functions.contraction import matmul
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.functions.output import into, require_cast
from sdfgad.parse.functions.reduction import normalise_axes, sum_
from sdfgad.parse.functions.shape import ravel, reshape
from sdfgad.parse.functions.views import diagonal
from sdfgad.parse.registry import function
from sdfgad.parse.values import Index, Tensor, astype, cast, is_integer, scalar

Labels = tuple[str, ...]
Term = tuple[Tensor, Labels]


@function(np.einsum)
def einsum(
    b: Builder,
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
) -> Tensor:
    """``np.einsum``; several operands are multiplied from left to right."""
    if not operands or not isinstance(operands[0], str):
        operands = _as_text(b, operands)
    tensors = [tensor_of(b, operand) for operand in operands[1:]]
    terms, output = _parsed(b, operands[0], tensors)
    wide = np.dtype(dtype) if dtype is not None else common_dtype(tensors)
    if wide.kind == "b":
        raise b.unsupported("np.einsum of booleans is not supported", "Convert them: x.astype(int).")
    for tensor in tensors:
        require_cast(b, tensor, wide, casting)
    extents = _extents(b, terms)
    while len(terms) > 2:
        needed = {label for _, labels in terms[2:] for label in labels} | set(output)
        used = [label for label in dict.fromkeys(terms[0][1] + terms[1][1]) if label in needed]
        terms = [(product(b, terms[:2], tuple(used), extents, wide), tuple(used)), *terms[2:]]
    return into(b, out, product(b, terms, output, extents, wide))


def _as_text(b: Builder, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Converts the form operand, labels, operand, labels, …, output, with integer labels, to that with subscripts."""
    pairs, rest = operands[: len(operands) // 2 * 2], operands[len(operands) // 2 * 2 :]

    def letters(entries: Any) -> str:
        return "".join("..." if e is Ellipsis else chr(ord("A") + b.constant(e)) for e in entries)

    text = ",".join(letters(labels) for labels in pairs[1::2])
    return (text + "->" + letters(rest[0]) if rest else text, *pairs[::2])


def _parsed(b: Builder, text: str, tensors: list[Tensor]) -> tuple[list[Term], Labels]:
    """The labels of each operand and of the result; those of an ellipsis are numbers, counted from its last axis."""
    given, arrow, result = text.replace(" ", "").partition("->")
    inputs = given.split(",")
    if len(inputs) != len(tensors):
        raise b.unsupported(
            f"{len(inputs)} subscripts for {len(tensors)} operands of np.einsum",
            "Give each operand its subscripts, separated by commas.",
        )
    terms = [(tensor, _labels(b, part, tensor.ndim)) for part, tensor in zip(inputs, tensors, strict=True)]
    rest = max((sum(label.isdigit() for label in labels) for _, labels in terms), default=0)
    if arrow:
        return terms, _labels(b, result, len(result.replace("...", "")) + (rest if "..." in result else 0))
    letters = sorted(c for c in set(given) if c.isalpha() and given.count(c) == 1)
    return terms, (*(str(k) for k in reversed(range(rest))), *letters)


def _labels(b: Builder, part: str, ndim: int) -> Labels:
    before, dots, after = part.partition("...")
    extra = ndim - len(before) - len(after)
    if extra < 0 or (extra and not dots):
        raise b.unsupported(
            f"the subscripts {part!r} do not fit an array of {ndim} dimensions",
            "Give each axis one letter, or write an ellipsis: '...i'.",
        )
    return (*before, *(str(k) for k in reversed(range(extra))), *after)


def _extents(b: Builder, terms: list[Term]) -> dict[str, Lin]:
    extents: dict[str, Lin] = {}
    for tensor, labels in terms:
        for label, extent in zip(labels, tensor.shape, strict=True):
            known = extents.setdefault(label, extent)
            if known == Lin(1):
                extents[label] = extent
            elif extent != Lin(1) and not b.is_zero(known - extent):
                what = f"the extents {known} and {extent} of the axis {label!r} differ"
                raise ShapeMismatch(what, b.where, "Give axes of different lengths different letters.")
    return extents


def product(b: Builder, terms: list[Term], output: Labels, extents: dict[str, Lin], dtype: np.dtype[Any]) -> Tensor:
    """The contraction of one or two terms over all labels that are not in `output`."""
    summed = [label for label in extents if label not in output and any(label in labels for _, labels in terms)]
    box = tuple(extents[label] for label in (*output, *summed))
    if len(terms) > 1 and summed:
        terms = [(t if t.is_stored else b.materialise(t), labels) for t, labels in terms]
    names = [*output, *summed]

    def old_index(term: Term, p: Index) -> Index:
        tensor, labels = term
        at = dict(zip(names, p, strict=True))
        return tuple(Lin(0) if e == Lin(1) else at[n] for n, e in zip(labels, tensor.shape, strict=True))

    if len(terms) == 1 and not summed:
        whole = terms[0][0].reindexed(box, lambda p: old_index(terms[0], p))
        return whole if whole.dtype == dtype else astype(whole, dtype)

    def element(p: Index) -> Expr:
        factors = [cast(term[0].element(old_index(term, p)), dtype) for term in terms]
        return factors[0] if len(factors) == 1 else Op("multiply", tuple(factors), dtype)

    if not summed:
        return Tensor(box, dtype, element)
    shape = box[: len(output)]
    total = b.new_view("", shape, dtype)
    b.assign(total, scalar(Const(0, dtype)))
    whole = Tensor(box, dtype, element)
    b.compute(box, total, lambda p: p[: len(output)], whole, "add")
    if not shape:
        return total.as_value(settled=True)
    return b.ordered(total, whole.reindexed(shape, lambda p: (*p, *(Lin(0) for _ in summed))))


@function(np.tensordot, np.linalg.tensordot)
def tensordot(b: Builder, x1: Any, x2: Any, axes: Any = 2) -> Tensor:
    x, y = tensor_of(b, x1), tensor_of(b, x2)
    if is_integer(axes):
        count = b.constant(axes)
        left, right = list(range(x.ndim - count, x.ndim)), list(range(count))
    else:
        left, right = (_listed(b, a, t.ndim) for a, t in zip(axes, (x, y), strict=True))
    if len(left) != len(right):
        raise ShapeMismatch(
            "np.tensordot needs as many axes of the one array as of the other",
            b.where,
            "Name the axes in pairs of equal length: axes=([1], [0]).",
        )
    x_labels = [f"x{k}" for k in range(x.ndim)]
    y_labels = [f"y{k}" for k in range(y.ndim)]
    for i, j in zip(left, right, strict=True):
        if not b.is_zero(x.shape[i] - y.shape[j]):
            what = f"the extents {x.shape[i]} and {y.shape[j]} of np.tensordot differ"
            raise ShapeMismatch(what, b.where, "Name the axes in pairs of equal length: axes=([1], [0]).")
        y_labels[j] = x_labels[i]
    output = [n for k, n in enumerate(x_labels) if k not in left] + [
        n for k, n in enumerate(y_labels) if k not in right
    ]
    terms: list[Term] = [(x, tuple(x_labels)), (y, tuple(y_labels))]
    return product(b, terms, tuple(output), _extents(b, terms), common_dtype([x, y]))


def _listed(b: Builder, axes: Any, ndim: int) -> list[int]:
    return [normalise_axes(b, a, ndim)[0] for a in b.known(axes)]


@function(np.inner)
def inner(b: Builder, x: Any, y: Any, /) -> Tensor:
    x, y = tensor_of(b, x), tensor_of(b, y)
    if not x.ndim or not y.ndim:
        return elementwise(b, "multiply", x, y)
    return tensordot(b, x, y, (-1, -1))


@function(np.vdot)
def vdot(b: Builder, x: Any, y: Any, /) -> Tensor:
    x, y = (ravel(b, tensor_of(b, v)) if tensor_of(b, v).ndim else reshape(b, tensor_of(b, v), 1) for v in (x, y))
    return tensordot(b, _conjugate(b, x), y, 1)


@function(np.vecdot, np.linalg.vecdot)
def vecdot(b: Builder, x1: Any, x2: Any, /, out: Any = None, *, axis: Any = -1, keepdims: bool = False) -> Tensor:
    x, y = _conjugate(b, tensor_of(b, x1)), tensor_of(b, x2)
    products = elementwise(b, "multiply", x, y)
    # Those of short integers are added up in their dtype, as those of matrices are.
    return sum_(b, products, b.constant(axis), products.dtype, out, keepdims)


def _conjugate(b: Builder, x: Tensor) -> Tensor:
    return elementwise(b, "conjugate", x) if x.dtype.kind == "c" else x


@function(np.kron)
def kron(b: Builder, x: Any, y: Any, /) -> Tensor:
    x, y = tensor_of(b, x), tensor_of(b, y)
    ndim = max(x.ndim, y.ndim)
    x, y = (_widened(t, ndim) for t in (x, y))
    sizes = [b.constant(extent) for extent in y.shape]
    shape = tuple(Lin(b.constant(m) * n) for m, n in zip(x.shape, sizes, strict=True))
    result = b.new_view("", shape, common_dtype([x, y]))
    box = tuple(e for pair in zip(x.shape, y.shape, strict=True) for e in pair)
    blocks = result.reindexed(box, lambda p: tuple(p[2 * k].scaled(n) + p[2 * k + 1] for k, n in enumerate(sizes)))
    wide_x, wide_y = x.reindexed(box, lambda p: p[::2]), y.reindexed(box, lambda p: p[1::2])
    b.assign(blocks, elementwise(b, "multiply", wide_x, wide_y))
    return result


def _widened(x: Tensor, ndim: int) -> Tensor:
    extra = ndim - x.ndim
    return x.reindexed((*(Lin(1),) * extra, *x.shape), lambda p: p[extra:])


@function(np.trace, method="trace")
def trace(
    b: Builder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Tensor:
    return sum_(b, diagonal(b, a, offset, axis1, axis2), -1, dtype, out)


@function(np.linalg.trace)
def linalg_trace(b: Builder, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Tensor:
    return trace(b, x, offset, -2, -1, dtype)


@function(np.linalg.diagonal)
def linalg_diagonal(b: Builder, x: Any, /, *, offset: Any = 0) -> Tensor:
    return diagonal(b, x, offset, -2, -1)


@function(np.linalg.multi_dot)
def multi_dot(b: Builder, arrays: Any, *, out: Any = None) -> Tensor:
    """A product of matrices, in the order that needs the fewest multiplications."""
    tensors = [tensor_of(b, a) for a in arrays]
    if len(tensors) < 2:
        raise b.unsupported(
            "np.linalg.multi_dot needs at least two arrays",
            "Pass at least two arrays; of one array, the product is that array.",
        )
    rows = [b.constant(t.shape[0]) if t.ndim > 1 else 1 for t in tensors]
    sizes = [*rows, b.constant(tensors[-1].shape[-1]) if tensors[-1].ndim > 1 else 1]
    sizes[1:-1] = [b.constant(t.shape[0]) for t in tensors[1:]]
    best: dict[tuple[int, int], tuple[int, int]] = {(k, k + 1): (0, k) for k in range(len(tensors))}
    for length in range(2, len(tensors) + 1):
        for i in range(len(tensors) - length + 1):
            j = i + length
            costs = [(best[i, k][0] + best[k, j][0] + sizes[i] * sizes[k] * sizes[j], k) for k in range(i + 1, j)]
            best[i, j] = min(costs)

    def multiplied(i: int, j: int) -> Tensor:
        cut = best[i, j][1]
        return tensors[i] if j == i + 1 else matmul(b, multiplied(i, cut), multiplied(cut, j))

    return into(b, out, multiplied(0, len(tensors)))

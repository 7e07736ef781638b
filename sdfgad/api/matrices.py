"""Matrices of derivatives, Jacobians and Hessians, with the names of JAX's functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from sdfgad.api.batching import vmap
from sdfgad.api.callables import OfCallee, callee_of
from sdfgad.api.higher import jvp
from sdfgad.api.joint import collected
from sdfgad.api.products import Products, curved_along_all, gradient_of, no_array, no_real
from sdfgad.api.sparse_jacobian import SparseJacobian
from sdfgad.errors import ArgumentError, MissingRule, UnsupportedProgram
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Call, walk
from sdfgad.parse.library.matrices import columns, rows, with_axes
from sdfgad.parse.transformed import CallSite, stand_in, transformation
from sdfgad.parse.values import Record, as_tensor
from sdfgad.specialise.outgrown import repeated

Argnums = int | str | Sequence[int | str]
Mode = Literal["forward", "reverse", "auto"]
Array = np.ndarray[Any, Any]


@transformation
def jacobian(
    program: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    mode: Mode | None = None,
    sparsity: Any = None,
    output: str | None = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of a program by array arguments.

    Args:
        argnums: position or name of the argument, or a sequence of either (a tuple of Jacobians results).
        mode: "reverse" computes it by rows, "forward" by columns; None or "auto": by the fewer.
        sparsity: where the Jacobian may have entries, a matrix of (output's size, argument's size), dense or of
            `scipy.sparse`, or "auto" to find it from the program (`sdfgad.sparsity`): rows or columns that share none
            are then computed together, and the result is a ``scipy.sparse.csr_matrix``. One more product, with a random
            vector, finds out where entries outside of the pattern have made others wrong.
        output: as in `differentiate`.

    Returns:
        A function of the program's arguments; its result has the output's axes, then the argument's, unless it is
        sparse.

    Raises:
        ArgumentError: the mode is not known, the argument is complex, the pattern has another shape, or the Jacobian
            has entries outside of it; else as `sparsity`, `differentiate` and the calls of its result do.

    Example:
        >>> jacobian(lambda x: x**2)(np.array([1.0, 2.0]))  # doctest: +SKIP
        array([[2., 0.],
               [0., 4.]])
    """
    if mode not in (None, "auto", "forward", "reverse"):
        raise ArgumentError(f"mode={mode!r} is not known", todo='It is "forward", "reverse" or "auto".')
    positions, is_single = _places(program, argnums)
    each = [JacobianBy(program, k, None if mode == "auto" else mode, sparsity, output) for k in positions]
    return each[0] if is_single else Matrices(program, each)


@transformation
def hessian(program: Callable[..., Any], argnums: Argnums = 0, *, output: str | None = None) -> Callable[..., Any]:
    """A function that returns the Hessian of a scalar-valued program by an array argument, with its axes twice.

    Args:
        argnums: position or name of the argument; of a sequence of either the result is a tuple of rows of blocks,
            with the axes of the row's argument, then those of the column's.
        output: as in `differentiate`.

    Raises:
        ArgumentError: an argument is complex; else as `differentiate` and the calls of its result do.

    Example:
        >>> hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))  # doctest: +SKIP
        array([[ 6.,  0.],
               [ 0., 12.]])
    """
    positions, is_single = _places(program, argnums)
    return Hessian(program, positions, is_single, output)


class _Matrix(OfCallee):
    """A function of a program's arguments that returns derivatives of it."""

    def __init__(self, program: Callable[..., Any], what: str) -> None:
        self._callee = callee_of(program)
        self.__name__ = f"{what} of {self._callee.function.__name__}"

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed.

        Raises:
            UnsupportedProgram: arguments are passed by name.
        """
        if kwargs:
            what = f"the {self.__name__} is called with the argument `{next(iter(kwargs))}` by name"
            raise UnsupportedProgram(what, site.b.where, "Pass it by position.")
        return self.within(site, tuple(args))

    def within(self, site: CallSite, args: tuple[Any, ...]) -> Any:
        """The derivatives in a program that is being parsed."""
        raise NotImplementedError


class Matrices(_Matrix):
    """Several matrices of derivatives, as a tuple."""

    def __init__(self, program: Callable[..., Any], each: Sequence[_Matrix]) -> None:
        super().__init__(program, "Jacobians")
        self._each = each

    def __call__(self, *args: Any) -> Any:
        return tuple(one(*args) for one in self._each)

    def within(self, site: CallSite, args: tuple[Any, ...]) -> Any:
        """The matrices in a program that is being parsed."""
        return tuple(one.within(site, args) for one in self._each)


class JacobianBy(_Matrix):
    """The Jacobian by the argument at a position, as `jacobian` returns it."""

    def __init__(
        self, program: Callable[..., Any], position: int, mode: str | None, sparsity: Any, output: str | None
    ) -> None:
        super().__init__(program, "Jacobian")
        self._program, self._position, self._mode, self._output = program, position, mode, output
        self._products = Products(gradient_of(program, (position,), output), position)
        self._sparse = None if sparsity is None else SparseJacobian(self._products, sparsity, mode)

    @repeated
    def __call__(self, *args: Any) -> Any:
        """The matrix; `jacobian` says what it is, and what is raised."""
        if self._sparse is not None:
            return self._sparse(*args)
        products, mode = self._products, self._mode
        x, value = products.argument(args), np.asarray(products.gradient.value(*args))
        is_forward = mode == "forward" or (mode is None and x.size < value.size and products.has_forward_mode(args))
        basis = np.eye(x.size if is_forward else value.size)
        found = products.columns(args, value, basis).T if is_forward else products.rows(args, value, basis)
        return found.reshape((*value.shape, *x.shape))

    def within(self, site: CallSite, args: tuple[Any, ...]) -> Any:
        """The matrix in a program that is being parsed.

        Raises:
            UnsupportedProgram: it is sparse.
        """
        if self._sparse is not None:
            what = "a Jacobian that is compressed by its sparsity is computed in a program"
            raise UnsupportedProgram(what, site.b.where, "Leave `sparsity` out to get the dense one.")
        x = _shape_of_argument(site, args, self._position)
        shape = None if self._mode == "forward" else self._shape_by_rows(site, args, math.prod(x))
        if shape is not None:
            found = site.define(rows, self._products.gradient.vjp, vmap, args, shape)
            return site.define(with_axes, found[0], shape, False)
        named = self._output is not None
        program = collected(self._program, self._callee, (str(self._output),)) if named else self._program
        found = site.define(columns, jvp, vmap, program, args, self._position)
        return site.define(with_axes, found[0] if named else found, x, True)

    def _shape_by_rows(self, site: CallSite, args: tuple[Any, ...], size: int) -> tuple[int, ...] | None:
        """The output's shape, where the rows are fewer than the columns, or the program has no forward mode."""
        try:
            given = tuple(map(stand_in, args))
            _, pipeline = self._products.gradient.pipeline_within(given, {}, site.b)
        except (UnsupportedProgram, MissingRule):
            if self._mode == "reverse":
                raise
            # There may be no reverse mode, which keeps values, as of arrays whose size is data.
            return None
        program = pipeline.primal.program
        shape = tuple(extent.const for extent in program.buffers[program.outputs[pipeline.output]].shape)
        calls = (one for one in walk(program.body) if isinstance(one, Call))
        has_forward_mode = all(LIBRARY[one.name].has_linear_pullback for one in calls)
        is_forward = self._mode is None and size < math.prod(shape) and has_forward_mode
        return None if is_forward else shape


class Hessian(_Matrix):
    """The Hessian by the arguments at some positions, as `hessian` returns it."""

    def __init__(
        self, program: Callable[..., Any], positions: tuple[int, ...], is_single: bool, output: str | None
    ) -> None:
        super().__init__(program, "Hessian")
        self._positions, self._is_single = positions, is_single
        self._gradient = gradient_of(program, positions, output)

    def __call__(self, *args: Any) -> Any:
        """The matrix; `hessian` says what it is, and what is raised."""
        found = [curved_along_all(self._gradient, args, k) for k in self._positions]
        shapes = [np.shape(args[k]) for k in self._positions]
        return self._arranged(found, shapes, lambda one, row, column: one.T.reshape((*row, *column)))

    def within(self, site: CallSite, args: tuple[Any, ...]) -> Any:
        """The matrix in a program that is being parsed."""
        shapes = [_shape_of_argument(site, args, k) for k in self._positions]
        found = [site.define(columns, jvp, vmap, self._gradient, args, k) for k in self._positions]
        return self._arranged(found, shapes, lambda one, _, column: site.define(with_axes, one, column, True))

    def _arranged(self, found: Sequence[Sequence[Any]], shapes: Sequence[Any], placed: Callable[..., Any]) -> Any:
        """A tuple of rows of blocks, of the derivatives of all gradients by each argument."""
        rows_of = [
            tuple(placed(column[i], row, shape) for column, shape in zip(found, shapes, strict=True))
            for i, row in enumerate(shapes)
        ]
        return rows_of[0][0] if self._is_single else tuple(rows_of)


def _places(program: Callable[..., Any], argnums: Argnums) -> tuple[tuple[int, ...], bool]:
    """The positions of arguments, and whether one was asked for rather than a sequence."""
    is_single = isinstance(argnums, (int, str))
    entries = (argnums,) if isinstance(argnums, (int, str)) else tuple(argnums)
    return callee_of(program).positions(entries), is_single


def _shape_of_argument(site: CallSite, args: tuple[Any, ...], position: int) -> tuple[int, ...]:
    """The shape of an argument of a call in a program.

    Raises:
        ArgumentError: it is a container, or complex.
    """
    value = args[position]
    if isinstance(value, (dict, list, tuple, Record)):
        raise no_array(position, value.cls if isinstance(value, Record) else type(value))
    tensor = as_tensor(value)
    if tensor.dtype.kind == "c":
        raise no_real(position)
    return tuple(site.b.constant(extent) for extent in tensor.shape)

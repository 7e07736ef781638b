"""Special functions of NumPy and scipy.special; SciPy need not be installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Op
from sdfgad.ir.ops import OPERATIONS
from sdfgad.parse import trees
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.elementwise import strong
from sdfgad.parse.registry import FUNCTIONS, function, optional
from sdfgad.parse.values import Tensor, as_tensor, astype, is_integer, scalar


def held(x: Any) -> Any:
    """Stop-gradient, for definitions in `library`: the value of `x` with derivative 0."""
    return x


def stop_gradient(x: Any) -> Any:
    """The value of `x`, as a constant: its derivative is zero. In NumPy it is `x` itself.

    Args:
        x: an array, a number, or a container of them.

    Example:
        >>> def rounded(x):  # a straight-through estimator: rounds, with the derivative 1
        ...     return x + sdfgad.stop_gradient(np.round(x) - x)
    """
    return x


@function(held, stop_gradient)
def _held(b: Builder, x: Any) -> Any:
    return trees.rebuilt(x, [elementwise(b, "held", leaf) if _is_floating(leaf) else leaf for leaf in trees.leaves(x)])


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.dtype.kind in "fc"


def root_of_squares(x: Any) -> Any:
    """The square root of a sum of squares, for definitions in `library`: its derivative at 0 is 0."""
    return np.sqrt(x)


@function(root_of_squares)
def _root_of_squares(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "root_of_squares", x)


def _handler(name: str) -> Callable[..., Tensor]:
    def handler(b: Builder, *operands: Any) -> Tensor:
        return strong(elementwise(b, name, *operands))

    return handler


@dataclass(frozen=True)
class Elementary:
    """An elementary operation as a function, for definitions in `library`, where SciPy need not be installed."""

    operation: str

    def __call__(self, *operands: Any) -> Any:
        raise NotImplementedError(f"only the parser evaluates {self.operation}")


class SpecialFunctions:
    """Special functions by the name of their elementary operation, for definitions in `library`."""

    def __getattr__(self, name: str) -> Elementary:
        if name not in OPERATIONS:
            raise AttributeError(name)
        made = Elementary(name)
        if made not in FUNCTIONS:
            function(made)(_of_three(name) if OPERATIONS[name].arity == 3 else _handler(name))
        # A program that reads it is parsed anew where it is another object.
        setattr(self, name, made)
        return made


sf = SpecialFunctions()

for _original in (np.sinc, np.i0):
    function(_original, static=True)(_handler(_original.__name__))

for _name, _operation in {
    **{name: name for name in ("erf", "erfc", "erfinv", "gamma", "gammaln", "expit", "log_expit", "logit")},
    **{
        name: name
        for name in ("xlogy", "xlog1py", "i0", "i1", "i0e", "i1e", "j0", "j1", "exp2", "expm1", "log1p", "cbrt")
    },
    **{name: name for name in ("erfcx", "erfcinv", "log_ndtr", "beta", "betaln", "gammainc", "gammaincc", "stdtr")},
    **{name: name for name in ("erfi", "dawsn", "exp1", "expi", "owens_t", "gammaincinv", "gammainccinv")},
    **{"psi": "digamma", "digamma": "digamma"},
}.items():
    optional("scipy.special", _name)(_handler(_operation))


def _of_integer_order(operation: str, is_double: bool) -> Callable[..., Tensor]:
    """A handler of a function of integer order; `is_double`: in double precision, whatever the argument's."""

    def handler(b: Builder, order: Any, x: Any) -> Tensor:
        if isinstance(order, float) and order.is_integer():
            order = int(order)
        if not is_integer(order) and as_tensor(order).dtype.kind not in "iu":
            raise b.unsupported(
                "the order of this special function must be an integer that is a constant",
                "Write an integer: scipy.special.jn(2, x), say.",
            )
        x = as_tensor(x)
        x = x if x.dtype.kind == "f" and not is_double else astype(x, np.dtype(np.float64))
        return strong(elementwise(b, operation, x, order))

    return handler


def _of_real_order(operation: str, order: Any = None, is_double: bool = False) -> Callable[..., Tensor]:
    """A handler of a Bessel function, of a given order or with the order as the first argument; as above."""

    def handler(b: Builder, *arguments: Any) -> Tensor:
        given, x = (order, *arguments) if order is not None else arguments
        if isinstance(given, np.ndarray | np.generic) or not isinstance(given, int | float) or given < 0:
            raise b.unsupported(
                "the order of a Bessel function must be a constant number that is not negative",
                "Write a number: scipy.special.kv(1.5, x), say.",
            )
        x = as_tensor(x)
        x = x if x.dtype.kind == "f" and not is_double else astype(x, np.dtype(np.float64))
        return strong(elementwise(b, operation, x, scalar(Const(given, x.dtype))))

    return handler


def _of_order(b: Builder, order: Any, x: Any) -> Tensor:
    is_real = isinstance(order, float) and not order.is_integer()
    handler = _of_real_order("bessel_jv") if is_real else _of_integer_order("bessel_j", is_double=False)
    return handler(b, order, x)


optional("scipy.special", "jv", "jn")(_of_order)
optional("scipy.special", "polygamma")(_of_integer_order("polygamma_of", is_double=True))
for _name in ("yv", "iv", "kv"):
    optional("scipy.special", _name)(_of_real_order(f"bessel_{_name[0]}"))
for _name in ("yn", "kn"):
    optional("scipy.special", _name)(_of_real_order(f"bessel_{_name[0]}", is_double=True))
for _name in ("ive", "kve"):
    optional("scipy.special", _name)(_of_real_order(f"bessel_{_name[0]}e"))
for _name in ("k0e", "k1e"):
    optional("scipy.special", _name)(_of_real_order("bessel_ke", int(_name[1])))
# They are scaled by the imaginary part only.
optional("scipy.special", "jve")(_of_order)
optional("scipy.special", "yve")(_of_real_order("bessel_y"))
for _name in ("y0", "y1", "k0", "k1"):
    optional("scipy.special", _name)(_of_real_order(f"bessel_{_name[0]}", int(_name[1])))


def _of_three(operation: str) -> Callable[..., Tensor]:
    """A handler of an element-wise function of three real numbers, of which NumPy has none."""

    def handler(b: Builder, *operands: Any) -> Tensor:
        tensors = [as_tensor(operand) for operand in operands]
        dtype = elementwise(b, "arctan2", elementwise(b, "add", *tensors[:2]), tensors[2]).dtype
        shape = broadcast_shapes(b, *(t.shape for t in tensors))
        wide = [broadcast_to(b, astype(t, dtype), shape) for t in tensors]
        return Tensor(shape, dtype, lambda p: Op(operation, tuple(t.element(p) for t in wide), dtype))

    return handler


for _name in ("betainc", "betaincc", "betaincinv", "betainccinv"):
    optional("scipy.special", _name)(_of_three(_name))

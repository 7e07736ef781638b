"""`pure_callback`: calls of Python functions that the parser does not look into."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.callbacks import Callback
from sdfgad.parse.registry import function
from sdfgad.parse.returned import is_numeric
from sdfgad.parse.values import Holder, Tensor, as_tensor, is_static


def pure_callback(function: Callable[..., Any], result: Any, *args: Any) -> Any:
    """Calls a function in Python, also from compiled programs: a black box that the parser does not look into.

    The function may be anything that takes NumPy arrays, such as one of C by `ctypes`. It must be pure, depending on
    its arguments alone: a program may call it more often than it is written, or not at all if nothing needs its result.
    It has no derivative, unless it is called in the rule of a `custom_vjp`. A plan lists the calls.

    Args:
        function: takes `args`, arrays in place of numbers that are computed (of shape ()).
        result: an array or number of the dtype and shape of what the function returns, or a container of them.
        args: arrays, numbers and containers of them; anything else is passed on as it is.

    Raises:
        ProgramRaises: in a compiled program, the function raises, or returns what does not fit `result`.

    Example:
        >>> def program(x):
        ...     return 2.0 * sdfgad.pure_callback(table.lookup, x, x)  # of the dtype and shape of x
    """
    return function(*args)


@function(pure_callback)
def _pure_callback(b: Builder, function: Any, result: Any, *args: Any) -> Any:
    if isinstance(function, Holder) or not callable(function):
        todo = "Define the function outside of the program, and pass all that it uses as arguments."
        raise b.unsupported("pure_callback takes a function that is known while parsing", todo)
    leaves = trees.leaves(list(args))
    places = [k for k, leaf in enumerate(leaves) if is_numeric(leaf) and not is_static(leaf)]
    inputs = [as_tensor(leaves[k]) for k in places]
    declared = [as_tensor(leaf) for leaf in trees.leaves(result) if is_numeric(leaf)]
    if len(declared) != len(trees.leaves(result)):
        todo = "Declare arrays and numbers: np.zeros(3), x."
        raise b.unsupported("the declared result of pure_callback has parts that are no arrays or numbers", todo)
    kinds = [[_kind(b, tensor) for tensor in tensors] for tensors in (inputs, declared)]
    callback = Callback(partial(_called, function, list(args), leaves, places), *kinds)
    address = b.capture("address", callback.address, partial(_address, callback))
    outputs = b.call("pure_callback", [address, *inputs], [(one.shape, one.dtype) for one in declared], ())
    return trees.rebuilt(result, [one.result for one in outputs])


def _address(callback: Callback) -> Any:
    return callback.address


def _kind(b: Builder, tensor: Tensor) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return tuple(b.constant(extent) for extent in tensor.shape), tensor.dtype


def _called(function: Callable[..., Any], like: list[Any], leaves: list[Any], places: list[int], arrays: Any) -> Any:
    """The leaves of what the function returns for arrays in the places of leaves."""
    passed = list(leaves)
    for place, array in zip(places, arrays, strict=True):
        passed[place] = array
    return trees.leaves(function(*trees.rebuilt(like, passed)))

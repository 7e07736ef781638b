"""Calls of what is made of programs, such as gradients and batches; of random numbers; and of what changes settings."""

from __future__ import annotations

import inspect
import sys
import types
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.context_managers import is_quiet
from sdfgad.parse.enclosed import EnclosingFails
from sdfgad.parse.functions.drawing import is_random, random_call, uniform_for, weights_of
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.handlers import NOT_THESE, handled
from sdfgad.parse.indexing import getitem
from sdfgad.parse.iterators import Keywords, Site
from sdfgad.parse.library.weighted_draws import places_by_weights
from sdfgad.parse.namespaces import require_none
from sdfgad.parse.registry import Handler, is_hashable
from sdfgad.parse.source import source_text
from sdfgad.parse.transformed import TRANSFORMATIONS, WITHIN, transformed_of
from sdfgad.parse.values import Record, Tensor, as_tensor, is_integer, kind_of

# These change how NumPy behaves after the call, which compiled code does not know.
SETTINGS = frozenset({np.seterr, np.seterrcall, np.setbufsize})


def of_programs(site: Site, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """What is made of functions, as `_of_transformed`; these may be functions that this program defines."""
    try:
        return _of_transformed(site, function, positional, keywords)
    except EnclosingFails as error:
        raise error.failure if error.b is site.b else error from None


def _of_transformed(site: Site, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """Gradients and batches, random numbers, and what changes settings."""
    transformed = transformed_of(function)
    if transformed is not None:
        site.b.where = site.where
        require_none(site.b)
        return transformed[0].call_within(site, transformed[1], positional, keywords)
    if is_hashable(function) and (function in TRANSFORMATIONS or function in WITHIN):
        return _transformation(site, function, positional, keywords)
    if _is_tool(function):
        what = f"`{source_text(site.node)}` is called in a program, and is a tool that runs or describes programs"
        raise UnsupportedProgram(what, site.where, "Call it outside of the function.")
    if is_random(function):
        site.b.where = site.where
        weighted = weights_of(function, positional, keywords)
        if weighted is not None:
            return _by_weights(site, function, weighted)
        return random_call(site.b, function, source_text(site.node.func), positional, keywords)
    if is_hashable(function) and function in SETTINGS and not is_quiet(function, positional, keywords):
        what = f"`{source_text(site.node.func)}` changes a setting, which has no effect on compiled code"
        raise UnsupportedProgram(what, site.where, "Leave it out, or call it outside of the function.")
    return NOT_THESE


def _by_weights(site: Site, function: Any, given: Keywords) -> Any:
    """``choice(a, size, p=p)`` of the integers below `a`, or of the rows of an array."""
    b, a = site.b, given["a"]
    is_number = is_integer(a) or (isinstance(a, Tensor) and not a.ndim)
    rows = None if is_number else tensor_of(b, a)
    uniform = uniform_for(b, function, source_text(site.node.func), given)
    places = site.define(places_by_weights, as_tensor(given["p"]), uniform, a if rows is None else rows.shape[0])
    return places if rows is None else getitem(b, rows, places)


def _is_tool(function: Any) -> bool:
    """Whether it is one of our public functions, and none that programs may call."""
    is_ours = (getattr(function, "__module__", None) or "").startswith("sdfgad.")
    name = getattr(function, "__name__", "")
    return is_ours and not function.__module__.startswith("sdfgad.parse.") and _public(name) is function


def _public(name: str) -> Any:
    return getattr(sys.modules["sdfgad"], name, None)


def _transformation(site: Site, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """A transformed program, such as `grad(f)`, or a product such as `jvp(f, …)`."""
    site.b.where = site.where
    require_none(site.b)
    if positional:
        positional = [_program(site, positional[0]), *positional[1:]]
    if function in TRANSFORMATIONS:
        return site.b.python(function, *positional, **keywords)
    return handled(site.frame, site.node, partial(_at_site, WITHIN[function], site), positional, keywords)


def _program(site: Site, value: Any) -> Any:
    """What is given as a program: objects are called as Python calls them, methods of local classes as closures.

    Raises:
        UnsupportedProgram: it is no function.
    """
    methods = site.b.methods
    call = inspect.getattr_static(value.cls, "__call__", None) if isinstance(value, Record) else None
    if isinstance(call, types.FunctionType):
        value = types.MethodType(call, value)
    if isinstance(value, types.MethodType) and value.__func__ in methods:
        return partial(methods[value.__func__], value.__self__)
    if isinstance(value, types.FunctionType):
        return methods.get(value, value)
    if not callable(value):
        what = f"`{source_text(site.node)}` takes a function, and is given {kind_of(value)}"
        raise UnsupportedProgram(what, site.where, "Pass a function: grad(f), and call that: grad(f)(x).")
    return value


def _at_site(handler: Handler, site: Site, b: Builder, *positional: Any, **keywords: Any) -> Any:
    return handler(site, *positional, **keywords)

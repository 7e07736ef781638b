"""Random numbers, which NumPy itself draws at each call in the order of the program, as hidden inputs."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.broadcasting import broadcast_shapes
from sdfgad.parse.builder import Builder
from sdfgad.parse.draws import Draw, Maker, trial
from sdfgad.parse.dtypes import DTYPES
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.indexing import getitem
from sdfgad.parse.texts import is_plain
from sdfgad.parse.values import Selection, Tensor, as_tensor, is_static, view_of

# The generator of the functions of numpy.random.
OF_NUMPY: np.random.RandomState = np.random.rand.__self__  # type: ignore[attr-defined]
SOURCES = (np.random.RandomState, np.random.Generator, random.Random)
BITS = tuple(getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"))
MAKERS = frozenset({np.random.default_rng, np.random.Generator, np.random.RandomState, random.Random, *BITS})
# Functions of numpy.random that are no methods of its generator.
OF_MODULE = {"seed": "seed", "ranf": "random_sample", "sample": "random_sample"}
# Methods that do not draw numbers, or change an array in place.
OTHERS = frozenset(
    {"shuffle", "permuted", "get_state", "set_state", "getstate", "setstate", "spawn", "bytes", "randbytes"}
)
# What Python's own generator draws that is a number.
OF_PYTHON = frozenset(
    {"random", "uniform", "gauss", "normalvariate", "expovariate", "lognormvariate", "betavariate", "gammavariate"}
    | {"triangular", "randint", "randrange", "seed", "vonmisesvariate", "paretovariate", "weibullvariate"}
)
# The distributions with a location and a scale: the numbers that are drawn, the names and defaults of the parameters.
SCALED: dict[str, tuple[str, dict[str, float]]] = {
    "normal": ("standard_normal", {"loc": 0.0, "scale": 1.0}),
    "lognormal": ("standard_normal", {"mean": 0.0, "sigma": 1.0}),
    "uniform": ("random", {"low": 0.0, "high": 1.0}),
    "exponential": ("standard_exponential", {"scale": 1.0}),
}
# The arguments of `choice`, of a Generator the last ones, too.
CHOICE: dict[str, Any] = {"a": None, "size": None, "replace": True, "p": None, "axis": 0, "shuffle": True}
BEFORE = "Draw them outside of the function, and pass them as an argument."
Keywords = dict[str, Any]


def is_random(function: Any) -> bool:
    """Whether a function draws random numbers, changes what will be drawn, or makes what draws them."""
    if isinstance(getattr(function, "__self__", None), SOURCES):
        return True
    if isinstance(function, type):
        return function in MAKERS
    return (getattr(function, "__module__", None) or "").startswith("numpy.random")


def random_call(b: Builder, function: Any, text: str, positional: list[Any], keywords: Keywords) -> Any:
    """A call of such a function."""
    if function in MAKERS:
        return _made(b, function, [_known(b, v, text) for v in positional], _known(b, keywords, text))
    source = getattr(function, "__self__", None)
    method = function.__name__
    if not isinstance(source, SOURCES):
        source, method = OF_NUMPY, OF_MODULE.get(method, "")
    _require_supported(b, source, method, text)
    if method in ("choice", "permutation") and positional and isinstance(positional[0], (Tensor, Selection)):
        return _of_array(b, source, method, text, positional, keywords)
    if method in SCALED and not isinstance(source, random.Random) and not is_static(_integers(b, positional, keywords)):
        return _scaled(b, source, method, text, positional, keywords)
    return _drawn(b, source, method, text, positional, keywords)


def _require_supported(b: Builder, source: Any, method: str, text: str) -> None:
    is_python = isinstance(source, random.Random)
    if method in OTHERS or not method or method.startswith("_") or (is_python and method not in OF_PYTHON):
        todo = (
            "Write x[rng.permutation(len(x))], or x[np.random.permutation(len(x))]."
            if method in ("shuffle", "permuted")
            else BEFORE
        )
        raise b.unsupported(f"`{text}` is not supported inside of the function", todo)


def _integers(b: Builder, positional: Any, keywords: Keywords) -> Any:
    """The arguments with integers as constants, where they stand for lengths or numbers."""
    return [_constant(b, value) for value in positional], {name: _constant(b, v) for name, v in keywords.items()}


def _constant(b: Builder, value: Any) -> Any:
    if isinstance(value, Lin):
        return b.constant(value)
    if isinstance(value, (tuple, list)):
        return type(value)([_constant(b, part) for part in value])
    return value


def _known(b: Builder, value: Any, text: str) -> Any:
    """An argument that must be known while parsing."""
    if isinstance(value, dict):
        return {name: _known(b, part, text) for name, part in value.items()}
    value = _constant(b, value)
    if not is_static(value):
        raise b.unsupported(
            f"`{text}` draws random numbers with a parameter that is known only at run time",
            "Draw standard numbers and transform them, or draw outside of the function and pass them as an argument.",
        )
    return value


def _made(b: Builder, cls: Any, positional: list[Any], keywords: Keywords) -> Any:
    """A generator that the program makes."""
    found = b.python(cls, *positional, **keywords)
    if any(found is argument for argument in positional):
        return found
    seeds = [*positional, *keywords.values()]
    made = [b.makers[id(seed)].is_seeded for seed in seeds if id(seed) in b.makers]
    plain = [seed for seed in seeds if id(seed) not in b.makers]
    is_seeded = bool(seeds) and all(made) and all(seed is not None and is_plain(seed) for seed in plain)
    b.makers[id(found)] = Maker(cls, tuple(positional), keywords, is_seeded)
    b.kept.append(found)
    return found


# --- draws


def _drawn(b: Builder, source: Any, method: str, text: str, positional: Any, keywords: Keywords) -> Any:
    """The result of a method of a generator."""
    arguments, named = tuple(_known(b, v, text) for v in positional), _known(b, keywords, text)
    loops = _loops(b, text)
    example = b.python(getattr(trial(source), method), *arguments, **named)
    if example is None:
        b.draws.append(Draw(source, method, arguments, named, None, loops))
        return None
    sample = np.asarray(example)
    if sample.dtype.name not in DTYPES:
        raise b.unsupported(f"`{text}` draws numbers of {sample.dtype}, which are not supported", BEFORE)
    trips = tuple(Lin(b.largest(trips)) for _, trips in loops)
    counters = tuple(Lin.symbol(var) for var, _ in loops)
    shape = tuple(map(Lin, sample.shape))
    name = b.draw_input((*trips, *shape), sample.dtype)
    b.draws.append(Draw(source, method, arguments, named, name, loops))
    whole = view_of(b.buffers[name]).as_value(settled=True)
    drawn = whole.reindexed(shape, lambda p: (*counters, *p))
    return b.stored(drawn) if shape else replace(b.materialise(drawn), weak=type(example) in (int, float))


def _loops(b: Builder, text: str) -> tuple[tuple[str, Lin], ...]:
    """The loops around, in each trip of which the program certainly comes here, as often as is known while parsing.

    Raises:
        UnsupportedProgram: there is a branch around, or another loop.
        NeedsConstant: a loop's trip count is that of arguments.
    """
    depths = [depth for depth, _, _ in b.loops]
    outer: set[str] = set()
    is_certain = depths == [*range(2, 2 + len(depths))] and len(b.blocks) == 1 + len(depths) and not b.tries
    for _, var, trips in b.loops:
        unknown = trips.symbols - outer
        if not unknown.isdisjoint(b.integers):
            raise NeedsConstant({*unknown} & {*b.integers}, b.where)
        is_certain = is_certain and trips.is_affine and not unknown
        outer.add(var)
    if not is_certain and not b.symbols_here().isdisjoint(b.integers):
        raise NeedsConstant(b.symbols_here() & set(b.integers), b.where)
    if not is_certain:
        raise b.unsupported(
            f"`{text}` draws random numbers in a branch or loop of which it is known only at run time whether, or how "
            "often, it runs",
            "Draw them before it, or pass them as an argument.",
        )
    return tuple((var, trips) for _, var, trips in b.loops)


# --- numbers that depend on arrays of the program


def _of_array(b: Builder, source: Any, method: str, text: str, positional: list[Any], keywords: Keywords) -> Any:
    """A choice of elements of an array, or its rows in another order: by indices that are drawn."""
    array = tensor_of(b, positional[0])
    if not array.ndim or keywords.get("axis", 0) != 0 or (method == "choice" and array.ndim > 1):
        raise b.unsupported(
            f"`{text}` of this array is not supported",
            "Draw indices, and index by them: x[rng.permutation(len(x))], or x[rng.integers(0, len(x), n)].",
        )
    length = b.constant(array.shape[0])
    named = {name: value for name, value in keywords.items() if name != "axis"}
    return getitem(b, array, _drawn(b, source, method, text, [length, *positional[1:]], named))


def weights_of(function: Any, positional: list[Any], keywords: Keywords) -> Keywords | None:
    """The arguments of ``choice(a, size, p=p)`` where `p` is data; None for any other call."""
    if getattr(function, "__name__", "") != "choice" or len(positional) > len(CHOICE):
        return None
    given = {**CHOICE, **dict(zip(CHOICE, positional, strict=False)), **keywords}
    return given if isinstance(given["p"], (Tensor, Selection)) and given.keys() == CHOICE.keys() else None


def uniform_for(b: Builder, function: Any, text: str, given: Keywords) -> Tensor:
    """The uniform numbers that choose by weights.

    Raises:
        UnsupportedProgram: elements are chosen once only, or rows along another axis than the first.
    """
    source = getattr(function, "__self__", None)
    if given["replace"] is not True or given["axis"] != 0:
        raise b.unsupported(f"`{text}` by weights that are data, without replacement or along an axis", BEFORE)
    if isinstance(source, np.random.Generator):
        return _drawn(b, source, "random", text, [], {"size": given["size"]})
    source = source if isinstance(source, SOURCES) else OF_NUMPY
    return _drawn(b, source, "random_sample", text, [], {"size": given["size"]})


def _scaled(b: Builder, source: Any, method: str, text: str, positional: list[Any], keywords: Keywords) -> Any:
    """A distribution with parameters of the program: standard numbers, scaled and shifted as NumPy does."""
    standard, defaults = SCALED[method]
    names = [*defaults, "size"]
    if len(positional) > len(names) or not {*keywords} <= {*names}:
        raise b.unsupported(f"these arguments of `{text}` are not supported", BEFORE)
    given = {**defaults, "size": None, **dict(zip(names, positional, strict=False)), **keywords}
    size = given.pop("size")
    parameters = [as_tensor(tensor_of(b, value)) for value in given.values()]
    shapes = broadcast_shapes(b, *(parameter.shape for parameter in parameters))
    size = tuple(b.constant(extent) for extent in shapes) if size is None else size
    if isinstance(source, np.random.RandomState) and standard == "random":
        standard = "random_sample"
    z = _drawn(b, source, standard, text, [], {"size": size if size != () else None})
    if method == "exponential":
        return elementwise(b, "multiply", parameters[0], z)
    low, scale = parameters
    if method == "uniform":
        scale = elementwise(b, "subtract", scale, low)
    moved = elementwise(b, "add", low, elementwise(b, "multiply", scale, z))
    return elementwise(b, "exp", moved) if method == "lognormal" else moved

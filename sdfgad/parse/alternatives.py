"""Suggestions for functions that are not supported: ones that are and are alike, forms in NumPy, other ways out."""

from __future__ import annotations

import types
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from sdfgad.parse.registry import FUNCTIONS, known_function

MOST = 3
# How alike names must be: of one module, and of others.
ALIKE, ALMOST_EQUAL = 0.75, 0.92
LISTED = "docs/supported.md lists the functions."
# What computes the same, or what serves the same end.
FORMS = {
    "scipy.linalg.polar": "u, s, vh = np.linalg.svd(A) and u @ vh",
    "np.matrix": "np.array(A), and A @ B for A * B",
    "np.bmat": "np.block(blocks), and A @ B for A * B",
    "np.asmatrix": "np.array(A), and A @ B for A * B",
}


def instead_of(function: Any, arguments: Sequence[str] = ()) -> str:
    """What to write instead of calling a function.

    Args:
        arguments: the arguments of the program of which the call's arguments are computed, and which have derivatives.

    >>> import numpy as np
    >>> instead_of(np.get_printoptions)
    'Call it outside of the function, and pass what it returns as an argument; docs/supported.md lists the functions.'
    """
    if isinstance(function, type) and isinstance(getattr(function, "__array__", None), types.FunctionType):
        return "NumPy takes its objects for arrays, by the method __array__, which is not followed: leave that out."
    family, label = _home(function)
    is_library = family.partition(".")[0] in ("np", "scipy", "math")
    form = FORMS.get(f"{family}.{label}")
    near = _near(family, label) if is_library and not form else []
    first = f"Write {form}" if form else f"Supported are {', '.join(near)}" if near else ""
    if arguments:
        what = f"It has no derivative by {_listed(arguments)}, of which its arguments are computed"
        then = (
            f"{first[0].lower()}{first[1:]}" if first else f"write it with functions of NumPy that have one; {LISTED}"
        )
        return f"{what}: {then}"
    if not is_library:
        return "Write it in Python with NumPy, or call it outside of the function, and pass what it returns."
    call = "call it outside of the function, and pass what it returns as an argument"
    return f"{first}; or {call}; {LISTED}" if first else f"C{call[1:]}; {LISTED}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names[:MOST])


def _near(family: str, label: str) -> list[str]:
    """The functions that are known and are called alike: those of one module first."""
    homes = {".".join(home): home for home in map(_home, _known()) if home[0]}
    own = {name: whole for whole, (other, name) in homes.items() if other == family and name != label}
    others = {name: whole for whole, (other, name) in homes.items() if other != family}
    found = [own[name] for name in get_close_matches(label, sorted(own), MOST, ALIKE)]
    found += [others[name] for name in get_close_matches(label, sorted(others), MOST, ALMOST_EQUAL)]
    return found[:MOST]


def _known() -> list[Any]:
    # Registers the functions of the modules that have been imported.
    known_function(None)
    return list(FUNCTIONS)


def _home(function: Any) -> tuple[str, str]:
    """The module of a function, as users write it, and its name in there; that of a distribution has a name, too."""
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc):
        return ("np" if getattr(np, name, None) is function else "scipy.special"), name
    owner = getattr(getattr(function, "__self__", None), "name", None)
    path = [part for part in (getattr(function, "__module__", None) or "").split(".") if part]
    public = path[: next((k for k, part in enumerate(path) if part.startswith("_")), len(path))]
    if public[:1] == ["numpy"]:
        public = ["np", *(public[1:] if public[1:2] != ["lib"] else [])]
    return ".".join(public), f"{owner}.{name}" if isinstance(owner, str) else name

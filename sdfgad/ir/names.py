"""Fresh names (alpha renaming): unique identifiers that Python, C++, DaCe, sympy and isl accept and do not reserve."""

from __future__ import annotations

import ast
import importlib.util
import keyword
import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


class Names:
    """A generator of fresh names; deterministic: the same sequence of requests gives the same names."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = dict.fromkeys(taken, 1)

    def fresh(self, base: str) -> str:
        """An unused name derived from `base`: ASCII, without underscores at its ends, and not a reserved word."""
        return self._unused(plain(base))

    def _unused(self, base: str) -> str:
        count = self._taken.get(base, 1 if base in _reserved() else 0)
        self._taken[base] = count + 1
        return self._unused(f"{base}_{count}") if count else base

    def snapshot(self) -> dict[str, int]:
        return dict(self._taken)

    def restore(self, state: dict[str, int]) -> None:
        self._taken = dict(state)


def plain(base: str) -> str:
    """A name in ASCII letters, digits and underscores."""
    text = "".join(c if c.isascii() else f"u{ord(c):x}" for c in base)
    text = re.sub(r"\W", "_", text).strip("_")
    return text if text and not text[0].isdigit() else f"v{text}"


@cache
def _reserved() -> frozenset[str]:
    return frozenset((*keyword.kwlist, *_sympy(), *_CPP.split(), *_ISL.split(), "status", "messages"))


def _sympy() -> Iterator[str]:
    """The names that sympy defines: its `__all__` and its modules, found without the import, which is slow."""
    spec = importlib.util.find_spec("sympy")
    assert spec is not None
    assert spec.origin is not None
    for statement in ast.parse(Path(spec.origin).read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            yield from ast.literal_eval(statement.value)
    yield from (module.name for module in pkgutil.iter_modules(spec.submodule_search_locations))


_CPP = """
alignas alignof and and_eq asm assert atomic auto bitand bitor bool break case catch char class compl concept const
consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum errno explicit export
extern false float for friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr operator
or or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert
static_cast stderr stdin stdout std struct switch template this thread_local throw true try typedef typeid typename
union unsigned using virtual void volatile wchar_t while xor xor_eq dace sdfgad int8_t int16_t int32_t int64_t uint8_t
uint16_t uint32_t uint64_t size_t I NAN INFINITY DACE_EXPORTED SDFGAD_MATH
"""
_ISL = "and or not exists implies mod min max floor ceil floord ceild true false infty NaN rat"

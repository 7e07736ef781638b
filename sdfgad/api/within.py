"""Products with derivatives that programs compute: calls of `jvp` and `hvp` in a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sdfgad.api.callables import callee_of
from sdfgad.api.higher import hvp, jvp
from sdfgad.api.products import gradient_of
from sdfgad.parse.structure import Leaf
from sdfgad.parse.transformed import CallSite, stand_in, within
from sdfgad.specialise.pushed import pushed_within
from sdfgad.specialise.signature import Call
from sdfgad.specialise.tangents import leaves_of_tangent


@within(jvp)
def jvp_within(site: CallSite, program: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    return pushed(site, program, primals, tangents)


@within(hvp)
def hvp_within(site: CallSite, program: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    positions = tuple(k for k, tangent in enumerate(tangents) if tangent is not None)
    _, found = pushed(site, gradient_of(program, positions, None), primals, tangents)
    return found[0] if len(found) == 1 else found


def pushed(site: CallSite, program: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The value of a program and its derivative in a direction."""
    callee = callee_of(program)
    arguments, _ = callee.arguments(tuple(primals), {})
    names = [callee.name_of(k) for k in range(len(tangents))]
    return pushed_within(site.b, callee.function, arguments, partial(_leaves, names, tuple(tangents)))


def _leaves(names: list[str | None], tangents: tuple[Any, ...], call: Call) -> Mapping[str, Any]:
    """Tangents by the floating leaves of the arguments with these names."""
    found: dict[str, Any] = {}
    for name, tangent in zip(names, map(stand_in, tangents), strict=True):
        part_of_call = call.part(str(name))
        assert part_of_call is not None
        for leaf, part in leaves_of_tangent(*part_of_call, tangent):
            if leaf in call.floating and part is not None:
                found[leaf] = part.value if isinstance(part, Leaf) else part
    return found

"""Masked loops in C++: loop heads that skip from one set element of a mask to the next."""

from __future__ import annotations

from sdfgad.ir.program import Loop


def head_of(loop: Loop, mask: str, start: str, end: str) -> str:
    """The head of such a loop."""
    var = loop.var
    if loop.backward:
        find = f"{var} = sdfgad::previous_set(b_{mask}_, {{}}, {start})"
        return f"for (int64_t {find.format(f'{end} - 1')}; {var} >= {start}; {find.format(f'{var} - 1')}) {{"
    find = f"{var} = sdfgad::next_set(b_{mask}_, {{}}, {end})"
    return f"for (int64_t {find.format(start)}; {var} < {end}; {find.format(f'{var} + 1')}) {{"

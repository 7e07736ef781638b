"""Symbols as variables: those whose values no integer form has are scalars in storage, which assignments write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Int, Lin, Read
from sdfgad.ir.program import Access, Block, Compute
from sdfgad.sdfg.parsing import converted
from sdfgad.sdfg.rounding import refuse_rounding
from sdfgad.sdfg.scope import Scope


def with_variables(sdfg: Any, scope: Scope) -> tuple[Block, Scope]:
    """The scope in which an SDFG's variables stand for what they hold, and the statements that set them first."""
    names = [name for name in sdfg.symbols if scope.is_variable(name)]
    first, symbols, values = [], dict[str, Lin](), dict(scope.values)
    for name in names:
        dtype = np.dtype(sdfg.symbols[name].type)
        dtype = INT if dtype.kind in "iu" else dtype
        buffer = scope.buffers.make(scope.buffers.names.fresh(name), (), dtype)
        read = Access(buffer.name).read(dtype)
        if dtype == INT:
            before = scope.symbols.get(name, Lin.symbol(name) if name in sdfg.free_symbols else Lin(0))
            first.append(Compute((), Access(buffer.name), Int(before)))
            symbols[name] = Lin.symbol(read)
        else:
            values[name] = read
    return tuple(first), replace(scope.with_symbols(symbols), values=values)


def assigned_variables(assignments: Mapping[str, Any], scope: Scope) -> list[Compute]:
    """The statements that assign variables; all values of an edge are computed before any is assigned."""
    names = [name for name in assignments if scope.is_variable(name)]
    values = [scope.parser.text(str(assignments[name])) for name in names]
    found = [assignment(name, value, scope) for name, value in zip(names, values, strict=True)]
    targets = {statement.target.buffer for statement in found}
    if len(names) < 2 or not any(read.buffer in targets for value in values for read in value.reads):
        return found
    through = [scope.buffers.make(scope.buffers.names.fresh("next"), (), s.value.dtype).name for s in found]
    first = [replace(s, target=Access(name)) for s, name in zip(found, through, strict=True)]
    last = [replace(s, value=Access(name).read(s.value.dtype)) for s, name in zip(found, through, strict=True)]
    return [*first, *last]


def assignment(name: str, value: Any, scope: Scope) -> Compute:
    """The statement that assigns a variable."""
    ((atom, _),) = scope.symbols[name].terms if name in scope.symbols else ((scope.values[name], 1),)
    assert isinstance(atom, Read)
    refuse_rounding(value, atom, f"an assignment to the symbol `{name}`", scope)
    return Compute((), Access(atom.buffer), converted(value, atom.dtype))

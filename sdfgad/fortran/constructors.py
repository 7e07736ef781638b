"""Array constructors, ``[1.0, x, (i * h, i = 1, n)]``: arrays with one axis."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.kinds import Kind, joined
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import listed, name_of
from sdfgad.fortran.values import Value, as_kind, plain


def array_constructor(e: Evaluator, node: Any) -> Value:
    """Raises: UnsupportedProgram, where an item is an array beside others."""
    content = node.children[1]
    if isinstance(content, f03.Ac_Spec):
        e.refuse(node, "a type in an array constructor is not supported", "Write its items in that kind.")
    items = listed(content)
    if len(items) == 1 and isinstance(items[0], f03.Ac_Implied_Do):
        return _implied(e, items[0])
    values = [_number(e, one) for one in items]
    kind = values[0].kind
    for one in values[1:]:
        kind = kind if one.kind == kind else joined(kind, one.kind)
    return Value(f"np.array([{', '.join(plain(as_kind(one, kind)) for one in values)}], {kind.numpy})", kind, 1)


def _number(e: Evaluator, node: Any) -> Value:
    if isinstance(node, f03.Ac_Implied_Do):
        e.refuse(node, "an implied loop beside other items is not supported", "Assign the items in a loop.")
    value = e.value(node)
    if value.rank:
        e.refuse(node, f"the array `{node}` among the items of another one is not supported", "Assign it to a section.")
    return value


def _implied(e: Evaluator, node: Any) -> Value:
    """``(f(i), i = first, last)`` as a list that Python makes."""
    items, control = listed(node.children[0]), node.children[1]
    counter, bounds = name_of(control.children[0]), [e.integer(one) for one in control.children[1]]
    if len(items) != 1 or len(bounds) != 2:
        e.refuse(node, f"the implied loop `{node}` is not supported", "Write one item, and steps of 1.")
    found = e.scope.variable(counter)
    name = Variable(counter, found[1].kind if found else Kind("integer", 4), node).text
    held = e.lows.get(name)
    if bounds[0].low is not None:
        e.lows[name] = bounds[0].low
    # What is called before the statement would not know the counter.
    before, e.before = e.before, None
    item: Value = _number(e, items[0])
    e.before = before
    e.lows.pop(name, None)
    if held is not None:
        e.lows[name] = held
    loop = f"for {name} in range({plain(bounds[0])}, {plain(bounds[1].shifted(1))})"
    return Value(f"np.array([{plain(item)} {loop}], {item.kind.numpy})", item.kind, 1)

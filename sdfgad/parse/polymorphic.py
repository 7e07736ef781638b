"""Dynamic dispatch: objects of several classes of which data decides one, such as the nearest thing that a ray hits.

Where such an object is used, the program has a branch for each class: ``best.color`` is ``best_as_sphere.color if
<best is a sphere> else best_as_plane.color``, and so are calls of its methods. Within a branch it is an object at a
place among those of its class, or the only one of them.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sdfgad.errors import ProgramRaises
from sdfgad.ir.expr import BOOL, INT, Const, Int, Op
from sdfgad.parse import chosen_objects
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.item_arrays import in_steps
from sdfgad.parse.known_tables import integers
from sdfgad.parse.objects import has_attribute
from sdfgad.parse.values import Holder, Polymorphic, Record, Tensor, scalar

METHODS = types.FunctionType | classmethod | staticmethod
Each = Callable[[Record], ast.expr]


@dataclass(frozen=True)
class PolymorphicMethod(Holder):
    """A method of such an object, before it is called."""

    owner: Polymorphic
    name: str

    @property
    def held(self) -> Iterable[Any]:
        return (self.owner,)


def attribute(frame: Frame, node: ast.Attribute, owner: Polymorphic) -> Any:
    """``owner.name``; a method is looked up where it is called."""
    if any(isinstance(inspect.getattr_static(one.cls, node.attr, None), METHODS) for one in owner.objects):
        return PolymorphicMethod(owner, node.attr)
    made = partial(ast.Attribute, attr=node.attr, ctx=ast.Load())
    return _switched(frame, node, _with_attribute(frame.b, owner, node.attr), lambda one: made(_constant(one)))


def call(frame: Frame, node: ast.AST, function: Any, values: list[Any], keywords: dict[str, Any]) -> Any:
    """The value of a call of such an object or a method of one, or of a function of which it is an argument."""
    named = [ast.keyword(name, _constant(value)) for name, value in keywords.items()]
    if isinstance(function, PolymorphicMethod):
        name, values = function.name, [_with_attribute(frame.b, function.owner, function.name), *values]
        return applied(
            frame, node, lambda one, *more: ast.Call(ast.Attribute(one, name, ast.Load()), [*more], named), values
        )
    return applied(frame, node, lambda called, *more: ast.Call(called, [*more], named), [function, *values])


def applied(frame: Frame, node: ast.AST, make: Callable[..., ast.expr], values: Sequence[Any]) -> Any:
    """The value of an expression of several values, as `make` makes it of their nodes, for the classes of the first
    such object among them.
    """
    at = next(number for number, value in enumerate(values) if isinstance(value, Polymorphic))
    before, after = list(map(_constant, values[:at])), list(map(_constant, values[at + 1 :]))
    return _switched(frame, node, values[at], lambda one: make(*before, _constant(one), *after))


def is_one(value: Any) -> bool:
    return isinstance(value, Polymorphic)


def each_side(frame: Frame, owner: Polymorphic, each: Callable[[Record], None]) -> None:
    """Do something to the object, which is no expression: assign an attribute."""
    (test, first), *others = _by_class(frame, owner)

    def side(number: int) -> None:
        test, one = members[number]
        if number == len(members) - 1:
            each(one)
        else:
            frame.chosen(test, (lambda: each(one), lambda: side(number + 1)), lambda values: None)

    members = [(test, first), *others]
    side(0)


def _with_attribute(b: Builder, owner: Polymorphic, name: str) -> Polymorphic:
    """The object as one of those classes alone that have an attribute; a check at run time requires that it is one."""
    having = [has_attribute(one, name) for one in owner.objects]
    if all(having) or not any(having):
        return owner
    is_one, place = (
        in_steps(numbers, partial(integers, b))(owner.place)
        for numbers in (list(map(int, having)), [sum(having[:at]) if has else 0 for at, has in enumerate(having)])
    )
    what = f"the object that data decides has no attribute `{name}`"
    todo = "Python raises AttributeError here, too."
    b.check(Op("equal", (Int(is_one), Const(1, INT)), BOOL), (), what, ProgramRaises, todo, (AttributeError,))
    return Polymorphic(tuple(one for one, has in zip(owner.objects, having, strict=True) if has), place)


def attribute_of(one: Record, target: ast.Attribute) -> ast.Attribute:
    """The attribute of a certain object that is assigned to."""
    made = ast.Attribute(_constant(one), target.attr, ast.Store())
    return ast.fix_missing_locations(ast.copy_location(made, target))


def _constant(value: Any) -> ast.expr:
    return ast.Constant(value)


def _switched(frame: Frame, node: ast.AST, owner: Polymorphic, each: Each) -> Any:
    """The value of an expression for the class that the object has."""
    *members, (_, last) = _by_class(frame, owner)
    made = each(last)
    for test, one in reversed(members):
        made = ast.IfExp(_constant(test), each(one), made)
    return frame.eval(ast.fix_missing_locations(ast.copy_location(made, node)))


def _by_class(frame: Frame, owner: Polymorphic) -> list[tuple[Tensor, Record]]:
    """For each class, whether the object is of it, and which one among those."""
    b, groups = frame.b, list[list[Record]]()
    places = list[tuple[int, int]]()
    for one in owner.objects:
        number = next((at for at, group in enumerate(groups) if group[0].cls is one.cls), len(groups))
        groups += [[]] if number == len(groups) else []
        places.append((number, len(groups[number])))
        groups[number].append(one)
    if len(owner.objects) == 1:
        return [(scalar(Const(True, BOOL)), owner.objects[0])]
    kind, inside = (in_steps(list(column), partial(integers, b))(owner.place) for column in zip(*places, strict=True))
    found = []
    for number, group in enumerate(groups):
        test = scalar(Op("equal", (Int(kind), Const(number, INT)), BOOL))
        found.append((test, group[0] if len(group) == 1 else chosen_objects.at(b, group, inside)))
    return found

"""A-normal form: Python runs the statements with named calls as it runs the original one, in the same order."""

import ast
import re

import pytest

from sdfgad.parse.normal_form import Assigned, NotNamed, with_named_calls

STATEMENTS = [
    "y = a[0] * f(1) + b.x * f(f(2) + a[1], *c, k=f(3))",
    "y = f(1) < g(2) if g(0) else f(4)",
    "y = (g(1) and f(0) and f(2)) or f(3) or g(4)",
    "y = [g(1), (f(2), -f(3)), {g(4): f(5), g(6): g(7)}, not f(0)]",
    "y = (z := f(2)) + a[f(1)] + z + b.x",
    "a[1] += f(2) * a[1]",
    "b.x -= f(3)",
    "y = g(1) + b.method(f(2), g(3)).x",
    "y = f(1) if f(0) else g(f(2)) if f(3) else g(9)",
    "y = make(f(2)).x + f(1) < 7",
]
REFUSED = [
    "y = [f(v) for v in a]",
    "y = g(1) < 2 < f(3)",
    "y = lambda: f(1)",
    "with f(1): pass",
    "y = a[1:f(1)][f(2):]",
]


class Box:
    def __init__(self, x):
        self.x = x

    def method(self, *args):
        return Box(self.x + sum(args))


def is_f(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "f"


def written(steps, indent=""):
    for step in steps:
        if isinstance(step, Assigned):
            yield f"{indent}{step.name} = {ast.unparse(step.value)}"
            continue
        for head, (before, value) in ((f"if {ast.unparse(step.test)}:", step.then), ("else:", step.orelse)):
            yield indent + head
            yield from written(before, indent + " ")
            yield f"{indent} {step.name} = {ast.unparse(value)}"


def run(text):
    """The names that a text leaves, and the calls in order."""
    calls, names = [], {"a": [5, 6, 7], "b": Box(3), "c": (1, 2), "y": 0, "make": Box}

    def f(value, *more, k=0):
        calls.append(("f", value, more, k))
        # What is read before a call must be read before it.
        names["a"][1] += 10
        names["b"].x += 100
        return value + sum(more) + k

    def g(value):
        calls.append(("g", value))
        return value + 1

    exec(text, {"f": f, "g": g}, names)
    return names["y"], names["a"], names["b"].x, names.get("z"), calls


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_order_is_that_of_python(text):
    named = with_named_calls(ast.parse(text).body[0], is_f)
    lines = [*written(named.before), ast.unparse(named.statement), *map(ast.unparse, named.after)]
    made = re.sub(
        r"<value ([^>]*)>(\??)", lambda m: "t" + re.sub(r"\D+", "_", m[1]) + "c" * len(m[2]), "\n".join(lines)
    )
    assert run(made) == run(text)
    assert all(line.count("f(") <= 1 for line in made.splitlines())


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_place_for_a_name(text):
    with pytest.raises(NotNamed):
        with_named_calls(ast.parse(text).body[0], is_f)


def test_others_stay_as_they_are():
    assert with_named_calls(ast.parse("y = g(1) + a[0]").body[0], is_f) is None

"""Single exit: functions without jumps do the same, step by step, as the originals in Python."""

import ast
import itertools
import random
import textwrap

import pytest

from sdfgad.parse.jumps import RESULT, stops, structured, with_result
from sdfgad.parse.values import UNDEFINED

LOOPS = (ast.For, ast.While)


class Plain(ast.NodeTransformer):
    """The result of `structured` as plain Python: the flags in `stop` end their loops."""

    def loop(self, node):
        self.generic_visit(node)
        flags = [ast.Name(name, ast.Load()) for name in stops(node)]
        assert not node.orelse
        if isinstance(node, ast.While) and flags:
            node.test = ast.BoolOp(ast.And(), [*(ast.UnaryOp(ast.Not(), flag) for flag in flags), node.test])
        elif flags:
            test = flags[0] if len(flags) == 1 else ast.BoolOp(ast.Or(), flags)
            node.body.append(ast.If(test, [ast.Break()], []))
        return node

    visit_For = visit_While = loop

    def visit_Constant(self, node):
        return ast.Name("<undefined>", ast.Load()) if node.value is UNDEFINED else node


def rewritten(text):
    (node,) = ast.parse(textwrap.dedent(text)).body
    return structured(node.body)


def as_python(text):
    """The function that the text defines, and the one made of its rewritten body."""
    tree = ast.parse(textwrap.dedent(text))
    (node,) = tree.body
    spaces = [{}, {"<undefined>": UNDEFINED}]
    exec(compile(tree, "original", "exec"), spaces[0])
    node.body = [Plain().visit(statement) for statement in structured(node.body)]
    exec(compile(ast.fix_missing_locations(tree), "rewritten", "exec"), spaces[1])
    return [space[node.name] for space in spaces]


def assert_no_jumps(body):
    """No ``break`` or ``continue``, no ``else`` of a loop, and no ``return`` but one at the end."""
    nodes = [n for s in body if not isinstance(s, ast.FunctionDef) for n in ast.walk(s)]
    assert not any(isinstance(n, (ast.Break, ast.Continue)) for n in nodes)
    assert not any(isinstance(n, LOOPS) and n.orelse for n in nodes)
    assert all(n is body[-1] for n in nodes if isinstance(n, ast.Return))


def outcome(function, seed):
    """What a call logs and returns or raises; `take` answers the program's questions at random."""
    rng, log = random.Random(seed), []

    def take(number):
        assert len(log) < 2000
        log.append((number, rng.random() < 0.5))
        return log[-1][1]

    try:
        result = function(take, log.append)
    except (ValueError, UnboundLocalError) as error:
        return log, type(error)
    if isinstance(result, tuple) and any(part is UNDEFINED for part in result):
        result = None
    return log, None if result is UNDEFINED else result


def assert_same(text, seeds=16):
    assert_no_jumps(rewritten(text))
    original, other = as_python(text)
    for seed in range(seeds):
        assert outcome(original, seed) == outcome(other, seed), f"seed {seed}:\n{text}"


PROGRAMS = """
def program(take, note):
    for i in range(4):
        if take(0):
            break
        note(i)
    note("after")
    return i

def program(take, note):
    for i in range(4):
        if take(0):
            continue
        note(i)
        if take(1):
            note("one")
            continue
        note("end")
    return 1

def program(take, note):
    for i in range(4):
        for j in range(3):
            if take(0):
                return i, j
            if take(1):
                break
            if take(2):
                continue
            note((i, j))
        else:
            note("inner else")
        note("inner done")
    else:
        return "none", "none"
    return "never", "never"

def program(take, note):
    while take(0):
        note("in")
        if take(1):
            break
    else:
        note("else")
    note("out")

def program(take, note):
    if take(0):
        return 1
    if take(1):
        note("b")
        return 2
    elif take(2):
        note("c")
    else:
        return
    note("d")
    return 3

def program(take, note):
    if take(0):
        if take(1):
            return 1
        note("a")
    else:
        if take(2):
            return 2
        note("b")
    note("c")

def program(take, note):
    for i in range(3):
        if take(0):
            raise ValueError("x")
        note(i)
        while take(1):
            if take(2):
                raise ValueError("y")
            if take(3):
                return i
    return 9

def program(take, note):
    while True:
        if take(0):
            return 1, (2, 3)
        if take(1):
            return 4, 5

def program(take, note):
    for i in range(3):
        if take(0):
            return 1, 2
    return 3

def program(take, note):
    for i in range(3):
        pass
    else:
        return 1
    return 2

def program(take, note):
    for i in range(3):
        for j in range(3):
            break
        else:
            note("never")
        continue
    return i, j

def program(take, note):
    def inner(n):
        for i in range(n):
            if take(0):
                return i
        return -1
    a = inner(3)
    if take(1):
        return a
    return inner(2)

def program(take, note):
    return 1
    note("dead")

def program(take, note):
    while take(0):
        break
        note("dead")
    while take(1):
        continue
        note("dead")
"""


@pytest.mark.parametrize("text", [f"def {t}" for t in PROGRAMS.split("\ndef ")[1:]])
def test_same_steps_as_python(text):
    assert_same(text)


class Maker:
    """Random functions made of logged steps, loops, branches and jumps."""

    def __init__(self, seed):
        self.rng, self.numbers = random.Random(seed), itertools.count()

    def function(self):
        lines = ["def program(take, note):", *self.block(1, False, 3), f"    return {next(self.numbers)}"]
        return "\n".join(lines)

    def block(self, depth, in_loop, size):
        lines = []
        for _ in range(self.rng.randint(1, size)):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth, in_loop):
        pad, number = "    " * depth, next(self.numbers)
        kinds = ["note", "jump"] + ["if", "if", "for", "while"] * (depth < 5)
        kind = self.rng.choice(kinds)
        if kind == "note":
            return [f"{pad}note({number})"]
        if kind == "jump":
            jumps = ["return 1, 2", "return 3", "raise ValueError"] + ["break", "continue"] * 4 * in_loop
            return [f"{pad}{self.rng.choice(jumps)}"]
        heads = {"if": f"if take({number}):", "while": f"while take({number}):", "for": f"for i{number} in range(3):"}
        lines = [pad + heads[kind], *self.block(depth + 1, in_loop or kind != "if", 3)]
        if self.rng.random() < 0.4:
            lines += [f"{pad}else:", *self.block(depth + 1, in_loop, 2)]
        return lines


# Random programs with the `else` of a loop in a branch that has no jump.
ELSE_IN_A_BRANCH = (47, 252, 265, 432, 552)


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_same_steps_as_python_for_random_programs(first):
    for seed in sorted({*range(first, first + 100)} - {*ELSE_IN_A_BRANCH}):
        assert_same(Maker(seed).function(), seeds=6)


@pytest.mark.parametrize("seed", ELSE_IN_A_BRANCH)
def test_same_steps_as_python_for_random_programs_with_an_else_in_a_branch(seed):
    assert_same(Maker(seed).function(), seeds=6)


@pytest.mark.parametrize("head", ["for i in range(2):", "while take(1):"])
def test_else_of_a_loop_in_a_branch(head):
    assert_same(f"def f(take, note):\n if take(0):\n  {head}\n   note(1)\n  else:\n   note(2)\n return 3")


@pytest.mark.parametrize(
    "text",
    [
        "def f(take, note):\n x = 1\n for i in range(5):\n  x += 1\n  if take(0): return x, i\n return x, -1",
        "def f(take, note):\n x = 1\n for x in range(5):\n  if take(0): return x\n x = 9\n return x",
        "def f(take, note):\n x = 1\n try:\n  if take(0): return x\n  x = 4\n finally:\n  x += 7\n return x",
        "def f(take, note):\n x = 1\n if take(0):\n  x = 2\n  return x\n def x(): pass\n x = 3\n return x",
        "def f(take, note):\n if take(0):\n  x = 2\n  return x\n x = 3\n return x",
    ],
)
def test_a_name_that_each_return_gives(text):
    assert_same(text, seeds=6)


# --- what is made


def test_a_name_that_each_return_gives_needs_no_result():
    text = "def f(x, n):\n for k in range(n):\n  x[k] += 1\n  if x[k] > 3: return x, k\n return x, n"
    (node,) = ast.parse(text).body
    *_, last = structured(node.body, ["x", "n"])
    assert ast.unparse(last) == f"return (x, {RESULT}1)"


def test_a_body_without_jumps_stays_as_it_is():
    (node,) = ast.parse("def f(x):\n  for i in x:\n    y = i\n  if x:\n    y = 2\n  return y").body
    made = structured(node.body)
    assert all(old is new for old, new in zip(node.body, made, strict=True))


def test_nodes_keep_their_lines():
    text = "def f(x):\n for i in x:\n  if i:\n   return i\n  y = i\n return y"
    for statement in rewritten(text):
        for node in ast.walk(statement):
            if isinstance(node, (ast.stmt, ast.expr)):
                assert 2 <= node.lineno <= 6
    statements = [n for s in rewritten(text) for n in ast.walk(s) if isinstance(n, ast.stmt)]
    lines = {ast.unparse(n).split("\n")[0]: n.lineno for n in statements}
    assert lines["y = i"] == 5
    assert lines["for i in x:"] == 2


def test_flags_of_a_loop():
    text = "def f(x):\n for i in x:\n  for j in i:\n   if j: break\n   if x: return 1\n  z = 0\n return 2"
    outer, inner = (n for s in rewritten(text) for n in ast.walk(s) if isinstance(n, ast.For))
    assert len(stops(outer)) == 1
    assert set(stops(outer)) < set(stops(inner))
    assert len(stops(inner)) == 2
    assert not any(name.isidentifier() for name in stops(inner))


def test_a_continue_ends_no_loop():
    text = "def f(x):\n for i in x:\n  if i: continue\n  z = 0\n"
    (loop,) = (n for s in rewritten(text) for n in ast.walk(s) if isinstance(n, ast.For))
    assert stops(loop) == ()


def test_statements_in_errstate_come_after_it():
    body = rewritten(
        "def f(x):\n if x:\n  with errstate():\n   with np.errstate(all=1):\n    y = 1\n   return y\n return 2"
    )
    assert_no_jumps(body)
    withs = [n for s in body for n in ast.walk(s) if isinstance(n, ast.With)]
    assert len(withs) == 2
    assert all(len(n.body) == 1 and isinstance(n.body[0], ast.Pass) for n in withs)


def test_other_context_managers_are_left_in_a_finally():
    body = rewritten("def f(x):\n if x:\n  with a as y, b:\n   return y\n return 2")
    assert_no_jumps(body)
    tries = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Try)]
    assert len(tries) == 2
    assert all(len(n.finalbody) == 1 and not n.handlers for n in tries)
    assert not any(isinstance(n, ast.With) for s in body for n in ast.walk(s))


@pytest.mark.parametrize(
    ("text", "statements", "end"),
    [
        ("a = 1\nreturn a + 1", ["a = 1", f"{RESULT} = a + 1"], [f"return {RESULT}"]),
        ("a = 1", ["a = 1"], []),
        ("a = 1\nreturn", ["a = 1"], ["return"]),
        ("", [], []),
    ],
)
def test_with_result(text, statements, end):
    body, last = with_result(ast.parse(text).body)
    assert [ast.unparse(s) for s in body] == statements
    assert [ast.unparse(s) for s in last] == end

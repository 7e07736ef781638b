"""Verifier: whether a program is well-formed.

It checks that names are defined where they are used, indices have the rank of their buffer, dtypes agree, and boxes,
calls and loops satisfy the invariants of their records. What depends on values, such as data races between the trips of
a parallel loop, the interpreter of `sdfgad.explain` checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, get_args
from weakref import WeakSet

from sdfgad.errors import InvalidProgram, Location
from sdfgad.ir.expr import BOOL, Expr, Lin, Op, postorder
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Accumulate, Block, Branch, Buffer, Call, Compute, Loop, Program, Statement
from sdfgad.ir.text import statement_head

Scope = frozenset[str]

KINDS = get_args(Accumulate)
# Cache: expressions whose operations have been checked, in any program.
_known: WeakSet[Expr] = WeakSet()


def verify(program: Program, when: str = "") -> None:
    """Check a program's structure.

    Args:
        when: such as "after the pass `fuse`", for the error.

    Raises:
        InvalidProgram: it is not well-formed; the error names the statement.
    """
    try:
        _Verifier(program).run()
    except _Broken as broken:
        what = " ".join([f"the program `{program.name}` is not well-formed", *([when] if when else [])])
        todo = "This is an error of sdfgad. Please report it."
        raise InvalidProgram(f"{what}: {broken}", broken.where, todo) from None


class _Broken(Exception):
    """A violated invariant: its message, and the user's line that the statement comes from."""

    where: Location | None = None


class _Verifier:
    def __init__(self, program: Program) -> None:
        self.program, self.buffers, self.inputs = program, program.buffers, frozenset(program.inputs)

    def run(self) -> None:
        program, scope = self.program, frozenset(self.program.integers)
        if len(scope) < len(program.integers) or len(self.inputs) < len(program.inputs):
            raise _Broken("an argument is passed twice")
        for name, buffer in self.buffers.items():
            if name != buffer.name:
                raise _Broken(f"`{name}` is the buffer `{buffer.name}`")
        for name in (*program.inputs, *program.outputs.values(), *(["status"] if program.checks else [])):
            self.buffer(name)
            self.forms(self.buffers[name].shape, scope, f"the shape of `{name}`")
        self.block(program.body, scope)

    # --- statements

    def block(self, block: Block, scope: Scope) -> None:
        for statement in block:
            try:
                self.statement(statement, scope)
            except _Broken as broken:
                # The innermost statement names the line.
                broken.where = broken.where or statement.where
                raise

    def statement(self, statement: Statement, scope: Scope) -> None:
        if isinstance(statement, Compute):
            self.compute(statement, scope)
        elif isinstance(statement, Call):
            self.call(statement)
        elif isinstance(statement, Loop):
            self.loop(statement, scope)
        else:
            self.branch(statement, scope)

    def compute(self, statement: Compute, scope: Scope) -> None:
        names = [name for name, _ in statement.params]
        if len(set(names)) < len(names):
            self.fail("a parameter stands twice", statement)
        self.new(names, scope, statement)
        self.forms((extent for _, extent in statement.params), scope, statement)
        inner = scope.union(names) if names else scope
        self.access(statement.target, inner, statement)
        self.written(statement.target.buffer, statement)
        self.value(statement.value, inner, statement)
        dtype, kind = self.buffers[statement.target.buffer].dtype, statement.accumulate
        if statement.value.dtype != dtype:
            self.fail(f"a value of {statement.value.dtype} goes to {dtype}", statement)
        if kind is None and statement.fresh:
            self.fail("an assignment is fresh", statement)
        if kind is not None and kind not in KINDS:
            self.fail(f"there is no accumulation by {kind!r}", f"what is written to `{statement.target.buffer}`")

    def call(self, call: Call) -> None:
        if call.name not in LIBRARY:
            self.fail(f"there is no library function `{call.name}`", call)
        for whole in (*call.inputs, *call.outputs):
            found = self.buffer(whole.buffer, call)
            if (found.shape, found.dtype) != (whole.shape, whole.dtype):
                self.fail(f"`{whole.buffer}` is of another shape or type", call)
        outputs = [whole.buffer for whole in call.outputs]
        for name in outputs:
            self.written(name, call)
        if len(set(outputs)) < len(outputs) or not {whole.buffer for whole in call.inputs}.isdisjoint(outputs):
            self.fail("the outputs are no buffers of their own", call)

    def loop(self, loop: Loop, scope: Scope) -> None:
        self.new([loop.var], scope, loop)
        self.forms((loop.start, loop.trips), scope, loop)
        if loop.is_open and (loop.is_parallel or loop.backward or len(loop.trips.terms) != 1):
            self.fail("what ends the loop is set in it, so it must run in order, up to a scalar", loop)
        inner = scope | {loop.var}
        self.forms(loop.guards, inner, loop)
        self.block(loop.body, inner)

    def branch(self, branch: Branch, scope: Scope) -> None:
        if branch.condition.dtype != BOOL:
            self.fail(f"a condition is of {branch.condition.dtype}", branch)
        self.value(branch.condition, scope, branch)
        self.forms(branch.guards, scope, branch)
        self.block(branch.then, scope)
        self.block(branch.orelse, scope)

    # --- what statements are made of

    def new(self, names: Iterable[str], scope: Scope, statement: Statement) -> None:
        for name in names:
            if name in scope:
                self.fail(f"`{name}` stands for something else around it", statement)

    def access(self, access: Access, scope: Scope, statement: Statement) -> None:
        rank = len(self.buffer(access.buffer, statement).shape)
        if len(access.index) != rank:
            self.fail(f"`{access.buffer}` has {rank} axes and {len(access.index)} indices", statement)
        self.forms(access.index, scope, statement)

    def forms(self, forms: Iterable[Lin], scope: Scope, place: Statement | str) -> None:
        for form in forms:
            if not form.symbols <= scope:
                self.fail(f"{_listed(form.symbols - scope)} not known", place)
            for atom, _ in form.terms:
                if isinstance(atom, Expr):
                    if atom.dtype.kind not in "iub":
                        self.fail(f"an index is of {atom.dtype}", place)
                    self.value(atom, scope, place)

    def value(self, value: Expr, scope: Scope, place: Statement | str) -> None:
        if not value.symbols <= scope:
            self.fail(f"{_listed(value.symbols - scope)} not known", place)
        for read in value.reads:
            found = self.buffer(read.buffer, place)
            if len(read.index) != len(found.shape):
                self.fail(f"`{read.buffer}` has {len(found.shape)} axes and {len(read.index)} indices", place)
            if read.dtype != found.dtype:
                self.fail(f"`{read.buffer}`, of {found.dtype}, is read as {read.dtype}", place)
        if value not in _known:
            for node in postorder(value):
                if isinstance(node, Op) and node.name not in OPERATIONS:
                    self.fail(f"there is no operation `{node.name}`", place)
            _known.add(value)

    def buffer(self, name: str, place: Statement | str = "the arguments") -> Buffer:
        if name not in self.buffers:
            self.fail(f"there is no buffer `{name}`", place)
        return self.buffers[name]

    def written(self, name: str, statement: Statement) -> None:
        if name in self.inputs:
            self.fail(f"the input `{name}` is written", statement)

    def fail(self, what: str, place: Statement | str) -> NoReturn:
        raise _Broken(f"{what}, in: {place if isinstance(place, str) else statement_head(place)}")


def _listed(names: Iterable[str]) -> str:
    found = sorted(names)
    return ", ".join(f"`{name}`" for name in found) + (" is" if len(found) == 1 else " are")

"""Strong zeros: where a cotangent that is exactly zero must stay zero, even if it is multiplied by inf or NaN.

A value that a `where`, a mask or a branch did not choose has the cotangent 0. The adjoint of the statement that
computed it multiplies this by local derivatives, and 0 * inf is NaN. The adjoints of such statements therefore test the
cotangent. All others do without the test: statements whose results are always used, those whose derivatives are always
finite, and products of arrays, which are left to BLAS (ADR 19).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Const, Expr, Op, Read, postorder
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop, Program, reads_of, walk, writes_of
from sdfgad.ir.squares import is_sum_of_squares
from sdfgad.rules.algebra import strong
from sdfgad.rules.elementary import SINGULAR, is_regular
from sdfgad.rules.statements import Pullback, target_params


@dataclass(frozen=True)
class StrongZeros:
    """What the analysis of a program found.

    Attributes:
        unchosen: buffers whose values, or values computed from them, some condition may leave unused.
        unbounded: buffers whose elements may be infinite or NaN.
    """

    unchosen: frozenset[str]
    unbounded: frozenset[str]

    def kept(self, statement: Compute, t: Expr, pulled: Pullback) -> Pullback:
        """The cotangents that a statement passes on, exactly zero where its own cotangent `t` is."""
        if statement.target.buffer not in self.unchosen or is_plain_product(statement):
            return pulled
        bounds = Bounds(self.unbounded)
        cotangents = tuple((read, strong(t, c) if bounds.is_exceeded(c) else c) for read, c in pulled.cotangents)
        return replace(pulled, cotangents=cotangents)


def strong_zeros_of(program: Program) -> StrongZeros:
    """Finds the buffers whose values a condition may leave unused, and those that may be infinite or NaN."""
    return StrongZeros(frozenset(_unchosen(program)), frozenset(_unbounded(program)))


def is_plain_product(statement: Compute) -> bool:
    """Whether a statement sums products of elements of two arrays, which BLAS may do."""
    is_sum = statement.accumulate == "add" and len(target_params(statement)) < len(statement.params)
    value = statement.value
    return is_sum and isinstance(value, Op) and value.name == "multiply" and all(map(_is_element, value.args))


def _is_element(node: Expr) -> bool:
    while isinstance(node, Op) and node.name in ("cast", "conjugate"):
        (node,) = node.args
    return isinstance(node, Read)


# Operations whose value may be infinite, or no number, for finite operands.
UNBOUNDED = SINGULAR - {"cbrt", "root_of_squares", "hypot", "arctan2"} | {"logaddexp", "logaddexp2", "tan", "trigamma"}
# Those of one operand, or of a constant power, that are finite where the operand is not 0; and where it is positive.
OF_NONZERO = {"reciprocal", "divide"}
OF_POSITIVE = OF_NONZERO | {"sqrt", "log", "log2", "log10", "power", "float_power"}


class Bounds:
    """Whether expressions may be infinite or NaN, by the operations in them and the buffers that they read.

    The condition of a select counts on its side: ``1 / x`` where ``x > 0`` is finite. Inputs of the program are taken
    as finite, and sums and products are taken not to overflow.
    """

    def __init__(self, unbounded: frozenset[str] | set[str]) -> None:
        self.unbounded = unbounded
        self._found: dict[tuple[Expr, frozenset[Expr], frozenset[Expr]], bool] = {}

    def is_exceeded(
        self, node: Expr, positive: frozenset[Expr] = frozenset(), nonzero: frozenset[Expr] = frozenset()
    ) -> bool:
        """Whether a node may be infinite or NaN, given expressions that are positive, and others that are not zero."""
        key = node, positive, nonzero
        if key not in self._found:
            self._found[key] = self._decide(node, positive, nonzero)
        return self._found[key]

    def _decide(self, node: Expr, positive: frozenset[Expr], nonzero: frozenset[Expr]) -> bool:
        if isinstance(node, Read):
            return node.buffer in self.unbounded
        if node.dtype.kind not in "fc":
            return False
        if isinstance(node, Const):
            return not math.isfinite(abs(node.value))
        if isinstance(node, Op) and node.name in UNBOUNDED and not self._is_safe(node, positive, nonzero):
            return True
        if isinstance(node, Op) and node.name == "select":
            more = positive | _positive(node.args[0]), nonzero | _nonzero(node.args[0])
            return self.is_exceeded(node.args[1], *more) or self.is_exceeded(node.args[2], positive, nonzero)
        return any(self.is_exceeded(child, positive, nonzero) for child in node.children)

    def _is_safe(self, node: Op, positive: frozenset[Expr], nonzero: frozenset[Expr]) -> bool:
        if is_regular(node):
            return True
        operand = node.args[1] if node.name == "divide" else node.args[0]
        if node.name == "sqrt" and is_sum_of_squares(operand):
            return True
        is_safe = node.name in OF_POSITIVE and operand in positive
        return is_safe or (node.name in OF_NONZERO and operand in nonzero | positive)


def _positive(condition: Expr) -> frozenset[Expr]:
    """The expressions that a condition guarantees to be positive."""
    if not isinstance(condition, Op) or condition.name not in ("greater", "less"):
        return frozenset()
    large, small = condition.args if condition.name == "greater" else reversed(condition.args)
    return frozenset({large}) if isinstance(small, Const) and small.value >= 0 else frozenset()


def _nonzero(condition: Expr) -> frozenset[Expr]:
    """The expressions that a condition guarantees to be different from zero."""
    if not isinstance(condition, Op) or condition.name != "not_equal":
        return frozenset()
    zeros = [arg for arg in condition.args if isinstance(arg, Const) and arg.value == 0]
    return frozenset(arg for arg in condition.args if zeros and arg not in zeros)


def _unbounded(program: Program) -> set[str]:
    found = set[str]()
    while True:
        before = len(found)
        for statement in walk(program.body):
            if isinstance(statement, Compute):
                is_new = Bounds(found).is_exceeded(statement.value)
            else:
                is_new = isinstance(statement, Call) and any(read.buffer in found for read in reads_of(statement))
            found |= {access.buffer for access, _ in writes_of(statement)} if is_new else set()
        if len(found) == before:
            return found


def _unchosen(program: Program) -> set[str]:
    # From the results to what they are computed of, so that one pass is enough where there are no loops.
    found, statements = _chosen_among(program.body, False), list(walk(program.body))[::-1]
    while True:
        before = len(found)
        for statement in statements:
            if any(access.buffer in found for access, _ in writes_of(statement)):
                found |= {read.buffer for read in reads_of(statement)}
        if len(found) == before:
            return found


def _chosen_among(block: Block, in_branch: bool) -> set[str]:
    """The buffers that are read only if some condition holds."""
    found = set[str]()
    for statement in block:
        if isinstance(statement, Branch):
            found |= _chosen_among(statement.then, True) | _chosen_among(statement.orelse, True)
        elif isinstance(statement, Loop):
            found |= _chosen_among(statement.body, in_branch)
        elif in_branch:
            found |= {read.buffer for read in reads_of(statement)}
        elif isinstance(statement, Compute):
            every, some = _uses(statement.value)
            found |= {read.buffer for read in some - every}
    return found


def _uses(value: Expr) -> tuple[frozenset[Read], frozenset[Read]]:
    """The reads that go into a value whatever its conditions say, and those that do for some outcome.

    An update of chosen elements, ``x[m] = f(x[m])``, reads an element for either outcome.
    """
    found: dict[Expr, tuple[frozenset[Read], frozenset[Read]]] = {}
    for node in postorder(value):
        itself = frozenset((node,) if isinstance(node, Read) else ())
        is_choice = isinstance(node, Op) and node.name == "select"
        parts = [found[child] for child in (node.children[1:] if is_choice else node.children)]
        every = frozenset.intersection(*(e for e, _ in parts)) if is_choice else itself.union(*(e for e, _ in parts))
        found[node] = every, itself.union(*(s for _, s in parts))
    return found[value]

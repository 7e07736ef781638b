"""Symbolic affine expressions (linear forms) of integers, and scalar expressions; each may contain the other.

A linear form is ``const + sum(coefficient * atom)``; indices, bounds and sizes are linear forms. An atom is a symbol (a
loop counter, a map parameter, a run-time integer argument) or an integer expression that is not linear (a quotient, a
product of symbols, an element of an index array). Forms are canonical (like terms collected, atoms sorted), so two are
equal exactly when they are the same linear combination of atoms.

Expressions are an immutable DAG with hash consing: there is one node for each distinct expression, so equality is
identity, common subexpressions are shared by construction, and a traversal visits each node once. Evaluation order and
rounding are those of the program: nothing is reassociated, and NaN and infinity follow IEEE 754.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Union
from weakref import WeakValueDictionary

import numpy as np

Atom = Union[str, "Expr"]
IntLike = Union[int, "Lin"]

INT = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)

_interned: WeakValueDictionary[tuple[Any, ...], Expr] = WeakValueDictionary()


# --- integer linear forms


@dataclass(frozen=True)
class Lin:
    """A symbolic affine expression ``const + sum(c * atom)``: `terms` has (atom, non-zero coefficient), sorted."""

    const: int
    terms: tuple[tuple[Atom, int], ...] = ()

    @staticmethod
    def of(value: IntLike) -> Lin:
        return value if isinstance(value, Lin) else Lin(int(value))

    @staticmethod
    def symbol(name: Atom) -> Lin:
        return Lin(0, ((name, 1),))

    @cached_property
    def _hash(self) -> int:
        return hash((self.const, self.terms))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def is_affine(self) -> bool:
        """Whether it is affine in symbols: no atom is an expression, such as a quotient or an element of an array."""
        return all(isinstance(atom, str) for atom, _ in self.terms)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The symbols of the form, including those within its expression atoms."""
        plain = frozenset(atom for atom, _ in self.terms if isinstance(atom, str))
        return plain.union(*(atom.symbols for atom, _ in self.terms if not isinstance(atom, str)))

    @property
    def plain(self) -> Lin | int:
        """The number itself, if it is one."""
        return self.const if self.is_const else self

    @property
    def is_const(self) -> bool:
        return not self.terms

    def __add__(self, other: IntLike) -> Lin:
        other = Lin.of(other)
        terms = dict(self.terms)
        for atom, coefficient in other.terms:
            terms[atom] = terms.get(atom, 0) + coefficient
        return Lin(self.const + other.const, _canonical(terms))

    __radd__ = __add__

    def __neg__(self) -> Lin:
        return Lin(-self.const, tuple((a, -c) for a, c in self.terms))

    def __sub__(self, other: IntLike) -> Lin:
        return self + (-Lin.of(other))

    def __rsub__(self, other: IntLike) -> Lin:
        return Lin.of(other) - self

    def scaled(self, factor: int) -> Lin:
        """This form times a constant."""
        if factor == 0:
            return Lin(0)
        return Lin(self.const * factor, tuple((a, c * factor) for a, c in self.terms))

    def coefficient(self, name: Atom) -> int:
        return dict(self.terms).get(name, 0)

    def substitute(self, symbols: Mapping[str, IntLike], on_expr: Callable[[Expr], Expr] | None = None) -> Lin:
        """Substitute forms for symbols; `on_expr` maps the atoms that are expressions (None leaves them unchanged)."""
        if self.is_affine and self.symbols.isdisjoint(symbols):
            return self
        result = Lin(self.const)
        for atom, coefficient in self.terms:
            result = result + _substituted(atom, symbols, on_expr).scaled(coefficient)
        return result

    def __str__(self) -> str:
        parts = [str(a) if c == 1 else f"{c}*{a}" for a, c in self.terms]
        if self.const or not parts:
            parts.append(str(self.const))
        return " + ".join(parts)


def _canonical(terms: dict[Atom, int]) -> tuple[tuple[Atom, int], ...]:
    return tuple(sorted(((a, c) for a, c in terms.items() if c), key=lambda item: _order(item[0])))


def _order(atom: Atom) -> tuple[int, str]:
    # Expressions are ordered by their text, so that the order does not depend on the hash seed.
    return (0, atom) if isinstance(atom, str) else (1, str(atom))


def _substituted(atom: Atom, symbols: Mapping[str, IntLike], on_expr: Callable[[Expr], Expr] | None) -> Lin:
    if isinstance(atom, str):
        return Lin.of(symbols[atom]) if atom in symbols else Lin.symbol(atom)
    if on_expr is None:
        return Lin.symbol(atom)
    return as_linear(on_expr(atom))


def as_linear(expr: Expr) -> Lin:
    """The linear form of an integer expression; a non-linear expression becomes an atom."""
    if isinstance(expr, Int):
        return expr.value
    if isinstance(expr, Const):
        return Lin(int(expr.value))
    return Lin.symbol(expr)


# --- scalar expressions


class Expr:
    """Base of all expression nodes; `dtype` is the NumPy dtype of the value."""

    __slots__ = ("__weakref__", "_reads", "_symbols", "children", "dtype")
    arguments: ClassVar[tuple[str, ...]]
    dtype: np.dtype[Any]
    children: tuple[Expr, ...]
    # Caches: nodes are immutable.
    _reads: tuple[Read, ...]
    _symbols: frozenset[str]

    @property
    def reads(self) -> tuple[Read, ...]:
        """The distinct reads, those inside indices included, in order of evaluation."""
        try:
            return self._reads
        except AttributeError:
            self._reads = tuple(node for node in postorder(self) if isinstance(node, Read))
            return self._reads

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols in integer forms."""
        try:
            return self._symbols
        except AttributeError:
            forms = (form for node in postorder(self) for form in node.forms)
            self._symbols = frozenset(atom for form in forms for atom, _ in form.terms if isinstance(atom, str))
            return self._symbols

    @property
    def forms(self) -> tuple[Lin, ...]:
        """The node's own integer forms."""
        return ()

    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)


class Const(Expr):
    """A literal of a given dtype."""

    __slots__ = ("value",)
    arguments = ("value", "dtype")
    value: Any

    def __new__(cls, value: Any, dtype: np.dtype[Any]) -> Const:
        dtype = np.dtype(dtype)
        value = dtype.type(value).item()
        # By repr: as dict keys -0.0 equals 0.0, and NaN does not equal itself.
        return _intern(cls, (repr(value), dtype.str), (), value=value, dtype=dtype)

    def __str__(self) -> str:
        return repr(self.value)


class Int(Expr):
    """An integer linear form used as a value."""

    __slots__ = ("value",)
    arguments = ("value",)
    value: Lin

    def __new__(cls, value: IntLike) -> Int:
        form = Lin.of(value)
        return _intern(cls, (form,), (form,), value=form, dtype=INT)

    @property
    def forms(self) -> tuple[Lin, ...]:
        return (self.value,)

    def __str__(self) -> str:
        return f"({self.value})"


class Read(Expr):
    """One element of a buffer."""

    __slots__ = ("buffer", "index")
    arguments = ("buffer", "index", "dtype")
    buffer: str
    index: tuple[Lin, ...]

    def __new__(cls, buffer: str, index: tuple[Lin, ...], dtype: np.dtype[Any]) -> Read:
        return _intern(cls, (buffer, index, dtype.str), index, buffer=buffer, index=index, dtype=dtype)

    @property
    def forms(self) -> tuple[Lin, ...]:
        return self.index

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(map(str, self.index))}]" if self.index else self.buffer


class Op(Expr):
    """An elementary operation on scalars, by its name in `sdfgad.ir.ops.OPERATIONS`."""

    __slots__ = ("args", "name")
    arguments = ("name", "args", "dtype")
    name: str
    args: tuple[Expr, ...]

    def __new__(cls, name: str, args: tuple[Expr, ...], dtype: np.dtype[Any]) -> Op:
        dtype = np.dtype(dtype)
        return _intern(cls, (name, args, dtype.str), args, name=name, args=args, dtype=dtype)

    def __str__(self) -> str:
        name = f"cast<{self.dtype}>" if self.name == "cast" else self.name
        return f"{name}({', '.join(map(str, self.args))})"


def conjunction(x: Expr, y: Expr) -> Expr:
    """Both of two truth values."""
    return Op("logical_and", (x, y), BOOL)


def cast(value: Expr, dtype: np.dtype[Any]) -> Expr:
    """A value in another dtype; itself, if it has that already."""
    return value if value.dtype == dtype else Op("cast", (value,), dtype)


def _intern(cls: type[Any], key: tuple[Any, ...], parts: tuple[Expr | Lin, ...], **fields: Any) -> Any:
    node = _interned.get((cls, *key))
    if node is None:
        node = object.__new__(cls)
        for name, value in fields.items():
            setattr(node, name, value)
        node.children = tuple(child for part in parts for child in _expressions(part))
        _interned[(cls, *key)] = node
    return node


def _expressions(part: Expr | Lin) -> tuple[Expr, ...]:
    """An operand, or the atoms of an integer form that are expressions."""
    return (part,) if isinstance(part, Expr) else tuple(atom for atom, _ in part.terms if isinstance(atom, Expr))


def postorder(*roots: Expr, without: Iterable[Expr] = ()) -> Iterator[Expr]:
    """Every distinct node reachable from `roots`, but through nodes of `without`, children before parents."""
    seen: set[Expr] = set(without)
    stack: list[Expr | None] = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node is None:
            below = stack.pop()  # Its children have come.
            assert below is not None
            yield below
        elif node not in seen:
            seen.add(node)
            stack.extend((node, None))
            stack.extend(reversed(node.children))


def reads(*roots: Expr) -> list[Read]:
    """The distinct reads in `roots`, those inside indices included, in order of evaluation."""
    return list(dict.fromkeys(read for root in roots for read in root.reads))


def rewrite(
    root: Expr,
    symbols: Mapping[str, IntLike] | None = None,
    replace: Callable[[Expr], Expr | None] | None = None,
) -> Expr:
    """Substitution: `root` with symbols replaced, and nodes mapped bottom-up by `replace` (None: unchanged)."""
    return Rewriter(symbols or {}, replace)(root)


class Rewriter:
    """A memoised bottom-up rewriter; one instance shares its memo between several expressions."""

    def __init__(self, symbols: Mapping[str, IntLike], replace: Callable[[Expr], Expr | None] | None = None):
        self.symbols, self.replace = symbols, replace
        self.done: dict[Expr, Expr] = {}

    def __call__(self, root: Expr) -> Expr:
        found = self.done.get(root)
        if found is not None:
            return found
        for node in postorder(root):
            if node not in self.done:
                self.done[node] = self._one(node)
        return self.done[root]

    def index(self, index: tuple[Lin, ...]) -> tuple[Lin, ...]:
        return tuple(lin.substitute(self.symbols, self) for lin in index)

    def _one(self, node: Expr) -> Expr:
        new = node
        if isinstance(node, Op):
            args = tuple(self.done[a] for a in node.args)
            new = node if args == node.args else Op(node.name, args, node.dtype)
        elif isinstance(node, Read):
            index = self.index(node.index)
            new = node if index == node.index else Read(node.buffer, index, node.dtype)
        elif isinstance(node, Int):
            new = Int(node.value.substitute(self.symbols, self))
        return (self.replace(new) if self.replace else None) or new


def symbols_of(*roots: Expr) -> set[str]:
    """The symbols in `roots`."""
    return set[str]().union(*(root.symbols for root in roots))


def symbols_in(forms: Iterable[Lin]) -> set[str]:
    """The symbols in integer forms."""
    return set[str]().union(*(form.symbols for form in forms))

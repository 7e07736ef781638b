"""Forward substitution in straight-line code: what it adds to an array, as sums of products without the temporaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import INT, Const, Expr, Lin, Op, Read, reads, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Params, reindexed
from sdfgad.optimise.sums.terms import increment


@dataclass(frozen=True)
class Term:
    """A product of factors, summed over parameters."""

    factors: tuple[Expr, ...]
    sums: Params = ()

    @property
    def is_plain(self) -> bool:
        return len(self.factors) == 1 and not self.sums


@dataclass(frozen=True)
class Addition:
    """What a statement adds to its target: the term, at each point of the statement's own parameters.

    If `is_fresh`, the target is cleared first.
    """

    statement: Compute
    target: Access
    own: Params
    term: Term
    is_fresh: bool = False


@dataclass(frozen=True)
class _Value:
    """A temporary's element as a function of the parameters that index it; `plain` if it is one expression."""

    own: tuple[str, ...]
    term: Term
    plain: Expr | None


class Line:
    """Evaluates a straight line of statements symbolically; `checks` raise `status`, `additions` add to other buffers.

    Attributes:
        temporaries: buffers that nothing but these statements mentions.
    """

    def __init__(self, buffers: Mapping[str, Buffer], names: Names, temporaries: set[str]) -> None:
        self.buffers, self.names, self.temporaries = buffers, names, temporaries
        self.known: dict[str, _Value] = {}
        self.checks: list[Compute] = []
        self.additions: list[Addition] = []

    def read(self, block: Block) -> bool:
        """Evaluates a block; whether its statements do nothing but define temporaries, check, and add products."""
        return all(isinstance(statement, Compute) and self._one(statement) for statement in block)

    def _one(self, statement: Compute) -> bool:
        statement = self._renamed(statement)
        if any(not extent.is_const or extent.const < 1 for _, extent in statement.params):
            return False
        if statement.target.buffer in self.temporaries:
            return self._defines(statement)
        if statement.accumulate == "maximum" and statement.target.buffer == "status" and not statement.fresh:
            value = None if statement.params else self._plain(statement.value)
            self.checks += [replace(statement, value=value)] if value is not None else []
            return value is not None
        return self._adds(statement)

    def _renamed(self, statement: Compute) -> Compute:
        """A statement with parameters that no other one has."""
        symbols = {name: Lin.symbol(self.names.fresh(name)) for name, _ in statement.params}
        params = tuple((str(symbols[name]), extent) for name, extent in statement.params)
        return reindexed(statement, params, symbols)

    # --- temporaries

    def _defines(self, statement: Compute) -> bool:
        """Evaluates a statement that overwrites a temporary, or adds to one that is zero; whether it is one."""
        name, extents = statement.target.buffer, dict(statement.params)
        own = tuple(str(lin) for lin in statement.target.index)
        is_whole = tuple(extents.get(p) for p in own) == self.buffers[name].shape and len(set(own)) == len(own)
        is_sum = statement.accumulate == "add"
        if not is_whole or statement.accumulate not in (None, "add") or (len(extents) > len(own) and not is_sum):
            return False
        if is_sum and any(read.buffer == name for read in reads(statement.value)):
            return False
        if is_sum and not statement.fresh and not self._is_zero(name):
            return False
        term = self._term(statement.value)
        if term is None:
            return False
        sums = tuple((p, extent) for p, extent in statement.params if p not in own)
        plain = None if sums or term.sums else self._plain(statement.value)
        self.known[name] = _Value(own, Term(term.factors, (*term.sums, *sums)), plain)
        return True

    def _is_zero(self, name: str) -> bool:
        value = self.known[name].plain if name in self.known else None
        return isinstance(value, Const) and value.value == 0

    # --- the sum

    def _adds(self, statement: Compute) -> bool:
        target, value = statement.target, statement.value
        index = self._index(target.index)
        if index is None or value.dtype.kind not in "fc" or statement.accumulate not in (None, "add"):
            return False
        added = increment(target, value) if statement.accumulate is None else value
        is_fresh = statement.fresh or added is None
        term = self._term(value if added is None else added)
        if term is None or any(read.buffer == target.buffer for read in reads(*term.factors)):
            return False
        self.additions.append(Addition(statement, Access(target.buffer, index), statement.params, term, is_fresh))
        return True

    # --- expressions without temporaries

    def _term(self, value: Expr) -> Term | None:
        if isinstance(value, Read) and value.buffer in self.temporaries:
            return self._element(value)
        is_number = value.dtype.kind in "fc"
        if is_number and isinstance(value, Op) and value.name == "multiply":
            return _product([self._term(arg) for arg in value.args])
        if is_number and isinstance(value, Op) and value.name == "negative":
            return _product([Term((Const(-1, value.dtype),)), self._term(value.args[0])])
        plain = self._plain(value)
        return None if plain is None else Term((plain,))

    def _element(self, read: Read) -> Term | None:
        """The term for an element of a temporary, with fresh names for its sums."""
        value, index = self.known.get(read.buffer), self._index(read.index)
        if value is None or index is None:
            return None
        fresh = {name: self.names.fresh(name) for name, _ in value.term.sums}
        symbols = dict(zip(value.own, index, strict=True)) | {old: Lin.symbol(new) for old, new in fresh.items()}
        factors = tuple(rewrite(factor, symbols) for factor in value.term.factors)
        return Term(factors, tuple((fresh[name], extent) for name, extent in value.term.sums))

    def _plain(self, value: Expr) -> Expr | None:
        """An expression with temporaries substituted; None if one of them is a sum."""
        if any(self._is_unknown(read) for read in reads(value)):
            return None
        return rewrite(value, replace=self._instead)

    def _is_unknown(self, read: Read) -> bool:
        is_known = read.buffer in self.known and self.known[read.buffer].plain is not None
        return read.buffer in self.temporaries and not is_known

    def _instead(self, node: Expr) -> Expr | None:
        """The substitute for a read; indices have been substituted before, as rewriting is bottom-up."""
        if not isinstance(node, Read) or node.buffer not in self.temporaries:
            return None
        value = self.known[node.buffer]
        assert value.plain is not None
        return rewrite(value.plain, dict(zip(value.own, node.index, strict=True)))

    def _index(self, index: tuple[Lin, ...]) -> tuple[Lin, ...] | None:
        place = self._plain(Read("", index, INT))
        return place.index if isinstance(place, Read) else None


def _product(terms: list[Term | None]) -> Term | None:
    """The product of terms; None where two of them are sums, which may both cancel: their product is more exact."""
    known = [term for term in terms if term is not None]
    if len(known) < len(terms) or sum(bool(term.sums) for term in known) > 1:
        return None
    return Term(
        tuple(factor for term in known for factor in term.factors), tuple(name for term in known for name in term.sums)
    )

"""Forward substitution across reshapes: values are computed in the order in which they are read, and not stored.

Between ``for a < 2, b < 8, c < 4: t[32*a + 4*b + c] = x[8*b + 4*a + c] * w[a, b]`` and ``for p < 32: y[p] = t[p] + t[p
+ 32]`` there is a reshape, and the two have no loop in common. With the digits of `p` as parameters they are one
statement, ``for b, c: y[4*b + c] = x[8*b + c] * w[0, b] + x[8*b + 4 + c] * w[1, b]``, and `t` is not stored. Each
element is computed once, or once for each of a few rows; these rows are written out as statements then, which one fused
loop computes with the element computed once.

If a statement would then read an array in another order than the one in which it overwrites it, the old and the new
values get different buffers (renaming).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from sdfgad.ir.accesses import mentioned_by
from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read, postorder, reads, rewrite, symbols_in
from sdfgad.ir.mixed_radix import radix_of, writes_all
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Compute, Params, Program, Statement, rewrite_statement, written
from sdfgad.ir.rename import renamed
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.names import names_of
from sdfgad.optimise.unravel import divisions, unravelled
from sdfgad.optimise.unroll import TERMS, at_points
from sdfgad.schedule.products import product_of

# Smaller arrays stay in the cache's first level.
LEAST = 1 << 12
# A statement that becomes larger than this, in nodes of its value, needs more registers than there are.
MOST = 24


def reorder(program: Program) -> Program:
    """The program with such values computed where they are read."""
    return _Reordering(program).made()


class _Reordering:
    def __init__(self, program: Program) -> None:
        self.program, self.names = program, names_of(program)
        self.buffers = dict(program.buffers)
        # What statements write that have such a value in them.
        self.changed: set[str] = set()

    def made(self) -> Program:
        block, position = self.program.body, 0
        while position < len(block):
            statement = block[position]
            found = self.without(block, statement) if isinstance(statement, Compute) else None
            block, position = (block, position + 1) if found is None else (found, position)
        body = flat_map(block, self.rows)
        return replace(self.program, buffers=self.buffers, body=body) if self.changed else self.program

    def without(self, block: Block, made: Compute) -> Block | None:
        """The block without a statement, its values computed where they are read; None if the statement must stay."""
        if not self.is_movable(made):
            return None
        name, position = made.target.buffer, block.index(made)
        users = [s for s in block if s is not made and mentioned_by(s, name)]
        if not users or any(mentioned_by(s, name) for s in block[:position]) or not self.is_read_so(made, users):
            return None
        last = max(k for k, s in enumerate(block) if mentioned_by(s, name))
        sources = {read.buffer for read in reads(made.value)}
        if written(block[position + 1 : last]) & sources:
            return None
        changed = {id(s): self.replaced(s, made) for s in users}
        if None in changed.values():
            return None
        block = tuple(changed.get(id(s)) or s for s in block if s is not made)
        if written((block[last - 1],)) & sources:
            separate = self.separate(block, last - 1)
            if separate is None:
                return None
            block = separate
        self.changed |= {s.target.buffer for s in changed.values() if s is not None}
        return block

    def is_movable(self, made: Compute) -> bool:
        """Whether a statement fills all of a large temporary by additions, multiplications and the like alone."""
        name, shape = made.target.buffer, self.buffers[made.target.buffer].shape
        if name in self.program.interface or made.accumulate or made.value.dtype.kind not in "fc":
            return False
        is_known = all(extent.is_const for extent in (*shape, *(extent for _, extent in made.params)))
        if not is_known or prod(extent.const for extent in shape) < LEAST or not writes_all(made, shape):
            return False
        operations = [node for node in postorder(made.value) if isinstance(node, Op)]
        is_plain = not any(OPERATIONS[node.name].is_expensive for node in operations)
        return is_plain and all(read.buffer != name for read in reads(made.value))

    def is_read_so(self, made: Compute, users: Sequence[Statement]) -> bool:
        """Whether all readers have the same points and read each element once, in another order than it is written."""
        if not all(isinstance(s, Compute) and self.is_reader(s, made) for s in users):
            return False
        first = users[0]
        assert isinstance(first, Compute)
        found = _reads(first, made)
        are_alike = all(s.params == first.params and _reads(s, made) == found for s in users if isinstance(s, Compute))
        size = prod(extent.const for extent in self.buffers[made.target.buffer].shape)
        points = prod(extent.const for name, extent in first.params if not _is_row(name, extent, found))
        if not are_alike or points * len(found) > size:
            return False
        is_copy = len(users) == 1 and isinstance(first.value, Read)
        if made.target.buffer in self.changed and not is_copy:
            # The rows that share what it reads would be apart.
            return False
        indices = [made.target.index, *(read.index for read in found)]
        has_digits = any(len(lin.terms) > 1 for index in indices for lin in index)
        return has_digits and (is_copy or not all(_is_same_order(read, first.params, made) for read in found))

    def is_reader(self, user: Compute, made: Compute) -> bool:
        is_known = all(extent.is_const and extent.const > 0 for _, extent in user.params)
        is_other = user.target.buffer != made.target.buffer and product_of(user, self.buffers) is None
        return is_known and is_other and user.accumulate in (None, "add") and not user.fresh

    def replaced(self, user: Statement, made: Compute) -> Compute | None:
        """A reader with the values for its reads; None if that adds divisions, makes a matrix product, or is large."""

        def computed(node: Expr) -> Expr | None:
            is_it = isinstance(node, Read) and node.buffer == made.target.buffer
            return rewrite(made.value, dict(_digits(made, node.index))) if is_it else None  # type: ignore[attr-defined]

        assert isinstance(user, Compute)
        changed = rewrite_statement(user, replace_node=computed)
        assert isinstance(changed, Compute)
        changed = unravelled(changed, self.names)
        is_small = sum(1 for _ in postorder(changed.value)) <= MOST
        is_good = len(divisions(changed)) <= len(divisions(user)) and product_of(changed, self.buffers) is None
        return changed if is_small and is_good else None

    # --- versions of a buffer

    def separate(self, block: Block, position: int) -> Block | None:
        """The block with another buffer for what a statement reads before it overwrites all of it, or None."""
        user = block[position]
        assert isinstance(user, Compute)
        name = user.target.buffer
        start = max((k for k in range(position) if name in written((block[k],))), default=None)
        if start is None or name in self.program.inputs or not self.begins(user):
            return None
        first = block[start]
        if (
            not isinstance(first, Compute)
            or not self.begins(first)
            or any(r.buffer == name for r in reads(first.value))
        ):
            return None
        new = self.names.fresh(name)
        self.buffers[new] = replace(self.buffers[name], name=new)
        (changed,) = renamed((user,), {name: new})
        assert isinstance(changed, Compute)
        before = renamed(block[start:position], {name: new})
        self.changed |= {new} if name in self.changed else set()
        return (*block[:start], *before, replace(changed, target=user.target), *block[position + 1 :])

    def begins(self, statement: Compute) -> bool:
        """Whether a statement assigns all of a buffer."""
        return statement.accumulate is None and writes_all(statement, self.buffers[statement.target.buffer].shape)

    # --- rows

    def rows(self, statement: Statement) -> Block:
        """A statement for each value of a parameter with few values, if these rows read mostly the same."""
        if not isinstance(statement, Compute) or statement.target.buffer not in self.changed:
            return (statement,)
        few = [(name, extent) for name, extent in statement.params if extent.is_const and 1 < extent.const <= TERMS]
        shared = {item: _shared(statement, item[0]) for item in few}
        best = max(few, key=lambda item: shared[item], default=None)
        if best is None or not shared[best] or statement.accumulate:
            return (statement,)
        return tuple(at_points(statement, (best,)))


def _reads(user: Compute, made: Compute) -> tuple[Read, ...]:
    return tuple(read for read in reads(user.value) if read.buffer == made.target.buffer)


def _is_row(name: str, extent: Lin, found: Sequence[Read]) -> bool:
    """Whether a parameter has few values and does not index the elements that are read."""
    return extent.const <= TERMS and name not in symbols_in(lin for read in found for lin in read.index)


def _is_same_order(read: Read, params: Params, made: Compute) -> bool:
    """Whether a reader's points visit the elements in the order in which they are written."""
    if [extent for _, extent in params] != [extent for _, extent in made.params]:
        return False
    names = {old: Lin.symbol(new) for (old, _), (new, _) in zip(made.params, params, strict=True)}
    return tuple(lin.substitute(names) for lin in made.target.index) == read.index


def _digits(made: Compute, index: tuple[Lin, ...]) -> Iterator[tuple[str, Lin]]:
    """The parameters of the point that writes an element, as digits of its index."""
    extents = dict(made.params)
    yield from ((name, Lin(0)) for name, extent in made.params if extent == Lin(1))
    for form, at in zip(made.target.index, index, strict=True):
        radix = radix_of(form, extents)
        assert radix is not None
        found = [(weight, str(atom)) for atom, weight in form.terms if extents.get(str(atom), Lin(1)) != Lin(1)]
        for weight, name in found:
            quotient = _divided("floor_divide", at - radix.fixed, weight)
            is_highest = weight == max(found)[0]
            yield name, quotient if is_highest else _divided("remainder", quotient, extents[name].const)


def _divided(name: str, form: Lin, divisor: int) -> Lin:
    if divisor == 1 and name == "floor_divide":
        return form
    return Lin.symbol(Op(name, (Int(form), Const(divisor, INT)), INT))


def _shared(statement: Compute, row: str) -> int:
    """How many reads depend on all parameters except one, `row`; 0 if these are not most of the large reads."""
    extents = {name: extent.const for name, extent in statement.params if extent != Lin(1)}
    found = [symbols_in(read.index) & extents.keys() for read in reads(statement.value)]
    many = prod(extents.values()) // TERMS
    large = sum(prod(extents[name] for name in used) >= many for used in found)
    shared = sum(used == extents.keys() - {row} for used in found)
    return shared if 2 * shared > large else 0

"""Loop fusion: statements over the same box run together, over an axis that they have in common, and again within it.

A value that one statement computes and the next one reads is then still in a register or in the cache. Statements may
share a loop if no trip of one conflicts with a different trip of the other, except that sums may be reordered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sdfgad.dependence.aliasing import is_same_trip
from sdfgad.dependence.order import commute, run_in_step
from sdfgad.dependence.uses import own_params, uses_of
from sdfgad.ir.expr import Const, Int, Lin, Op, reads
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Block,
    Compute,
    Loop,
    Program,
    Statement,
    with_blocks,
)
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.loops.interchange import interchanged
from sdfgad.optimise.loops.nest import at_trip, in_two
from sdfgad.optimise.names import names_of
from sdfgad.schedule.products import matrix_product_of, product_of
from sdfgad.schedule.target import cpu
from sdfgad.schedule.vector_width import calls_vector_functions

# How many groups back a statement may join one.
WINDOW = 16
# How many statements share a loop: their arrays compete for registers and for the cache.
MOST_MEMBERS = 64


def fuse(program: Program) -> Program:
    """The program with such statements in parallel loops."""
    fusion = _Fusion(program, names_of(program))
    # Far apart in the program, unrelated statements had better not prolong each other's storage.
    inner = tuple(with_blocks(statement, partial(everywhere, each=fusion.block)) for statement in program.body)
    return program.with_body(fusion.block(inner, is_outermost=True))


Member = Compute | Loop


class _Group:
    """Statements that will be fused into one loop, each with the name of its own counter.

    Attributes:
        mentioned, written: the buffers that they mention and write, as of a statement.
    """

    def __init__(self, extent: Lin, member: Member, lead: str) -> None:
        self.extent = extent
        self.members = [(member, lead)]
        self.mentioned, self.written = member.mentioned, member.written

    def join(self, other: _Group, is_before: bool = False) -> None:
        """Takes the members of another group: after its own, or before them."""
        self.members = [*other.members, *self.members] if is_before else [*self.members, *other.members]
        self.mentioned, self.written = self.mentioned | other.mentioned, self.written | other.written

    @property
    def statements(self) -> list[Statement]:
        return [statement for statement, _ in self.members]


class _Fusion:
    def __init__(self, program: Program, names: Names) -> None:
        self.buffers, self.names = program.buffers, names

    def block(self, block: Block, is_outermost: bool = False) -> Block:
        groups: list[_Group | Statement] = []
        for statement in (part for one in block for part in _in_parts(one)):
            statement = interchanged(statement)
            lead = self._lead(statement)
            if lead is None:
                groups.insert(_earliest(groups, statement), statement)
                continue
            assert isinstance(statement, (Compute, Loop))
            self._put(groups, _Group(_extent(statement, lead), statement, lead), is_outermost, is_deep=True)
        # Statements over the same box first: what shares all loops is not to be kept from it by what shares one.
        for group in self._taken(groups):
            self._put(groups, group, is_outermost, is_deep=False)
        if is_outermost:
            self._sink(groups)
        return tuple(statement for group in groups for statement in self._emitted(group))

    def _taken(self, groups: list[_Group | Statement]) -> Iterator[_Group]:
        """Each group in order, taken out of the list, which then has what is before it."""
        later = groups[:]
        groups.clear()
        for group in later:
            if isinstance(group, _Group):
                yield group
            else:
                groups.append(group)

    def _put(self, groups: list[_Group | Statement], group: _Group, is_outermost: bool, is_deep: bool) -> None:
        home = self._home(groups, group, is_outermost, is_deep)
        if home is None:
            groups.append(group)
        else:
            home.join(group)

    def _sink(self, groups: list[_Group | Statement]) -> None:
        """Lets groups join later ones that read or write the same matrix."""
        for position in reversed(range(len(groups))):
            group = groups[position]
            later = self._later_home(groups, position) if isinstance(group, _Group) else None
            if later is not None:
                assert isinstance(group, _Group)
                later.join(group, is_before=True)
                del groups[position]

    def _later_home(self, groups: list[_Group | Statement], position: int) -> _Group | None:
        group = groups[position]
        assert isinstance(group, _Group)
        for other in groups[position + 1 : position + WINDOW]:
            fits = isinstance(other, _Group) and self._fits(other, group)
            if fits and any(share(other, s, rank=2) for s in group.statements):
                assert isinstance(other, _Group)
                return other
            if not _commute(group, other):
                return None
        return None

    def _lead(self, statement: Statement) -> str | None:
        """The counter of a statement that fusion makes outermost; None if the statement is not fused."""
        if isinstance(statement, Loop):
            return statement.var if statement.is_parallel and statement.start == Lin(0) else None
        if not isinstance(statement, Compute) or not statement.params or matrix_product_of(statement, self.buffers):
            return None
        name = _across_memory(statement)
        (target,) = (use for use in uses_of(statement) if use.kind != "read")
        if not target.mentions(name):
            return name if statement.accumulate == "add" or _is_ragged(statement) else None
        is_clean = is_same_trip(target, target, name, name) or target.is_once
        return name if is_clean or _is_ragged(statement) else None

    def _home(
        self, groups: list[_Group | Statement], group: _Group, is_outermost: bool, is_deep: bool
    ) -> _Group | None:
        """The latest group that another one can join without passing one that it depends on."""
        for other in groups[: -WINDOW - 1 : -1]:
            if isinstance(other, _Group) and self._is_home(other, group, is_outermost, is_deep):
                return other
            if not _commute(other, group):
                return None
        return None

    def _is_home(self, group: _Group, other: _Group, is_outermost: bool, is_deep: bool) -> bool:
        if is_deep and (_box(group) != _box(other) or not _depend(group, other)):
            return False
        return self._fits(group, other) and self._gains(group, other, is_outermost)

    def _gains(self, group: _Group, other: _Group, is_outermost: bool) -> bool:
        """Whether it pays for two groups to share a loop.

        A matrix times a vector is one call; with others that go over the same matrix, it is read once.
        """
        alone = [s for one in (group, other) if len(one.members) == 1 for s in one.statements]
        if any(isinstance(s, Compute) and product_of(s, self.buffers) for s in alone):
            return is_outermost and any(share(group, s, rank=2) for s in other.statements)
        return not is_outermost or any(share(group, s, rank=1) for s in other.statements)

    def _fits(self, group: _Group, other: _Group) -> bool:
        members = [*group.members, *other.members]
        if other.extent != group.extent or len(members) > MOST_MEMBERS:
            return False
        if any(_is_sequential(s, var) for s, var in members) and any(_is_total(s, var) for s, var in members):
            return False
        if _loses_vectors(members):
            return False
        return all(run_along(a, of_a, b, of_b) for a, of_a in group.members for b, of_b in other.members)

    def _emitted(self, group: _Group | Statement) -> Block:
        if not isinstance(group, _Group):
            return (group,)
        if len(group.members) == 1:
            return (group.members[0][0],)
        var = self.names.fresh("f")
        counter = Lin.symbol(var)
        clears: list[Statement] = []
        members: list[tuple[Member, str]] = []
        for statement, lead in group.members:
            if isinstance(statement, Compute) and statement.fresh and lead not in dict(own_params(statement)):
                # The loop goes over what is summed.
                clear, statement = in_two(statement)
                clears.append(clear)
            members.append((statement, lead))
        body = self.block(tuple(s for statement, name in members for s in at_trip(statement, name, counter)))
        where = group.members[0][0].where
        # What finds an extremum is not for any order: each trip changes what another one has found.
        is_parallel = not any(_is_sequential(s, lead) and not _is_sum(s) for s, lead in group.members)
        return (*clears, Loop.over(var, group.extent, body, where, is_parallel=is_parallel))


def _is_ragged(statement: Compute) -> bool:
    """Whether a statement adds, wherever it does, or checks in a number of points that is data.

    These are few, mostly: too few for vectors, and each loop over them costs a wrong guess of the processor at its end.
    """
    ((_, extent), *others) = statement.params
    is_one = bool(statement.accumulate) and not statement.fresh and not others
    return is_one and bool(reads(Int(extent))) and (statement.accumulate == "add" or not statement.target.index)


def _is_sequential(statement: Statement, lead: str) -> bool:
    """Whether a statement makes no vectors in a loop over its points."""
    if not isinstance(statement, Compute) or not statement.params or not _is_ragged(statement):
        return False
    (target,) = (use for use in uses_of(statement) if use.kind != "read")
    return not _is_sum(statement) or (target.mentions(lead) and not is_same_trip(target, target, lead, lead))


def _is_sum(statement: Statement) -> bool:
    return isinstance(statement, Compute) and statement.accumulate == "add"


def _is_total(statement: Statement, lead: str) -> bool:
    """Whether a statement sums into one element, a reduction that can be vectorised."""
    return _is_sum(statement) and not any(use.mentions(lead) for use in uses_of(statement) if use.kind == "add")


def _loses_vectors(members: Sequence[tuple[Member, str]]) -> bool:
    """Whether statements over one axis would be no vectors any more, as other members have loops of their own inside.

    That is little beside long inner loops, but for functions such as exp.
    """
    deep = [s for s, _ in members if _depth(s) > 1]
    alone = [s for s, _ in members if isinstance(s, Compute) and len(s.params) == 1 and isinstance(s.value, Op)]
    return bool(deep) and (calls_vector_functions(tuple(alone)) or (bool(alone) and any(map(_is_short, deep))))


def _is_short(statement: Statement) -> bool:
    """Whether an innermost loop of a nest is known to be short."""
    if isinstance(statement, Loop):
        inner = [s for s in statement.body if _depth(s)]
        return any(map(_is_short, inner)) if inner else _are_few(statement.trips)
    own = statement.params[1:] if isinstance(statement, Compute) else ()
    return any(_are_few(extent) for _, extent in own)


def _are_few(trips: Lin) -> bool:
    return trips.is_const and trips.const < cpu().short_trips


def _across_memory(statement: Compute) -> str:
    """The parameter to run outermost, with the fewest accesses along memory; of several the target's first."""
    own = [name for name, _ in own_params(statement)]
    names = [*own, *(name for name, _ in statement.params if name not in own)]
    along = [_along_memory(use.index, names) for use in uses_of(statement)]
    return min(names, key=along.count)


def _along_memory(index: tuple[Lin, ...], names: list[str]) -> str | None:
    """The parameter with the shortest steps along the last axis; None for a vector with a single parameter.

    A row of a matrix that loops around the statement choose is a vector, too.
    """
    steps = {name: abs(index[-1].coefficient(name)) for name in names if index and index[-1].coefficient(name)}
    rank = sum(any(form.coefficient(name) for name in names) for form in index)
    is_told = bool(steps) and rank + len(steps) > 2
    return min(steps, key=lambda name: steps[name]) if is_told else None


def _earliest(groups: list[_Group | Statement], statement: Statement) -> int:
    """The position for a statement: the end, but a clear of one element goes before all that it commutes with."""
    position = len(groups)
    if not isinstance(statement, Compute) or statement.params or not isinstance(statement.value, Const):
        return position
    mentioned = statement.mentioned
    while position and (
        mentioned.isdisjoint(groups[position - 1].mentioned) or _commute(groups[position - 1], statement)
    ):
        position -= 1
    return position


def _commute(group: _Group | Statement, other: _Group | Statement) -> bool:
    if group.mentioned.isdisjoint(other.mentioned):
        return True
    return all(commute(a, b) for a in _statements(group) for b in _statements(other))


def _depend(group: _Group, other: _Group) -> bool:
    """Whether one of two groups touches what the other one writes."""
    return not (group.written.isdisjoint(other.mentioned) and other.written.isdisjoint(group.mentioned))


def _box(group: _Group) -> tuple[Lin, ...]:
    """The extents of the loops of a group's first statement."""
    statement, lead = group.members[0]
    extents: list[Lin] = [group.extent]
    while isinstance(statement, Loop):
        inner = statement.body[0]
        if not isinstance(inner, (Compute, Loop)):
            break
        statement, lead = inner, ""
        extents += [inner.trips] if isinstance(inner, Loop) else []
    if isinstance(statement, Compute):
        extents += sorted((extent for name, extent in statement.params if name != lead), key=str)
    return tuple(extents)


def _statements(group: _Group | Statement) -> list[Statement]:
    return group.statements if isinstance(group, _Group) else [group]


def share(group: _Group | Statement, statement: Statement, rank: int) -> bool:
    """Whether a statement and a group touch the same array, of at least this rank."""
    arrays = {use.buffer for use in uses_of(statement) if len(use.index) >= rank}
    return any(not arrays.isdisjoint(use.buffer for use in uses_of(other)) for other in _statements(group))


def _in_parts(statement: Statement) -> Block:
    """A sum into one element, split into its clear and its contributions, which can be fused with others."""
    is_sum = isinstance(statement, Compute) and statement.fresh and statement.accumulate == "add"
    return in_two(statement) if is_sum and not own_params(statement) else (statement,)  # type: ignore[arg-type]


def _extent(statement: Member, lead: str) -> Lin:
    return statement.trips if isinstance(statement, Loop) else dict(statement.params)[lead]


def run_along(a: Member, of_a: str, b: Member, of_b: str) -> bool:
    """Whether two statements may be fused; sums that trips share are no hindrance unless trips become vectors."""
    return run_in_step(a, of_a, b, of_b, may_add=_depth(a) > 1 and _depth(b) > 1)


def _depth(statement: Statement) -> int:
    if isinstance(statement, Loop):
        return 1 + max(map(_depth, statement.body), default=0)
    return len(statement.params) if isinstance(statement, Compute) else 0

"""The attributes that are columns, rows of an array for each of several objects, and the objects of run-time places."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sdfgad.errors import AmbiguousArray, Location
from sdfgad.ir.expr import INT, Lin
from sdfgad.ir.program import Block, Statement, written
from sdfgad.parse.values import Held, Holder, Record, Tensor


@dataclass(frozen=True)
class Member:
    """One of several objects, the one at a place that is known only at run time."""

    record: Record
    objects: tuple[Record, ...]
    place: Lin


@dataclass(frozen=True, eq=False)
class Deferred(Holder):
    """An attribute of a member that is looked up among those of all objects when it is read.

    Of lists, dicts, tuples and objects all are: objects may refer to each other, so that there is no end of what they
    hold.
    """

    evaluate: Callable[[], Any]
    is_kept: bool = True

    @property
    def held(self) -> Iterable[Any]:
        return ()


@dataclass(frozen=True)
class Kind:
    """What all rows of a column are like.

    Attributes:
        like: a row, for its shape, dtype and what a number may be in Python.
        is_text: whether the numbers are those of strings.
    """

    like: Tensor
    is_text: bool = False

    @property
    def is_discrete(self) -> bool:
        """Whether such values may decide what is parsed, if they are known."""
        return self.like.dtype.kind in "bi" and not self.like.ndim


@dataclass(frozen=True)
class Column:
    """An attribute of several objects as an array.

    Attributes:
        array: it has a row for each of them, in order.
        depth: that of the block in which it is one.
        kind: what its rows are.
    """

    name: str
    objects: tuple[Record, ...]
    array: Tensor
    depth: int
    kind: Kind

    @property
    def buffer(self) -> str:
        return str(self.array.buffer)

    @property
    def mark(self) -> str:
        """What `Versions` counts where the attribute is assigned to."""
        return f"{self.buffer}.{self.name}"


class Around(NamedTuple):
    """A statement that is being parsed.

    Attributes:
        depth: that of its block.
        copies: how many copies had been made before it.
        followed: how many lists and dicts were followed before it.
    """

    depth: int
    copies: int
    followed: int

    def may_move(self, depth: int, followed: int) -> bool:
        """Whether it is in a block at this depth, and begins behind what makes so many lists, dicts and objects."""
        return self.depth == depth and self.followed >= followed


class Again(Exception):
    """Raised where a loop or branch at this depth of blocks must be parsed again.

    Args:
        number: how many copies had been made when what it concerns was parsed (`Versions.now`).
    """

    def __init__(self, depth: int, number: int) -> None:
        self.depth, self.number = depth, number

    def is_for(self, statement: Around) -> bool:
        """Whether it is this statement that must be parsed again."""
        return self.depth == statement.depth and self.number >= statement.copies


class Moves(Again):
    """Raised where an attribute of objects must become a column before a loop or branch.

    Args:
        followed: how many lists and dicts were followed when all of the objects had been made.
    """

    def __init__(self, objects: Sequence[Record], name: str, kind: Kind, depth: int, followed: int) -> None:
        super().__init__(depth, sys.maxsize)
        self.objects, self.name, self.kind, self.followed = objects, name, kind, followed

    def is_for(self, statement: Around) -> bool:
        return statement.may_move(self.depth, self.followed)


class Stays(Again):
    """Raised where attributes of objects must not be columns, as Python's integers in them may take more than 64 bits.

    Args:
        columns: what they are at present.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__(min(column.depth for column in columns), sys.maxsize)
        self.columns = columns


class Copies(Again):
    """Raised where what an attribute was is read after it has been assigned to: the line that has read it must copy."""

    def __init__(self, held: Held) -> None:
        super().__init__(held.depth, held.number)
        self.where = held.where


class ObjectColumns:
    """The columns of a program so far, the groups of objects that have them, and the members of run-time places.

    Attributes:
        around: for each loop and branch around the present statement, how many blocks were open where it began, and
            how many copies had been made (`Versions.now`).
        copying: the lines that copy what attributes are.
        depths: those of the blocks that make the objects of groups.
        by_place: whether one of several objects, also of known ones, is told by its place where paths meet.
        may_count: whether integers, truth values and strings may be rows of columns.
        has_counted: whether some have been.
        may_number_texts: whether strings may be rows of columns.
        masks: the arrays that say which objects are in a list (`filtered_objects`).
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[int, str], tuple[Column, int]] = {}
        self._members: dict[int, Member] = {}
        self._groups: dict[int, tuple[Record, ...]] = {}
        # The columns without values at first, by buffer: where each trip of a loop gives one to its object, and the
        # counters of the loops around that may have no trip.
        self._unset: dict[str, tuple[Lin, set[str]] | None] = {}
        self._refused: dict[tuple[int, str], Any] = {}
        self.by_place, self.may_number_texts, self.depths = False, True, set[int]()
        self.may_count, self.has_counted = True, False
        self.around: list[Around] = []
        self.masks = set[str]()
        self.copying = set[Location | None]()

    def snapshot(self) -> tuple[dict[Any, Any], ...]:
        return dict(self._rows), dict(self._members), dict(self._unset)

    def restore(self, state: tuple[dict[Any, Any], ...]) -> None:
        """Restore all but what has been refused, which lines copy, and of which objects there are lists later on."""
        self._rows, self._members, self._unset = (dict(part) for part in state)

    # --- groups and members

    def add_group(self, objects: tuple[Record, ...], depth: int) -> None:
        self._groups |= {id(one.fields): objects for one in objects}
        self.depths.add(depth)

    def group(self, record: Record) -> tuple[Record, ...] | None:
        """The objects with which one has been in a list that a loop goes over."""
        return self._groups.get(id(record.fields))

    def add_member(self, member: Member) -> None:
        self._members[id(member.record.fields)] = member

    def member(self, record: Record) -> Member | None:
        return self._members.get(id(record.fields))

    def is_of_member(self, fields: dict[str, Any]) -> bool:
        """Whether attributes are those of a member."""
        return id(fields) in self._members

    def holds_member(self, values: Sequence[Any]) -> bool:
        """Whether one of some values is a member."""
        return any(isinstance(value, Record) and id(value.fields) in self._members for value in values)

    @property
    def members(self) -> list[Member]:
        return list(self._members.values())

    # --- columns

    def add(self, column: Column, is_set: bool) -> None:
        self.has_counted |= column.kind.is_discrete
        self._rows |= {(id(one.fields), column.name): (column, number) for number, one in enumerate(column.objects)}
        if not is_set:
            self._unset[column.buffer] = None

    def of(self, record: Record, name: str) -> tuple[Column, int] | None:
        """The column that an attribute of an object is, and its row."""
        return self._rows.get((id(record.fields), name))

    def common(self, objects: Sequence[Record], name: str) -> tuple[Column, list[int]] | None:
        """The column that an attribute of several objects is, and the row of each; None if it is not one column."""
        found = [self.of(one, name) for one in objects]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or any(one[0] is not known[0][0] for one in known):
            return None
        return known[0][0], [row for _, row in known]

    def closure(self, objects: Sequence[Record], name: str) -> list[Record]:
        """Objects, and those that share a column of an attribute with some of them."""
        found = {id(one.fields): one for one in objects}
        for column in self.all:
            if column.name == name and any(id(one.fields) in found for one in column.objects):
                found |= {id(one.fields): one for one in column.objects}
        return list(found.values())

    def integers(self, block: Block) -> list[Column]:
        """The columns of Python's integers to which a block assigns."""
        buffers = written(block)
        kinds = [(column, column.kind.like) for column in self.all if column.buffer in buffers]
        return [column for column, like in kinds if like.weak and like.dtype == INT and not column.kind.is_text]

    @property
    def all(self) -> list[Column]:
        return list({id(column): column for column, _ in self._rows.values()}.values())

    def refuse(self, objects: Sequence[Record], name: str) -> None:
        """Note that an attribute cannot be a column."""
        self._refused |= {(id(one.fields), name): one for one in objects}

    def is_refused(self, objects: Sequence[Record], name: str) -> bool:
        return any((id(one.fields), name) in self._refused for one in objects)

    def is_around(self, depth: int, followed: int = 0) -> bool:
        """Whether a statement at this depth, which is being parsed, is parsed again where it must.

        Args:
            followed: only one that begins when so many lists and dicts are followed.
        """
        return any(statement.may_move(depth, followed) for statement in self.around)

    def may_stay(self, column: Column) -> bool:
        """Whether a column may be none in another attempt, unless there has been one."""
        return self.is_around(column.depth) and not self.is_refused(column.objects, column.name)

    # --- columns that have no values at first

    def is_unset(self, column: Column) -> bool:
        return column.buffer in self._unset

    def place_set(self, column: Column) -> tuple[Lin, set[str]] | None:
        """The place of the row that has its value in this trip of a loop, and the loops around it that may not run."""
        return self._unset[column.buffer]

    def set_at(self, column: Column, place: Lin, may_not_run: set[str]) -> None:
        self._unset[column.buffer] = place, may_not_run

    def complete(self, column: Column) -> None:
        """Note that a column has all its values."""
        del self._unset[column.buffer]

    def are_written(self, statement: Statement) -> bool:
        """Whether a statement assigns to attributes that are columns."""
        return not written((statement,)).isdisjoint(column.buffer for column in self.all)

    @property
    def unset(self) -> list[Column]:
        return [column for column in self.all if column.buffer in self._unset]

    # --- what attributes were

    def outdated(self, held: Held, where: Location | None) -> Exception:
        """What to raise where what an attribute was is read after it has been assigned to."""
        may_copy = any(Again(held.depth, held.number).is_for(statement) for statement in self.around)
        if may_copy and held.where not in self.copying:
            return Copies(held)
        what = "an attribute of objects in a list has been assigned to since its old value was read"
        return AmbiguousArray(what, where, "Copy the old value where it is read: old = p.x.copy().", "")

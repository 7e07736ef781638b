"""What sparsity pattern propagation knows between two statements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdfgad.analysis.sparsity.effects import Array
from sdfgad.analysis.sparsity.rows import Rows


class State:
    """An abstract state, of all buffers or of some.

    Attributes:
        rows: buffers -> the sources of each element; those without any may be missing.
        known: buffers of integers and booleans -> their elements, where these do not depend on data.
        lost: the buffers whose elements do.
    """

    def __init__(self, rows: Mapping[str, Rows], known: Mapping[str, Array], lost: frozenset[str]) -> None:
        self.rows, self.known, self.lost = dict(rows), dict(known), set(lost)

    def part(self, names: frozenset[str]) -> State:
        """A copy of what is known of some buffers; elements that are known are replaced, never changed."""
        rows = {name: self.rows[name].copied() for name in names & self.rows.keys()}
        return State(rows, {name: self.known[name] for name in names & self.known.keys()}, names & self.lost)

    def restore(self, names: frozenset[str], part: State) -> None:
        """Goes back to an earlier state of some buffers."""
        for name in names:
            self.rows.pop(name, None)
            self.forget(name)
        self.rows.update(part.rows)
        self.known.update(part.known)
        self.lost = (self.lost - names) | part.lost

    def join(self, names: frozenset[str], part: State) -> None:
        """The least upper bound with another state of some buffers."""
        for name, rows in part.rows.items():
            self.rows[name] = rows.union(self.rows[name]) if name in self.rows else rows
        for name in names:
            mine, other = self.known.get(name), part.known.get(name)
            if mine is None or other is None or not np.array_equal(mine, other):
                self.forget(name)

    def is_like(self, names: frozenset[str], part: State) -> bool:
        """Whether the state of some buffers is this one for certain."""
        mine, others = names & self.rows.keys(), names & part.rows.keys()
        known = names & self.known.keys()
        if mine != others or known != names & part.known.keys() or names & self.lost != names & part.lost:
            return False
        are_known_same = all(np.array_equal(self.known[name], part.known[name]) for name in known)
        return are_known_same and all(self.rows[name].is_like(part.rows[name]) for name in mine)

    def learn(self, name: str, elements: Array) -> None:
        self.known[name] = elements
        self.lost.discard(name)

    def forget(self, name: str) -> None:
        self.known.pop(name, None)
        self.lost.add(name)

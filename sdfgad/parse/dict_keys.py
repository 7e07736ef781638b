"""Keys of dicts that follow from the counters of loops around: ``d[i]``, ``d[i, j]``, ``d[f"x{i}"]``.

They are known at all points of the loops. So a dict that a loop fills is filled as a list is, with keys beside the
items (`appending`), and an item that a later loop chooses is one at a place of the list of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdfgad.ir.expr import Int, Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.iteration_domains import Points, form_of, known_at, points_around
from sdfgad.parse.texts import RunTimeText, is_plain
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Tensor, is_whole

# More points are not worth a list of keys.
MOST_POINTS = 2**16
# Where a loop chooses fewer than one in so many items, only these are made an array.
FEW = 4


class MissingKey(NeedsConstant):
    """Raised where a dict may lack the key of some trip, which a branch may leave out."""


def keys_at(b: Builder, key: Any, points: Points) -> list[Any] | None:
    """The key at each point, if it is known."""
    if isinstance(key, RunTimeText):
        return _texts_at(b, key, points)
    if isinstance(key, tuple):
        parts = _all_at(b, key, points)
        return None if parts is None else [rebuilt_tuple(key, list(part)) for part in parts]
    if is_plain(key) and not isinstance(key, list):
        return [key] * len(points)
    if not is_whole(key):
        return None
    known = known_at(b, key.at() if isinstance(key, Tensor) else Int(Lin.of(key)), points)
    return None if known is None else known.tolist()


def _all_at(b: Builder, keys: Sequence[Any], points: Points) -> list[tuple[Any, ...]] | None:
    columns = [keys_at(b, key, points) for key in keys]
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    return list(zip(*known, strict=True)) if known else [()] * len(points)


def _texts_at(b: Builder, text: RunTimeText, points: Points) -> list[str] | None:
    parts = _all_at(b, text.parts, points) if text.make is not None else None
    try:
        return None if parts is None or text.make is None else [text.make(*part) for part in parts]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # No such key: where the loop is written out, Python's exception is reported at its line.
        return None


def symbols_of(key: Any) -> frozenset[str]:
    """The counters and run-time integers that a key depends on."""
    if isinstance(key, tuple):
        return frozenset().union(*map(symbols_of, key))
    if isinstance(key, RunTimeText):
        return key.symbols
    if not is_whole(key):
        return frozenset()
    return frozenset((key.at() if isinstance(key, Tensor) else Lin.of(key)).symbols)


def chosen(b: Builder, values: dict[Any, Any], key: Any) -> tuple[tuple[Any, ...], Lin] | None:
    """Items of a dict, those that a key which follows from counters chooses among them, and the place of the one that
    it chooses; None for other keys.

    Raises:
        MissingKey: the dict lacks some of the keys.
    """
    points, keys = _known(b, key)
    if points is None:
        return None
    if not all(map(values.__contains__, keys)):
        what = "an item of a dict is chosen by a counter, and the dict may lack the key of some trips"
        todo = "Test `key in d` in an `if` around it; or where the loop fills the dict, use an array: x[i] = value."
        raise MissingKey(set(points.counters), b.where, what, todo)
    used = set(keys)
    # The others would be copied in vain.
    items = values if FEW * len(used) > len(values) else {one: values[one] for one in values if one in used}
    numbers = {one: number for number, one in enumerate(items)}
    return tuple(items.values()), form_of(b, points, [numbers[one] for one in keys])


def contains(b: Builder, values: Any, key: Any) -> Lin | None:
    """Whether a dict has a key which follows from counters, as 1 or 0; None for other keys."""
    points, keys = _known(b, key) if type(values) is dict and not is_plain(key) else (None, [])
    return None if points is None else form_of(b, points, [int(one in values) for one in keys])


def _known(b: Builder, key: Any) -> tuple[Points | None, list[Any]]:
    """Points that hold all which come to the present statement, and the key at each; None where it is not known."""
    counters = symbols_of(key) & {var for _, var, _ in b.loops}
    if not counters or any(var in counters and depth >= b.table_depth for depth, var, _ in b.loops):
        return None, []
    points = points_around(b, counters)
    keys = None if points is None or not 0 < len(points) <= MOST_POINTS else keys_at(b, key, points)
    if keys is None:
        return None, []
    b.table_symbols |= counters
    b.has_rolled = True
    return points, keys

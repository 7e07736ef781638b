"""Non-temporal stores go past the cache: what fills an array larger than it need not read that from memory first.

An ordinary store reads the line that it changes a part of. Where a nest fills a large array and does nothing else with
it, its innermost loop writes rows that stay in the cache, and `stream.h` stores these, whole lines at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.ir.expr import Int, Lin, symbols_of
from sdfgad.ir.program import Access, Block, Compute

# Elements of a row that are stored at once: rows of several arrays stay in the innermost cache.
STRIP = 1024
# Of shorter loops, the lines that are not whole are too large a part.
SHORTEST = 128


def rows_of(block: Block, var: str, trips: Lin, arrays: Collection[str]) -> dict[str, Access]:
    """Of some arrays, those that the trips of an innermost loop fill along memory, with what each trip writes."""
    targets = [s.target for s in block if isinstance(s, Compute) and s.target.buffer in arrays]
    names = [target.buffer for target in targets]
    if not targets or (trips.is_const and trips.const < SHORTEST):
        return {}
    return {t.buffer: t for t in targets if names.count(t.buffer) == 1 and _is_along(t.index, var)}


def _is_along(index: tuple[Lin, ...], var: str) -> bool:
    rest = (*index[:-1], index[-1] - Lin.symbol(var))
    return var not in symbols_of(*map(Int, rest))


def row(name: str, var: str) -> str:
    """The element of a row that a trip writes."""
    return f"row_{name}_[{var} - strip_]"


def store(name: str, first: str) -> str:
    """Stores a strip of a row, whose first element belongs here, past the cache."""
    return f"sdfgad::stream(&{first}, row_{name}_, stop_ - strip_);"


def strips(
    loop: tuple[str, str, str], lines: list[str], types: Mapping[str, str], pragma: list[str], last: list[str]
) -> list[str]:
    """An innermost loop that fills rows, a strip of them at a time.

    Args:
        loop: its counter, where that starts, and where it ends.
        lines: its body.
        types: those of the elements of what is filled.
        last: what stores the rows.
    """
    var, start, end = loop
    return [
        f"for (int64_t strip_ = {start}; strip_ < {end}; strip_ += {STRIP}) {{",
        f"const int64_t stop_ = std::min<int64_t>(strip_ + {STRIP}, {end});",
        *(f"alignas(64) {type_} row_{name}_[{STRIP}];" for name, type_ in types.items()),
        *pragma,
        f"for (int64_t {var} = strip_; {var} < stop_; ++{var}) {{",
        *lines,
        "}",
        *last,
        "}",
    ]

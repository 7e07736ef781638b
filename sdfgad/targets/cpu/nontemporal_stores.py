"""Non-temporal stores: an array larger than the cache is written without first reading its cache lines from memory.

An ordinary store first reads the cache line that it changes a part of. Where a nest fills a large array and does
nothing else with it, its innermost loop writes strips of a row into a buffer that stays in the cache, and `stream.h`
stores these to memory, whole lines at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.ir.expr import Int, Lin, symbols_of
from sdfgad.ir.program import Access, Block, Compute
from sdfgad.schedule.target import cpu


def rows_of(block: Block, var: str, trips: Lin, arrays: Collection[str]) -> dict[str, Access]:
    """Of some arrays, those that an innermost loop fills along memory, with the element that each trip writes."""
    targets = [s.target for s in block if isinstance(s, Compute) and s.target.buffer in arrays]
    names = [target.buffer for target in targets]
    if not targets or (trips.is_const and trips.const < cpu().streamed_trips):
        return {}
    return {t.buffer: t for t in targets if names.count(t.buffer) == 1 and _is_along(t.index, var)}


def _is_along(index: tuple[Lin, ...], var: str) -> bool:
    rest = (*index[:-1], index[-1] - Lin.symbol(var))
    return var not in symbols_of(*map(Int, rest))


def row(name: str, var: str) -> str:
    """The C++ text of the element that a trip writes in the buffer of a strip."""
    return f"row_{name}_[{var} - strip_]"


def store(name: str, first: str) -> str:
    """The C++ text that stores a strip of a row, from its element `first` on, past the cache."""
    return f"sdfgad::stream(&{first}, row_{name}_, stop_ - strip_);"


def strips(
    loop: tuple[str, str, str], lines: list[str], types: Mapping[str, str], pragma: list[str], last: list[str]
) -> list[str]:
    """An innermost loop, strip-mined: each strip of the rows is filled in a buffer and then stored.

    Args:
        loop: its counter, where that starts, and where it ends.
        lines: its body.
        types: for each array that is filled, the type of its elements.
        last: the statements that store the strips.
    """
    var, start, end = loop
    return [
        f"for (int64_t strip_ = {start}; strip_ < {end}; strip_ += {cpu().strip}) {{",
        f"const int64_t stop_ = std::min<int64_t>(strip_ + {cpu().strip}, {end});",
        *(f"alignas(64) {type_} row_{name}_[{cpu().strip}];" for name, type_ in types.items()),
        *pragma,
        f"for (int64_t {var} = strip_; {var} < stop_; ++{var}) {{",
        *lines,
        "}",
        *last,
        "}",
    ]

"""Request for specialisation: a stage raises `NeedsConstant`, and the caller retries with the integers fixed."""

from __future__ import annotations

from sdfgad.errors import Blame, Location

FIXED_SIZE = "Use arrays of a fixed size in the loop: np.where(np.arange(n) < i, x, 0.0) instead of x[:i]."


class NeedsConstant(Exception):
    """Raised where a stage needs the values of some symbolic integers; the parser retries with them as constants.

    It is internal and never reaches the user.
    """

    def __init__(self, symbols: set[str], where: Location | None, what: str = "", todo: str = FIXED_SIZE) -> None:
        super().__init__(f"{', '.join(sorted(symbols))} must be known at {where}")
        self.symbols, self.where, self.todo = symbols, where, todo
        self.blame = Blame()  # As of other errors.
        self.what = what or "this size or index changes from trip to trip of a loop, which is not supported here"


class Carried(NeedsConstant):
    """Raised where the loop or branch around may do without a constant, by carrying more; it is parsed again."""

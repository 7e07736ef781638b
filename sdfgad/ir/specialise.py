"""Request for specialisation: a stage raises `NeedsConstant`, and the caller retries with the integers fixed."""

from __future__ import annotations

from sdfgad.errors import Location


class NeedsConstant(Exception):
    """Raised where a stage needs the values of some symbolic integers; the parser retries with them as constants.

    It is internal and never reaches the user.
    """

    def __init__(
        self, symbols: set[str], where: Location | None, what: str = "", todo: str = "Use arrays of a fixed size."
    ) -> None:
        super().__init__(f"{', '.join(sorted(symbols))} must be known at {where}")
        self.symbols, self.where, self.todo = symbols, where, todo
        self.what = what or "this size or index depends on a loop counter and cannot be fixed while parsing"

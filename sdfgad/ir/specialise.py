"""How a stage asks for an integer to be fixed; the stage that introduced it tries again with a constant."""

from __future__ import annotations

from sdfgad.errors import Location


class NeedsConstant(Exception):
    """Work cannot go on unless these integers are numbers; whoever introduced one may try again with it fixed.

    It never reaches the user.
    """

    def __init__(self, symbols: set[str], where: Location | None, what: str = "") -> None:
        super().__init__(f"{', '.join(sorted(symbols))} must be known at {where}")
        self.symbols, self.where = symbols, where
        self.what = what or "this size or index depends on a loop counter and cannot be fixed while parsing"

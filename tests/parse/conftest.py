"""What several tests of the parser ask for."""

import pytest

from sdfgad.ir.program import Loop
from sdfgad.parse import filled_loops, loop_strategies


@pytest.fixture
def all_loops(monkeypatch):
    """Short loops, too, are kept as loops."""
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", 1)
    monkeypatch.setattr(loop_strategies, "is_worth_a_loop", lambda b, loop: isinstance(loop, Loop))

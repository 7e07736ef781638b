"""A sequential loop along memory runs inside the parallel one; any other stays outside."""

import pytest

from sdfgad.ir.program import Loop
from sdfgad.optimise.loops.fuse import fuse
from tests.helpers_passes import assert_becomes, check_passes
from tests.helpers_text import sample


def test_a_scan_of_rows():
    assert_becomes(
        fuse,
        """
        loop j < 5:
            for p < 20: Z[p, j + 1] = (X[p, j] * y[p])
        """,
        """
        loop parallel p < 20:
            loop j < 5:
                Z[p, j + 1] = (X[p, j] * y[p])
        """,
    )


def test_backwards_and_carried():
    assert_becomes(
        fuse,
        """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop backwards j < 5:
            for p < 20: Z[p, j] = (Z[p, j + 1] * 0.5)
            for p < 20: W[p, j] = Z[p, j]
        """,
        """
        loop parallel f_1 < 20:
            for c < 6: Z[f_1, c] = X[f_1, c]
            loop backwards j < 5:
                Z[f_1, j] = (Z[f_1, j + 1] * 0.5)
                W[f_1, j] = Z[f_1, j]
        """,
    )


STAYS = {
    "rows depend on each other": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 5:
            for p < 19: Z[p, j + 1] = Z[p + 1, j]
        """,
    "triangular": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 5:
            for p < j: Z[p, j + 1] = Z[p, j] * 0.5
        """,
    "across memory already": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 19:
            for c < 6: Z[j + 1, c] = Z[j, c] * 0.5
        """,
    "a scalar goes from trip to trip": """
        s = 1.0
        loop j < 5:
            for p < 20: Z[p, j] = X[p, j] * s
            s = s * 0.5
        """,
    "an element for all rows": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 5:
            for p < 20: Z[p, j + 1] = Z[p, j] * Z[3, j]
        """,
    "bounds that are data": """
        k = 3
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < k:
            for p < 20: Z[p, j + 1] = Z[p, j] * 0.5
        """,
    "sums over the rows": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 5:
            loop parallel p < 20:
                Z[p, j] += x[p]
                w[j] += (Z[p, j] * x[p])
        """,
    "one point": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 5:
            for p < 1: Z[3, j + 1] = Z[3, j] * x[p]
        """,
    "an axis of one": """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < 5:
            for h < 1, p < 20: Z[p, j + 1] = Z[p, j] * x[h]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    program, arrays, _ = sample(STAYS[name])
    changed = check_passes(program, arrays, passes=[fuse])
    loops = [s for s in changed.body if isinstance(s, Loop)]
    assert any(s.var == "j" for s in loops)


def test_no_trips():
    program, arrays, integers = sample(
        """
        for p < 20, c < 6: Z[p, c] = X[p, c]
        loop j < n:
            for p < 20: Z[p, j + 1] = Z[p, j] * 0.5
        """,
        n=0,
    )
    check_passes(program, arrays, integers, passes=[fuse])
    check_passes(program, arrays, {"n": 5}, passes=[fuse])

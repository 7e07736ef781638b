"""A few rows run side by side in a sequential loop, and what is left over as before."""

import pytest

from sdfgad.optimise.loops.tile import tile
from sdfgad.optimise.storage.contract import contract
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import sample


def test_tiles_and_the_rest():
    assert_becomes(
        tile,
        """
        loop parallel f < 20:
            z[f] = x[f]
            loop j < 6:
                z[f] = (z[f] * X[f, j])
        """,
        """
        loop parallel f_tile < 2:
            loop parallel f_1 < 8:
                z[f_1 + 8*f_tile] = x[f_1 + 8*f_tile]
            loop j < 6:
                loop parallel f_1 < 8:
                    z[f_1 + 8*f_tile] = (z[f_1 + 8*f_tile] * X[f_1 + 8*f_tile, j])
        loop parallel f < 4:
            z[f + 16] = x[f + 16]
            loop j < 6:
                z[f + 16] = (z[f + 16] * X[f + 16, j])
        """,
    )


STAYS = {
    "not parallel": """
        loop f < 20:
            loop j < 6:
                z[f] = X[f, j]
        """,
    "too few": """
        loop parallel f < 15:
            loop j < 6:
                z[f] = X[f, j]
        """,
    "rows of different lengths": """
        loop parallel f < 20:
            z[f] = x[f]
            loop j < f:
                z[f] += x[j]
        """,
    "rows of lengths that are data": """
        loop parallel f < 20:
            z[f] = x[f]
            loop j < i[f]:
                z[f] += x[j]
        """,
    "no chain": """
        loop parallel f < 20:
            z[f] = x[f]
            for c < 6: w[f] = sum of X[f, c]
        """,
    "a branch": """
        loop parallel f < 20:
            loop j < 6:
                if X[f, j] > 0.0:
                    Z[f, j] = 1.0
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(tile, STAYS[name])


@pytest.mark.parametrize("rows", [16, 17, 20])
def test_a_temporary_of_a_tile_has_an_element_for_each_row(rows):
    program, arrays, _ = sample(
        """
        loop parallel f < ROWS:
            t[f] = x[f]
            a[f] = 0.0
            loop backwards j < 6:
                t[f] = t[f] * X[f, j]
                a[f] += t[f]
            z[f] = t[f] + a[f]
        """.replace("ROWS", str(rows))
    )
    check_passes(program, arrays, passes=[tile, contract])

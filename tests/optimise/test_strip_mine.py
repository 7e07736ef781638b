"""Long loops that cannot be one run together in strips, and what is left over as before."""

import sys

import pytest

from sdfgad.optimise.fuse import fuse
from sdfgad.optimise.strip_mine import strip_mine
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import sample

# The package has the function under the module's name.
module = sys.modules[strip_mine.__module__]


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 20)
    monkeypatch.setattr(module, "WIDTHS", (10,))
    monkeypatch.setattr(module, "WIDTH", 10)


def test_what_scatters_follows_what_it_reads():
    assert_becomes(
        strip_mine,
        """
        for p < 20: t[p] = (x[p] * y[p])
        for c < 10: z[c] = 0.0
        for c < 10: z[c + 10] = 0.0
        for p < 20: z[i[p]] += t[p]
        """,
        """
        for c < 10: z[c] = 0.0
        for c < 10: z[c + 10] = 0.0
        loop parallel strip < 2:
            loop parallel p_1 < 10:
                t[p_1 + 10*strip] = (x[p_1 + 10*strip] * y[p_1 + 10*strip])
            loop parallel p_2 < 10:
                z[i[p_2 + 10*strip]] += t[p_2 + 10*strip]
        """,
    )


def test_neighbours_that_scatter_share_a_loop():
    assert_becomes(
        strip_mine,
        """
        for p < 20: t[p] = (x[p] * y[p])
        for p < 20: z[i[p]] += t[p]
        for c < 10: w[c] = 0.0
        for c < 10: w[c + 10] = 0.0
        for h < 20: w[i[h]] += (t[h] * x[h])
        """,
        """
        for c < 10: w[c] = 0.0
        for c < 10: w[c + 10] = 0.0
        loop parallel strip < 2:
            loop parallel p_1 < 10:
                t[p_1 + 10*strip] = (x[p_1 + 10*strip] * y[p_1 + 10*strip])
            loop parallel p_2 < 10:
                z[i[p_2 + 10*strip]] += t[p_2 + 10*strip]
                w[i[p_2 + 10*strip]] += (t[p_2 + 10*strip] * x[p_2 + 10*strip])
        """,
    )


def test_what_makes_vectors_does_not_share_a_loop_with_what_scatters():
    assert_becomes(
        strip_mine,
        """
        for p < 20: z[i[p]] += x[p]
        for p < 20: w[p] += x[p]
        """,
        """
        loop parallel strip < 2:
            loop parallel p_1 < 10:
                z[i[p_1 + 10*strip]] += x[p_1 + 10*strip]
            loop parallel p_2 < 10:
                w[p_2 + 10*strip] += x[p_2 + 10*strip]
        """,
    )


def test_what_is_left_over_has_temporaries_of_its_own(monkeypatch):
    monkeypatch.setattr(module, "WIDTHS", ())
    monkeypatch.setattr(module, "WIDTH", 8)
    assert_becomes(
        strip_mine,
        """
        for c < 20: z[c] = 0.0
        loop parallel f < 20:
            s = (x[f] * 2.0)
            t[f] = (s * s)
        for p < 20: z[i[p]] += (t[p] * x[p])
        """,
        """
        for c < 20: z[c] = 0.0
        loop parallel strip < 2:
            loop parallel f_1 < 8:
                s = (x[f_1 + 8*strip] * 2.0)
                t[f_1 + 8*strip] = (s * s)
            loop parallel p_1 < 8:
                z[i[p_1 + 8*strip]] += (t[p_1 + 8*strip] * x[p_1 + 8*strip])
        loop parallel f_2 < 4:
            s_1 = (x[f_2 + 16] * 2.0)
            t[f_2 + 16] = (s_1 * s_1)
        loop parallel p_2 < 4:
            z[i[p_2 + 16]] += (t[p_2 + 16] * x[p_2 + 16])
        """,
    )


STAYS = {
    "neighbours": """
        for p < 20: t[p] = x[p] * 2.0
        for p < 20: z[p] = t[19 - p]
        """,
    "read wherever": """
        for p < 20: t[p] = x[p] * 2.0
        for p < 20: z[p] = t[i[p]]
        """,
    "a sum that is not yet whole": """
        for p < 20: w[i[p]] += x[p]
        for p < 20: z[p] = w[p] * x[p]
        """,
    "something that must be in between": """
        for p < 20: t[p] = x[p] * 2.0
        for c < 6: t[c] = 1.0
        for p < 20: z[i[p]] += t[p]
        """,
    "a value that must be in between": """
        for p < 20: t[p] = x[p] * 2.0
        q = t[3]
        for p < 20: z[i[p]] += t[p] * q
        """,
    "nothing that both touch": """
        for p < 20: z[p] = x[p] * 2.0
        for p < 20: w[p] = y[p] * 2.0
        """,
    "too short": """
        for p < 19: t[p] = x[p] * 2.0
        for p < 19: z[i[p]] += t[p]
        """,
    "sums into one array": """
        for p < 20: z[i[p]] += x[p]
        for p < 20: z[i[p]] += y[p]
        """,
    "one extremum": """
        for p < 20: t[p] = x[p] * 2.0
        for p < 20: q max= t[p]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert_stays(strip_mine, STAYS[name])


@pytest.mark.parametrize("name", STAYS)
@pytest.mark.parametrize("width", [3, 7, 10])
def test_after_fusion(name, width, monkeypatch):
    monkeypatch.setattr(module, "LEAST", 2)
    monkeypatch.setattr(module, "WIDTHS", ())
    monkeypatch.setattr(module, "WIDTH", width)
    program, arrays, _ = sample(STAYS[name])
    check_passes(program, arrays, passes=[fuse, strip_mine])

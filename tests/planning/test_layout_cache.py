"""Layouts are recalled by later processes, for which new specialisations stand here."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, UnusedArgument
from sdfgad.planning import layout_cache
from tests.helpers import line_of
from tests.helpers_cache import keep_headers

X = np.linspace(0.1, 1.0, 6)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """An empty cache folder, but for the precompiled headers."""
    keep_headers(monkeypatch)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def nothing_is_derived(monkeypatch):
    """Call it, and nothing can be derived, planned or lowered any more."""

    def forbidden(*_, **__):
        raise AssertionError("derived again")

    def forbid():
        monkeypatch.setattr("sdfgad.pipeline.differentiate_program", forbidden)
        monkeypatch.setattr("sdfgad.sdfg.writer.write", forbidden)

    return forbid


def powers(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


def deep(x):
    y = x[0]
    for _ in range(400):
        y = y * 1.001 + x[1]
    return y


def triangle(x, n):
    total = 0.0
    for i in range(n):
        y = np.sin(x[i : i + i + 1])
        total += np.sum(y * y)
    return total


@pytest.mark.parametrize("options", [{}, {"memory_limit": "4 KiB"}, {"strategy": "recompute_all"}])
def test_nothing_is_derived_again(nothing_is_derived, options):
    first = sdfgad.differentiate(powers, wrt="x", **options)
    expected, plan = first(X, 5), str(first.plan(X, 5))
    sdfgad.differentiate(powers, wrt="x", **options)(X, 5)
    nothing_is_derived()
    again = sdfgad.differentiate(powers, wrt="x", **options)
    np.testing.assert_array_equal(again(X, 5), expected)
    with pytest.raises(AssertionError, match="derived again"):
        sdfgad.differentiate(powers, wrt="x", **options)(X[1:], 5)
    assert len(plan) > 0


def test_a_plan_is_told_from_what_is_recalled():
    first = sdfgad.differentiate(powers, wrt="x", memory_limit="4 KiB").plan(X, 9)
    assert sdfgad.differentiate(powers, wrt="x", memory_limit="4 KiB").plan(X, 9) == first


def test_other_options_have_other_layouts(cache):
    for options in ({}, {"strategy": "recompute_all"}, {"allow_unused": True}, {"output": "return"}):
        sdfgad.differentiate(powers, wrt="x", **options).plan(X, 5)
    layouts = sum(path.is_file() for path in (cache / "layouts").rglob("*"))
    # Two of each: everything stored, and what is chosen.
    assert layouts == 2 + 1 + 2


def test_expressions_may_be_deep(nothing_is_derived):
    expected = sdfgad.differentiate(deep)(X)["x"]
    nothing_is_derived()
    np.testing.assert_array_equal(sdfgad.differentiate(deep)(X)["x"], expected)


def test_integers_that_must_be_known_are_recalled(nothing_is_derived):
    x = np.linspace(0.1, 1.0, 9)
    expected = sdfgad.differentiate(triangle, wrt="x")(x, 4)
    nothing_is_derived()
    np.testing.assert_array_equal(sdfgad.differentiate(triangle, wrt="x")(x, 4), expected)


def picked(x, k):
    return np.sum(x[k] * x[k])


def test_errors_tell_the_line_of_the_program_at_hand(tmp_path):
    from tests.helpers import module_from

    text = "import numpy as np\n\n\n{}def picked(x, k):\n    return np.sum(x[k] * x[k])\n"
    for space in ("", "\n\n"):
        function = module_from(text.format(space), tmp_path).picked
        with pytest.raises(InvalidIndex) as caught:
            sdfgad.differentiate(function, wrt="x")(X, np.array([7]))
        assert line_of(function, "return") in str(caught.value)


def test_what_is_refused_is_refused_again():
    def constant(x, y):
        return np.sum(y)

    for _ in range(2):
        with pytest.raises(UnusedArgument):
            sdfgad.differentiate(constant, wrt="x")(X, X)


def test_a_plan_that_ran_out_of_time_is_not_kept(monkeypatch, cache):
    monkeypatch.setattr(layout_cache, "LASTING", ())
    sdfgad.differentiate(powers, wrt="x").plan(X, 5)
    assert not (cache / "layouts").exists()


def test_a_damaged_file_is_made_again(cache):
    expected = sdfgad.differentiate(powers, wrt="x")(X, 5)
    for path in (cache / "layouts").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-40])
    for path in (cache / "programs").rglob("*"):
        if path.is_file():
            path.write_text("{")
    np.testing.assert_array_equal(sdfgad.differentiate(powers, wrt="x")(X, 5), expected)

"""Arguments by name: what may be left out, what must fit, and indices that are out of range."""

import pickle

import numpy as np
import pytest

import sdfgad
from sdfgad import fortran
from sdfgad.errors import ArgumentError, InvalidIndex, OutputError, UnsupportedProgram, UnusedArgument, WrtError
from sdfgad.fortran.entry import Entry
from sdfgad.fortran.library import Library
from sdfgad.fortran.syntax import File
from tests.fortran.cases import HEAT, PROGRAMS

INDICES, HEAT_FILE = PROGRAMS / "indices.f90", PROGRAMS / "heat.f90"
LIBRARY = Library.of([File.read(INDICES)])
X, Y, K = np.ones((3, 6), np.float32), np.ones(4), np.ones((2, 3), np.int32)
GIVEN = {"flag": True, "x": X, "y": Y, "k": K, "c": 2}


@pytest.fixture
def entry():
    return Entry(LIBRARY.find("many"), "s")


def test_what_is_left_out(entry):
    """Sizes tell `n`; results and optional arguments are made or None; arrays have their axes in reverse order."""
    passed = entry.arguments((), GIVEN)
    assert list(passed) == ["n", "flag", "x", "y", "z", "k", "c"]
    assert (passed["n"], passed["z"]) == (3, None)
    assert passed["x"].shape == (6, 3)
    assert np.shares_memory(passed["x"], X)
    assert type(passed["c"]) is np.float32
    assert entry.function(**passed)[0, 0] == 2
    assert entry.function(**passed).shape == (4, 3)


def test_in_the_order_of_the_routine(entry):
    assert entry.arguments((3, True, X, Y, 2.0, K), {"C": 1.0})["z"] == 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    {
        "a name": ({"other": 1}, "the call does not fit `many`"),
        "twice": ({"Flag": True, "flag": True}, None),
        "missing": ({"c": None}, "the argument `c` is missing"),
        "precision": ({"x": X.astype(float)}, "`x` is an array of float32 with 2 axes, not an array of float64 with 2"),
        "axes": ({"y": np.ones((2, 2))}, "`y` is an array of float64 with 1 axes, not an array of float64 with 2"),
        "a list": ({"y": [1.0, 2.0]}, "`y` is an array of float64 with 1 axes, not [1.0, 2.0]"),
        "an integer": ({"n": 3.0}, "`n` is an integer(4), not 3.0"),
        "a truth value": ({"flag": 1}, "`flag` is a logical, not 1"),
        "a number": ({"c": "1"}, None),
        "the size of an array": ({"y": np.ones(6)}, "`y` has 6 elements along axis 1, and is declared with 4"),
        "a size that is passed": ({"n": 4}, "`x` has 3 elements along axis 1, and is declared with 4"),
        "an expression": (
            {"x": np.ones((3, 5), np.float32)},
            "`x` has 5 elements along axis 2, and is declared with 6",
        ),
        "a result": ({"s": np.ones((3, 3))}, "`s` has 3 elements along axis 2, and is declared with 4"),
    }.values(),
)
def test_what_does_not_fit(entry, change, message):
    given = {**GIVEN, **change}
    if message is None:
        entry.arguments((), given)
        return
    with pytest.raises(ArgumentError) as caught:
        entry.arguments((), given)
    assert message in caught.value.what
    assert caught.value.where.line == 41


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (OutputError, {"output": None}, "the output is ambiguous of `many`"),
        (OutputError, {"output": "x"}, "there is no output 'x' of `many`"),
        (WrtError, {"output": "s", "wrt": "n"}, "the argument `n` is an integer(4), which has no gradient"),
        (WrtError, {"output": "s", "wrt": ("x", "s")}, "the argument `s` is intent(out), which has no gradient"),
        (WrtError, {"output": "s", "wrt": "other"}, "`many` has no argument `other`"),
    ],
)
def test_what_cannot_be_chosen(error, options, message):
    with pytest.raises(error) as caught:
        fortran.differentiate(INDICES, "many", **options)
    assert message in caught.value.what
    assert caught.value.where.line == 41


def test_files_and_routines_that_are_not_there(tmp_path):
    with pytest.raises(ArgumentError, match="cannot read"):
        fortran.differentiate(tmp_path / "none.f90", "s")
    with pytest.raises(ArgumentError, match="there is no routine `other`"):
        fortran.differentiate(INDICES, "other")


@pytest.mark.parametrize(("routine", "line"), [("section_before", 21), ("element_before", 27)])
def test_indices_that_are_certainly_out_of_range(routine, line):
    with pytest.raises(InvalidIndex, match="is out of range for an axis of 5") as caught:
        fortran.differentiate(INDICES, routine, wrt="x").plan(x=np.ones(5))
    assert caught.value.where.line == line
    assert "within the bounds" in caught.value.todo


@pytest.mark.parametrize(("routine", "line"), [("before_the_first", 14), ("sections_after", 37)])
def test_indices_that_are_out_of_range_when_it_runs(routine, line):
    with pytest.raises(InvalidIndex) as caught:
        fortran.differentiate(INDICES, routine, wrt="x").value(x=np.ones(5))
    assert caught.value.where.line == line


def test_one_argument_and_all():
    u = fortran.differentiate(HEAT_FILE, "heat_1d", wrt="u", output="cost")(**HEAT)
    assert u.shape == HEAT["u"].shape
    both = fortran.differentiate(HEAT_FILE, "heat_1d", output="COST", allow_unused=False)
    with pytest.raises(ArgumentError, match="share memory"):
        both(**HEAT | {"a": HEAT["u"]})


def test_an_argument_that_makes_no_difference():
    g = fortran.differentiate(PROGRAMS / "newton.f90", "series", wrt="tol", output="s")
    with pytest.raises(UnusedArgument, match="tol"):
        g(x=0.5, tol=1e-3)


def test_optional_arguments_that_are_left_out():
    """Without `wrt` there are gradients by all floating arguments that are passed."""
    g = fortran.differentiate(INDICES, "many", output="s", reduce="sum")
    assert g(**GIVEN).keys() == {"x", "y", "c"}
    gradients = g(**GIVEN, z=1.0)
    assert gradients["z"] == 1.0
    assert gradients["x"].shape == (3, 6)
    assert gradients["x"][0, 0] == 2


def test_several_files_in_fixed_form(tmp_path):
    """A module in one file, a function of old in another: labels, implicit types, continuation in column 6."""
    (tmp_path / "lengths.f90").write_text("module lengths\n  integer, parameter :: m = 3\nend module lengths\n")
    old = tmp_path / "old.f"
    old.write_text(
        "C     A sum of squares.\n"
        "      DOUBLE PRECISION FUNCTION WEIGH(N, X)\n"
        "      USE LENGTHS\n"
        "      IMPLICIT REAL*8 (A-H, O-Z)\n"
        "      DIMENSION X(N)\n"
        "      PARAMETER (HALF = 0.5D0)\n"
        "      S = 0\n"
        "      DO 10 I = 1, N\n"
        "   10 S = S +\n"
        "     &  HALF*X(I)**2\n"
        "      WEIGH = S*M\n"
        "      END\n"
    )
    result = fortran.check_grads([tmp_path / "lengths.f90", old], "weigh", x=np.arange(1.0, 4.0))
    assert result.rate > 1.9


def test_pickled_and_within_a_program():
    """It is sent with the texts of its files; programs do not call it."""
    g = fortran.differentiate(HEAT_FILE, "heat_1d", wrt="u", output="cost")
    again = pickle.loads(pickle.dumps(g))
    np.testing.assert_array_equal(again(**HEAT), g(**HEAT))

    def program(u):
        return np.sum(g(steps=4, u=u, a=HEAT["a"]))

    with pytest.raises(UnsupportedProgram):
        sdfgad.differentiate(program)(HEAT["u"])
    with pytest.raises(ArgumentError, match="the gradient of heat_1d cannot be differentiated"):
        sdfgad.differentiate(g)


def test_tangents_without_names():
    g = fortran.differentiate(HEAT_FILE, "heat_1d", output="cost")
    value, derivative = g.jvp(**HEAT, tangents={"u": np.ones(8)})
    gradients = g(**HEAT)
    np.testing.assert_allclose(derivative, np.sum(gradients["u"]), rtol=1e-12)
    np.testing.assert_allclose(value, g.value(**HEAT), rtol=1e-14)

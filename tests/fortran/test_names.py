"""Arguments by paths: variables of modules, components, and objects that have them."""

import pickle
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sdfgad import fortran
from sdfgad.errors import ArgumentError, OutputError, WrtError
from sdfgad.fortran.entry import Entry
from sdfgad.fortran.library import Library
from sdfgad.fortran.syntax import File
from tests.fortran.cases import PROGRAMS
from tests.fortran.models import CHAIN, forecast, simulate

STATE, SYSTEM = PROGRAMS / "state.f90", PROGRAMS / "chain.f90"
M, X, V = (CHAIN[f"sys%mass%{name}"] for name in "mxv")


@dataclass
class Spring:
    stiffness: float
    length: float


@cache
def chain():
    return fortran.differentiate(SYSTEM, "simulate", wrt=("sys", "dt"), output="e")


@cache
def entry(routine, output):
    return Entry(Library.of([File.read(STATE)]).find(routine), output)


def system(mass):
    return SimpleNamespace(damping=CHAIN["sys%damping"], mass=mass, link=Spring(2.0, 0.8))


ARRAYS = system({"m": M, "x": X, "v": V})
OBJECTS = system([{"m": M[k], "x": X[:, k], "v": V[:, k]} for k in range(4)])


def differences(change):
    """The derivative of the chain's energy where its arguments change with h."""
    at = [simulate(**change(h)) for h in (2e-5, 1e-5, -1e-5, -2e-5)]
    return (8 * (at[1] - at[2]) - at[0] + at[3]) / 12e-5


def test_gradients_have_the_structure_of_what_is_passed():
    value, gradient = chain().value_and_grad(sys=ARRAYS, steps=5, dt=0.05)
    np.testing.assert_allclose(value, simulate(**CHAIN), rtol=1e-13)
    one = chain()(sys=OBJECTS, steps=5, dt=0.05)["sys"]
    assert isinstance(one.link, Spring)
    assert isinstance(gradient["sys"].mass, dict)
    assert [*one.mass[0]] == ["m", "x", "v"]
    for name in "mxv":
        each = np.stack([mass[name] for mass in one.mass], axis=-1)
        np.testing.assert_allclose(each, gradient["sys"].mass[name], rtol=1e-13)
    moved = np.random.default_rng(0).standard_normal((2, 4))
    exact = differences(lambda h: CHAIN | {"sys%mass%x": X + h * moved, "sys%link%length": 0.8 + h})
    found = np.sum(gradient["sys"].mass["x"] * moved) + gradient["sys"].link.length
    np.testing.assert_allclose(found, exact, rtol=1e-8)
    assert vars(ARRAYS) == vars(system({"m": M, "x": X, "v": V}))


def test_parts_without_a_gradient_are_none():
    gradient = chain()(sys=SimpleNamespace(**vars(ARRAYS), n=4), steps=5, dt=0.05)
    assert gradient["sys"].n is None
    assert list(gradient) == ["sys", "dt"]


def test_directions_have_that_structure_too():
    moved = np.ones((2, 4))
    tangents = {"sys": system({"x": moved, "v": 0 * V, "m": 0 * M}), "dt": 1.0}
    tangents["sys"].damping, tangents["sys"].link = 0.5, None
    _, derivative = chain().jvp(sys=OBJECTS, steps=5, dt=0.05, tangents=tangents)
    exact = differences(lambda h: CHAIN | {"sys%mass%x": X + h, "dt": 0.05 + h, "sys%damping": 0.2 + h / 2})
    np.testing.assert_allclose(derivative, exact, rtol=1e-8)


def test_a_copy_in_another_process():
    again = pickle.loads(pickle.dumps(chain()))
    assert again.value(sys=OBJECTS, steps=2, dt=0.05) == chain().value(sys=ARRAYS, steps=2, dt=0.05)


def test_what_is_left_out():
    """First values, what is set before it is read, and arrays that are not allocated yet."""
    passed = entry("forecast", "energy").arguments((), {"nsteps": 2, "amplitude": 0.1})
    assert {"gravity": 9.81, "nx": 8, "flux": None, "parameters__drag": 0.01}.items() <= passed.items()
    assert not {"h", "u", "time", "energy"} & {*passed}
    given = {"nsteps": 3, "amplitude": 0.1, "parameters": {"drag": 0.3}, "state%dt": 0.002}
    value = entry("forecast", "energy").function(**entry("forecast", "energy").arguments((), given))
    np.testing.assert_allclose(value, forecast(3, 0.1, 0.3, dt=0.002), rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the arguments h, u, time are missing"),
        ({"state": SimpleNamespace(h=np.ones(10), u=np.ones(10))}, "the argument `time` is missing"),
        ({"h": np.ones((10, 1))}, "`h` is an array of float64 with 1 axes, not an array of float64 with 2"),
        ({"stat": 1}, "the call does not fit `step`"),
    ],
)
def test_what_does_not_fit(given, message):
    with pytest.raises(ArgumentError) as caught:
        entry("step", "h").arguments((), given)
    assert message in caught.value.what
    assert caught.value.where.text == "subroutine step"


def test_what_is_passed_twice():
    with pytest.raises(ArgumentError, match="`h` is passed twice"):
        entry("step", "h").arguments((), {"h": np.ones(10), "state": {"h": np.ones(10)}})


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (OutputError, {"output": None}, "the output is ambiguous of `step`"),
        (OutputError, {"output": "gravity"}, "there is no output 'gravity' of `step`"),
        (WrtError, {"output": "h", "wrt": "nx"}, "the argument `nx` is an integer(4), which has no gradient"),
        (WrtError, {"output": "h", "wrt": "state%other"}, "`step` has no argument `state%other`"),
    ],
)
def test_what_cannot_be_chosen(error, options, message):
    with pytest.raises(error) as caught:
        fortran.differentiate(STATE, "step", **options)
    assert message in caught.value.what


def test_what_is_set_first_has_no_gradient():
    with pytest.raises(WrtError, match="the argument `h` is only a result"):
        fortran.differentiate(STATE, "forecast", wrt="h", output="energy")


def test_a_module_as_a_whole():
    """Its state is an argument and an output; what a call leaves there is handed to the next one by the caller."""
    rng = np.random.default_rng(1)
    given = {"nx": 4, "dx": 0.1, "dt": 0.01, "time": 0.0, "h": 1 + rng.random(6), "u": rng.random(6)}
    g = fortran.differentiate(STATE, "step", wrt=("state", "parameters%drag"), output="state%u")
    cotangent = rng.standard_normal(6)
    found = g.vjp(state=given, drag=0.2, cotangent=cotangent)
    assert found["state"]["nx"] is None
    one = entry("step", "u")

    def total(h):
        moved = given | {"h": given["h"] + h, "dt": 0.01 + h}
        passed = one.arguments(
            (), {"state": {k: np.copy(v) if k in "hu" else v for k, v in moved.items()}, "drag": 0.2 + h}
        )
        one.function(**passed)
        return np.sum(passed["u"] * cotangent)

    exact = (8 * (total(1e-5) - total(-1e-5)) - total(2e-5) + total(-2e-5)) / 12e-5
    by_all = np.sum(found["state"]["h"]) + found["state"]["dt"] + found["parameters%drag"]
    np.testing.assert_allclose(by_all, exact, rtol=1e-8)


BOUND = """
module m
  implicit none
  real(8) :: level = 2
  type :: tank
    real(8) :: area
  contains
    procedure :: filled => fill
  end type tank
contains
  real(8) function fill(self, by)
    class(tank), intent(in) :: self
    real(8), intent(in) :: by
    fill = level + by / self%area
  end function fill
  subroutine run(t, by, total)
    type(tank), intent(in) :: t
    real(8), intent(in) :: by
    real(8), intent(out) :: total
    total = t%filled(by)
    level = 0
    total = total + level
  end subroutine run
end module m
"""


def test_what_routines_of_a_type_read_is_an_argument(tmp_path):
    """They are called by other names than their own."""
    path = tmp_path / "tank.f90"
    path.write_text(BOUND)
    one = Entry(Library.of([File.read(path)]).find("run"), "total")
    passed = one.arguments((), {"t": {"area": 4.0}, "by": 2.0, "level": 3.0})
    assert one.function(**passed) == 3.5

"""Routines as people write them: values as gfortran and NumPy have them, gradients as differences have them."""

import json
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad import fortran
from tests.fortran.cases import CASES, FIELD, HEAT, PLATE, advect, heat_1d, heat_2d
from tests.fortran.models import MODELS

REFERENCE = json.loads((Path(__file__).parent / "gfortran.json").read_text())
PLAIN, PLATE_CASE = (next(one for one in CASES if one.routine == name) for name in ("heat_1d", "heat_2d"))


def difference(program, arguments, directions):
    """The derivative of the sum of what a NumPy program returns along a direction; in double precision."""
    wide = {n: v.astype(float) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}

    def total(h):
        return np.sum(program(**{n: v + h * directions[n] if n in directions else v for n, v in wide.items()}))

    h = 1e-4
    return (8 * (total(h) - total(-h)) - total(2 * h) + total(-2 * h)) / (12 * h)


def random_directions(names, arguments):
    rng = np.random.default_rng(1)
    return {name: rng.standard_normal(np.shape(arguments[name])) * np.max(np.abs(arguments[name])) for name in names}


@pytest.mark.filterwarnings("ignore::sdfgad.errors.IgnoredPrint")
@pytest.mark.parametrize("case", [*CASES, *MODELS], ids=lambda case: case.name)
def test_values_and_gradients(case):
    is_single = any(getattr(v, "dtype", None) == np.float32 for v in case.arguments.values())
    tolerance = 2e-5 if is_single else 1e-12
    kept = {name: np.copy(value) for name, value in case.arguments.items()}
    expected = case.numpy(**case.arguments)
    reference = np.reshape(REFERENCE[case.name], np.shape(expected), order="F")
    np.testing.assert_allclose(reference, expected, rtol=tolerance)
    g = fortran.differentiate(case.path, case.routine, wrt=case.wrt, output=case.output, reduce="sum")
    value, gradients = g.value_and_grad(**case.arguments)
    np.testing.assert_allclose(value, np.sum(reference), rtol=tolerance)
    assert list(gradients) == list(case.wrt)
    directions = random_directions(case.wrt, case.arguments)
    found = sum(np.sum(gradients[name] * directions[name]) for name in case.wrt)
    exact = difference(case.numpy, case.arguments, directions)
    np.testing.assert_allclose(found, exact, rtol=1e-4 if is_single else 1e-8)
    for name, value in case.arguments.items():
        np.testing.assert_array_equal(value, kept[name])
        if name in case.wrt:
            assert np.shape(gradients[name]) == np.shape(value)
            assert np.asarray(gradients[name]).dtype == np.asarray(value).dtype


def test_a_choice_by_an_argument():
    case = next(one for one in CASES if one.routine == "advect")
    g = fortran.differentiate(case.path, "advect", wrt="q", output="total")
    for scheme in (2, 5):
        arguments = FIELD | {"scheme": scheme}
        value, gradient = g.value_and_grad(**arguments)
        np.testing.assert_allclose(value, advect(**arguments), rtol=1e-12)
        directions = random_directions(["q"], arguments)
        exact = difference(advect, arguments, directions)
        np.testing.assert_allclose(np.sum(gradient * directions["q"]), exact, rtol=1e-8)


def test_arrays_with_two_axes():
    """Values, cotangents and tangents have indices in Fortran's order, whatever the order of memory."""
    g = fortran.differentiate(PLATE_CASE.path, "heat_2d", wrt=("u", "kappa"), output="u")
    cotangent = np.random.default_rng(0).uniform(size=PLATE["u"].shape)
    directions = random_directions(["u", "kappa"], PLATE)
    exact = difference(lambda **k: heat_2d(**k) * cotangent, PLATE, directions)
    for order in "FC":
        arguments = {n: np.array(v, order=order) if isinstance(v, np.ndarray) else v for n, v in PLATE.items()}
        gradients = g.vjp(**arguments, cotangent=cotangent)
        np.testing.assert_allclose(sum(np.sum(gradients[n] * directions[n]) for n in directions), exact, rtol=1e-9)
    value, derivative = g.jvp(**PLATE, tangents=directions)
    np.testing.assert_allclose(value, heat_2d(**PLATE), rtol=1e-13)
    np.testing.assert_allclose(np.sum(derivative * cotangent), exact, rtol=1e-9)


def test_the_gradient_is_that_of_the_numpy_program():
    gradients = fortran.differentiate(PLAIN.path, "heat_1d", wrt=("u", "a"), output="cost")(**HEAT)
    du, da = sdfgad.differentiate(heat_1d, wrt=("u", "a"))(**HEAT)
    np.testing.assert_allclose(gradients["u"], du, rtol=1e-13)
    np.testing.assert_allclose(gradients["a"], da, rtol=1e-13)


def test_a_loop_in_time_within_a_memory_limit():
    arguments = HEAT | {"n": 400, "steps": 300, "u": np.linspace(0, 1, 400) ** 2, "a": np.full(400, 0.2)}
    limit = 100_000
    g = fortran.differentiate(PLAIN.path, "heat_1d", wrt=("u", "a"), output="cost", memory_limit=limit)
    value, gradients = g.value_and_grad(**arguments)
    np.testing.assert_allclose(value, heat_1d(**arguments), rtol=1e-12)
    plan = g.plan(**arguments)
    assert plan.peak_bytes <= limit < 300 * 400 * 8
    assert g.measure(**arguments, repeats=1).peak_bytes <= limit
    assert "heat.f90:" in str(plan)
    directions = random_directions(["u", "a"], arguments)
    exact = difference(heat_1d, arguments, directions)
    np.testing.assert_allclose(sum(np.sum(gradients[n] * directions[n]) for n in directions), exact, rtol=1e-8)

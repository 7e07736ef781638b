"""The checks of the demonstration: a right gradient passes, also a complex one, and nothing wrong does."""

from types import SimpleNamespace

import numpy as np
import pytest

from scripts import checking


def entry_of(program, *arguments):
    return SimpleNamespace(
        name="made",
        program=program,
        arguments=arguments,
        arrays=arguments,
        output="return",
        outputs_from=lambda values, returned: {"return": returned},
    )


def cubes(z, a):
    return a * z**3 + np.conj(z)


SQUARE = entry_of(lambda x: x * x, "x")
CUBES = entry_of(cubes, "z", "a")


@pytest.fixture
def complex_case(rng):
    """Arguments of `cubes`, weights of its output, and the gradients."""
    z, a, c = (rng.standard_normal(5) + 1j * rng.standard_normal(5) for _ in range(3))
    return (z, a), c, (c * np.conj(3 * a * z**2) + np.conj(c), c * np.conj(z**3))


@pytest.mark.parametrize("place", [0, 1])
def test_complex_gradient(complex_case, place):
    arguments, weights, gradients = complex_case
    name = CUBES.arguments[place]
    assert checking.gradient_error(CUBES, arguments, name, gradients[place], weights) <= 1e-9
    for wrong in (np.conj(gradients[place]), 1j * gradients[place], 1.0001 * gradients[place]):
        assert checking.gradient_error(CUBES, arguments, name, wrong, weights) > 1e-5


def test_gradient_that_is_zero_is_exactly_zero(rng):
    x, weights = rng.standard_normal(1000), rng.standard_normal(1000)
    floor = entry_of(lambda x: np.floor(100.0 * x), "x")
    assert checking.gradient_error(floor, (x,), "x", np.zeros(1000), weights) == 0.0
    assert checking.gradient_error(SQUARE, (x,), "x", np.zeros(1000), weights) == 1.0
    tiny = entry_of(lambda x: 1.0 + 1e-4 * x, "x")
    assert checking.gradient_error(tiny, (x,), "x", np.zeros(1000), weights) == 1.0


def test_gradient_of_another_shape():
    assert checking.gradient_error(SQUARE, (np.ones(3),), "x", np.ones(2), np.ones(3)) == float("inf")


def test_gradient_that_is_no_number():
    assert checking.gradient_error(SQUARE, (np.ones(3),), "x", np.full(3, np.nan), np.ones(3)) == float("inf")


def test_step_that_leaves_the_domain():
    """Numbers that are none are no success, and smaller steps are tried, silently."""
    root = entry_of(np.sqrt, "x")
    root.program = lambda x: np.sqrt(x)
    x = np.array([1e-5, 1.0])
    assert checking.gradient_error(root, (x,), "x", 0.5 / np.sqrt(x), np.ones(2)) <= 1e-6


def test_single_precision_is_double_for_differences():
    def program(x):
        out = np.zeros(x.shape, dtype=np.float32)
        out[:] = np.sin(x)
        return out

    x = np.linspace(0.1, 1.0, 7, dtype=np.float32)
    assert checking.gradient_error(entry_of(program, "x"), (x,), "x", np.cos(x), np.ones(7), limit=1e-6) <= 1e-6
    assert program(x).dtype == np.float32
    with checking.double_precision(program):
        assert program(x).dtype == np.float64


@pytest.mark.parametrize("value", [np.float32(1.5), np.ones(2, np.float32), np.ones((2, 1), np.complex64)])
def test_widened(value):
    wide = checking.widened(value)
    assert not checking.is_single(wide)
    assert np.iscomplexobj(wide) == np.iscomplexobj(value)
    np.testing.assert_array_equal(wide, value)


def test_widened_leaves_others():
    for value in (3, 2.5, np.ones(2), np.arange(3)):
        assert checking.widened(value) is value


@pytest.mark.parametrize("value", [1.5, np.float64(1.5), np.float32(1.5), np.ones(3, np.complex128), np.ones(())])
def test_moved_keeps_the_type(value):
    changed = checking.moved((0, value), 1, value + 1.0)[1]
    assert type(changed) is type(value)
    assert np.asarray(changed).dtype == np.asarray(value).dtype
    np.testing.assert_array_equal(changed, value + 1.0)


def test_moved_aside():
    entry = entry_of(None, "x", "n", "a", "z")
    entry.arrays = ("x", "a", "z")
    arguments = (np.ones(4), np.arange(3), 2.0, np.zeros(3, np.complex128))
    x, n, a, z = checking.moved_aside(entry, arguments)
    assert n is arguments[1]
    assert type(a) is float
    assert 0.0 < abs(a - 2.0) < 0.1
    assert len(set(x)) == 4
    assert np.abs(x - 1.0).max() < 0.1
    assert z.imag.all()
    assert arguments[0].tolist() == [1.0] * 4
    np.testing.assert_allclose(checking.moved_aside(entry, arguments, 0.01)[0], 0.01 * x)


def test_step_with_which_the_program_raises():
    def inverse(x):
        if (x <= 0.0).any():
            raise np.linalg.LinAlgError("singular")
        return 1.0 / x

    x, weights = np.array([1e-5, 1.0]), np.array([1e-10, 1.0])
    assert checking.gradient_error(entry_of(inverse, "x"), (x,), "x", -weights / x**2, weights) <= 1e-6


def test_what_rounds_away_is_no_derivative():
    """The true derivative is zero; that of the rounded program is not quite, nor is ours."""
    x, weights = np.linspace(1.0, 2.0, 50), np.ones(50)
    same = entry_of(lambda x: 3.0 + (x - (x - 1.0)), "x")
    for gradient in (0.0, 1e-15):
        assert checking.gradient_error(same, (x,), "x", np.full(50, gradient), weights) <= 1e-6
    assert checking.gradient_error(same, (x,), "x", np.full(50, 1e-9), weights) > 1e-6


def test_empty_array():
    assert checking.gradient_error(SQUARE, (np.ones(0),), "x", np.ones(0), np.ones(0)) == 0.0


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.0]), 0.0),
        (np.array([1j]), np.array([-1j]), 1.0),
        (np.ones(2), np.ones(3), np.inf),
        (np.array([np.nan]), np.array([np.nan]), np.inf),
        (np.zeros(0), np.zeros(0), 0.0),
    ],
)
def test_value_error(found, expected, error):
    assert checking.value_error(found, expected) == error


def test_exact_zero_is_right_only_where_both_are():
    assert checking.relative_error(0.0, 0.0, 0.0) == 0.0
    assert checking.relative_error(0.0, 1e-12, 0.0) == 1.0
    assert checking.relative_error(1e-12, 0.0, 1e-12) == 1.0


def logistic(steps, x):
    for _ in range(steps):
        x = 4.0 * x * (1.0 - x)
    return x


def slope_of_logistic(steps, x):
    slope = 1.0
    for _ in range(steps):
        slope, x = slope * 4.0 * (1.0 - 2.0 * x), 4.0 * x * (1.0 - x)
    return slope


@pytest.mark.parametrize(("steps", "is_settled"), [(5, True), (24, True), (60, False)])
def test_ill_conditioned_program(steps, is_settled):
    """Derivatives grow as 2**steps. Where differences say little, nothing that they contradict is right."""
    x = np.array([0.3])
    entry = entry_of(lambda x: logistic(steps, x), "x")
    found = checking.compare_gradient(entry, (x,), "x", slope_of_logistic(steps, x), np.ones(1))
    assert found.is_settled == is_settled
    assert found.is_within(1e-6) == is_settled
    for wrong in (0.9, 1.1, -1.0):
        difference = checking.compare_gradient(entry, (x,), "x", wrong * slope_of_logistic(steps, x), np.ones(1))
        assert not difference.is_within(1e-6)
    if steps == 5:
        off = checking.compare_gradient(entry, (x,), "x", 1.00001 * slope_of_logistic(steps, x), np.ones(1))
        assert not off.is_within(1e-6)

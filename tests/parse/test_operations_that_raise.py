"""Operations that raise where data decides, and what catches that: tests before them, as in Python's order."""

import math

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SingularMatrix
from tests.helpers_ir import assert_value_and_slope, checked_outputs, parsed, size_of

X = [np.random.default_rng(seed).uniform(-1, 1.2, 6) for seed in range(4)]


def roots(x, _):
    s = 0.0
    for k in range(4):
        try:
            s += math.sqrt(x[k]) * x[0]
        except ValueError:
            s -= 0.3 * x[k]
    return s


def logarithm(a):
    try:
        return math.log(a)
    except ValueError:
        return -10.0 * a


def in_a_function(x, _):
    s = 0.0
    for k in range(4):
        s += logarithm(x[k]) + k
    return s


def overflow(x, c):
    s = 0.0
    for k in range(4):
        try:
            s += math.sin(x[k]) + (0.0 if math.exp(800 * x[k] - 100) > 1.0 else 0.1)
        except OverflowError:
            s += 0.5 * x[k]
    return s * c


def jitter(x, c):
    a = np.outer(x, x) + np.eye(6) * (c - 0.6)
    by = 0.1
    for _ in range(5):
        try:
            low = np.linalg.cholesky(a + by * np.eye(6))
            break
        except np.linalg.LinAlgError:
            by *= 4.0
    else:
        raise RuntimeError("not positive definite")
    return np.sum(np.log(np.diag(low))) + np.sum(np.linalg.solve(low, x))


def ratio(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 2.0 * a


def quotients(x, c):
    q = max(0.0, c - 0.6)
    t = c
    try:
        t /= q
    except ZeroDivisionError:
        t = 3.0 * c
    try:
        t = t + c // q + c % q
    except ZeroDivisionError as error:
        t = t + len(error.args)
    return ratio(c, q) + t * x[0]


def in_turn(x, _):
    s = 0.0
    for v in x:
        try:
            a = math.acos(v * 1.5)
            b = math.log(a)
        except ValueError:
            continue
        s += a * b
    return s


def several(x, c):
    s = 0.0
    try:
        s = math.log(x[0]) + math.log(x[1]) * math.sqrt(x[2])
    except (ValueError, OverflowError):
        s = c
    finally:
        s += x[3]
    return s


class Bad(Exception):
    pass


def inner(v):
    try:
        return math.sqrt(v)
    except ValueError as error:
        raise Bad("negative") from error


def raised_as_another(x, _):
    s = 0.0
    for v in x:
        try:
            s += inner(v)
        except Bad:
            s -= v
    return s


def in_conditions(x, c):
    s = 0.0
    q = max(0.0, c - 0.6)
    while q < 2.0:
        try:
            if 1.0 / q > 3.0 and math.log(x[0]) < 0:
                s += 1.0
            q += 0.5
        except (ZeroDivisionError, ValueError):
            q += 0.3
            s += x[1]
    return s + q


def conversions(x, c):
    try:
        n = int(c * 5e300 * (1e300 if c < 0.5 else 1e-300))
    except OverflowError:
        n = 7
    return n * x[2]


def assertions(x, c):
    s = c
    for v in x:
        try:
            assert v > 0.1, f"{v} is small"
            s += v * v
        except AssertionError:
            s += 0.3 * v
    try:
        assert x[0] > 0
        assert x[1] > inner(x[2]) - 0.4
        s = x[0] * x[1]
    except Exception:
        s += x[2]
    return s


def scaled(v, q):
    try:
        v /= q
    except ZeroDivisionError:
        v = 3.0 * q + 1.0
    return v


def in_place_where_it_is_an_array(x, c):
    q = max(0.0, c - 0.6)
    s, y = scaled(c, q), x * 1.0
    z = scaled(y, q + 1.0)
    return s * x[0] + np.sum(y * x) + np.sum(z)


def what_changes_something_is_done_once(x, c):
    log = [1]
    try:
        log.extend(map(int, [c * 10.0, c * 20.3]))
        n = log.pop() + int(c * 3)
    except (ValueError, OverflowError):
        n = 3
    return x[0] * n + len(log) * x[1]


PROGRAMS = [
    roots, in_a_function, overflow, jitter, quotients, in_turn, several, raised_as_another, in_conditions, conversions,
    assertions, in_place_where_it_is_an_array, what_changes_something_is_done_once,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_slopes(program):
    for x in X:
        for c in (0.45, 0.93):
            assert_value_and_slope(program, x, c)


@pytest.mark.parametrize("program", [roots, jitter, quotients])
def test_one_compiled_program_takes_all_ways(program):
    g = sdfgad.differentiate(program, wrt="x")
    for x in X:
        for c in (0.45, 0.93):
            np.testing.assert_allclose(g.value(x, c), program(x, c), rtol=1e-12)
            direction = np.cos(np.arange(6.0))
            ends = [program(x + h * direction, c) for h in (1e-6, -1e-6)]
            np.testing.assert_allclose(g(x, c) @ direction, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)
    assert len(g._specialisations.found) == 1


def singular(a, b):
    try:
        return np.sum(np.linalg.solve(a, b))
    except np.linalg.LinAlgError:
        return np.sum(b)


def test_a_singular_matrix():
    primal = parsed(singular, np.eye(2), np.ones(2))
    for a in (np.eye(2), np.ones((2, 2))):
        assert checked_outputs(primal, a, np.arange(2.0))["return"] == singular(a, np.arange(2.0))
    g = sdfgad.differentiate(singular)
    found = g(np.ones((2, 2)), np.arange(2.0))
    np.testing.assert_array_equal(found["a"], np.zeros((2, 2)))
    np.testing.assert_array_equal(found["b"], np.ones(2))


def norms(a):
    try:
        values = np.linalg.svd(a, compute_uv=False)
    except np.linalg.LinAlgError:
        return np.sum(a)
    return np.sum(values)


def test_what_does_not_converge():
    a = np.eye(3) + 0.1
    assert_value_and_slope(norms, a)
    primal = parsed(norms, a)
    assert np.isnan(checked_outputs(primal, np.full((3, 3), np.nan))["return"])


def unguarded(a):
    return np.sum(np.linalg.cholesky(a))


def test_without_a_handler_it_is_an_error():
    with pytest.raises(SingularMatrix, match=r"(?s)not positive definite.*cholesky\(a\).*NumPy raises LinAlgError"):
        sdfgad.differentiate(unguarded)(-np.eye(3))


def long(x, n):
    s = x[0]
    for _ in range(n):
        try:
            s = math.sqrt(s) - x[1]
        except ValueError:
            s = s * s
    return s


def test_loops_are_not_written_out():
    assert size_of(parsed(long, X[0], 1000).program.body) < 20

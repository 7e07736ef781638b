"""Tangent programs against central differences and the transpose, the gradient: loops, branches, storage, extrema."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from


def arrays(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def in_place(x, y):
    z = x.copy()
    for k in range(4):
        z[1:] = z[1:] * z[:-1] + y[k]
        z = np.cumsum(z) * 0.3
        z[::2] -= y[:3] * z[4]
    return z


def ends_by_data(x, y):
    while np.sum(x**2) > 0.5:
        x = np.sin(x) * 0.9 + 0.01 * y
    return x * y


def branches(x, y):
    z = np.zeros(5)
    for k in range(5):
        if x[k] > y[k]:
            z[k] = x[k] ** 2 * z[k - 1] + y[k]
        elif x[k] > 0.0:
            z = z * x[k] + y
        else:
            z[k] += np.exp(x[k])
    return z


def swaps(x, y):
    a, b = x, y
    for _ in range(3):
        a, b = b * 0.5, a * b
        a[0], a[1] = a[1], a[0]
    return a + 2.0 * b


def views(x, y):
    z = np.outer(x, y)
    row, column = z[1], z[:, 2]
    row *= x
    column[:] = row * 2.0
    return np.transpose(z)[::-1] + row


def cumulative(x, y):
    return np.maximum.accumulate(x) * np.cumprod(y) + np.cumsum(x * y)


def reductions(x, y):
    return np.stack([np.max(x * y), np.min(x), np.prod(x), np.var(y), np.linalg.norm(x), np.mean(x) * np.std(y)])


def gathers_and_scatters(x, y):
    z = np.zeros(4)
    np.add.at(z, np.array([0, 3, 3, 1, 0]), x * y)
    z[np.array([2, 1])] = x[np.array([4, 4])] * y[:2]
    return z * np.sort(y)[:4]


def overwritten(x, y):
    """What has a tangent is overwritten by what has none, and the other way round."""
    z = x * y
    z[:3] = 7.0
    w = np.ones(5)
    w[2] = x[0]
    dead = np.exp(x) / y
    dead = z + w
    return dead * z


PROGRAMS = (in_place, ends_by_data, branches, swaps, views, cumulative, reductions, gathers_and_scatters, overwritten)


def all_programs(x, y):
    """One program that calls all of them, for one compilation."""
    parts = [np.ravel(program(x.copy(), y.copy())) for program in PROGRAMS]
    return np.concatenate(parts)


def test_tangents_are_slopes_and_dual_to_gradients():
    x, y, t, s = arrays(1, 5, 5, 5, 5)
    value, found = sdfgad.jvp(all_programs, (x, y), (t, s))
    h = 1e-6
    np.testing.assert_allclose(value, all_programs(x, y), rtol=1e-13)
    expected = (all_programs(x + h * t, y + h * s) - all_programs(x - h * t, y - h * s)) / (2 * h)
    _, pullback = sdfgad.vjp(all_programs, x, y)
    end = 0
    for program in PROGRAMS:
        part = slice(end, end + np.size(program(x.copy(), y.copy())))
        end, scale = part.stop, np.max(np.abs(expected[part]))
        np.testing.assert_allclose(found[part], expected[part], 1e-6, 1e-7 * scale, err_msg=program.__name__)
        cotangent = np.zeros(len(found))
        (cotangent[part],) = arrays(2, part.stop - part.start)
        x_bar, y_bar = pullback(cotangent).values()
        pulled = np.sum(x_bar * t) + np.sum(y_bar * s)
        assert found @ cotangent == pytest.approx(pulled, rel=1e-11), program.__name__


def extrema(x):
    return np.stack([np.max(x), np.min(x), np.max(x[:3] * x[:3])])


def test_ties_have_the_mean_of_the_tangents():
    x, t = np.array([1.0, -1.0, 1.0, 1.0, -1.0]), np.arange(1.0, 6.0)
    _, found = sdfgad.jvp(extrema, (x,), (t,))
    np.testing.assert_allclose(found, [(1 + 3 + 4) / 3, (2 + 5) / 2, 2 * (1 - 2 + 3) / 3], rtol=1e-15)


def running(x):
    best = x[0]
    for k in range(1, 4):
        best = max(best, x[k] * x[0])
    return best * np.ones(2)


def test_an_extremum_that_is_kept_through_a_loop():
    x, t = np.array([2.0, 0.5, 3.0, 1.0]), np.array([1.0, 10.0, 100.0, 1000.0])
    value, found = sdfgad.jvp(running, (x,), (t,))
    np.testing.assert_allclose([value, found], [[6.0, 6.0], [203.0, 203.0]])


def of_no_argument(x, n):
    return np.ones(n) * (x > 0.0)


def test_an_output_that_does_not_vary():
    value, found = sdfgad.jvp(of_no_argument, (2.0, 3), (1.0, None))
    np.testing.assert_array_equal([value, found], [np.ones(3), np.zeros(3)])


def updated(x, y):
    kept = x.copy()
    x[:] = y * x
    y[:] = kept * kept


@pytest.mark.parametrize(("output", "expected"), [("x", [3.0, 8.0]), ("y", [4.0, 12.0])])
def test_arguments_that_are_updated(output, expected):
    x, y = np.array([2.0, 6.0]), np.array([3.0, 8.0])
    _, found = sdfgad.jvp(updated, (x, y), (np.ones(2), None), output=output)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal([x, y], [[2.0, 6.0], [3.0, 8.0]])


# --- random programs


def random_program(rng, k):
    """A function of three arrays with random statements, of which each leaves small values."""
    names = ("a", "b", "c")
    statements = [
        "{x} = np.sin({y} * {z})",
        "{x}[1:] = {y}[:-1] * {z}[0]",
        "{x} = np.where({y} > {z}, {x} * {y}, np.sqrt(np.abs({z}) + 0.1))",
        "{x}[::2] += 0.3 * {z}[::2] * {y}[1]",
        "{x}, {y} = {y} * 0.7, {x} + 0.1",
        "{x}[np.array([3, 0])] = {y}[np.array([1, 1])]",
        "{x} = np.cumsum({y}) * 0.2 - np.max({z}) * {x}",
        "for k in range(3):\n        {x}[k] = {y}[k + 1] * {x}[k] - {z}[k]",
        "if {x}[0] > {y}[0]:\n        {z} = {x} / (1.0 + {y} * {y})\n    else:\n        {z}[1] *= {x}[2]",
    ]
    lines = [rng.choice(statements) for _ in range(6)]
    chosen = [line.format(**dict(zip("xyz", rng.permutation(names), strict=True))) for line in lines]
    body = "\n".join(f"    {line}" for line in ("a, b, c = a.copy(), b.copy(), c.copy()", *chosen))
    return f"def part_{k}(a, b, c):\n{body}\n    return a + 2.0 * b - c"


def test_random_programs_are_dual_to_their_gradients(tmp_path):
    """One program that calls all of them, for one compilation."""
    rng, count = np.random.default_rng(8), 12
    parts = [random_program(rng, k) for k in range(count)]
    calls = ", ".join(f"part_{k}(a, b, c)" for k in range(count))
    text = "\n".join(["import numpy as np", *parts, f"def program(a, b, c):\n    return np.stack([{calls}])"])
    program = module_from(text, tmp_path).program
    args, tangents = arrays(9, 4, 4, 4), arrays(10, 4, 4, 4)
    value, found = sdfgad.jvp(program, args, tangents)
    np.testing.assert_allclose(value, program(*args), rtol=1e-12)
    assert np.all(np.isfinite(found))
    for k in range(count):
        (c,) = arrays(20 + k, 4)
        cotangent = np.zeros((count, 4))
        cotangent[k] = c
        pulled = sdfgad.vjp(program, *args)[1](cotangent)
        right = sum(np.sum(bar * t) for bar, t in zip(pulled.values(), tangents, strict=True))
        np.testing.assert_allclose(np.sum(found[k] * c), right, rtol=1e-11, err_msg=parts[k])

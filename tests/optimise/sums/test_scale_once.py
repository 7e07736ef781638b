"""What loops multiply by a number again and again is multiplied once, with the same gradients; all else stays."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimise.sums.scale_once import scale_once
from tests.helpers_ir import outputs_of, parsed
from tests.helpers_passes import check_early, gradients, normal


def both_terms(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            y[i, : i + 1] += alpha * (a[: i + 1, k] * b[i, k] + b[: i + 1, k] * a[i, k])


def one_factor(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            y[i, : i + 1] += alpha * a[i, k] * b[: i + 1, k]


def with_signs(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            y[i] -= alpha * -(a[:20, k] * b[i, k] - a[i, k])


def a_part(alpha, a, b, y):
    for i in range(20):
        for j in range(20):
            y[:i, j] += alpha * b[i, j] * a[i, :i]


ARGS = (1.5, normal(24, 24), normal(24, 24, seed=2), normal(20, 20, seed=3))


@pytest.mark.parametrize(
    ("function", "shapes"),
    [(both_terms, [(20, 21)]), (one_factor, [(20, 21)]), (with_signs, [(20, 21)]), (a_part, [(19, 20)])],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_multiplied_before(function, shapes):
    changed, _ = check_early(scale_once, function, ARGS, ["alpha", "a", "b", "y"])
    text = program_text(changed)
    assert "alpha" not in text[text.index("loop ") :]
    made = [b.shape for name, b in changed.buffers.items() if "_scaled" in name]
    assert [tuple(extent.const for extent in shape) for shape in made] == shapes


def test_what_the_loops_leave_alone_goes_nowhere():
    alpha, a, b, y = (np.copy(x) for x in ARGS)
    b[0], b[20:], b[:, 20:] = np.inf, np.inf, np.nan
    changed, before = check_early(scale_once, a_part, (alpha, a, b, y), ["alpha", "a", "b", "y"])
    assert changed != before
    primal = parsed(a_part, alpha, a, b, y)
    found = gradients(replace(primal, program=changed), (alpha, a, b, y), ["alpha", "b"])
    assert all(np.all(np.isfinite(x)) for x in found.values())


def mixed(alpha, a, b, y):
    for i in range(20):
        y[i] += np.sum(a[i, :20, np.newaxis] * b[:20, :20], axis=0)


def test_converted_before():
    single = np.asarray(ARGS[2], np.float32)
    changed, _ = check_early(scale_once, mixed, (1.5, ARGS[1], single, ARGS[3]), ["a", "b", "y"])
    text = program_text(changed)
    assert "b_cast[p_1_1, p_2_1] = float64(b[p_1_1, p_2_1])" in text
    assert "float64" not in text[text.index("loop ") :]


def less_precise(alpha, a, b, y):
    for i in range(20):
        for k in range(20):
            y[i] += np.float32(a[i, k]) * b[:20, k]


def test_what_is_summed_in_double_precision_stays():
    """The adjoint of what is rounded is summed in its own precision."""
    b, y = (np.asarray(x, np.float32) for x in ARGS[2:])
    changed, before = check_early(scale_once, less_precise, (1.5, ARGS[1], b, y), ["a", "b", "y"])
    assert program_text(changed) == program_text(before)


def differences(alpha, a, b, y):
    for i in range(20):
        for k in range(20):
            y[i] += alpha * (a[i, :20] - a[k, :20]) * b[i, k]


def sums_of_differences(alpha, a, b, y):
    t = np.zeros(20)
    for i in range(20):
        for k in range(20):
            t[:] = 0.0
            t += a[i, :20] - a[k, :20]
            y[i] += alpha * t


@pytest.mark.parametrize("function", [differences, sums_of_differences])
def test_differences_stay_exact(function):
    alpha, a, b, _ = ARGS
    args = (alpha, 1e8 + 1e-3 * a, b, np.zeros((20, 20)))
    primal = parsed(function, *args)
    changed = scale_once(primal.program)
    found = outputs_of(primal, *args, program=changed)["y"]
    exact = [np.asarray(x, np.longdouble) for x in args]
    function(*exact)
    assert np.max(np.abs(found - exact[-1])) < 1e-13 * np.max(np.abs(exact[-1]))


def converted_whole(alpha, a, b, y):
    for i in range(20):
        y[i] += a[i, :20] * b[i, :20] + np.sin(a[i, :20])


def test_what_is_converted_once_stays():
    single = np.asarray(ARGS[2], np.float32)
    changed, before = check_early(scale_once, converted_whole, (1.5, ARGS[1], single, ARGS[3]), ["a", "b", "y"])
    assert program_text(changed) == program_text(before)


def changing_number(alpha, a, b, y):
    s = alpha * 1.0
    for i in range(20):
        for k in range(21):
            y[i] += s * a[i, k] * b[:20, k]
            s = s * 0.5


def changing_array(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            y[i] += alpha * a[i, k] * b[:20, k]
        a[0] *= 0.5
        b[0] *= 0.5


def used_once(alpha, a, b, y):
    for i in range(20):
        for k in range(20):
            y[i, k] += alpha * a[i, k]


def a_triangle(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            for q in range(20):
                y[q, : i + 1] += alpha * a[i, : i + 1]


def by_data(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            if b[0, k] > 0:
                y[i] += alpha * a[i, k] * b[:20, k]


def of_no_sum(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            y[i] = alpha * a[i, k] * b[:20, k]


def not_in_all_terms(alpha, a, b, y):
    for i in range(20):
        for k in range(21):
            y[i] += alpha * (a[i, k] * b[:20, k] + np.sin(b[:20, k]))


STAYS = [changing_number, changing_array, used_once, a_triangle, by_data, of_no_sum, not_in_all_terms]


@pytest.mark.parametrize("function", STAYS, ids=lambda f: f.__name__)
def test_stays(function):
    changed, before = check_early(scale_once, function, ARGS, ["alpha", "a", "b"])
    assert program_text(changed) == program_text(before)

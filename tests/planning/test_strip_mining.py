"""Plans whose statements run in pieces: limits that nothing else keeps, at no more work."""

import numpy as np
import pytest

import sdfgad
from sdfgad.planning.strip_mining import Cuts
from tests.planning.test_smallest_peak import program, row


def network(x, w1, w2):
    h = np.tanh(x @ w1)
    y = np.sin(h @ w2) * h
    z = np.exp(-y * y)
    return np.sum(z * x)


def normalised(x, w, g):
    t = x @ w
    mean = np.mean(t, axis=0)
    u = (t - mean) / np.sqrt(np.var(t, axis=0) + 0.1)
    return np.sum(np.maximum(u, 0.0) * g)


def steps(T, u, w):
    for _ in range(T):
        a = np.tanh(u @ w)
        u[:] = u + 0.1 * np.sin(a) * a
    return np.sum(u * u)


def deep(x, w):
    for _ in range(9):
        x = np.sin(x @ w)
    return np.sum(x * x)


def normal(*shape):
    return np.random.default_rng(7).standard_normal(shape)


CASES = {
    "network": (network, (normal(1000, 64), normal(64, 64) / 8, normal(64, 64) / 8), 0.3),
    "left over": (network, (normal(997, 64), normal(64, 64) / 8, normal(64, 64) / 8), 0.4),
    "columns": (normalised, (normal(40, 30), normal(30, 2000), normal(40, 2000)), 0.5),
}


def plans(function, args):
    wrt = tuple(k for k, arg in enumerate(args) if isinstance(arg, np.ndarray))
    stored = sdfgad.differentiate(function, wrt=wrt, strategy="store_all")
    return wrt, stored, stored.plan(*args).peak_bytes


def always(args):
    """The bytes of arguments and gradients."""
    return 2 * sum(arg.nbytes for arg in args if isinstance(arg, np.ndarray))


@pytest.mark.parametrize("name", CASES)
def test_a_limit_below_the_values(name):
    function, args, share = CASES[name]
    wrt, stored, peak = plans(function, args)
    limit = always(args) + int(share * (peak - always(args)))
    g = sdfgad.differentiate(function, wrt=wrt, memory_limit=limit)
    plan, measured = g.plan(*args), g.measure(*args, repeats=1)
    assert measured.peak_bytes <= measured.predicted_bytes <= limit < peak
    choices = {row.choice for row in plan.decisions}
    assert "in pieces" in choices
    assert "recompute" not in choices
    assert "at a time" in str(plan)
    for mine, expected in zip(g(*args), stored(*args), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-12 * np.max(np.abs(expected)))


def test_a_row_of_statements_needs_a_piece_of_each(tmp_path):
    function, args = program(tmp_path, row(6), "row"), (normal(4096, 64), normal(6, 64, 64) / 8)
    wrt, _, peak = plans(function, args)
    with pytest.raises(sdfgad.InfeasibleBudget) as caught:
        sdfgad.differentiate(function, wrt=wrt, memory_limit=1).plan(*args)
    least = caught.value.minimum_bytes
    # Of 6 products and 5 results, an eighth of each.
    assert least - always(args) < 0.25 * (peak - always(args))
    again = sdfgad.differentiate(function, wrt=wrt, memory_limit=least).plan(*args)
    assert again.peak_bytes == least
    with pytest.raises(sdfgad.InfeasibleBudget) as caught:
        sdfgad.differentiate(function, wrt=wrt, memory_limit=least - 1).plan(*args)
    assert caught.value.minimum_bytes == least


def test_pieces_of_the_states_of_a_loop():
    args = (normal(1000, 32), normal(32, 32) / 32)
    wrt, stored, peak = plans(deep, args)
    with pytest.raises(sdfgad.InfeasibleBudget) as caught:
        sdfgad.differentiate(deep, wrt=wrt, memory_limit=1).plan(*args)
    g = sdfgad.differentiate(deep, wrt=wrt, memory_limit=caught.value.minimum_bytes)
    rows = {row.choice: row for row in g.plan(*args).decisions}
    # A state, what one trip stores of `x` and of the product, both of these themselves, and an adjoint.
    assert rows["1 states by binomial checkpointing"].bytes == args[0].nbytes
    assert rows["in pieces"].bytes == 6 * args[0].nbytes
    assert g.measure(*args, repeats=1).peak_bytes <= caught.value.minimum_bytes < 0.2 * peak
    for mine, expected in zip(g(*args), stored(*args), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-11, atol=1e-11 * np.max(np.abs(expected)))


def test_the_fewest_cuts_that_are_enough():
    function, args, _ = CASES["columns"]
    _, stored, _ = plans(function, args)
    call, made = stored._bind_and_specialise(args, {})
    sizes = made.sizes(call)
    cuts = Cuts(made.pipeline.planner.store_all, sizes)
    peaks = [layout.peak_bytes(sizes) for layout in cuts]
    assert len(peaks) > 1
    for limit in peaks:
        kept = next(k for k, peak in enumerate(peaks) if peak <= limit)
        assert cuts.within(limit) is cuts.layouts[kept]
    assert cuts.within(1).peak_bytes(sizes) == min(peaks)


def test_other_processes_recall_pieces():
    function, args, share = CASES["network"]
    wrt, _, peak = plans(function, args)
    limit = always(args) + int(share * (peak - always(args)))
    first, second = (sdfgad.differentiate(function, wrt=wrt, memory_limit=limit) for _ in range(2))
    assert first.plan(*args).peak_bytes == second.plan(*args).peak_bytes
    (call, made), (_, other) = first._bind_and_specialise(args, {}), second._bind_and_specialise(args, {})
    mine, theirs = made.layout(call), other.layout(call)
    assert mine is not theirs
    assert mine.structure == theirs.structure
    assert mine.code.cuts
    assert mine.code.source == theirs.code.source
    np.testing.assert_array_equal(first(*args)[0], second(*args)[0])


def test_neighbours_in_time_are_not_cut():
    args = (4, normal(500, 64), normal(64, 64) / 8)
    wrt, stored, peak = plans(steps, args)
    g = sdfgad.differentiate(steps, wrt=wrt, memory_limit=int(0.8 * peak))
    assert g.measure(*args, repeats=1).peak_bytes <= int(0.8 * peak)
    for mine, expected in zip(g(*args), stored(*args), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-11, atol=1e-11 * np.max(np.abs(expected)))

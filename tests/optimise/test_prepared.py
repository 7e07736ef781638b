"""Programs with less work before they are differentiated: same errors, limits that are kept, and values by name."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InfeasibleBudget, InvalidIndex
from sdfgad.optimise import prepared as preparing
from tests.helpers_ir import parsed


def scattered(g, d, h, f, y):
    for k in range(g.shape[0]):
        for energy in range(g.shape[1]):
            for q in range(d.shape[0]):
                for w in range(d.shape[1]):
                    for a in range(f.shape[0]):
                        if energy - w >= 0:
                            right = d[q, w, a] * h[a]
                            y[k, energy, a] += g[k, energy - w, f[a]] @ right


def repeated(n, a, b):
    s = 0.0
    for t in range(n):
        for i in range(20):
            for j in range(30):
                s += a[i] * a[i] * b[i, j]
        s = s * a[0]
    return s


def arguments(last=0):
    rng = np.random.default_rng(3)
    g, d, h, y = (rng.normal(size=shape) for shape in ((3, 3, 4, 2, 2), (4, 5, 3), (3, 2, 2), (3, 3, 3, 2, 2)))
    return g, d, h, np.array([2, last, -1]), y


@pytest.fixture
def plain(monkeypatch):
    """Turns the preparation off for what is made while it is called."""

    def run(function):
        with monkeypatch.context() as patch:
            patch.setattr(preparing, "prepare", lambda program, without: program)
            return function()

    return run


def test_gradients_and_values(plain):
    args, cotangent = arguments(), np.random.default_rng(4).normal(size=(3, 3, 3, 2, 2))

    def run():
        g = sdfgad.differentiate(scattered)
        return g.value(*args), g.vjp(*args, cotangent=cotangent)

    (value, found), expected = run(), plain(run)
    np.testing.assert_allclose(value, expected[0], rtol=0, atol=1e-13)
    for name, bar in expected[1].items():
        np.testing.assert_allclose(found[name], bar, rtol=0, atol=1e-12, err_msg=name)


def test_an_index_out_of_range():
    with pytest.raises(InvalidIndex, match="axis of 4"):
        sdfgad.differentiate(scattered).vjp(*arguments(last=4), cotangent=np.ones((3, 3, 3, 2, 2)))


def test_a_value_that_is_named_is_there():
    g = sdfgad.differentiate(scattered, overrides={"right": "store"})
    assert "right" in {row.name for row in g.plan(*arguments()).decisions}


def least_of(limit=1):
    with pytest.raises(InfeasibleBudget) as error:
        sdfgad.differentiate(scattered, memory_limit=limit).plan(*arguments())
    return error.value.minimum_bytes


def test_limits(plain):
    least = least_of()
    assert least <= plain(least_of)
    g = sdfgad.differentiate(scattered, memory_limit=least, reduce="sum")
    assert g.measure(*arguments()).peak_bytes <= least


def wasteful(g, d, h, f, y):
    large = np.zeros((3, 3, 4, 2, 2, 99))
    large += np.sin(g)[..., None]
    y += np.sum(d) * np.sum(h) * np.sum(large * large)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_limit_that_only_the_program_as_it_is_keeps(share, monkeypatch, plain):
    least = plain(least_of)
    monkeypatch.setattr("sdfgad.specialise.specialise.prepared", lambda primal, _: parsed(wasteful, *arguments()))
    g = sdfgad.differentiate(scattered, memory_limit=int(share * least), reduce="sum")
    if share < 1:
        with pytest.raises(InfeasibleBudget) as error:
            g(*arguments())
        # In pieces either of the two programs may need less than the one as it is does whole.
        assert error.value.minimum_bytes <= least
        kept = sdfgad.differentiate(scattered, memory_limit=error.value.minimum_bytes, reduce="sum")
        assert kept.measure(*arguments()).peak_bytes <= error.value.minimum_bytes
    else:
        assert g.measure(*arguments()).peak_bytes <= least


def test_with_numbers_of_trips_and_a_limit():
    args = (4, np.linspace(0.1, 1, 20), np.linspace(0, 1, 600).reshape(20, 30))
    g = sdfgad.differentiate(repeated, memory_limit="1 MiB")
    free = sdfgad.differentiate(repeated)
    for x, y in zip(g(*args).values(), free(*args).values(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    programs = [one._bind_and_specialise(args, {})[1].primal.program for one in (g, free)]
    assert all(any("part" in name for name in program.buffers) for program in programs)


def with_a_tape(n, a, b):
    s, u = 0.0, b.copy()
    for t in range(n):
        u = np.sin(u * u)
        s = s * a[0] + np.sum(u)
    return s


def test_other_numbers_of_trips_may_need_the_program_as_it_is(monkeypatch):
    """What was prepared has a tape here, which is within the limit for a few trips only."""
    a, b = np.linspace(0.1, 1, 20), np.linspace(0, 1, 600).reshape(20, 30)
    monkeypatch.setattr("sdfgad.specialise.specialise.prepared", lambda primal, _: parsed(with_a_tape, 4, a, b))
    g = sdfgad.differentiate(repeated, memory_limit="64 KiB", strategy="store_all")
    for n in (4, 100, 5, 101):
        kept = repeated if n >= 100 else with_a_tape
        np.testing.assert_allclose(g.value(n, a, b), kept(n, a, b), rtol=1e-12)
        assert g.measure(n, a, b).peak_bytes <= 64 << 10
    with pytest.raises(InfeasibleBudget):
        g(10_000, a, b)
    np.testing.assert_allclose(g.value(6, a, b), with_a_tape(6, a, b), rtol=1e-12)

"""Programs for integers that data decides: which one a call takes, on the device, too."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.specialise import guards
from sdfgad.specialise.guards import Measuring
from tests.helpers import line_of

X = np.random.default_rng(0).standard_normal(30)


def program(x):
    y = x[x > 0.3]
    kept = [v * v for v in x if v > 0.0]
    return np.sum(np.outer(y, y) @ np.arange(1, len(y) + 1)) + np.sum(np.diff(kept))


def test_on_the_device(monkeypatch):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")
    g, h = sdfgad.differentiate(program, device="gpu"), sdfgad.differentiate(program)
    for x in (X, X + 0.4):
        np.testing.assert_allclose(g(x)["x"], h(x)["x"], rtol=1e-12)


def test_programs_for_many_lengths_are_forgotten(monkeypatch):
    monkeypatch.setattr("sdfgad.specialise.remembered.MOST_GUARDED", 2)
    g = sdfgad.differentiate(lambda x: np.sum(x[x > 0.0] * np.arange(np.sum(x > 0.0))))
    for x in (X, X + 0.5, X + 1.0, X):
        n = np.sum(x > 0.0)
        np.testing.assert_allclose(g(x)["x"][x > 0.0], np.arange(n))
        assert len(next(iter(g._specialisations.found.values()))) <= 2


def several_lengths(x):
    kept = x[x > 0.0]
    n = int(np.ceil(np.sum(kept)))
    best = sorted([(v, k) for k, v in enumerate(kept)], key=lambda pair: -pair[0])[:3]
    return np.sum(np.outer(kept, np.arange(1, n + 1.0))) + sum(v * kept[k] for v, k in best) * len(kept)


@pytest.fixture
def guards_run(monkeypatch):
    """The guards that are run, each time."""
    found, values = [], Measuring.values
    monkeypatch.setattr(Measuring, "values", lambda self, call: found.append(self) or values(self, call))
    return found


def test_lengths_are_predicted_and_one_guard_is_compiled(guards_run):
    assert sdfgad.differentiate(several_lengths).value(X) == pytest.approx(several_lengths(X), rel=1e-13)
    assert len({run._key for run in guards_run}) == 1
    assert len(guards_run[0].program.outputs) >= 2
    sdfgad.check_grads(several_lengths, X)


@pytest.mark.parametrize("off", [1, -1])
def test_a_wrong_prediction_costs_time_alone(monkeypatch, guards_run, off):
    predicted = guards._predicted

    def wrong(*args):
        found = predicted(*args)
        return None if found is None else {name: value + off for name, value in found.items()}

    monkeypatch.setattr(guards, "_predicted", wrong)
    assert sdfgad.differentiate(several_lengths).value(X) == pytest.approx(several_lengths(X), rel=1e-13)
    assert len({run._key for run in guards_run}) >= 2


def test_programs_that_take_long_to_interpret_are_compiled(monkeypatch, guards_run):
    monkeypatch.setattr(guards, "MOST_SECONDS", 1e-5)
    assert sdfgad.differentiate(several_lengths).value(X) == pytest.approx(several_lengths(X), rel=1e-13)
    assert len({run._key for run in guards_run}) >= 2


def test_entries_of_a_batch_have_lengths_of_their_own():
    with pytest.raises(UnsupportedProgram, match="a length, shape, axis or other integer") as caught:
        sdfgad.vmap(lengths)(np.stack([X, X]))
    assert str(caught.value.where) == line_of(lengths, "return")


def lengths(x):
    return np.sum(np.zeros(int(np.sum(x**2))) + x[0])


def test_more_lengths_than_may_be_constants(monkeypatch):
    monkeypatch.setattr("sdfgad.parse.value_specialisation.MOST_VALUES", 2)
    with pytest.raises(UnsupportedProgram, match="lengths or other integers are computed"):
        sdfgad.grad(three_lengths)(X)


def three_lengths(x):
    return sum(np.sum(np.zeros(int(np.sum(x[k:] ** 2))) + x[k]) for k in range(3))

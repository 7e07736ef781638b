"""Optimised code is believed only once it has agreed with plain code."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import TooFewSlots
from sdfgad.runtime import differential
from sdfgad.runtime.call import Executable
from sdfgad.runtime.differential import CheckedExecutable
from sdfgad.runtime.report import reproduce
from tests.helpers_cache import keep_headers
from tests.helpers_compiled import change_code

ROOT = Path(sdfgad.__file__).parent.parent
X = np.linspace(0.5, 2.0, 50)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder but for the precompiled headers, with tests of optimised code."""
    keep_headers(monkeypatch)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(differential.VARIABLE, "on")
    return tmp_path


@pytest.fixture
def broken_compiler(monkeypatch):
    """Optimised code has another number than the program."""
    change_code(monkeypatch, "3.0", "3.0000001")


def cubes(x):
    return 3.0 * np.sum(x * x)


def steps(n, x):
    for _ in range(n):
        x = x + 0.01 * np.sin(x)
    return np.sum(x * x)


def matrices(z, n, h):
    total = np.zeros((5, 5), dtype=np.complex128)
    for k in range(n + 1):
        total += np.power(z, n / 2 - k) * h[k]
    return total


def records(folder):
    return [json.loads(path.read_bytes().partition(b"\n")[2]) for path in (folder / "checks").rglob("*.json")]


def plain_libraries(folder):
    return sorted(folder.rglob("plain.so"))


def test_code_that_agrees_to_the_bit_is_believed(cache):
    g = sdfgad.differentiate(cubes, wrt="x")
    np.testing.assert_array_equal(g(X), 6.0 * X)
    assert records(cache) == [{"agreed": [[]], "differs": False}]


def test_code_that_rounds_otherwise_is_believed(cache):
    value, dx = sdfgad.differentiate(steps, wrt="x").value_and_grad(20, X)
    assert np.isfinite(value)
    assert dx.shape == X.shape
    assert [one["differs"] for one in records(cache)] == [False]


def test_complex_products_are_not_fused_with_sums(cache, monkeypatch):
    """GCC 12 does that in spite of -ffp-contract=off."""
    rng = np.random.default_rng(11)
    h = rng.standard_normal((3, 5, 5)) + 1j * rng.standard_normal((3, 5, 5))
    monkeypatch.setattr(CheckedExecutable, "_worst", lambda *_: pytest.fail("the bits differ"))
    sdfgad.differentiate(matrices).value(-0.3 + 0.7j, 2, h)
    assert [one["differs"] for one in records(cache)] == [False]


def test_wrong_code_is_not_believed(cache, broken_compiler):
    g = sdfgad.differentiate(cubes, wrt="x")
    with pytest.warns(sdfgad.MiscompiledWarning, match=r"optimised code of cubes_gradient is wrong: `x_bar`.* set CXX"):
        dx = g(X)
    np.testing.assert_array_equal(dx, 6.0 * X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(g(X + 1), 6.0 * (X + 1))
        # Another one recalls it from the cache.
        np.testing.assert_array_equal(sdfgad.differentiate(cubes, wrt="x")(X), 6.0 * X)
    assert [one["differs"] for one in records(cache)] == [True]


def test_a_report_shows_it_again(cache, broken_compiler):
    with pytest.warns(sdfgad.MiscompiledWarning) as caught:
        sdfgad.differentiate(cubes, wrt="x")(X)
    (folder,) = (cache / "reports").iterdir()
    assert str(folder) in str(caught[0].message)
    assert {path.name for path in folder.iterdir()} == {"inputs.npz", "program.cpp", "report.json"}
    assert reproduce(folder)["x_bar"] == pytest.approx(4e-7, rel=0.1)


def test_steps_of_another_size_are_tested_too(cache, monkeypatch):
    tested = []
    monkeypatch.setattr(CheckedExecutable, "_test", lambda self, arrays, integers: tested.append(integers["n"]))
    monkeypatch.setattr(differential, "Record", Remembering)
    g = sdfgad.differentiate(steps, wrt="x")
    for n in (20, 21, 31, 32, 20, 5, 200, 1000, 2000):
        g.value(n, X)
        Remembering.known.add(n.bit_length())
    assert tested == [20, 32, 5, 200]


class Remembering(differential.Record):
    """A record of what the test above calls."""

    known = set()  # noqa: RUF012  # One for the test.

    def is_settled_for(self, sizes):
        self.agreed = {(size,) for size in self.known}
        return super().is_settled_for(sizes)


def test_a_wrong_code_at_another_size_only(cache, monkeypatch):
    change_code(monkeypatch, "0.01", "(n > 100 ? 0.02 : 0.01)")
    g = sdfgad.differentiate(steps, wrt="x")
    with warnings.catch_warnings():
        warnings.simplefilter("error", sdfgad.MiscompiledWarning)
        g.value(20, X)
    with pytest.warns(sdfgad.MiscompiledWarning):
        found = g.value(200, X)
    assert found == pytest.approx(steps(200, X), rel=1e-12)


def test_it_can_be_switched_off(cache, monkeypatch, broken_compiler):
    monkeypatch.setenv(differential.VARIABLE, "off")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dx = sdfgad.differentiate(cubes, wrt="x")(X)
    assert not np.array_equal(dx, 6.0 * X)
    assert plain_libraries(cache) == []
    assert not (cache / "checks").exists()


def test_nothing_is_said_where_roundings_decide_how_long_it_runs(cache, monkeypatch, broken_compiler):
    def undecided(*_):
        raise TooFewSlots("too few")

    monkeypatch.setattr(CheckedExecutable, "_worst", undecided)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(sdfgad.differentiate(cubes, wrt="x")(X), 6.0 * X)
    assert records(cache) == []


def test_perturbed_code_with_too_few_slots_says_nothing(cache, monkeypatch):
    g = sdfgad.differentiate(steps, wrt="x")
    g.value(20, X)
    (made,) = (made for several in g._specialisations.found.values() for made in several)
    checked = made.forward_executable
    run = Executable.__call__

    def perturbed_runs_fail(self, arrays, integers):
        if self is checked._plain_executable() and perturbed[-1]:
            raise TooFewSlots("too few")
        run(self, arrays, integers)

    perturbed = [0]
    monkeypatch.setattr(Executable, "perturb", lambda self, seed: perturbed.append(seed))
    monkeypatch.setattr(Executable, "__call__", perturbed_runs_fail)
    with pytest.raises(TooFewSlots):
        list(checked._perturbed({}, {}))
    assert perturbed[-1] == 0


def test_plain_code_can_be_all_that_runs(cache, monkeypatch, broken_compiler):
    monkeypatch.setenv(differential.VARIABLE, "plain")
    np.testing.assert_array_equal(sdfgad.differentiate(cubes, wrt="x")(X), 6.0 * X)


def test_another_word_is_refused(cache, monkeypatch):
    monkeypatch.setenv(differential.VARIABLE, "maybe")
    with pytest.raises(sdfgad.SdfgadError, match=r"SDFGAD_CHECK=maybe is none of on, off and plain"):
        sdfgad.differentiate(cubes, wrt="x")(X)


def test_a_measurement_is_of_the_code_that_is_chosen(cache, broken_compiler):
    g = sdfgad.differentiate(cubes, wrt="x")
    with pytest.warns(sdfgad.MiscompiledWarning):
        assert g.measure(X).peak_bytes >= 2 * X.nbytes


PROGRAM = """
import numpy as np, sdfgad
def f(x):
    return np.sum(np.exp(x) * x)
print(sdfgad.differentiate(f, wrt="x")(np.arange(3.0)).tolist())
"""


def test_a_second_process_believes_the_first(cache, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = []
    for _ in range(2):
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env, check=True)
        found.append(done.stdout)
        # The second one would have to build it again.
        for path in plain_libraries(cache):
            path.unlink()
    assert found[0] == found[1]
    assert plain_libraries(cache) == []


def total_of_large(x, c):
    return np.sum(np.tanh(x * c)) + np.sum(x) ** 2


def test_results_of_many_elements_are_compared(cache):
    rng = np.random.default_rng(5)
    x, c = rng.standard_normal((2, 300, 200))
    _, dc = sdfgad.differentiate(total_of_large, wrt=("x", "c"))(x, c)
    np.testing.assert_allclose(dc, x / np.cosh(x * c) ** 2, rtol=1e-12, atol=1e-13)
    assert [one["differs"] for one in records(cache)] == [False]


def test_no_more_perturbed_runs_than_explain_a_difference(cache, monkeypatch):
    """Each run of plain code may take long."""
    seeds = []
    perturb = Executable.perturb
    monkeypatch.setattr(Executable, "perturb", lambda self, seed: (seeds.append(seed), perturb(self, seed)))
    a = np.random.default_rng(0).uniform(0.5, 1.0, (60, 60))
    sdfgad.differentiate(lambda a: np.sum(np.sin(a @ a @ a)), wrt="a")(a)
    assert [one["differs"] for one in records(cache)] == [False]
    assert len([seed for seed in seeds if seed]) <= 1

"""Programs that are compiled together are found compiled, and compute what they compute alone."""

import numpy as np
import pytest

import sdfgad
from sdfgad.api.compile_together import compile_together
from sdfgad.emulated import VARIABLE
from sdfgad.optimise.device import side
from sdfgad.runtime import build as compiling
from sdfgad.runtime import compiler
from sdfgad.runtime.batch import Batch
from tests.helpers import module_from
from tests.helpers_cache import keep_headers

X = np.random.default_rng(3).uniform(-1, 1, (6, 6))

TEXTS = [
    "return np.sum(np.linalg.solve(x, x[0]) ** 2)",
    "y = x * 1.0\n    for i in range(1, 6):\n        y[i] = 0.5 * y[i - 1] + x[i]\n    return np.sum(y * y)",
    "s = 1.0\n    while s < 3.0:\n        s = s * (1.5 + x[0, 0] ** 2)\n    return s",
]


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder, but for the precompiled headers."""
    keep_headers(monkeypatch)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def gradients_of(texts, folder):
    bodies = [f"import numpy as np\ndef program(x):\n    {text}\n" for text in texts]
    return [sdfgad.differentiate(module_from(text, folder).program, wrt="x") for text in bodies]


def refuse(*_):
    raise AssertionError("compiled again")


def test_programs_of_one_name_are_compiled_at_once(monkeypatch, cache, tmp_path):
    alone = [g.value_and_grad(X) for g in gradients_of(TEXTS, tmp_path)]
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "other"))
    together = gradients_of(TEXTS, tmp_path)
    assert compile_together([(g, (X,)) for g in together]) == [None] * len(TEXTS)
    assert len(list((tmp_path / "other").rglob("program.so"))) == 1
    monkeypatch.setattr(compiling, "_compiled", refuse)
    for g, (value, gradient) in zip(together, alone, strict=True):
        found, mine = g.value_and_grad(X)
        assert found == value
        np.testing.assert_array_equal(mine, gradient)
        np.testing.assert_allclose(g(X), gradient, rtol=1e-13, atol=1e-13)


def test_what_is_compiled_is_not_compiled_again(monkeypatch, cache, tmp_path):
    gradients = gradients_of(TEXTS[:1], tmp_path)
    compile_together([(gradients[0], (X,))])
    batch = Batch()
    for program in gradients_of(TEXTS[:1], tmp_path)[0].programs(X):
        batch.add(program)
    monkeypatch.setattr(compiling, "_compiled", refuse)
    assert batch.build() == 0


def test_a_refused_call_leaves_the_others(cache, tmp_path):
    refused, fine = gradients_of(["return np.unique(np.outer(x, x), axis=0)[0]", "return np.sum(x * x)"], tmp_path)
    error, nothing = compile_together([(refused, (X,)), (fine, (X,))])
    assert isinstance(error, sdfgad.errors.UnsupportedProgram)
    assert "unique" in str(error)
    assert nothing is None
    np.testing.assert_array_equal(fine(X), 2 * X)


def test_a_failing_compiler_compiles_nothing(monkeypatch, cache, tmp_path):
    (g,) = gradients_of(TEXTS[:1], tmp_path)
    monkeypatch.setattr(compiler, "COMMON", (*compiler.COMMON, "-no-such-flag"))
    with pytest.raises(sdfgad.errors.CompilerError):
        compile_together([(g, (X,))])
    assert not list(cache.rglob("program.so"))
    assert not list(cache.rglob("programs/*/*.json"))


def test_programs_for_the_emulation_have_their_own_kernels_in_one_library(monkeypatch, cache, tmp_path):
    """Called in turns: one has as many kernels as another, one has more, and one of numbers has none."""
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)
    functions = {
        "a": lambda x: np.sum(np.sin(x)),
        "b": lambda x: np.sum(x * x * x),
        "c": lambda x: np.sum(np.cumsum(np.exp(x), axis=0) @ x),
        "numbers": lambda x: np.sin(x) * x,
    }
    arguments = dict.fromkeys(functions, X) | {"numbers": 0.75}
    on_device = {k: sdfgad.differentiate(f, wrt="x", device="gpu") for k, f in functions.items()}
    assert compile_together([(g, (arguments[k],)) for k, g in on_device.items()]) == [None] * len(functions)
    assert len(list(cache.rglob("program.so"))) == 1
    monkeypatch.setattr(compiling, "_compiled", refuse)
    found = [{k: g.value_and_grad(arguments[k]) for k, g in on_device.items()} for _ in range(2)]
    monkeypatch.undo()
    for k, f in functions.items():
        value, gradient = f(arguments[k]), sdfgad.differentiate(f, wrt="x")(arguments[k])
        for one in found:
            np.testing.assert_allclose(one[k][0], value, rtol=1e-13)
            np.testing.assert_allclose(one[k][1], gradient, rtol=1e-13, atol=1e-13)

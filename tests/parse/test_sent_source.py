"""Functions that are sent by value: what comes out has no file, and the text that came along stands for it."""

import linecache
import pickle

import numpy as np
import pytest

import sdfgad
from sdfgad import errors
from sdfgad.parse import sent_source

cloudpickle = pytest.importorskip("cloudpickle")
CELLS = {
    "/tmp/ipykernel_7/1.py": """import dataclasses, functools
import numpy as np
import sdfgad

@dataclasses.dataclass
class Scale:
    by: float

    def __init__(self, by):
        self.by = 2 * by

    @property
    def squared(self):
        return self.by ** 2
""",
    "/tmp/ipykernel_7/2.py": """@sdfgad.checkpoint
def helper(x, scale):
    return np.sin(x) * scale.squared
""",
    "/tmp/ipykernel_7/3.py": """def program(x):
    return np.sum(helper(x, Scale(1.5)))

@sdfgad.grad
def replaced(x):
    return np.sum(x ** 3)
""",
}
X = np.linspace(0.5, 1.5, 4)


@pytest.fixture
def cells(monkeypatch):
    """The names that the cells of a notebook define; the texts are gone afterwards."""
    space = {"__name__": "__main__"}
    for file, text in CELLS.items():
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        exec(compile(text, file, "exec"), space)
    monkeypatch.setattr(sent_source, "_received", {})
    yield space
    for file in CELLS:
        linecache.cache.pop(file, None)


def sent(gradient, times=1):
    """What another process has of a gradient, or one to which that sends it on: nothing is read from here."""
    text = cloudpickle.dumps(gradient)
    for file in CELLS:
        linecache.cache.pop(file, None)
    for _ in range(times - 1):
        text = cloudpickle.dumps(pickle.loads(text))
    return pickle.loads(text)


@pytest.mark.parametrize("times", [1, 3])
def test_cells_of_a_notebook(cells, times):
    g = sent(sdfgad.grad(cells["program"]), times)
    np.testing.assert_allclose(g(X), 9 * np.cos(X))
    with pytest.raises(errors.ArgumentError, match=r"/tmp/ipykernel_7/3\.py:1: def program"):
        g(X.astype(object))


def test_a_function_that_is_its_gradient(cells):
    np.testing.assert_allclose(sent(cells["replaced"])(X), 3 * X**2)


def local(factor):
    def inner(x):
        return np.sum(factor * x)

    return inner


def test_closures_and_what_can_be_imported():
    g = pickle.loads(cloudpickle.dumps(sdfgad.grad(local(3.0))))
    np.testing.assert_array_equal(g(X), np.full(4, 3.0))
    # No text goes along.
    assert len(cloudpickle.dumps(sdfgad.grad(of_module))) < 1000
    assert len(cloudpickle.dumps(sdfgad.differentiate(sdfgad.grad(of_module), reduce="sum"))) < 1000


def test_a_function_without_its_gradient(monkeypatch):
    """No text goes along with it."""
    monkeypatch.setattr(sent_source, "_received", {})
    with pytest.raises(errors.UnsupportedProgram, match="Send the gradient"):
        sdfgad.grad(pickle.loads(cloudpickle.dumps(local(3.0))))


def of_module(x):
    return np.sum(x)


def test_another_text_does_not_stand_for_it(monkeypatch):
    code = local(3.0).__code__
    monkeypatch.setattr(sent_source, "_received", {})
    sent_source.receive([sent_source.Text("a.py", "def inner(x):\n    return x\n"), sent_source.Text("b.py", "def (")])
    assert sent_source.received(code) is None

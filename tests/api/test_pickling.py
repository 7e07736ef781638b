"""Gradients go to other processes, and so do errors."""

import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
from functools import wraps
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad import errors
from tests.helpers import line_of

ROOT = Path(sdfgad.__file__).parent.parent
X = np.linspace(0.5, 1.5, 7)
SCALE = np.linspace(1.0, 2.0, 7)


def powers(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x * SCALE), x


OPTIONS = {"wrt": "x", "output": "return[1]", "reduce": "sum", "memory_limit": "1 MiB", "strategy": "store_all"}


@pytest.fixture(scope="module")
def gradient():
    return sdfgad.differentiate(powers, **OPTIONS)


def doubled(function):
    @wraps(function)
    def twice(*args):
        return function(*args) * 2

    return twice


@doubled
def decorated(x):
    return np.sum(x * x)


@sdfgad.grad
def replaced(x):
    return np.sum(x * x * x)


def test_it_comes_back_with_its_options(gradient):
    gradient(X, 3)  # What has been compiled stays here.
    text = pickle.dumps(gradient)
    assert len(text) < 1000
    again = pickle.loads(text)
    np.testing.assert_array_equal(again(X, 3), gradient(X, 3))
    assert again.plan(X, 3).strategy == "store_all"
    assert again.plan(X, 3).budget_bytes == 1 << 20
    assert repr(again) == repr(gradient)
    value, found = pickle.loads(pickle.dumps(gradient.value_and_grad))(X, 3)
    assert value == np.sum(powers(X, 3)[1])
    np.testing.assert_array_equal(found, gradient(X, 3))


def test_decorators(gradient):
    """The name of a decorated function is that of its wrapper, which is sent; one that is replaced is sent by name."""
    again = pickle.loads(pickle.dumps(sdfgad.differentiate(decorated, wrt="x")))
    np.testing.assert_array_equal(again(X), 4 * X)
    assert pickle.loads(pickle.dumps(replaced)) is replaced


def test_a_copy_is_the_same(gradient):
    square = sdfgad.grad(lambda x: np.sum(x * x))
    for one in (gradient, square):
        assert copy.copy(one) is one
        assert copy.deepcopy({"g": one})["g"] is one


def local():
    def inner(x):
        return np.sum(x * x)

    return inner


def moved(x):
    return np.sum(x)


taken, moved = moved, None


@pytest.mark.parametrize("function", [local(), lambda x: np.sum(x * x), taken], ids=["local", "lambda", "taken"])
def test_what_cannot_be_imported_is_refused(function):
    g = sdfgad.grad(function)
    with pytest.raises(errors.NotImportable, match=r"top level of a module, or send it with cloudpickle") as caught:
        pickle.dumps(g)
    assert isinstance(caught.value, pickle.PicklingError)
    assert line_of(function, "def " if "lambda" not in function.__name__ else "lambda") in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(gradient, method):
    expected = gradient(X, 3)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found in pool.starmap(gradient, [(X, 3)] * 3):
            np.testing.assert_array_equal(found, expected)


def test_executors_and_their_errors(gradient):
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        np.testing.assert_array_equal(pool.submit(gradient, X, 3).result(), gradient(X, 3))
        with pytest.raises(errors.WrtError, match="powers") as caught:
            pool.submit(gradient, "no array", 3).result()
        assert caught.value.where.line == powers.__code__.co_firstlineno
        # The pool is as it was.
        np.testing.assert_array_equal(pool.submit(gradient, X, 2).result(), gradient(X, 2))


@pytest.mark.long
def test_joblib_sends_closures_by_value():
    from joblib import Parallel, delayed

    factor = 3.0

    def scaled(x):
        return np.sum(factor * x * x)

    for g in (sdfgad.grad(scaled), sdfgad.grad(lambda x: np.sum(x * x * factor))):
        for found in Parallel(n_jobs=2)(delayed(g)(X + k) for k in range(2)):
            assert found.shape == X.shape
        np.testing.assert_allclose(found, 6 * (X + 1))


WHERE = errors.Location("file.py", 3, "x = y")
ERRORS = [
    errors.SdfgadError("what", WHERE, "todo"),
    errors.MissingRule([("sort", WHERE), ("roll", None)]),
    errors.InfeasibleBudget("what", 300, "todo"),
    errors.UnboundVariable("what", WHERE, "todo", "name"),
    errors.UpdateOfCopy("buffer", WHERE),
    errors.InvalidIndex("what"),
    errors.SingularMatrix("what", WHERE),
    errors.OutOfMemory("what"),
    errors.NotImportable("what"),
    errors.MissingPackage("what", None, "todo"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_come_back_whole(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


# --- threads of OpenMP, which are not there in a child


FORKED = """
import os, sys, threading
import numpy as np
import sdfgad

def heavy(x, w, n):
    for _ in range(n):
        x = np.sin(x) * x + np.exp(-x * x)
    return np.sum(x) + np.sum(np.tanh(w @ w))

x, w = np.linspace(0.0, 1.0, 400_000), np.random.default_rng(1).standard_normal((200, 200))
g = sdfgad.differentiate(heavy, wrt=("x", "w"))
expected = g(x, w, 3)

def same():
    return all(map(np.array_equal, g(x, w, 3), expected))

def threads():
    return len(os.listdir("/proc/self/task"))

def in_child(check):
    child = os.fork()
    if child == 0:
        os._exit(0 if check() else 1)
    assert os.waitpid(child, 0)[1] == 0

def of_thread():
    assert same()
    in_child(same)

assert threads() > 1, "not a test"
for _ in range(3):
    in_child(lambda: same() and threads() > 1)
    assert same()
in_child(lambda: in_child(same) or same())
other = threading.Thread(target=of_thread)
other.start()
other.join()
in_child(same)
print("right")
"""


@pytest.mark.long
def test_after_a_fork_threads_are_there_again(tmp_path):
    (tmp_path / "forked.py").write_text(FORKED)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-W", "ignore", str(tmp_path / "forked.py")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.stderr) == ("right\n", "")

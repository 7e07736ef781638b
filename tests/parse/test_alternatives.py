"""Refusals of functions name those that are supported, and other ways out."""

import importlib

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import scipy.special
import scipy.stats

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.parse.alternatives import FORMS, instead_of
from sdfgad.parse.registry import known_function
from tests.helpers import module_from
from tests.helpers_ir import assert_slope, parsed

OUTSIDE = (
    "call it outside of the function, and pass what it returns as an argument; docs/supported.md lists the functions."
)


def test_similar_names_of_the_module_come_first():
    assert instead_of(np.bitwise_count).startswith(
        "Supported are np.bitwise_or, np.bitwise_xor, np.bitwise_and; or call"
    )
    assert instead_of(scipy.stats.skewnorm.pdf).startswith(
        "Supported are scipy.stats.norm.pdf, scipy.stats.gennorm.pdf; or call"
    )


@pytest.mark.parametrize("function", [scipy.linalg.schur, scipy.stats.rankdata, scipy.stats.expectile, np.savetxt])
def test_similar_names_of_other_modules_are_not_named(function):
    assert instead_of(function) == OUTSIDE.capitalize().replace("Scipy", "scipy")


def test_names_that_are_almost_equal_are():
    class Median:
        __name__, __module__ = "nanmedians", "scipy.ndimage._measurements"

    assert instead_of(Median()).startswith("Supported are np.nanmedian; or call it outside")


def test_forms_in_numpy():
    text = instead_of(scipy.linalg.polar)
    assert text == f"Write u, s, vh = np.linalg.svd(A) and u @ vh; or {OUTSIDE}"


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_of_what_is_not_supported(name):
    module, _, label = name.rpartition(".")
    assert known_function(getattr(importlib.import_module({"np": "numpy"}.get(module, module)), label)) is None


def test_ufuncs_of_libraries_are_not_to_be_written_in_python():
    assert instead_of(scipy.special.wrightomega).startswith("Call it outside of the function, and pass what it returns")


def test_other_functions_are_to_be_written_in_python():
    assert instead_of(pytest.raises).startswith("Write it in Python with NumPy")
    assert instead_of(object()).startswith("Write it in Python with NumPy")


# The forms as programs, each with what they stand for.
SAME = {
    "scipy.linalg.polar": (
        "np.sum(u @ vh)",
        lambda x: np.sum(scipy.linalg.polar(np.outer(x[:2], x[1:3]) + np.eye(2))[0]),
    )
}


@pytest.mark.parametrize("name", SAME)
def test_forms_compute_the_same(name, tmp_path):
    text, function = SAME[name]
    head = "import numpy as np\ndef program(x):\n"
    head += "    u, s, vh = np.linalg.svd(np.outer(x[:2], x[1:3]) + np.eye(2))\n"
    program = module_from(f"{head}    return {text}\n", tmp_path).program
    x = np.array([0.9, 1.7, 0.4, 2.2, 1.1])
    assert program(x) == pytest.approx(function(x), rel=1e-10)
    assert_slope(program, x)


# --- in programs


def of_argument(x, y):
    z = np.exp(x)
    for _ in range(3):
        z = z + y
    return np.sum(scipy.linalg.schur(np.outer(z, z))[0])


def of_numbers(x):
    return x * np.sum(scipy.stats.expectile(np.arange(3.0)))


def of_integers(x, k):
    return x * np.sum(scipy.stats.rankdata(k + 1))


def of_a_form(x):
    return np.sum(scipy.linalg.polar(x)[0])


REFUSED = [
    (
        of_argument,
        r"schur.* is not supported\n.*schur\(np.outer.*\n  It has no derivative by `x` and `y`, of which its a",
    ),
    (of_argument, r"are computed: write it with functions of NumPy that have one; docs/supported"),
    (of_numbers, r"expectile.*\n.*expectile.*\n  Call it outside of the function"),
    (of_integers, r"rankdata.*\n.*rankdata.*\n  Call it outside of the function"),
    (of_a_form, r"polar.*\n.*polar.*\n  It has no derivative by `x`.*: write u, s, vh = np\.linalg\.svd\(A\)"),
]


@pytest.mark.parametrize(("program", "message"), REFUSED)
def test_in_a_refusal(program, message):
    x = np.ones((2, 3))
    arguments = {of_argument: (x[0], x[1]), of_integers: (x, np.arange(3))}.get(program, (x,))
    with pytest.raises(UnsupportedProgram, match=message):
        parsed(program, *arguments)


def length(x):
    chosen = x[x > 0]
    return np.sum(np.arange(len(chosen)))


def test_lengths_that_are_data():
    with pytest.raises(UnsupportedProgram, match=r"np.where\(mask, x, 0.0\) instead of x\[mask\]"):
        sdfgad.vmap(length)(np.ones((2, 3)))


class Quaternion:
    def __init__(self, q):
        self.q = q

    def __array__(self):
        return self.q


def of_a_class_for_numpy(x):
    return np.sum(Quaternion(x).q)


def of_a_matrix(x):
    return np.sum(np.matrix([[x[0], 0.0], [0.0, x[1]]]))


def test_classes_whose_objects_are_arrays_or_matrices():
    with pytest.raises(
        UnsupportedProgram, match=r"(?s)`Quaternion` is not supported.*the method __array__.*leave that"
    ):
        parsed(of_a_class_for_numpy, np.ones(4))
    with pytest.raises(UnsupportedProgram, match=r"(?s)`np.matrix` is not supported.*write np.array\(A\), and A @ B"):
        parsed(of_a_matrix, np.ones(2))

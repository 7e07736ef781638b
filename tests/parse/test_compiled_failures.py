"""What compiled programs raise: their own errors, singular matrices, and names without a value."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, SingularMatrix, UnboundVariable
from tests.helpers import line_of


def program(a, b, s):
    if s > 2.0:
        raise ValueError("too large")
    if s > 1.0:
        t = 2.0
    x = np.linalg.solve(a * s, b)
    if s > 0.5:
        x = x * t
    return np.sum(x) + np.linalg.cholesky(a)[0, 0]


A, B = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, 3.0])


def test_each_failure_has_its_line():
    g = sdfgad.differentiate(program, wrt="b")
    for s, scale in ((1.5, 2.0), (0.4, 1.0)):
        np.testing.assert_allclose(g(A, B, s), scale * np.linalg.solve(A.T * s, np.ones(2)))
    for args, kind, text in (
        ((A, B, 2.5), ProgramRaises, "raise ValueError"),
        ((A, B, 0.7), UnboundVariable, "x = x * t"),
        ((-A, B, 0.4), SingularMatrix, "np.linalg.cholesky"),
    ):
        with pytest.raises(kind) as caught:
            g(*args)
        assert str(caught.value.where) == line_of(program, text)
    with pytest.raises(np.linalg.LinAlgError):
        g(np.zeros((2, 2)), B, 1.5)
    np.testing.assert_allclose(g(A, B, 1.5), 2.0 * np.linalg.solve(A.T * 1.5, np.ones(2)))


def test_the_first_failure_is_reported():
    with pytest.raises(SingularMatrix) as caught:
        sdfgad.differentiate(program, wrt="b")(np.zeros((2, 2)), B, 1.5)
    assert str(caught.value.where) == line_of(program, "np.linalg.solve")

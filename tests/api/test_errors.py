"""Bad input: every refusal has its type, says what, quotes the user's own line, and says what to do."""

import subprocess

import numpy as np
import pytest

import sdfgad
from sdfgad import errors
from sdfgad.rules import elementary
from sdfgad.runtime import compiler
from tests.helpers import line_of

X = np.array([0.5, 0.25, 1.5])


def refused(program, args, text, what, kind=errors.UnsupportedProgram):
    """The error that differentiating raises; it quotes the line of the program that contains `text`."""
    with pytest.raises(kind, match=what) as caught:
        sdfgad.differentiate(program)(*args)
    assert line_of(program, text) in str(caught.value)
    assert len(str(caught.value).splitlines()) >= 3
    return caught.value


def test_all_exceptions_can_be_imported_from_the_package():
    kinds = {
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert len(kinds) > 15
    assert {name: getattr(sdfgad, name, None) for name in kinds} == kinds
    assert set(kinds) <= set(sdfgad.__all__)


# --- no source


def test_source_that_is_not_available():
    space = {"np": np}
    exec("def program(x):\n    return np.sum(x)", space)
    with pytest.raises(errors.UnsupportedProgram, match="source of `program` is not available"):
        sdfgad.differentiate(space["program"])


# --- statements


def with_statement(x):
    with open("numbers"):
        return np.sum(x)


def deletes_an_element(x):
    y = x * 2.0
    del y[0]
    return np.sum(x)


def endless(x):
    while True:
        x[0] *= 2.0
    return x


def class_statement(x):
    class A:
        k = np.sum(x)

    return A.k


def generator(x):
    yield x


def imports_from_here(x):
    from . import nothing

    return np.sum(x) + nothing


@pytest.mark.parametrize(
    ("program", "text", "what"),
    [
        (with_statement, "with ", "`open` is not supported"),
        (deletes_an_element, "del y", "`del` of an item of an array"),
        (endless, "while True", "this loop never ends"),
        (class_statement, "k = np", r"an attribute of a class is `np.sum\(x\)`"),
        (generator, "yield x", "not supported"),
        (imports_from_here, "from . import", "Python raises ImportError"),
    ],
)
def test_statement_that_is_not_supported(program, text, what):
    refused(program, (X,), text, what)


# --- functions


def unknown_function(x):
    y = x * 2.0
    return np.sum(np.apply_over_axes(np.sum, y, 0))


def unknown_method(x):
    return np.sum(x.partition(2))


def keyword_of_a_function(x):
    return np.sum(np.tile(x, 2, nothing=1))


def ambiguous_truth(x):
    if x > 0.0:
        return np.sum(x)
    return x[0]


def helper(y):
    y = y * 2.0
    return np.apply_over_axes(np.sum, y, 0)


def calls_helper(x):
    return np.sum(helper(x))


@pytest.mark.parametrize(
    ("program", "text", "what"),
    [
        (unknown_function, "np.apply_over_axes", r"`np\.apply_over_axes` is not supported"),
        (unknown_method, "x.partition", r"`\.partition` of arrays is not supported"),
        (keyword_of_a_function, "nothing=1", "call of `np.tile` is not supported: .*'nothing'"),
        (ambiguous_truth, "if x > 0.0", "truth value of an array is ambiguous"),
    ],
)
def test_function_that_is_not_supported(program, text, what):
    refused(program, (X,), text, what)


def test_error_in_a_helper_quotes_the_line_of_the_helper():
    with pytest.raises(errors.UnsupportedProgram, match=r"`np\.apply_over_axes` is not supported") as caught:
        sdfgad.differentiate(calls_helper)(X)
    assert str(caught.value.where) == line_of(helper, "np.apply_over_axes")


def undefined(x):
    return np.sum(x * scale)  # noqa: F821


def test_undefined_name():
    refused(undefined, (X,), "scale", "name `scale` is not defined", errors.UnboundVariable)


def wrong_call(x):
    return np.sum(helper(x, x))


def test_call_that_does_not_fit_a_helper():
    refused(wrong_call, (X,), "helper(x, x)", "does not fit `helper`", errors.ArgumentError)


def bad_product(x):
    a = np.ones((2, 2))
    return np.sum(a @ x)


def test_shapes_that_do_not_match():
    refused(bad_product, (X,), "a @ x", "inner extents 2 and 3", errors.ShapeMismatch)


# --- rules


def needs_rules(x, y):
    z = np.sin(x)
    w = np.floor(np.exp(y))
    for i in range(3):
        z[i] = np.tanh(z[i]) + np.sin(z[i])
    return np.sum(z) + np.sum(w) + np.sum(np.exp(y))


def test_all_missing_rules_are_listed_at_once(monkeypatch):
    monkeypatch.delitem(elementary.ELEMENTARY, "sin")
    monkeypatch.delitem(elementary.ELEMENTARY, "tanh")
    with pytest.raises(errors.MissingRule, match="no derivative rule") as caught:
        sdfgad.differentiate(needs_rules)(X, X)
    loop, first = line_of(needs_rules, "np.tanh"), line_of(needs_rules, "z = np.sin")
    found = [(name, str(where)) for name, where in caught.value.operations]
    assert sorted(found) == sorted([("sin", first), ("tanh", loop), ("sin", loop)])
    for name, where in found:
        assert f"{name} at {where}" in str(caught.value)


def test_rules_off_the_differentiated_path_are_not_asked_for(monkeypatch):
    monkeypatch.delitem(elementary.ELEMENTARY, "sin")
    monkeypatch.delitem(elementary.ELEMENTARY, "tanh")
    found = sdfgad.differentiate(needs_rules, wrt="y")(X, X)
    np.testing.assert_allclose(found, np.exp(X), rtol=1e-15)


# --- the compiler


def total(x):
    return np.sum(x * x)


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """Nothing is compiled yet, and no compiler has been looked for."""
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    cached = (compiler.compiler, compiler.version, compiler.toolchain)
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("empty_cache")
def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    advice = r'Install g\+\+ .*pip install "sdfgad\[compiler\]"\.'
    with pytest.raises(errors.CompilerError, match=rf"`no-such-compiler` is not on the PATH\n.*{advice}"):
        sdfgad.differentiate(total)(X)


@pytest.mark.usefixtures("empty_cache")
def test_compiler_that_fails(monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", "program.cpp:1: error: out of luck")
    monkeypatch.setattr(compiler, "run_beside", lambda commands: [done] * len(commands))
    with pytest.raises(errors.CompilerError, match="error: out of luck"):
        sdfgad.differentiate(total)(X)


# --- the tree


def test_one_tree_of_exceptions():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 10
    assert all(issubclass(kind, (errors.SdfgadError, Warning)) for kind in kinds)


def test_parts_of_a_message():
    where = errors.Location("a.py", 3, "x = y")
    error = errors.SdfgadError("what", where, "todo")
    assert (error.what, error.where, error.todo) == ("what", where, "todo")
    assert str(error) == "what\n  at a.py:3: x = y\n  todo"
    assert str(errors.SdfgadError("what")) == "what"
    assert errors.InfeasibleBudget("what", 12).minimum_bytes == 12

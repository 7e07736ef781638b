"""What users see of `differentiate`: wrt, output, reduce, and the calls of a `DifferentiatedProgram`."""

import math

import dace
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, OutputError, UnsupportedProgram, UnusedArgument, WrtError
from tests.helpers import line_of


def energy(x, s=2.0, n=1):
    return np.sum(x * x) * s * n


def both(x, y):
    return np.sum(x * y), x * x


def update(u, a):
    u[1:-1] += a * (u[2:] - u[:-2])


def update_two(u, v):
    u[:] = u * v
    v[:] = v * v


def scaled(x, y):
    return 3.0 * x + y


def nothing(x):
    x * 2.0


def integers(x):
    return np.sum(x), 3 * len(x)


X = np.array([1.0, 2.0, 4.0])


# --- wrt


def test_wrt_none_gives_a_dict_of_floating_arguments():
    found = sdfgad.differentiate(energy)(X)
    assert list(found) == ["x", "s"]
    np.testing.assert_array_equal(found["x"], 4 * X)
    assert found["s"] == 21.0


@pytest.mark.parametrize("wrt", ["x", 0, -3])
def test_wrt_of_one(wrt):
    np.testing.assert_array_equal(sdfgad.differentiate(energy, wrt=wrt)(X), 4 * X)


@pytest.mark.parametrize("wrt", [("s", "x"), ["s", 0], (1, 0)])
def test_wrt_of_several_is_a_tuple_in_that_order(wrt):
    found = sdfgad.differentiate(energy, wrt=wrt)(X)
    assert isinstance(found, tuple)
    assert found[0] == 21.0
    np.testing.assert_array_equal(found[1], 4 * X)


def test_wrt_of_one_in_a_sequence_is_a_tuple():
    (found,) = sdfgad.differentiate(energy, wrt=["x"])(X)
    np.testing.assert_array_equal(found, 4 * X)


@pytest.mark.parametrize("wrt", ["z", 3, ("x", "z"), -4])
def test_unknown_wrt(wrt):
    with pytest.raises(WrtError, match=r"`energy` has no argument .*\n.*\n.*x, s, n") as caught:
        sdfgad.differentiate(energy, wrt=wrt)
    assert str(caught.value.where) == line_of(energy, "def energy")


@pytest.mark.parametrize(
    ("args", "wrt", "what"),
    [
        ((X, 2.0, 3), "n", "`n` is the int 3"),
        ((X, 2, 3), "s", "`s` is the int 2"),
        ((np.arange(3), 2.0), "x", "`x` is an array of int64"),
        ((np.array([True]), 2.0), ("x", "s"), "`x` is an array of bool"),
    ],
)
def test_wrt_that_is_not_floating(args, wrt, what):
    with pytest.raises(WrtError, match=what) as caught:
        sdfgad.differentiate(energy, wrt=wrt)(*args)
    assert str(caught.value.where) == line_of(energy, "def energy")


def test_no_floating_argument():
    with pytest.raises(WrtError, match="no floating argument"):
        sdfgad.differentiate(energy)(np.arange(3), 2, 3)


def unused(x, y, z):
    w = np.floor(z) * 0.0
    return np.sum(x * x + w) + y.shape[0]


def test_unused_argument_is_refused():
    with pytest.raises(UnusedArgument, match="does not depend on `y`, `z`") as caught:
        sdfgad.differentiate(unused)(X, X, X)
    assert "allow_unused=True" in str(caught.value)
    assert str(caught.value.where) == line_of(unused, "def unused")
    assert isinstance(caught.value, WrtError)


def test_unused_argument_gives_zeros_if_allowed():
    found = sdfgad.differentiate(unused, allow_unused=True)(X, X[:2].astype(np.float32), X)
    np.testing.assert_array_equal(found["x"], 2 * X)
    np.testing.assert_array_equal(found["y"], np.zeros(2, np.float32), strict=True)
    np.testing.assert_array_equal(found["z"], np.zeros(3), strict=True)
    assert sdfgad.differentiate(unused, wrt="y", allow_unused=True)(X, 1.5 * X, X).sum() == 0


def test_unused_argument_that_is_not_asked_for():
    np.testing.assert_array_equal(sdfgad.differentiate(unused, wrt="x")(X, X, X), 2 * X)


# --- output


def test_output_of_a_tuple():
    found = sdfgad.differentiate(both, output="return[0]")(X, X + 1)
    np.testing.assert_array_equal(found["x"], X + 1)
    np.testing.assert_array_equal(found["y"], X)
    found = sdfgad.differentiate(both, wrt="x", output="return[1]", reduce="sum")(X, X + 1)
    np.testing.assert_array_equal(found, 2 * X)


def test_output_that_leaves_an_argument_unused():
    with pytest.raises(UnusedArgument, match=r"`return\[1\]` does not depend on `y`"):
        sdfgad.differentiate(both, output="return[1]", reduce="sum")(X, X + 1)


def test_output_updated_in_place():
    u, a = np.array([1.0, 2.0, 4.0, 8.0]), 0.5
    for output in (None, "u"):
        found = sdfgad.differentiate(update, output=output, reduce="sum")(u, a)
        np.testing.assert_array_equal(found["u"], [0.5, 0.5, 1.5, 1.5])
        assert found["a"] == 9.0


def test_output_beside_a_returned_value():
    def fill(u, x):
        u[:] = x * x
        return np.sum(x)

    g = sdfgad.differentiate(fill, wrt="x")
    np.testing.assert_array_equal(g(np.zeros(3), X), np.ones(3))
    g = sdfgad.differentiate(fill, wrt="x", output="u", reduce="sum")
    np.testing.assert_array_equal(g(np.zeros(3), X), 2 * X)


@pytest.mark.parametrize(
    ("program", "what", "candidates"),
    [
        (both, "ambiguous", ['"return[0]"', '"return[1]"']),
        (update_two, "ambiguous", ['"u"', '"v"']),
        (nothing, "returns nothing and updates no argument", []),
    ],
)
def test_ambiguous_output(program, what, candidates):
    args = (X,) * program.__code__.co_argcount
    with pytest.raises(OutputError, match=what) as caught:
        sdfgad.differentiate(program)(*args)
    assert all(candidate in str(caught.value) for candidate in candidates)
    assert str(caught.value.where) == line_of(program, "def ")


@pytest.mark.parametrize("output", ["u", "return[2]", "result", "return", 0])
def test_unknown_output(output):
    with pytest.raises(OutputError, match=r"no output .*\n.*\n.*\"return\[0\]\", \"return\[1\]\""):
        sdfgad.differentiate(both, output=output)(X, X)


def test_output_without_a_derivative():
    with pytest.raises(OutputError, match=r"`return\[1\]` is of dtype int64"):
        sdfgad.differentiate(integers, output="return[1]")(X)


# --- reduce and cotangents


def test_output_that_is_not_a_scalar_names_both_ways_out():
    g = sdfgad.differentiate(scaled)
    for call in (g, g.value_and_grad):
        with pytest.raises(OutputError, match=r"shape \(3,\)") as caught:
            call(X, X)
        assert 'reduce="sum"' in str(caught.value)
        assert "cotangent=" in str(caught.value)
        assert str(caught.value.where) == line_of(scaled, "def scaled")


def test_reduce_and_vjp():
    g = sdfgad.differentiate(scaled, reduce="sum")
    value, found = g.value_and_grad(X, X)
    assert value == 4 * X.sum()
    np.testing.assert_array_equal(found["x"], [3, 3, 3])
    cotangent = np.array([1.0, -2.0, 0.5])
    found = g.vjp(X, y=X, cotangent=cotangent)
    np.testing.assert_array_equal(found["x"], 3 * cotangent)
    np.testing.assert_array_equal(found["y"], cotangent)
    found = g.vjp(X, X, cotangent=[1, -2, 0])
    np.testing.assert_array_equal(found["y"], [1, -2, 0])


@pytest.mark.parametrize("cotangent", [1.0, np.ones(2), np.ones((1, 3)), np.ones((3, 1))])
def test_cotangent_of_another_shape(cotangent):
    with pytest.raises(ArgumentError, match=r"cotangent has shape .* `return` \(3,\)"):
        sdfgad.differentiate(scaled).vjp(X, X, cotangent=cotangent)


def test_cotangent_of_a_scalar_output():
    g = sdfgad.differentiate(energy, wrt="x")
    np.testing.assert_array_equal(g.vjp(X, cotangent=-2.0), -8 * X)


def test_unknown_reduce():
    with pytest.raises(OutputError, match="reduce='mean'"):
        sdfgad.differentiate(scaled, reduce="mean")


# --- calls


def test_value_and_value_and_grad():
    g = sdfgad.differentiate(energy, wrt="x")
    assert g.value(X) == energy(X)
    value, found = g.value_and_grad(X, n=3)
    assert value == energy(X, n=3)
    assert np.ndim(value) == 0
    np.testing.assert_array_equal(found, 12 * X)
    np.testing.assert_array_equal(sdfgad.differentiate(scaled).value(X, X), 4 * X)


def test_keywords_and_defaults():
    g = sdfgad.differentiate(energy, wrt="x")
    np.testing.assert_array_equal(g(n=2, x=X), 8 * X)
    np.testing.assert_array_equal(g(X, n=0), 0 * X)
    np.testing.assert_array_equal(g(X, 0.5), X)


def test_compile_makes_the_first_call_fast(monkeypatch):
    g = sdfgad.differentiate(scaled, reduce="sum")
    g.compile(X, X)
    monkeypatch.setattr("sdfgad.runtime.differential.compile_program", None)
    np.testing.assert_array_equal(g(X, X)["x"], [3, 3, 3])


def test_sdfg_is_valid_and_has_no_callbacks():
    sdfg = sdfgad.differentiate(update, reduce="sum").sdfg(np.ones(5), 0.5)
    assert isinstance(sdfg, dace.SDFG)
    sdfg.validate()
    assert not any(isinstance(d.dtype, dace.callback) for s in sdfg.all_sdfgs_recursive() for d in s.arrays.values())
    assert not any(isinstance(d, dace.callback) for s in sdfg.all_sdfgs_recursive() for d in s.symbols.values())


def test_sdfg_can_be_saved_and_loaded(tmp_path):
    sdfg = sdfgad.differentiate(scaled, reduce="sum").sdfg(X, X)
    sdfg.save(str(tmp_path / "program.sdfg"))
    dace.SDFG.from_file(str(tmp_path / "program.sdfg")).validate()


def test_a_dace_program_is_taken_as_its_function():
    g = sdfgad.differentiate(dace.program(energy), wrt="x")
    np.testing.assert_array_equal(g(X), 4 * X)


def test_name_and_doc():
    g = sdfgad.differentiate(scaled)
    assert "scaled" in repr(g)
    assert g.__doc__ == scaled.__doc__


def test_functions_of_numpy():
    np.testing.assert_allclose(sdfgad.differentiate(np.sin, reduce="sum")(X)["x1"], np.cos(X), rtol=1e-14)
    np.testing.assert_allclose(sdfgad.grad(np.linalg.norm)(np.array([3.0, 4.0])), [0.6, 0.8], rtol=1e-14)
    np.testing.assert_array_equal(sdfgad.vmap(np.dot)(np.eye(2), np.ones((2, 2))), [1.0, 1.0])
    assert sdfgad.grad(math.sin)(0.5) == math.cos(0.5)
    assert sdfgad.grad(np.clip)(0.5, 0.0, 1.0) == 1.0
    np.testing.assert_array_equal(sdfgad.vmap(np.where)(np.array([True, False]), np.ones(2), np.zeros(2)), [1.0, 0.0])


@pytest.mark.parametrize("program", [len, 3, "text", energy(X)])
def test_program_that_is_not_a_function(program):
    with pytest.raises((ArgumentError, UnsupportedProgram), match="is not a Python function"):
        sdfgad.differentiate(program)


def product_of_two(x, y):
    return np.sum(x * y)


def test_an_argument_that_is_named_twice_has_two_gradients():
    x, y = np.arange(3.0), np.ones(3)
    first, other, again = sdfgad.differentiate(product_of_two, wrt=["x", 1, 0])(x, y)
    np.testing.assert_array_equal(first, y)
    np.testing.assert_array_equal(other, x)
    np.testing.assert_array_equal(again, y)
    assert not np.shares_memory(first, again)

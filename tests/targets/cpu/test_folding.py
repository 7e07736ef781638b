"""Functions whose texts differ in names alone are one."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.runtime.compile import source_of_optimised
from sdfgad.targets.cpu.folding import Folding, by_first_use
from tests.helpers_tiers import some

ONE = "static void nest_0_1_(const double* b_x_, double* b_y_) { for (i = 0; i < 3; ++i) b_y_[i] = sin(b_x_[i]); }"
VARIABLES = ("b_x_", "b_y_", "i")
OTHERS = {
    "another operation": ONE.replace("sin", "cos"),
    "another constant": ONE.replace("3", "4"),
    "another type": ONE.replace("const double*", "const float*"),
    "one array for two": ONE.replace("b_x_[i]", "b_y_[i]"),
    "other parameters": ONE.replace("const double* b_x_, double* b_y_", "double* b_y_, const double* b_x_"),
    "a variable of the text around": ONE.replace("b_x_[i]", "sin[i]"),
}


def known(*texts):
    folding = Folding()
    return [folding.known(f"nest_0_{n}_", text, variables) for n, (text, variables) in enumerate(texts, 1)]


def test_names_of_variables_and_functions_do_not_count():
    other = (
        ONE.replace("b_x_", "b_sin_").replace("b_y_", "b_x_").replace("(i ", "(k ").replace("i < 3; ++i", "k < 3; ++k")
    )
    other = other.replace("[i]", "[k]").replace("nest_0_1_", "nest_0_2_")
    assert known((ONE, VARIABLES), (other, ("b_sin_", "b_x_", "k"))) == [None, "nest_0_1_"]


def test_functions_that_are_called_count_as_own():
    one = f"static void nest_0_1_step() {{}}\n{ONE.replace('{ for', '{ nest_0_1_step(); for')}"
    other = one.replace("nest_0_1_", "nest_0_2_")
    assert known((one, VARIABLES), (other, VARIABLES)) == [None, "nest_0_1_"]
    assert known((one, VARIABLES), (other.replace("step(); for", "last(); for"), VARIABLES)) == [None, None]


@pytest.mark.parametrize("what", OTHERS)
def test_all_else_counts(what):
    assert known((ONE, VARIABLES), (OTHERS[what].replace("nest_0_1_", "nest_0_2_"), VARIABLES)) == [None, None]


def test_a_constant_is_no_variable():
    head = "static void nest_0_1_(const double* b_x_, const double b_y_, double* b_z_) { "
    variables = ("b_x_", "b_y_", "b_z_")
    for name, number in zip(("nest_0_1_", *variables), range(4), strict=True):
        one, other = (f"{head} *b_z_ = b_x_[1] * b_y_ + {what}; }}" for what in (name, number))
        assert known((one, variables), (other.replace("nest_0_1_", "nest_0_2_"), variables)) == [None, None]


def test_two_variables_are_not_one():
    one = ONE.replace("sin(b_x_[i])", "b_x_[i] * b_x_[i]").replace("(const", "(const double* b_z_, const")
    other = ONE.replace("sin(b_x_[i])", "b_x_[i] * b_z_[i]").replace("(const", "(const double* b_z_, const")
    for first, second in ((one, other), (other, one)):
        variables = (*VARIABLES, "b_z_")
        assert known((first, variables), (second.replace("nest_0_1_", "nest_0_2_"), variables)) == [None, None]


def test_parameters_are_in_the_order_of_their_use():
    lines = ["b_z_ = b_x_bar_ + b_x_;", "b_x_ = 0;"]
    assert by_first_use(["x", "x_bar", "z"], lines) == ["z", "x_bar", "x"]


# --- programs


def program(np):
    """The program with NumPy, or JAX in its place."""

    def wave(u, v, c):
        a = np.concatenate((u[1:], u[:1])) - u
        return u + 0.1 * v, v + 0.1 * np.sin(c * a) * v

    def run(p, q, r, s, c):
        for _ in range(3):
            p = np.cumsum(p) * 0.5
        p, q = wave(p, q, c)
        r, s = wave(r, s, c)
        q, r = wave(q, r, 2.0)
        p, s = wave(p[::-1], s, c)
        return np.sum(p * q) + np.sum(r @ s)

    return run


def rotations(np):
    """A loop that is unrolled, as its branch depends on the counter."""

    def run(angles, x):
        for k in range(6):
            c, s = np.cos(angles[k]), np.sin(angles[k])
            x = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ x if k % 2 else x * angles[k]
        return np.sum(x)

    return run


def assert_like_jax(maker, arguments):
    places = tuple(range(len(arguments)))
    names = tuple(inspect.signature(maker(np)).parameters)
    g = sdfgad.differentiate(maker(np), wrt=names)
    value, found = g.value_and_grad(*arguments)
    assert value == pytest.approx(float(maker(jnp)(*arguments)), rel=1e-13)
    for one, other in zip(found, jax.grad(maker(jnp), places)(*arguments), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)
    code = source_of_optimised(g.programs(*arguments)[0]).code
    return code.count("[[gnu::noinline]]"), len(re.findall(r"^ *nest_\w+\(", code, re.MULTILINE))


def test_statements_of_one_form_are_one_function(rng):
    functions, calls = assert_like_jax(program, [*rng.uniform(0.2, 0.9, (4, 30)), 1.5])
    assert 0 < functions < calls


def test_unrolled_loops_share_functions():
    functions, calls = assert_like_jax(rotations, [np.linspace(0.1, 1.0, 6), np.eye(3) + 0.1])
    assert 0 < functions < 0.7 * calls


@pytest.mark.parametrize("seed", some(range(3), 3))
def test_random_statements_of_few_forms(seed, tmp_path):
    """Small arrays, elements and constants, in which one name or number makes the difference."""
    random = np.random.default_rng(seed)
    names, lines = ["a", "b", "c", "d"], []
    for _ in range(60):
        u, v, w, target = random.choice(names, 4)
        k, m = random.integers(0, 4, 2)
        forms = (
            f"{u}[{k}] * {v} + {m}",
            f"np.sin({u}) * {v}[{k}] - {w}[{m}]",
            f"{u} * {k} + {v}[{m}]",
            f"np.where({u} > {v}, {w}[{k}], {u} * 0.{m})",
        )
        lines.append(f"    {target} = np.tanh({forms[random.integers(0, 4)]})")
    text = "\n".join(
        [
            "def maker(np):",
            "  def run(a, b, c, d):",
            "    e = a * b + c * d",
            *lines,
            "    return np.sum(e + a * b - c * d)",
            "  return run",
        ]
    )
    path = tmp_path / "maker.py"
    path.write_text(text + "\n")
    space = {}
    exec(compile(text, str(path), "exec"), space)
    arguments = [*np.random.default_rng(seed + 10).uniform(-0.9, 0.9, (4, 5))]
    functions, calls = assert_like_jax(space["maker"], arguments)
    assert 0 < functions < calls

"""Basic blocks: which statements are one state and one function, and that programs of many scalars stay right."""

import jax
import numpy as np
import pytest

import sdfgad
from sdfgad.memory.basic_blocks import basic_blocks
from sdfgad.memory.lifetimes import lifetimes, local_variables
from sdfgad.runtime.compile import source_of_optimised
from sdfgad.sdfg.writer import write
from tests.helpers import with_target
from tests.helpers_text import program_of

SHAPES = {"x": (3,), "z": (3,), "t": (3,), "a": (), "b": (), "c": (), "d": ()}


def pieces(text):
    program = program_of(text, SHAPES, inputs=["x"], outputs=["z"])
    return [len(block) for block in basic_blocks(program, lifetimes(program))]


def test_scalars_are_one_block():
    assert pieces("a = x[0]\nb = a * x[1]\nc = a + b\nz[0] = c\n") == [4]


def test_boxes_and_loops_are_alone():
    text = "a = x[0]\nb = a\nfor p < 3: z[p] = b\nc = b\nloop k < 3:\n    z[k] += c\nd = c\nz[1] = d\n"
    assert pieces(text) == [2, 1, 1, 1, 2]


def test_arrays_are_allocated_and_released_between_blocks():
    assert pieces("a = x[0]\nb = a\nt[0] = b\nt[1] = a\nz[0] = t[1]\nc = a\nz[1] = c\n") == [2, 3, 2]


def test_blocks_have_a_greatest_length(monkeypatch):
    with_target(monkeypatch, basic_block=2)
    assert pieces("a = x[0]\nb = a * x[1]\nc = a + b\nd = c\nz[0] = d\n") == [2, 2, 1]


def test_what_one_block_uses_is_a_local_variable():
    text = "a = x[0]\nb = a * x[1]\nfor p < 3: z[p] = b\nc = b\nd = c\nz[1] = d\n"
    program = program_of(text, SHAPES, inputs=["x"], outputs=["z"])
    assert local_variables(program) == {"a", "c", "d"}


# --- programs of many scalars


def scalars(count, before="    "):
    """Lines of a program, each of which computes a scalar from some of the latest ones."""
    rng = np.random.default_rng(count)
    names, lines = ["a", "b", "c"], []
    for number in range(count):
        first, second = (names[-k] for k in rng.integers(1, min(len(names), 8) + 1, 2))
        value = f"0.4 * {first} + k[{number % 4}] * np.sin({second})"
        lines.append(f"{before}v{number} = {value if number % 3 else f'np.exp(-{first} * {second})'}")
        names.append(f"v{number}")
    return lines, names[-3:]


def function_of(text, path, module):
    code = compile(text, str(path), "exec")
    path.write_text(text)
    space = {"np": module}
    exec(code, space)
    return space["f"]


def straight():
    lines, last = scalars(60)
    return ["def f(x, k):", "    a = x[0]", "    b = x[1]", "    c = x[2]", *lines, f"    return {' * '.join(last)}"]


def loop():
    lines, (a, b, c) = scalars(40, " " * 8)
    head = ["def f(x, k):", "    a = x[0]", "    b = x[1]", "    c = x[2]", "    for t in range(5):"]
    return [*head, *lines, f"        a, b, c = {a}, 0.5 * {b} + a, {c}", "    return a * b + c"]


@pytest.mark.parametrize("lines", [straight(), loop()], ids=["straight", "loop"])
def test_gradients_of_many_scalars(lines, tmp_path, monkeypatch, rng):
    with_target(monkeypatch, basic_block=16, long_run=24)
    text = "\n".join([*lines, ""])
    arguments = rng.uniform(0.2, 0.9, 3), rng.uniform(0.2, 0.9, 4)
    program = function_of(text, tmp_path / "program.py", np)
    g = sdfgad.differentiate(program, wrt=("x", "k"))
    value, found = g.value_and_grad(*arguments)
    assert value == pytest.approx(program(*arguments), rel=1e-13)
    expected = jax.grad(function_of(text, tmp_path / "jax.py", jax.numpy), (0, 1))(*arguments)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_states_do_not_grow_with_scalars(tmp_path):
    lines, last = scalars(300)
    head = ["def f(x, k):", "    a = x[0]", "    b = x[1]", "    c = x[2]"]
    text = "\n".join([*head, *lines, f"    return {' * '.join(last)}", ""])
    g = sdfgad.differentiate(function_of(text, tmp_path / "program.py", np), wrt=("x", "k"))
    program = g.programs(np.full(3, 0.5), np.full(4, 0.5))[0]
    assert len(program.body) > 1000
    assert len(write(program).nodes()) < 20
    assert source_of_optimised(program).code.count("[[gnu::noinline]]") < 20

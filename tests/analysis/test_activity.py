"""Activity analysis: which buffers carry derivatives."""

import numpy as np

from sdfgad.analysis.activity import active_buffers
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.parse import parse
from sdfgad.reverse.adjoint import dependences

VECTOR = ArrayArgument((4,), np.dtype(np.float64))


def program(x, y, z):
    a = x * y
    b = np.floor(a) * z
    c = x + y
    k = (x > 0.5) * 1
    return np.sum(a) + np.sum(b) + k[0] + 0 * len(c)


def found(wrt):
    primal = parse(program, dict.fromkeys("xyz", VECTOR))
    inputs = [primal.inputs[name] for name in wrt]
    output = primal.program.outputs["return"]
    active, useful = active_buffers(primal.program, inputs, output, dependences)
    return active & set("abcxyzk"), useful & set("abcxyzk")


def test_active_depends_on_wrt_and_matters_to_the_output():
    assert found("x")[0] == {"x", "a"}
    assert found("z")[0] == {"z", "b"}
    assert found("xyz")[0] == {"x", "y", "z", "a", "b"}
    assert found("")[0] == set()


def test_useful_is_all_that_the_output_depends_on():
    assert found("x")[1] >= {"x", "y", "z", "a", "b"}
    assert "c" not in found("x")[1]

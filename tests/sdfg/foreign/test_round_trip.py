"""The programs of the suite written as SDFGs and read back as those of others: the same programs, to the last bit."""

import re

import numpy as np
import pytest

import npbench_suite
import sdfgad
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.ir.text import program_text
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.sdfg.foreign.graph_program import GraphProgram
from sdfgad.sdfg.writer import write
from tests.helpers_ir import evaluated_gradients, gradient_of, parsed

# These have an index or a condition that comes back as an equal one in other words.
IN_OTHER_WORDS = {"doitgen", "spmv", "stockham_fft", "mandelbrot2"}


def primal_of(entry, args):
    """The program of an entry; integers that decide a size are constants."""
    constant = set()
    while True:
        try:
            primal = parsed(entry.program, *args, constant=constant)
            return primal, gradient_of(primal, entry.arrays, entry.output) if entry.arrays else None
        except NeedsConstant as need:
            constant |= need.symbols


def read_back(primal, args):
    """The program that is read of the SDFG which is written for one."""
    program = primal.program
    values = dict(zip(primal.source.function.__code__.co_varnames, args, strict=False))
    kinds = {b: ArrayArgument(tuple(e.const for e in program.buffers[b].shape), program.buffers[b].dtype)
             for b in program.inputs}  # fmt: skip
    kinds |= {symbol: values[name] for name, symbol in primal.integers.items()}
    missing = [name for name in program.outputs.values() if name not in kinds]
    return GraphProgram(write(program)).primal({**kinds, **dict.fromkeys(missing)}, ())


def text(program):
    # DaCe's arguments may have the name that programs keep for their checks.
    return re.sub(r"\bstatus_1\b", "status", program_text(program))


@pytest.mark.parametrize("name", npbench_suite.names())
def test_a_program_comes_back(name):
    entry = npbench_suite.load(name)
    args = entry.arguments_for("test")
    primal, made = primal_of(entry, args)
    again = read_back(primal, args)
    if name not in IN_OTHER_WORDS:
        assert text(again.program) == text(primal.program)
        return
    output = next(out for out, b in again.program.outputs.items() if b == primal.program.outputs[entry.output])
    other = gradient_of(again, [primal.inputs[n] for n in entry.arrays], output) if made is not None else None
    if made is None:
        return
    shape = [e.const for e in made.program.buffers[made.cotangent].shape]
    cotangent = np.random.default_rng(0).normal(size=shape)
    values = dict(zip(primal.source.function.__code__.co_varnames, args, strict=False))
    expected = evaluated_gradients(primal, made, cotangent, *args)
    given = [values[n] for n in primal.inputs] + [values[n] for n in primal.integers]
    found = evaluated_gradients(_as_called(again, primal), other, cotangent, *given)
    np.testing.assert_array_equal(found[0], expected[0])
    for argument, buffer in primal.inputs.items():
        if argument in expected[1]:
            np.testing.assert_array_equal(found[1][buffer], expected[1][argument])


def _as_called(again, primal):
    """The program with its arguments in the order in which the test passes them."""
    names = [*primal.inputs.values(), *primal.integers.values()]
    again.source.function.__signature__ = __import__("inspect").Signature(
        [__import__("inspect").Parameter(name, 1) for name in names]
    )
    return again


@pytest.mark.parametrize("name", ["jacobi_1d", "atax"])
def test_compiled_gradients_are_equal_to_the_last_bit(name):
    entry = npbench_suite.load(name)
    args = entry.arguments_for("test")
    primal, _ = primal_of(entry, args)
    values = dict(zip(entry.arguments, args, strict=True))
    g = sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, reduce="sum")
    expected, gradients = g.value_and_grad(*args)
    output = primal.program.outputs[entry.output]
    h = sdfgad.differentiate(
        write(primal.program), wrt=[primal.inputs[n] for n in entry.arrays], output=output, reduce="sum"
    )
    passed = {buffer: values[name] for name, buffer in primal.inputs.items()}
    passed |= {symbol: values[name] for name, symbol in primal.integers.items()}
    value, found = h.value_and_grad(**passed)
    assert value == expected
    for argument, gradient in zip(entry.arrays, gradients, strict=True):
        np.testing.assert_array_equal(found[primal.inputs[argument]], gradient)

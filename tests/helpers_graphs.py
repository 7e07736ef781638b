"""Gradients of SDFGs by the interpreter, without a compiler, and what they are compared with."""

import inspect

import numpy as np

from sdfgad.api.callables import callee_of
from sdfgad.explain.interpreter import Interpreter, with_totals
from sdfgad.optimise.prepared import live, prepared
from sdfgad.options import Options
from tests.helpers import assert_close
from tests.helpers_ir import gradient_of, kind_of, parsed

OPTIONS = Options(None, "ilp", {}, "CBC", 10.0)


def primal_of(program, arguments, constant=()):
    """The program of an SDFG, of a `dace.program` or of a function, for arguments by name."""
    callee = callee_of(program)
    names = inspect.signature(callee.function).parameters
    values = {name: arguments.get(name) for name in names}
    if hasattr(callee.function, "primal"):
        return callee.function.primal({name: kind_of(value) for name, value in values.items()}, constant)
    return parsed(callee.function, *values.values(), constant=constant)


def inputs_of(primal, arguments):
    arrays = {buffer: np.asarray(arguments[name]) for name, buffer in primal.inputs.items()} | dict(primal.captured)
    return arrays, {symbol: arguments[name] for name, symbol in primal.integers.items()}


def value_of(program, output, **arguments):
    """An output, as the interpreter computes it."""
    primal = primal_of(program, arguments)
    return Interpreter(primal.program, *inputs_of(primal, arguments)).outputs[output]


def gradients_of(program, wrt, output, cotangent=None, constant=(), **arguments):
    """The output, and the gradients of its product with a cotangent (None: some weights) by name."""
    primal = primal_of(program, arguments, constant)
    primal = prepared(live(primal, OPTIONS), OPTIONS)
    made = gradient_of(primal, list(wrt), output)
    arrays, integers = inputs_of(primal, arguments)
    seed = made.program.buffers[made.cotangent]
    shape = tuple(extent.const for extent in seed.shape)
    weights = np.random.default_rng(5).uniform(0.5, 1.5, shape)
    cotangent = np.asarray(weights if cotangent is None else cotangent, seed.dtype)
    integers = with_totals(made, arrays, integers)
    run = Interpreter(made.program, arrays | {made.cotangent: cotangent}, integers)
    return run.store[made.value], {
        n: run.store[made.gradients[primal.inputs[n]]] for n in wrt if primal.inputs[n] in made.gradients
    }


def assert_like(program, other, wrt, output, other_output=None, cotangent=None, tolerance=1e-12, **arguments):
    """An SDFG has the values and gradients of another program."""
    value, found = gradients_of(program, wrt, output, cotangent, **arguments)
    names = inspect.signature(callee_of(other).function).parameters
    same = {name: arguments[name] for name in names if name in arguments}
    expected, gradients = gradients_of(other, wrt, other_output or output, cotangent, **same)
    assert_close(value, expected, tolerance, output)
    for name in wrt:
        assert_close(found[name], gradients[name], tolerance, name)

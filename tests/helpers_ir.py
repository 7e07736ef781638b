"""Programs of the IR from functions, and what the interpreter computes with them."""

import copy
import inspect

import numpy as np

from sdfgad.explain.interpreter import Interpreter, with_totals
from sdfgad.gradient.assemble import assemble
from sdfgad.parse import parse as parsing
from sdfgad.parse.primal import Measure
from sdfgad.reverse.adjoint import differentiate_program
from tests.helpers import assert_close

# --- programs from functions, and their arguments


def kind_of(value):
    """What the parser is told of an argument."""
    if isinstance(value, np.ndarray):
        return parsing.ArrayArgument(value.shape, value.dtype)
    if isinstance(value, float):
        return parsing.ArrayArgument((), np.dtype(np.float64), is_scalar=True, weak=True)
    return value


def parsed(function, *args, constant=()):
    """The `Primal` of a function for arguments like these."""
    names = inspect.signature(function).parameters
    values = dict(zip(names, args, strict=True))
    kinds = {name: kind_of(v) for name, v in values.items()}
    primal = parsing.parse(function, kinds, constant, values, measure=Measure(lambda primal: measured(primal, *args)))
    assert primal.is_current, "each call would parse the program anew"
    return primal


def measured(primal, *args):
    """What the interpreter finds for integers that data decides and that must be known."""
    return {name: int(value) for name, value in checked_outputs(primal, *copy.deepcopy(args)).items()}


def parsed_without(monkeypatch, name, function, *args):
    """The `Primal` that the parser makes if one of its passes does nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(parsing, name, lambda program: program)
        return parsed(function, *args)


def size_of(body):
    """The number of statements of a program, those in loops and branches, too."""
    inner = ("body", "then", "orelse")
    return sum(1 + sum(size_of(getattr(one, part, ())) for part in inner) for one in body)


def inputs_of(primal, *args):
    """What an interpreter of the program needs: arrays by buffer name, integers by symbol."""
    values = dict(zip(inspect.signature(primal.source.function).parameters, args, strict=True))
    arrays = {buffer: values[name] for name, buffer in primal.inputs.items()} | dict(primal.captured)
    return arrays, {symbol: values[name] for name, symbol in primal.integers.items()}


def outputs_of(primal, *args, program=None, seed=0):
    """The outputs by name that the interpreter computes, of another program for the same inputs if one is given."""
    return Interpreter(program or primal.program, *inputs_of(primal, *args), seed).outputs


def assert_same_outputs(primal, program, *args, tolerance=1e-12):
    """Another program has the outputs of the parsed one, and as many of them."""
    expected = outputs_of(primal, *args, seed=1)
    found = outputs_of(primal, *args, program=program, seed=2)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_close(found[name], expected[name], tolerance, name)


# --- gradients


def floating(primal):
    """The floating arguments, in order."""
    return [name for name, buffer in primal.inputs.items() if primal.program.buffers[buffer].is_floating]


def adjoint_of(primal, wrt=None, output="return"):
    wrt = [primal.inputs[name] for name in (floating(primal) if wrt is None else wrt)]
    return differentiate_program(primal.program, primal.context, wrt, primal.program.outputs[output])


def gradient_of(primal, wrt=None, output="return"):
    """The assembled gradient program."""
    wrt = floating(primal) if wrt is None else wrt
    adjoint = adjoint_of(primal, wrt, output)
    return assemble(adjoint, tuple(primal.inputs[name] for name in wrt), output)


def evaluated_gradients(primal, made, cotangent, *args, passes=(), seed=0):
    """The output's value, and the gradients by argument name, that a gradient program computes."""
    arrays, integers = inputs_of(primal, *args)
    dtype = made.program.buffers[made.cotangent].dtype
    integers = with_totals(made, arrays, integers)
    program = made.program
    for one in passes:
        program = one(program)
    run = Interpreter(program, arrays | {made.cotangent: np.asarray(cotangent, dtype)}, integers, seed)
    gradients = {name: made.gradients.get(buffer) for name, buffer in primal.inputs.items()}
    return run.store[made.value], {name: run.store[bar] for name, bar in gradients.items() if bar is not None}


# --- programs against Python itself


def checked_outputs(primal, *args, seed=0):
    """As `outputs_of`, but a check of the program that fails raises its error."""
    run = Interpreter(primal.program, *inputs_of(primal, *args), seed)
    status = int(run.store["status"]) if primal.program.checks else 0
    if status:
        raise primal.program.failed(status).failure()
    return run.outputs


def as_python_runs(program, *args):
    """What Python returns, and what it leaves in the arrays among the arguments, by name."""
    values = copy.deepcopy(args)
    returned = program(*values)
    names = inspect.signature(program).parameters
    return returned, {n: v for n, v in zip(names, values, strict=True) if isinstance(v, np.ndarray)}


def assert_like_python(program, *args, constant=(), tolerance=1e-12):
    """What the program returns and updates is what Python computes. Returns the `Primal`."""
    primal = parsed(program, *copy.deepcopy(args), constant=constant)
    found = checked_outputs(primal, *copy.deepcopy(args))
    returned, arrays = as_python_runs(program, *args)
    if isinstance(returned, (tuple, list)):
        expected = {f"return[{k}]": value for k, value in enumerate(returned)}
    else:
        expected = {} if returned is None else {"return": returned}
    assert {name for name in found if name.startswith("return")} == expected.keys()
    before = dict(zip(inspect.signature(program).parameters, args, strict=True))
    for name, value in (expected | arrays).items():
        mine = found.get(name, before.get(name))
        assert np.shape(mine) == np.shape(value), name
        np.testing.assert_allclose(mine, value, rtol=tolerance, atol=tolerance, err_msg=name)
    return primal


def assert_value_and_slope(program, *args, output="return", tolerance=1e-12):
    """What the program returns and updates is what Python computes, and its gradients agree with differences."""
    primal = assert_like_python(program, *args, tolerance=tolerance)
    assert_slope(program, *args, output=output, primal=primal)
    return primal


def assert_slope(program, *args, output="return", tolerance=1e-6, step=1e-6, seed=5, primal=None):
    """The gradients, complex ones too, agree with a central difference along a random direction.

    `primal` is the parsed program, where the caller has it.
    """
    rng = np.random.default_rng(seed)
    primal = parsed(program, *copy.deepcopy(args)) if primal is None else primal
    names = [n for n, buffer in primal.inputs.items() if primal.program.buffers[buffer].dtype.kind in "fc"]

    def value_of(values):
        returned, arrays = as_python_runs(program, *values)
        if output == "return":
            return np.asarray(returned)
        return np.asarray(returned[int(output[7:-1])] if output.startswith("return[") else arrays[output])

    def random_like(x):
        direction = rng.standard_normal(np.shape(x))
        return direction + 1j * rng.standard_normal(np.shape(x)) if np.iscomplexobj(x) else direction

    cotangent = random_like(value_of(args))
    made = gradient_of(primal, names, output)
    _, gradients = evaluated_gradients(primal, made, cotangent, *copy.deepcopy(args))
    directions = {n: random_like(v) for n, v in zip(inspect.signature(program).parameters, args, strict=True)}
    slope = sum(np.vdot(gradients[n], directions[n]).real for n in names if n in gradients)
    ends = []
    for sign in (step, -step):
        moved = [
            (float(v + sign * directions[n]) if isinstance(v, float) else v + sign * directions[n]) if n in names else v
            for n, v in zip(inspect.signature(program).parameters, args, strict=True)
        ]
        ends.append(np.vdot(cotangent, value_of(moved)).real)
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=tolerance, atol=tolerance)
    return gradients

"""Programs before and after each of the optimisation passes."""

import copy
from dataclasses import replace

import numpy as np

from sdfgad.gradient.assemble import assemble
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.ir.text import program_text
from sdfgad.ir.verify import verify
from sdfgad.optimise.pass_manager import Pass
from sdfgad.optimise.passes import PASSES
from tests.helpers_ir import Interpreter, adjoint_of, inputs_of, parsed, with_totals
from tests.helpers_text import sample, tidy

TOLERANCE = 1e-11


def outputs(program, arrays, integers=(), seed=0):
    """What the interpreter computes; the arrays are left alone."""
    with np.errstate(all="ignore"):
        return Interpreter(program, copy.deepcopy(arrays), integers, seed).outputs


def assert_same(found, expected, what, tolerance=TOLERANCE):
    assert found.keys() == expected.keys(), what
    for name, y in expected.items():
        x = found[name]
        assert (x.shape, x.dtype) == (y.shape, y.dtype), f"{name} {what}"
        if y.dtype.kind in "fc":
            part = np.zeros(0, y.dtype).real.dtype
            scale = np.max(np.abs(y[np.isfinite(y)]), initial=0) if y.shape else abs(y)
            allowed = (tolerance if part == np.float64 else 1e-4) * scale
            np.testing.assert_allclose(
                x, y, rtol=0, atol=allowed if np.isfinite(allowed) else 0, err_msg=f"{name} {what}"
            )
        else:
            np.testing.assert_array_equal(x, y, err_msg=f"{name} {what}")


def check_passes(program, arrays, integers=(), seed=0, passes=None):
    """The program has the same outputs after each of the passes; returns it after the last one."""
    expected = outputs(program, arrays, integers, seed)
    for k, one in enumerate(PASSES if passes is None else passes):
        changed = one(program)
        if changed != program:
            what = f"after {k}: {one.name if isinstance(one, Pass) else one.__name__}"
            verify(changed, what)
            assert_same(outputs(changed, arrays, integers, seed + k + 1), expected, what)
        program = changed
    return program


def gradient_case(function, args, output=None, wrt=None):
    """The primal and its gradient program, with its inputs and integers; integers that decide a size are constants."""
    constant = set()
    while True:
        try:
            primal = parsed(function, *copy.deepcopy(args), constant=constant)
            return primal, *_gradient(primal, args, output, wrt)
        except NeedsConstant as need:
            constant |= need.symbols


def _gradient(primal, args, output, wrt):
    program = primal.program
    if output is None:
        output = next(o for o, b in program.outputs.items() if program.buffers[b].is_floating)
    wrt = [n for n, b in primal.inputs.items() if program.buffers[b].is_floating] if wrt is None else wrt
    made = assemble(adjoint_of(primal, wrt, output), tuple(primal.inputs[name] for name in wrt), output)
    arrays, integers = inputs_of(primal, *copy.deepcopy(args))
    return made, *completed(made, arrays, integers)


def completed(made, arrays, integers):
    """The inputs with a cotangent, and the integers with trips that are counted."""
    integers = with_totals(made, copy.deepcopy(arrays), integers)
    buffer, rng = made.program.buffers[made.cotangent], np.random.default_rng(1)
    shape = tuple(extent.const for extent in buffer.shape)
    value = rng.normal(size=shape) + (1j * rng.normal(size=shape) if buffer.dtype.kind == "c" else 0)
    return arrays | {made.cotangent: np.asarray(value, buffer.dtype)}, integers


def without_value(made):
    """The gradient program whose outputs are the gradients only."""
    kept = {name: buffer for name, buffer in made.program.outputs.items() if buffer != made.value}
    return replace(made.program, outputs=kept)


def check_function(function, args, output=None, wrt=None, seed=0):
    """The passes leave a function, and its gradient with the value and without, as they are."""
    primal, made, arrays, integers = gradient_case(function, args, output, wrt)
    forward = {name: arrays[name] for name in primal.program.inputs}
    known = {name: value for name, value in integers.items() if name in primal.program.integers}
    return (
        check_passes(primal.program, forward, known, seed),
        check_passes(made.program, arrays, integers, seed),
        check_passes(without_value(made), arrays, integers, seed),
    )


def assert_becomes(one, text, expected, **integers):
    """A pass makes of a program, given as text, another one, which computes the same."""
    program, arrays, integers = sample(text, **integers)
    assert program_text(one(program)) == tidy(expected)
    check_passes(program, arrays, integers, passes=[one])


def assert_stays(one, text, **integers):
    """A pass leaves a program alone."""
    program, _, _ = sample(text, **integers)
    assert program_text(one(program)) == program_text(program)


def gradients(primal, args, wrt, output="y"):
    """The gradients by a cotangent that is always the same."""
    made = assemble(adjoint_of(primal, wrt, output), tuple(primal.inputs[name] for name in wrt), output)
    arrays, integers = completed(made, *inputs_of(primal, *copy.deepcopy(args)))
    found = outputs(made.program, arrays, integers)
    return {name: value for name, value in found.items() if name != made.value}


def check_early(one, function, args, wrt, output="y"):
    """A pass before differentiation leaves values and gradients as they are; returns the programs after and before."""
    primal = parsed(function, *copy.deepcopy(args))
    arrays, integers = inputs_of(primal, *copy.deepcopy(args))
    changed = check_passes(primal.program, arrays, integers, passes=[one])
    after = gradients(replace(primal, program=changed), args, wrt, output)
    before = gradients(primal, args, wrt, output)
    assert after.keys() == before.keys()
    assert_same({str(k): v for k, v in after.items()}, {str(k): v for k, v in before.items()}, "differentiated")
    return changed, primal.program


def normal(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)

"""An interpreter of `ir` programs in plain Python over NumPy, as an oracle for the passes.

It is strict where generated code would quietly be wrong: storage starts as NaN, no index may be out of range, a
loop's and a branch's `guards` must tell the truth, the points of a box and the trips of a parallel loop run in a random
order, and what such a loop promises of its trips must hold.
"""

import copy
import inspect
import itertools
import math
from dataclasses import replace

import numpy as np
from scipy import special

from sdfgad.gradient.assemble import assemble
from sdfgad.ir.expr import Const, Int, Op, Read, reads, symbols_of
from sdfgad.ir.program import Call, Compute, Loop
from sdfgad.parse import parse as parsing
from sdfgad.parse.functions.linalg import cholesky_pullback, solve_pullback
from sdfgad.reverse.adjoint import differentiate_program
from tests.helpers import assert_close

COMBINE = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum}
IDENTITY = {"add": 0, "maximum": -np.inf, "minimum": np.inf}
# How an accumulation touches its target. Only sums may meet others at an element in any order.
TOUCHES = {None: ("write",), "add": ("add",), "maximum": ("read", "write"), "minimum": ("read", "write")}

# Operations that are no functions of NumPy or scipy.special.
ELSEWHERE = {
    "fractional": lambda x: np.modf(x)[0],
    "held": lambda x: x,
    "ieee_remainder": math.remainder,
    "later_if_greater": max,
    "later_if_less": min,
    "root_of_squares": np.sqrt,
    "round_decimals": round,
    "sinc_slope": lambda x: (np.cos(np.pi * x) - np.sinc(x)) / x if x else x,
    "trigamma": lambda x: special.polygamma(1, x),
}


def unset(dtype):
    return np.nan if dtype.kind in "fc" else 99


class Touches:
    """What the trips of one run of a parallel loop touch."""

    def __init__(self):
        self.trip, self.kinds = None, {}

    def add(self, place, kinds):
        self.kinds.setdefault(place, {}).setdefault(self.trip, []).extend(kinds)

    def shared(self, loop):
        """The elements that are storage of each trip's own: several trips write them, before they read them.

        All else that one trip writes no other one may touch, unless all of them add to it.
        """
        for place, trips in self.kinds.items():
            if len(trips) > 1 and {kind for kinds in trips.values() for kind in kinds} not in ({"read"}, {"add"}):
                assert all(kinds[0] == "write" for kinds in trips.values()), f"trips of {loop.var} meet at {place}"
                yield place


class Interpreter:
    """Runs a program; afterwards `store` has what each of its buffers holds."""

    def __init__(self, program, inputs, integers=(), seed=0):
        self.program, self.env, self.rng = program, dict(integers), np.random.default_rng(seed)
        self.watched = []
        self.store = {name: np.array(value) for name, value in inputs.items()}
        assert set(self.store) == set(program.inputs)
        assert set(self.env) == set(program.integers)
        with np.errstate(all="ignore"):
            for name, buffer in program.buffers.items():
                shape = tuple(max(self.form(extent), 0) for extent in buffer.shape)
                if name in self.store:
                    assert (self.store[name].shape, self.store[name].dtype) == (shape, buffer.dtype), name
                else:
                    self.store[name] = np.full(shape, unset(buffer.dtype), buffer.dtype)
            self.block(program.body)

    @property
    def outputs(self):
        return {name: self.store[buffer] for name, buffer in self.program.outputs.items()}

    def block(self, block):
        for statement in block:
            if isinstance(statement, Compute):
                self.compute(statement)
            elif isinstance(statement, Call):
                self.call(statement)
            elif isinstance(statement, Loop):
                self.loop(statement)
            else:
                holds = bool(self.value(statement.condition))
                assert not statement.guards or holds == self.all_hold(statement.guards)
                self.block(statement.then if holds else statement.orelse)

    def loop(self, loop):
        if loop.is_open:
            self.loop_while(loop)
            return
        start = self.form(loop.start)
        trips = range(start, start + self.form(loop.trips))
        # The guards of an open loop, and of its mirror image, cannot tell where it ends.
        may_be_open = loop.backward and reads(Int(loop.trips))
        for trip in (-1,) if may_be_open else (-1, len(trips)):
            self.env[loop.var] = trip
            assert not loop.guards or not self.all_hold(loop.guards), f"the guards of {loop.var} hold outside of it"
        if loop.is_parallel:
            trips = list(trips)
            self.rng.shuffle(trips)
            self.watched.append(Touches())
        for trip in reversed(trips) if loop.backward else trips:
            self.env[loop.var] = trip
            assert self.all_hold(loop.guards), f"the guards of {loop.var} do not hold in it"
            if loop.is_parallel:
                self.watched[-1].trip = trip
            self.block(loop.body)
        self.env.pop(loop.var, None)
        if loop.is_parallel:
            self.forget(self.watched.pop().shared(loop))

    def touch(self, buffer, place, *kinds):
        for touches in self.watched:
            touches.add((buffer, place), kinds)

    def forget(self, places):
        for buffer, place in places:
            self.store[buffer][place] = unset(self.store[buffer].dtype)

    def loop_while(self, loop):
        assert not loop.is_parallel
        trip = 0
        while trip < self.form(loop.trips):
            self.env[loop.var] = trip
            assert self.all_hold(loop.guards), f"the guards of {loop.var} do not hold in it"
            self.block(loop.body)
            trip += 1
        assert self.form(loop.trips) == trip
        self.env.pop(loop.var, None)

    def call(self, call):
        """A library function, by NumPy; the extra output of one that may fail says that it did not."""
        found = LIBRARY[call.name](*(self.store[whole.buffer] for whole in call.inputs), *call.sizes)
        found = found if isinstance(found, tuple) else (found,)
        for kind, wholes in (("read", call.inputs), ("write", call.outputs)):
            for whole in wholes:
                for place in np.ndindex(self.store[whole.buffer].shape):
                    self.touch(whole.buffer, place, kind)
        for whole, value in zip(call.outputs, (*found, 0)[: len(call.outputs)], strict=True):
            self.store[whole.buffer][...] = value

    def compute(self, statement):
        points = list(itertools.product(*(range(self.form(extent)) for _, extent in statement.params)))
        self.rng.shuffle(points)
        written, kind, target = set(), statement.accumulate, self.store[statement.target.buffer]
        if statement.fresh:
            self.clear(statement)
        for point in points:
            self.env |= zip((name for name, _ in statement.params), map(int, point), strict=True)
            place = self.place(statement.target.buffer, statement.target.index)
            is_first = place not in written
            written.add(place)
            value = self.value(statement.value)
            assert value.dtype == target.dtype, statement
            assert kind or is_first, f"an element is assigned twice by {statement}"
            self.touch(statement.target.buffer, place, *TOUCHES[kind])
            target[place] = COMBINE[kind](target[place], value) if kind else value

    def clear(self, statement):
        """Clears all targets of an accumulation, also those to which no point contributes."""
        own = [
            (name, extent) for name, extent in statement.params if name in symbols_of(*map(Int, statement.target.index))
        ]
        identity = Const(IDENTITY[statement.accumulate], statement.value.dtype)
        self.compute(replace(statement, params=tuple(own), value=identity, accumulate=None, fresh=False))

    def place(self, buffer, index):
        place, shape = tuple(map(self.form, index)), self.store[buffer].shape
        assert len(place) == len(shape), buffer
        assert all(0 <= i < extent for i, extent in zip(place, shape, strict=True)), f"{buffer}{place} of {shape}"
        return place

    def form(self, lin):
        return lin.const + sum(c * int(self.env[a] if isinstance(a, str) else self.value(a)) for a, c in lin.terms)

    def all_hold(self, forms):
        return all(self.form(form) >= 0 for form in forms)

    def value(self, node):
        if isinstance(node, Const):
            return node.dtype.type(node.value)
        if isinstance(node, Int):
            return np.int64(self.form(node.value))
        if isinstance(node, Read):
            place = self.place(node.buffer, node.index)
            self.touch(node.buffer, place, "read")
            return self.store[node.buffer][place]
        assert isinstance(node, Op)
        if node.name == "select":
            return self.value(node.args[1 if self.value(node.args[0]) else 2])
        args = [self.value(arg) for arg in node.args]
        if node.name == "complex":
            return node.dtype.type(complex(*args))
        if node.name == "cast":
            return args[0].astype(node.dtype)
        if node.name == "wrap":
            index, extent = args
            return np.int64(min(max(index + extent if index < 0 else index, 0), extent - 1))
        function = ELSEWHERE.get(node.name) or getattr(np, node.name, None) or getattr(special, node.name)
        return np.asarray(function(*args)).astype(node.dtype)[()]


def fourier(x, batch, n, sign):
    return np.fft.fft(x) if sign < 0 else np.fft.ifft(x) * n


def nonzero(mask, size):
    found = np.flatnonzero(mask)
    return np.pad(found, (0, size - found.size)), found.size


LIBRARY = {
    "solve": lambda a, b, *_: np.linalg.solve(a, b),
    "solve_pullback": lambda a, b, bar, *_: solve_pullback(a, b, bar),
    "inverse": lambda a, *_: np.linalg.inv(a),
    "regular": lambda a, *_: np.linalg.inv(a) is None or (),
    "pseudo_inverse": lambda a, *_: np.linalg.pinv(a),
    "determinant": lambda a, *_: np.linalg.det(a),
    "sign_log_determinant": lambda a, *_: tuple(np.linalg.slogdet(a)),
    "cholesky": lambda a, *_: np.linalg.cholesky(a),
    "cholesky_pullback": lambda low, bar, *_: cholesky_pullback(low, bar),
    "qr": lambda a, *_: tuple(np.linalg.qr(a)),
    "singular_values": lambda a, *_: tuple(np.linalg.svd(a, full_matrices=False)),
    "symmetric_eigen": lambda a, _batch, _n, is_upper: tuple(np.linalg.eigh(a, "U" if is_upper else "L")),
    "fourier": fourier,
    "argsort": lambda a, *_: np.argsort(a, kind="stable"),
    "nonzero": nonzero,
    "searchsorted": lambda a, v, n, m, right: np.searchsorted(a, v, "right" if right else "left"),
}


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
    return parsing.parse(function, {name: kind_of(v) for name, v in zip(names, args, strict=True)}, constant)


def parsed_without(monkeypatch, name, function, *args):
    """The `Primal` that the parser makes if one of its passes does nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(parsing, name, lambda program: program)
        return parsed(function, *args)


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


def symbols_of_shape(shape):
    return {symbol for extent in shape for symbol in symbols_of(Int(extent))}


def evaluated_gradients(primal, made, cotangent, *args, passes=(), seed=0):
    """The output's value, and the gradients by argument name, that a gradient program computes."""
    arrays, integers = inputs_of(primal, *args)
    dtype = made.program.buffers[made.cotangent].dtype
    if made.counting is not None:
        totals = set(made.totals)
        known = {n: b for n, b in made.counting.buffers.items() if not totals & symbols_of_shape(b.shape)}
        counted = Interpreter(replace(made.counting, buffers=known), arrays, integers).store
        integers = integers | {symbol: int(counted[buffer]) for symbol, buffer in made.totals.items()}
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


def assert_slope(program, *args, output="return", tolerance=1e-6, step=1e-6, seed=5):
    """The gradients, complex ones too, agree with a central difference along a random direction."""
    rng = np.random.default_rng(seed)
    primal = parsed(program, *copy.deepcopy(args))
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

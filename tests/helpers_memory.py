"""Gradients with values made again and states kept, at random, against those that keep everything."""

import copy
import random
from dataclasses import dataclass, replace

import numpy as np

from sdfgad.analysis.model import numbered
from sdfgad.explain.interpreter import counts_of
from sdfgad.gradient.assemble import assemble
from sdfgad.gradient.checkpoints import can_checkpoint
from sdfgad.gradient.counting import is_counted
from sdfgad.ir.program import Loop
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.memory.accounting import Accountant
from sdfgad.memory.loop_choices import inner_choices
from sdfgad.optimise.passes import optimise
from sdfgad.plan.machine import Machine
from sdfgad.plan.segments import Segments
from sdfgad.planning.layout import Sizes
from sdfgad.reverse.save_points import enclosing_loops
from tests.helpers_ir import (
    Interpreter,
    adjoint_of,
    as_python_runs,
    inputs_of,
    parsed,
)

MACHINE = Machine(1e10, 1e11, 1 << 20, 1e-10, 1e10, 1e8, 1e10, 1e-8)
LENGTHS, SLOTS = (1, 1, 2, 3, 4, 50), (1, 1, 2, 3, 50)


@dataclass(frozen=True)
class Choice:
    """What is made again, and for each kept loop, by number, the segments' length and the slots."""

    recomputes: tuple
    segments: dict

    def __str__(self):
        return f"again {[(sorted(a.buffers), a.members) for a in self.recomputes]}, kept {self.segments}"


@dataclass
class Case:
    """A program to differentiate at given arguments."""

    primal: object
    adjoint: object
    names: tuple
    output: str
    args: tuple

    def program(self, choice):
        adjoint = self.adjoint.recomputing(choice.recomputes) if choice.recomputes else self.adjoint
        return assemble(adjoint, self.names, self.output, tuple(choice.segments))

    def sizes(self, made):
        """The run-time integers, and the trips that are counted."""
        arrays, integers = inputs_of(self.primal, *copy.deepcopy(self.args))
        return Sizes(integers, counts_of(made, arrays, integers))

    def passed(self, made, choice, sizes):
        """The tables of a program with these kept loops, and all its integers."""
        arrays, numbers = {}, dict(sizes.integers)
        for number, checkpoint in made.checkpoints.items():
            segments = Segments(sizes.trips_of(checkpoint.loop), *choice.segments[number])
            forward, reverse = segments.forward(), segments.reverse()
            arrays |= {checkpoint.forward.name: forward, checkpoint.reverse.name: reverse}
            values = (segments.length, segments.slots, len(forward), len(reverse))
            numbers |= dict(zip(checkpoint.integers, values, strict=True))
        return arrays, numbers | made.slots(numbers, sizes.trips)

    def run(self, choice, cotangent=None, seed=0, passes=(), more=0):
        """The output's value and the gradients that a choice leads to, with tables for `more` trips than are made."""
        made, sizes = self.program(choice), self.sizes(self.program(choice))
        sizes = replace(sizes, trips={name: count + more for name, count in sizes.trips.items()})
        tables, integers = self.passed(made, choice, sizes)
        arrays, _ = inputs_of(self.primal, *copy.deepcopy(self.args))
        buffer = made.program.buffers[made.cotangent]
        cotangent = cotangent_for(buffer) if cotangent is None else cotangent
        program = made.program
        for one in passes:
            program = one(program)
        with np.errstate(all="ignore"):
            run = Interpreter(program, arrays | tables | {made.cotangent: cotangent}, integers, seed)
        return run.store[made.value], {name: run.store[bar] for name, bar in made.gradients.items()}


def cotangent_for(buffer):
    rng, shape = np.random.default_rng(1), tuple(extent.const for extent in buffer.shape)
    value = rng.normal(size=shape) + (1j * rng.normal(size=shape) if buffer.dtype.kind == "c" else 0)
    return np.asarray(value, buffer.dtype)


def case_of(function, args, output=None, wrt=None):
    """The case, for the first output unless another is named; integers that decide a size are constants."""
    constant = set()
    while True:
        try:
            return _case(parsed(function, *copy.deepcopy(args), constant=constant), args, output, wrt)
        except NeedsConstant as need:
            constant |= need.symbols


def _case(primal, args, output, wrt):
    program = primal.program
    if output is None:
        output = next(o for o, b in program.outputs.items() if program.buffers[b].is_floating)
    wrt = [n for n, b in primal.inputs.items() if program.buffers[b].is_floating] if wrt is None else wrt
    adjoint = adjoint_of(primal, wrt, output)
    names = tuple(primal.inputs[name] for name in wrt)
    assemble(adjoint, names, output)
    return Case(primal, adjoint, names, output, args)


@dataclass
class Options:
    """What there is to choose: values of the outermost block, of inner ones, pairs of these that exclude each other,
    and loops of which states may be kept, those with trips that are data around them being kept, too."""

    outer: list
    inner: list
    conflicts: list
    loops: list
    needs: dict

    def draw(self, rng, share):
        inner = [k for k in range(len(self.inner)) if rng.random() < share]
        for pair in self.conflicts:
            if set(pair) <= set(inner):
                inner.remove(rng.choice(pair))
        recomputes = [a for a in self.outer if rng.random() < share] + [self.inner[k] for k in inner]
        loops = [n for n in self.loops if rng.random() < share]
        loops = [n for n in loops if self.needs[n] <= set(loops)]
        return Choice(tuple(recomputes), {n: (rng.choice(LENGTHS), rng.choice(SLOTS)) for n in loops})


def options_of(case):
    made = case.program(Choice((), {}))
    inner = inner_choices(case.adjoint)
    accountant = accountant_of(case, made, inner)
    return Options(
        list(accountant.outer),
        list(inner.recomputes),
        list(inner.conflicts),
        keepable(case.adjoint),
        needed(case.adjoint),
    )


def accountant_of(case, made, inner=None):
    """The accountant of a program that stores everything."""
    sizes, inner = case.sizes(made), inner or inner_choices(case.adjoint)
    return Accountant(case.adjoint, made, inner, sizes.of(made), MACHINE, sizes.trips)


def needed(adjoint):
    """By number, the loops around each one whose trips are data."""
    around = enclosing_loops(adjoint.primal.body)
    return {n: {k for k, loop in loops if is_counted(loop)} for n, loops in enumerate(around)}


def keepable(adjoint):
    """The loops that the accounts would let be kept, also those of one trip or none."""
    statements, loops = numbered(adjoint.primal.body), enclosing_loops(adjoint.primal.body)
    recomputes = {n for a in adjoint.recomputable for m in a.members for n in range(m, m + statements[m].size + 1)}
    return [
        number
        for number, loop in enumerate(statements)
        if isinstance(loop, Loop)
        and number not in recomputes
        and can_checkpoint(loop, loops[number], adjoint.primal.integers)
        and any(number < n <= number + loop.size for n, _ in adjoint.residuals)
    ]


def choices_for(options, trials, seed=0):
    """Everything at once, each kind alone, and random ones."""
    rng = random.Random(seed)
    everything = options.draw(rng, 2.0)
    found = [
        everything,
        Choice(everything.recomputes, {}),
        Choice((), everything.segments),
        *(options.draw(rng, rng.choice([0.3, 0.5, 0.8])) for _ in range(trials)),
    ]
    distinct = {(c.recomputes, tuple(c.segments.items())): c for c in found if c.recomputes or c.segments}
    return list(distinct.values())


def tolerance_of(dtype):
    return 1e-12 if dtype.itemsize // (2 if dtype.kind == "c" else 1) == 8 else 3e-5


def assert_equal(found, expected, what):
    assert found.shape == expected.shape, what
    assert np.isfinite(expected).all(), f"the oracle itself is not finite: {what}"
    scale = np.max(np.abs(expected), initial=0)
    error = np.max(np.abs(found - expected), initial=0)
    assert error <= tolerance_of(expected.dtype) * scale, f"{what}: {found} instead of {expected}"


def check_memory(function, args, trials=5, seed=0, output=None, wrt=None):
    """All choices have the value and the gradients of the program that keeps everything. Returns their number."""
    case = case_of(function, args, output, wrt)
    value, gradients = case.run(Choice((), {}))
    assert_value(function, case, value)
    choices = choices_for(options_of(case), trials, seed)
    for k, choice in enumerate(choices):
        try:
            found, mine = case.run(choice, seed=k, passes=(optimise,) if k % 2 else (), more=k % 3)
            assert_equal(found, value, "value")
            for name, expected in gradients.items():
                assert_equal(mine[name], expected, name)
        except Exception as error:
            error.add_note(f"choice {k}: {choice}")
            raise
    return len(choices)


def assert_value(function, case, value):
    """Python computes the same value."""
    returned, arrays = as_python_runs(function, *case.args)
    expected = returned
    if case.output != "return":
        expected = returned[int(case.output[7:-1])] if case.output.startswith("return[") else arrays[case.output]
    tolerance = 1e-3 if tolerance_of(value.dtype) > 1e-9 else 1e-9
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


# --- random programs


class Maker:
    """Makes a program of arrays u, v, d, e (5 elements), a matrix m, scalars s, r and an integer k from a seed."""

    def __init__(self, seed):
        self.rng, self.fuel, self.counters = random.Random(seed), 16, []

    def text(self):
        starts = ["u = x * 1.0", "v = y * 1.0", "d = np.zeros(5)", "e = x * y", "m = np.zeros((3, 5))", "m[1] = y"]
        starts += ["s = 0.5", "r = x[1]", "k = 1", "i = idx * 1"]
        body = [line for _ in range(self.rng.randint(2, 5)) for line in self.statement(1)]
        if not any("for " in line for line in body):
            body += self.for_loop(1)
        result = self.rng.choice(["u * v + s", "np.sum(u * d) + r", "np.sum(u * e) * s", "np.sum(m) + np.sum(u)", "v"])
        lines = [*(f"    {line}" for line in starts), *body, f"    return {result}"]
        return "\n".join(["import numpy as np", "def program(x, y, idx, n):", *lines, ""])

    def statement(self, depth):
        self.fuel -= 1
        r = self.rng.random()
        if self.fuel < 0 or depth > 4 or r < 0.6:
            return ["    " * depth + line for line in self.simple()]
        if r < 0.88 and len(self.counters) < 3:
            return self.for_loop(depth)
        if r < 0.91 and len(self.counters) < 2:
            return self.while_loop(depth)
        return self.branch(depth)

    def block(self, depth, size):
        return [line for _ in range(self.rng.randint(1, size)) for line in self.statement(depth)]

    def for_loop(self, depth):
        counter = "tabc"[len(self.counters)]
        outer = [f"range({c})" for c in self.counters] + [f"range({c}, 3)" for c in self.counters]
        trips = self.rng.choice(["range(n)", "range(n)", "range(3)", "range(1, 4)", "range(3, 0, -1)", *outer])
        self.counters.append(counter)
        body = [line for _ in range(self.rng.randint(2, 5)) for line in self.statement(depth + 1)]
        if self.rng.random() < 0.06:
            body += [
                "    " * (depth + 1) + f"if s > {self.rng.choice(['0.4', '0.9'])}:",
                "    " * (depth + 2) + "break",
            ]
        self.counters.pop()
        return ["    " * depth + f"for {counter} in {trips}:", *body]

    def while_loop(self, depth):
        pad, counter = "    " * depth, f"w{depth}"
        head = [f"{pad}{counter} = 0", f"{pad}while {counter} < 3 and s < 2.0:", f"{pad}    {counter} += 1"]
        return [*head, *self.block(depth + 1, 3)]

    def branch(self, depth):
        tests = ["u[1] > 0.3", "s > 0.4", "r * v[2] > 0.1", "k == 1"]
        tests += [f"{c} {test}" for c in self.counters for test in ("== 0", "% 2 == 0", "> 1")]
        lines = ["    " * depth + f"if {self.rng.choice(tests)}:", *self.block(depth + 1, 3)]
        if self.rng.random() < 0.5:
            lines += ["    " * depth + "else:", *self.block(depth + 1, 3)]
        return lines

    def array(self):
        return self.rng.choice(["u", "v", "d", "e"])

    def scalar(self):
        element = f"{self.array()}[{self.index()}]"
        return self.rng.choice(["s", "r", "0.3", element, element, f"m[{self.rng.randint(0, 2)}, {self.index()}]"])

    def index(self):
        return self.rng.choice(["0", "1", "4", "k", f"i[{self.rng.randint(0, 4)}]", *self.counters])

    def whole(self):
        """An array's new value; many are linear, and read what nothing else asks for."""
        a, b, c = self.array(), self.array(), self.scalar()
        row = f"m[{self.rng.randint(0, 2)}]"
        return self.rng.choice(
            [
                f"np.sin({a})",
                f"np.cos({a} * {b})",
                f"0.5 * {a} + 0.4 * {b}",
                f"{a} * 0.9",
                f"np.sin({a} + {c}) * {b}",
                f"np.tanh({a} * {b} + {row})",
                f"0.3 * {row} - {c} * 0.5 + {a} * 0.1",
                f"np.where({a} > 0.2, {b}, 0.5 * {a})",
                f"{a}[i] * 0.8",
                f"np.sin(m @ {a}).sum() * 0.1 + 0.5 * {b}",
            ]
        )

    def simple(self):
        a, b, q = self.array(), self.array(), self.rng.choice("sr")
        low = self.rng.choice(["", "1", "2", *self.counters])
        part = f"{low}:"
        row = self.rng.choice(["0", "2", *(c for c in self.counters if c == "t")])
        kinds = [
            [f"{a} = {self.whole()}"],
            [f"{a} = {self.whole()}"],
            [f"{a}[:] = {self.whole()}"],
            [f"{a}[{part}] = ({self.whole()})[{part}]"],
            [f"{a}[{part}] *= {self.rng.choice(['0.7', f'np.cos({b})[{part}]', '0.5 + 0.1 * s'])}"],
            [f"{a}[1:-1] += 0.2 * {b}[2:] * {self.array()}[:-2]", f"{a} *= 0.8"],
            [f"{a}[{self.index()}] = np.sin({self.scalar()} + {self.scalar()})"],
            [f"{a}[{self.index()}] = 0.6 * {self.scalar()} * {self.scalar()}"],
            [f"{q} = 0.1 * np.sum({a} * {b}) + 0.5 * {self.scalar()}"],
            [f"{q} = np.sin({self.scalar()}) * {self.scalar()}"],
            [f"{a}, {b} = {b}, {a}"] if a != b else [f"{a} = -0.5 * {a}"],
            [f"{a} = np.zeros(5)", f"{a}[1:4] = np.sin({b if b != a else 'x'})[1:4]"],
            [f"{q} = {self.scalar()}", f"{a} = np.empty(5)", f"{a}[::2] = np.sin(x)[::2]", f"{a}[1::2] = {q}"],
            [f"m[{row}] = {self.whole()}" if row != "t" else f"m[t % 3] = {self.whole()}"],
            ["m[1:] = 0.5 * m[:-1] * m[1:] + 0.1"],
            [f"k = (k + {self.rng.randint(1, 3)}) % 5"],
            ["i[:] = (i + 1) % 5"],
            [f"i[{self.rng.randint(0, 4)}] = k"],
            [f"{a}[i] = 0.9 * {b if b != a else 'y'}"] if self.rng.random() < 0.3 else [f"{a} = {b} * {a} * 0.9"],
            [f"{q} = np.max({a})"],
        ]
        return self.rng.choice(kinds)

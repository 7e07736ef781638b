"""Which state a loop must keep, which loops can, and what a segment's tapes and states look like."""

import itertools
import warnings

import numpy as np
import pytest

from sdfgad.analysis.model import numbered
from sdfgad.errors import SdfgadError
from sdfgad.gradient.assemble import assemble
from sdfgad.gradient.checkpoints import can_checkpoint, carried
from sdfgad.ir.expr import Const
from sdfgad.ir.program import Compute, Loop, buffers_of, walk
from sdfgad.reverse.save_points import enclosing_loops
from tests.helpers import module_from
from tests.helpers_ir import adjoint_of, parsed
from tests.helpers_memory import Choice, Maker, assert_equal, case_of, check_memory, keepable
from tests.helpers_tiers import some

X, Y, N = np.linspace(0.3, 1.1, 5), np.linspace(0.5, 1.3, 5), 5
IDX = np.array([2, 0, 4, 1, 3])


def state_of(program, *args):
    """For each loop that can be kept, outer first: the first lines that write what is in its state."""
    adjoint = adjoint_of(parsed(program, *(args or (X, Y, N))))
    return [_state(adjoint, number) for number in keepable(adjoint)]


def _state(adjoint, number):
    statements, loops = numbered(adjoint.primal.body), enclosing_loops(adjoint.primal.body)
    first = {}
    for s in statements:
        if isinstance(s, Compute):
            first.setdefault(s.target.buffer, s.where.text.strip() if s.where else "")
    return {first[name] for name in carried(adjoint, number, statements[number], loops[number])}


def test_what_one_trip_leaves_for_the_next():
    def program(x, y, n):
        u = x * 1.0
        s = y[0]
        for _ in range(n):
            d = np.sin(u) * s
            s = np.sum(d)
            u = d * y
        return np.sum(u)

    assert state_of(program) == [{"u = x * 1.0", "s = y[0]"}]


def test_a_temporary_of_each_trip_is_no_state():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.zeros(5)
            d[1:] = u[:-1]
            u = np.sin(d) * u
        return np.sum(u)

    assert state_of(program) == [{"u = x * 1.0"}]


def test_a_border_from_before_the_loop_is():
    def program(x, y, n):
        u = x * 1.0
        d = y * 2.0
        for _ in range(n):
            d[1:] = u[:-1]
            u = np.sin(d) * u
        return np.sum(u)

    assert state_of(program) == [{"u = x * 1.0", "d = y * 2.0"}]


def test_what_is_only_read_is_none():
    def program(x, y, n):
        c = np.sin(y)
        u = x * 1.0
        for _ in range(n):
            u = np.sin(u) * c
        return np.sum(u)

    assert state_of(program) == [{"u = x * 1.0"}]


def test_what_is_only_read_is_if_it_is_overwritten_later():
    def program(x, y, n):
        c = y * 3.0
        u = x * 1.0
        for _ in range(n):
            u = np.sin(u) + c
        c *= 2.0
        return np.sum(u * c)

    assert state_of(program) == [{"u = x * 1.0", "c = y * 3.0"}]


def test_it_is_none_where_the_reverse_sweep_puts_it_back():
    def program(x, y, n):
        c = y * 3.0
        u = x * 1.0
        for _ in range(n):
            u = np.sin(u) * c
        c *= u
        return np.sum(u * c)

    assert state_of(program) == [{"u = x * 1.0"}]


def test_an_outer_loop_s_update_of_what_an_inner_one_only_reads():
    def program(x, y, n):
        c = y * 3.0
        u = x * 1.0
        for _ in range(n):
            for _ in range(3):
                u = np.sin(u) + c
            c *= 0.5
        return np.sum(u * c)

    both = {"u = x * 1.0", "c = y * 3.0"}
    assert state_of(program) == [both, both]


def test_values_from_before_that_only_the_loop_overwrites():
    def program(x, y, n):
        w = x * 1.0
        z = np.sin(w)
        u = y * 1.0
        for _ in range(n):
            for _ in range(3):
                w[:] = u
                u = np.sin(u) * w
        return np.sum(u * z)

    both = {"u = y * 1.0", "w = x * 1.0"}
    assert state_of(program) == [both, both]


def test_no_argument_and_no_status_is_in_a_state():
    def program(x, idx, n):
        u = x * 1.0
        for k in range(n):
            u[idx[k]] = np.sin(u[idx[k]]) * x[k]
        return np.sum(u * u)

    adjoint = adjoint_of(parsed(program, X, IDX, N))
    (number,) = keepable(adjoint)
    statements, loops = numbered(adjoint.primal.body), enclosing_loops(adjoint.primal.body)
    assert carried(adjoint, number, statements[number], loops[number]) == ("u",)


# --- which loops


def test_trips_that_are_data():
    """Only those of the outermost loop may be data, which is counted, and of loops inside, which are stored."""

    def program(x, y, n):
        u, s = x * 1.0, 1.0
        for _ in range(n):
            while s < 3.0:
                s = s * 1.5
                for _ in range(2):
                    u = np.sin(u) * s
        while s < 9.0:
            s = s * 1.5
            for _ in range(2):
                u = u * s
        return np.sum(u)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    statements, loops = numbered(adjoint.primal.body), enclosing_loops(adjoint.primal.body)
    integers = adjoint.primal.integers
    found = [can_checkpoint(s, loops[k], integers) for k, s in enumerate(statements) if isinstance(s, Loop)]
    # Around the loop, it itself, the one inside it, the outermost one after it, and the one inside that.
    assert found == [True, False, False, True, True]


def test_an_inner_loop_is_refused_in_a_triangular_nest():
    def program(x, y, n):
        u = x * 1.0
        for t in range(n):
            for _ in range(t):
                for _ in range(2):
                    u = np.sin(u) * y
        return np.sum(u)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    statements = numbered(adjoint.primal.body)
    found = [statements[number].where.text.strip() for number in keepable(adjoint)]
    assert found == ["for t in range(n):"]


# --- shapes


def nest(x, y, n):
    u = x * 1.0
    for _ in range(n):
        for _ in range(4):
            v = np.sin(u)
            for _ in range(3):
                u = np.cos(u) * v
    return np.sum(u)


def shapes(keeping):
    """Of each tape of the nest, by how many loops are around it, and of the states, outermost loop first."""
    adjoint = adjoint_of(parsed(nest, X, Y, N))
    loops = [n for n, s in enumerate(numbered(adjoint.primal.body)) if isinstance(s, Loop)]
    names = tuple(adjoint.primal.inputs[:1])
    made = assemble(adjoint, names, "return", [loops[k] for k in keeping])
    tapes = {len(adjoint.residuals[key].loops): _shape(made, name) for key, name in made.tapes.items()}
    states = [[_shape(made, b.name) for b, _ in checkpoint.states.values()] for checkpoint in made.checkpoints.values()]
    return tapes, states


def _shape(made, name):
    numbers = {}
    for k, checkpoint in enumerate(made.checkpoints.values()):
        numbers |= {checkpoint.segment: f"segment {k}", checkpoint.slots: f"slots {k}"}
    return tuple(
        extent.const if not extent.terms else numbers.get(extent.terms[0][0], extent.terms[0][0])
        for extent in made.program.buffers[name].shape
    )


def test_tapes_without_segments():
    tapes, states = shapes([])
    assert tapes == {2: ("n", 4, 5), 3: ("n", 4, 3, 5)}
    assert states == []


def test_the_outermost_loop_in_segments():
    tapes, states = shapes([0])
    assert tapes == {2: ("segment 0", 4, 5), 3: ("segment 0", 4, 3, 5)}
    assert states == [[("slots 0", 5)]]


def test_only_axes_inside_the_loop_are_left():
    tapes, states = shapes([1])
    assert tapes == {2: ("segment 0", 5), 3: ("segment 0", 3, 5)}
    assert states == [[("n", "slots 0", 5)]]


def test_a_tape_outside_an_inner_loop_in_segments_is_whole():
    tapes, states = shapes([2])
    assert tapes == {2: ("n", 4, 5), 3: ("segment 0", 5)}
    assert states == [[("n", 4, "slots 0", 5)]]


def test_segments_in_segments():
    tapes, states = shapes([0, 2])
    assert tapes == {2: ("segment 0", 4, 5), 3: ("segment 1", 5)}
    assert states == [[("slots 0", 5)], [("segment 0", 4, "slots 1", 5)]]
    tapes, states = shapes([0, 1, 2])
    assert tapes == {2: ("segment 1", 5), 3: ("segment 2", 5)}
    assert states == [[("slots 0", 5)], [("segment 0", "slots 1", 5)], [("segment 1", "slots 2", 5)]]


def test_trips_that_vary_with_an_outer_loop_have_an_axis_of_the_most():
    def program(x, y, n):
        u = x * 1.0
        for t in range(n):
            for j in range(t):
                for _ in range(n - j):
                    u = np.sin(u) * y
        return np.sum(u)

    case = case_of(program, (X, Y, 4))
    made = case.program(Choice((), dict.fromkeys(keepable(case.adjoint), (2, 2))))
    (tape,) = made.tapes.values()
    assert _shape(made, tape) == ("segment 0", "n", "n", 5)


# --- all numbers


@pytest.mark.parametrize("trips", [0, 1, 2, 5, 7])
def test_all_numbers_of_trips_lengths_and_slots(trips):
    def program(x, y, n):
        u, c = x * 1.0, y * 0.5
        for _ in range(n):
            d = np.sin(u)
            u = d * d + c
        c *= 2.0
        return np.sum(u * c)

    case = case_of(program, (X[:2], Y[:2], trips))
    (number,) = keepable(case.adjoint)
    value, gradients = case.run(Choice((), {}))
    for length, slots in itertools.product((1, 2, 3, 4, 8), (1, 2, 3, 4, 9)):
        found, mine = case.run(Choice((), {number: (length, slots)}))
        assert_equal(found, value, "value")
        for name in gradients:
            assert_equal(mine[name], gradients[name], f"{name}, segments of {length}, {slots} slots")


def test_one_compiled_program_serves_all_segments():
    """Lengths and slots are numbers that are passed: nothing of the program depends on them."""
    case = case_of(nest, (X, Y, 3))
    loops = keepable(case.adjoint)
    first, second = (case.program(Choice((), dict.fromkeys(loops, numbers))) for numbers in ((1, 2), (3, 50)))
    assert first == second


# --- adjoints


@pytest.mark.parametrize("keeping", [[], [0], [2], [0, 1, 2]])
def test_each_adjoint_is_cleared_once_and_before_its_first_use(keeping):
    adjoint = adjoint_of(parsed(nest, X, Y, N))
    loops = [n for n, s in enumerate(numbered(adjoint.primal.body)) if isinstance(s, Loop)]
    for recomputes in ([], adjoint.recomputable):
        if recomputes and keeping:
            continue
        made = assemble(
            adjoint.recomputing(recomputes), adjoint.primal.inputs[:1], "return", [loops[k] for k in keeping]
        )
        for bar in adjoint.bars.values():
            mentions = [s for s in made.program.body if bar in _mentioned(s)]
            clears = [s for s in mentions if isinstance(s, Compute) and s.target.buffer == bar and _is_clear(s, made)]
            assert mentions[0] is clears[0]


def _mentioned(statement):
    return {name for s in walk((statement,)) for name in buffers_of(s)}


def _is_clear(statement, made):
    whole = made.program.buffers[statement.target.buffer].shape
    is_zero = isinstance(statement.value, Const) and statement.value.value == 0
    return is_zero and statement.accumulate is None and tuple(e for _, e in statement.params) == whole


# --- programs at random

ARGS = (X, Y, IDX)


class MakerOfOpenLoops(Maker):
    """Makes programs many of whose loops end by what they compute."""

    def statement(self, depth):
        if self.fuel > 0 and depth < 4 and len(self.counters) < 3 and self.rng.random() < 0.2:
            self.fuel -= 1
            return self.while_loop(depth)
        return super().statement(depth)

    def for_loop(self, depth):
        lines, pad = super().for_loop(depth), "    " * (depth + 1)
        if self.rng.random() < 0.4:
            test = self.rng.choice(["s > 0.9", "r * v[2] > 0.5", "u[1] < -0.1"])
            lines += [f"{pad}if {test}:", f"{pad}    break"]
        return lines

    def while_loop(self, depth):
        pad, w = "    " * depth, f"w{depth}"
        tests = [f"{w} < 3 and s < 2.0", f"{w} < 4 + k", f"np.max(u) > 0.2 and {w} < 6", f"{w} < i[k]"]
        head = [f"{pad}{w} = 0", f"{pad}while {self.rng.choice(tests)}:", f"{pad}    {w} += 1"]
        return [*head, *self.block(depth + 1, 3)]


@pytest.mark.parametrize(
    ("maker", "first"),
    some(
        [*((Maker, first) for first in range(0, 36, 6)), *((MakerOfOpenLoops, first) for first in range(0, 18, 6))],
        every=4,
        kind=lambda parameters: parameters[0],
    ),
)
def test_random_programs(maker, first, tmp_path):
    done = 0
    for seed in range(first, first + 6):
        text = maker(seed).text()
        program = module_from(text, tmp_path).program
        try:
            case_of(program, (*ARGS, seed % 5))
        except SdfgadError:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                done += check_memory(program, (*ARGS, seed % 5), trials=2, seed=seed)
        except Exception as error:
            error.add_note(f"seed {seed}\n{text}")
            raise
    assert done > 8

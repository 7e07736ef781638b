"""What the passes for a device do to programs, and that these still compute what they did, in the emulation."""

import numpy as np
import pytest

import sdfgad
from sdfgad.emulated import VARIABLE
from sdfgad.ir.expr import Lin, Op
from sdfgad.ir.program import Access, Buffer, Call, Compute, Loop, Program, computes, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.device.guards import where_below
from sdfgad.optimise.device.place import place
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.compile import source_of_optimised
from sdfgad.schedule.kernels import Form, form_of, private_of

FLOAT = np.dtype(float)


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    """All loops are kernels that can be."""
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)


def placed(function, *args, **options):
    """The optimised gradient program for a device, after a check that it computes what the CPU's does."""
    expected = sdfgad.differentiate(function, device="cpu", **options)(*args)
    g = sdfgad.differentiate(function, device="gpu", **options)
    for name, gradient in expected.items():
        np.testing.assert_allclose(g(*args)[name], gradient, rtol=1e-11, atol=1e-13, err_msg=name)
    return optimise(g.programs(*args)[1])


def sequential(program):
    """The loops that the host runs."""
    loops = [s for s in walk(program.body) if isinstance(s, Loop)]
    kernels = [s for s in loops if form_of(s, program.buffers, private_of(s, program.buffers)) is Form.POINTS]
    inside = {id(one) for kernel in kernels for one in walk(kernel.body)}
    return [s for s in loops if s not in kernels and id(s) not in inside]


def triangle(A, x):
    n = A.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(i + 1):
            total += A[i, j] * x[j]
        A[i, : i + 1] *= 2.0
    return total + np.sum(A * A)


def test_independent_trips_are_boxes(rng):
    program = placed(triangle, rng.normal(size=(7, 7)), rng.normal(size=7))
    assert sequential(program) == []


def convolution(image, weights):
    n, m = image.shape
    k = weights.shape[0]
    out = np.zeros((n - k + 1, m - k + 1))
    for i in range(n - k + 1):
        for j in range(m - k + 1):
            out[i, j] = np.sum(image[i : i + k, j : j + k] * weights)
    return np.sum(np.sin(out))


def test_contributions_that_meet_run_in_different_launches(rng):
    program = placed(convolution, rng.normal(size=(24, 25)), rng.normal(size=(3, 3)))
    assert all(loop.trips.const <= 3 for loop in sequential(program))
    assert not any(name.startswith("largest") for name in program.buffers)
    assert not any(form_of(s, program.buffers) is Form.HOST for s in computes(program.body))


def long_sums(x, A):
    # Beyond the last term nothing may be read, also not what is read twice.
    return (
        np.sum(np.exp(x) * x * x)
        + np.sum(x) ** 2
        + np.max(x) * np.min(x)
        + np.sum(np.sum(A, axis=0) ** 2)
        + np.sum(np.sum(A, axis=1) ** 3)
    )


def test_long_sums_are_sums_of_parts(rng):
    program = placed(long_sums, rng.normal(size=70_001), rng.normal(size=(1031, 9)))
    assert sum(name.startswith("parts") for name in program.buffers) >= 4


def stencil(steps, u):
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])
    return np.sum(u * u)


def test_the_rims_of_a_stencils_adjoint_are_in_one_kernel_with_its_inside(rng):
    program = placed(stencil, 3, rng.normal(size=(12, 13)))
    reverse = [loop for loop in sequential(program) if loop.backward]
    assert reverse
    assert all(len(loop.body) <= 2 for loop in reverse)


def stencil_3d(steps, u):
    for _ in range(steps):
        inner = u[1:-1, 1:-1, 1:-1]
        along = u[2:, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, 2:]
        u[1:-1, 1:-1, 1:-1] = inner + 0.1 * (along + u[:-2, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, :-2])
    return np.sum(u * u)


def test_a_stencils_adjoint_in_three_dimensions_is_one_kernel(rng):
    program = placed(stencil_3d, 3, rng.normal(size=(6, 7, 8)))
    (reverse,) = (loop for loop in sequential(program) if loop.backward)
    assert len(reverse.body) <= 2


def differences(u, c):
    flux = c * (u[1:] - u[:-1])
    return np.sum((flux[1:] - flux[:-1]) ** 2)


def test_boxes_that_cover_all_elements_read_none_of_them(rng):
    """The adjoint of the differences' differences is a number of each thread."""
    program = placed(differences, rng.normal(size=40), rng.normal(size=39))
    reads = {read.buffer for one in computes(program.body) for read in one.read}
    assert not any(one.target.buffer in {r.buffer for r in one.read} for one in computes(program.body)), reads


def wide_trips(x, y):
    for k in range(x.shape[0]):
        row = np.sin(x[k]) * y
        y = y + 0.1 * row
    return np.sum(y)


def test_trips_that_fill_the_device_stay_trips(rng):
    program = placed(wide_trips, rng.normal(size=(2, 1 << 13)), rng.normal(size=1 << 13))
    assert any(isinstance(s, Loop) and not s.is_parallel for s in walk(program.body))


def chain(x, y):
    a = np.exp(x) * y
    b = np.sin(a) + x
    return np.sum(a * b * np.tanh(b))


def test_temporaries_of_points_are_registers(rng):
    program = placed(chain, rng.normal(size=300), rng.normal(size=300))
    arrays = {b.name for b in program.buffers.values() if b.shape and b.name in program.users}
    assert arrays - program.interface == set()


def ordered(A, b):
    for _ in range(2):
        b = b + np.sort(A @ b)
    return np.sum(b * b)


def solved(A, b):
    for _ in range(2):
        b = np.linalg.solve(A, b)
    return np.sum(b * b)


@pytest.mark.parametrize(("function", "is_on_device"), [(ordered, False), (solved, True)])
def test_where_library_functions_run(function, is_on_device, rng):
    """Between copies on the host, if there is none on the device."""
    program = placed(function, rng.normal(size=(6, 6)) + 6 * np.eye(6), rng.normal(size=6))
    calls = [s for s in walk(program.body) if isinstance(s, Call)]
    assert calls
    assert {program.buffers[name].is_on_device for call in calls for name in call.touched} == {is_on_device}


def solved_often(A, b):
    for _ in range(40):
        b = np.linalg.solve(A, b)
        A = A + 0.1 * np.eye(A.shape[0])
    return np.sum(b * b)


def test_small_systems_in_loops_are_solved_on_the_host(rng, monkeypatch):
    monkeypatch.setattr(side, "SECONDS", side.Seconds())
    found = {}
    for n in (3, 200):
        args = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n)
        program = optimise(sdfgad.differentiate(solved_often, device="gpu").programs(*args)[1])
        calls = [s for s in walk(program.body) if isinstance(s, Call)]
        found[n] = {program.buffers[name].is_on_device for call in calls for name in call.touched}
    assert found == {3: {False}, 200: {True}}


def until(x, tolerance):
    steps = 0
    while np.sum(x * x) > tolerance and steps < 50:
        x = x * 0.7
        steps += 1
    return np.sum(x**3)


def test_the_host_reads_conditions_in_each_trip(rng):
    program = placed(until, rng.normal(size=9), 0.01, wrt=None)
    copies = [s for s in computes(program.body) if _is_to_host(s, program)]
    assert copies


def _is_to_host(statement, program):
    is_read = len(statement.read) == 1 and isinstance(statement, Compute)
    source = statement.read[0].buffer if is_read else None
    is_from_device = source is not None and program.buffers[source].is_on_device
    return is_from_device and not program.buffers[statement.target.buffer].is_on_device


def many_short_trips(x):
    for k in range(1, x.shape[0]):
        x[k] = np.sin(x[k - 1]) + x[k]
    return np.sum(x)


def test_loops_of_little_work_run_on_the_host_as_a_whole(rng, monkeypatch):
    x = rng.normal(size=200)
    program = placed(many_short_trips, x)
    targets = [s.target.buffer for loop in sequential(program) for s in computes(loop.body)]
    assert any(program.buffers[name].is_on_device for name in targets)
    monkeypatch.setattr(side, "SECONDS", side.Seconds())
    program = optimise(sdfgad.differentiate(many_short_trips, device="gpu").programs(x)[1])
    loops = sequential(program)
    assert loops
    assert not any(program.buffers[name].is_on_device for loop in loops for name in loop.mentioned)


def steps_until(x, tolerance):
    steps = 0
    while np.sum(x * x) > tolerance and steps < 40:
        for k in range(x.shape[0]):
            x[k] = 0.8 * np.sin(x[k])
        steps += 1
    return np.sum(x**3)


def test_loops_that_write_slots_of_tapes_compute_what_they_did(rng):
    placed(steps_until, rng.normal(size=9), 0.05)


def test_a_number_of_a_parallel_loop_that_is_no_kernel_is_on_the_device():
    """The host runs such a loop, and launches what computes the number."""
    i, p = Lin.symbol("i"), Lin.symbol("p")
    number, row = Access("number"), Access("y", (i, p))
    first = Compute((), number, Access("x", (i,)).read(FLOAT))
    body = (first, Compute((("p", Lin(5)),), row, number.read(FLOAT)))
    loop = Loop.over("i", Lin(4), body, is_parallel=True)
    buffers = {"number": Buffer("number", (), FLOAT), "x": Buffer("x", (Lin(4),), FLOAT)}
    buffers["y"] = Buffer("y", (Lin(4), Lin(5)), FLOAT)
    program = place(Program("rows", buffers, ("x",), (), {"y": "y"}, (loop,), device="gpu"))
    assert form_of(loop, buffers) is Form.HOST
    assert program.buffers["number"].is_on_device


def test_the_host_reads_nothing_beyond_the_last_point():
    """What occurs twice on a side of a choice is computed once, but not before the choice."""
    k = Lin.symbol("k")
    sine = Op("sin", (Access("x", (k,)).read(FLOAT),), FLOAT)
    value = where_below(k, 5, Op("multiply", (sine, sine), FLOAT), "add")
    total = Compute((("k", Lin(8)),), Access("total"), value, "add", fresh=True)
    buffers = {"x": Buffer("x", (Lin(5),), FLOAT), "total": Buffer("total", (), FLOAT)}
    program = Program("total", buffers, ("x",), (), {"total": "total"}, (total,), device="gpu")
    code = source_of_optimised(program).code
    assert "? [&]() -> double { const double v0_ = sdfgad::math::sin(" in code

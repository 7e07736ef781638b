"""What four ranks check together: ``mpiexec -n 4 python -m mpi4py -m tests.messages.on_ranks``."""

import os
import time
from functools import cache

import numpy as np
from mpi4py import MPI

import sdfgad
from sdfgad.api.differentiate import specialised
from sdfgad.messages.host import Message
from tests.messages import programs

WORLD = MPI.COMM_WORLD
HALF = WORLD.Split(WORLD.rank // 2)


def rng_of(comm):
    return np.random.default_rng(comm.rank)


def ready(g, comm, *args):
    """The gradient, compiled on all ranks; the first one compiles for those that run the same program."""
    for is_first in (True, False):
        if (comm.rank == 0) == is_first:
            g.compile(comm, *args)
        wait()
    return g


def wait():
    """A barrier that leaves the processor to others: MPI waits at full speed."""
    request = WORLD.Ibarrier()
    while not request.Test():
        time.sleep(0.01)


def gradient(program, comm, *args, wrt="x", **options):
    return ready(sdfgad.differentiate(program, wrt=wrt, **options), comm, *args)


def slope(comm, program, args, tangents):
    """The derivative of the sum over ranks of what a program returns, by differences of the fourth order."""

    def at(h):
        moved = [x + h * t for x, t in zip(args, tangents, strict=True)]
        return comm.allreduce(program(comm, *moved))

    found = [(8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h) for h in (3e-3, 1e-3)]
    return found[1]


def assert_slope(comm, program, args, rtol=1e-9, **options):
    wrt = tuple(program.__code__.co_varnames[1 : len(args) + 1])
    g = sdfgad.differentiate(program, wrt=wrt, **{"ranks": "sum"} | options)
    value, gradients = g.value_and_grad(comm, *args)
    np.testing.assert_allclose(value, program(comm, *(np.copy(x) for x in args)), rtol=1e-13)
    tangents = [rng_of(comm).standard_normal(np.shape(x)) for x in args]
    dot = comm.allreduce(sum(np.sum(one * t) for one, t in zip(gradients, tangents, strict=True)))
    along = comm.allreduce(g.jvp(comm, *args, tangents=tangents)[1])
    size = comm.size if options.get("ranks") == "same" else 1
    np.testing.assert_allclose(along / size, dot, rtol=1e-12)
    np.testing.assert_allclose(dot, slope(comm, program, args, tangents) / size, rtol=rtol)


# --- decompositions


@cache
def of_one_process(program, wrt):
    return sdfgad.differentiate(program, wrt=wrt)


def alone(program, wrt, *args):
    """Value and gradient by one process, for all."""
    found = of_one_process(program, wrt).value_and_grad(*args) if WORLD.rank == 0 else None
    wait()
    return WORLD.bcast(found)


def check_heat(comm):
    n, steps = 60 * comm.size, 20
    whole = np.random.default_rng(0)
    u, a = 1.0 + whole.random(n + 2), 0.1 * whole.random(n + 2)
    expected_value, expected = alone(programs.heat_alone, ("u", "a"), steps, u, a)
    m = n // comm.size
    mine = slice(comm.rank * m, comm.rank * m + m + 2)
    # The neighbours' rows are read from them alone: their own values have no effect.
    own = slice(comm.rank > 0, m + 2 - (comm.rank < comm.size - 1))
    args = (steps, u[mine].copy(), a[mine].copy())

    def check(**options):
        g = gradient(programs.heat, comm, *args, wrt=("u", "a"), ranks="same", **options)
        value, found = g.value_and_grad(comm, *args)
        np.testing.assert_allclose(value, expected_value, rtol=1e-12)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one[own], other[mine][own], rtol=1e-12, atol=1e-14)
        return g

    # Code is tested against plain code on some ranks alone, and all of them communicate as often.
    os.environ["SDFGAD_CHECK"] = "on" if comm.rank == 0 else "off"
    g = check()
    os.environ["SDFGAD_CHECK"] = "off"
    assert len(set(comm.allgather(library_of(g, comm, *args)))) == 1
    if comm is HALF:
        return
    # Each rank has a limit and a plan of its own.
    free = g.plan(comm, *args).peak_bytes
    limit = free * 3 // 4 if comm.rank % 2 == 0 else free * 2
    limited = check(memory_limit=limit)
    assert limited.measure(comm, *args).peak_bytes <= limited.plan(comm, *args).peak_bytes <= limit
    assert ("are recomputed" in str(limited.plan(comm, *args))) == (comm.rank % 2 == 0)


def library_of(g, *args):
    call, specialisation = specialised(g, args, {})
    return specialisation.built(specialisation.layout(call)).executable.library.key


def check_water(comm):
    rng, shape, steps, dx = np.random.default_rng(1), (2 * comm.size, 6), 3, 0.1
    h, p, q = 1.0 + 0.1 * rng.random(shape), 0.1 * rng.standard_normal(shape), 0.1 * rng.standard_normal(shape)
    expected_value, expected = alone(programs.water_alone, ("h", "p", "q"), steps, h, p, q, dx)
    m = shape[0] // comm.size
    own = slice(comm.rank * m, comm.rank * m + m)
    args = steps, h[own], p[own], q[own], dx
    value, found = gradient(programs.water, comm, *args, wrt=("h", "p", "q"), ranks="same").value_and_grad(comm, *args)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other[own], rtol=1e-12, atol=1e-12 * np.abs(other).max())


# --- each operation, and what is differentiated


def check_everything():
    rng = rng_of(HALF)
    args = rng.random(4), rng.random(4), rng.random()
    if WORLD.rank < 2:
        assert_slope(HALF, programs.everything, args)
    wait()


def check_forward_mode():
    """It has no seed: what is shared needs no word about it."""
    x = rng_of(WORLD).random(3)
    value, along = sdfgad.jvp(lambda x: programs.shared(WORLD, x), (x,), (np.ones(3),))
    total = WORLD.allreduce(2.0 * np.sum(x))
    np.testing.assert_allclose([value, along], [WORLD.allreduce(np.sum(x * x)), total], rtol=1e-14)


def check_complex_numbers():
    z = (rng_of(WORLD).random(3) + 1j * rng_of(WORLD).random(3)).astype(np.complex64)
    for options in ({}, {"accumulate": "float64"}):
        found = gradient(programs.of_complex_numbers, WORLD, z, wrt="z", ranks="same", **options)(WORLD, z)
        everyone = np.stack(WORLD.allgather(z)).astype(np.complex128)
        expected = gradient_of_waves(everyone)[WORLD.rank]
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def gradient_of_waves(z):
    """By hand: of sum |total|^2, total = sum over ranks of z[r - 1]^2 z[r]."""
    before, after = np.roll(z, 1, axis=0), np.roll(z, -1, axis=0)
    total = np.sum(before**2 * z, axis=0)
    return 2.0 * total * np.conj(before**2) + 2.0 * total * np.conj(2.0 * z * after)


def check_trips_that_depend_on_data():
    rng = rng_of(HALF)
    args = 1.0 + rng.random(4), 1.0 + rng.random(4)
    assert_slope(HALF, programs.solved, args, rtol=1e-7, ranks="same")


def check_what_is_differentiated():
    x = rng_of(WORLD).random(3)
    for program, ranks, factor in (
        (programs.shared, "same", 1.0),
        (programs.shared, "sum", WORLD.size),
        (programs.at_root, "sum", 1.0),
    ):
        found = gradient(program, WORLD, x, ranks=ranks)(WORLD, x)
        np.testing.assert_allclose(found, 2.0 * factor * x, rtol=1e-15)
    same = sdfgad.differentiate(programs.shared, wrt="x", ranks="same")
    np.testing.assert_allclose(same.vjp(WORLD, x, cotangent=3.0), 6.0 * x, rtol=1e-15)


def check_ties():
    x = np.array([1.0, float(WORLD.rank), -float(WORLD.rank)])
    found = gradient(programs.largest, WORLD, x, ranks="same")(WORLD, x)
    last = WORLD.size - 1
    np.testing.assert_array_equal(found, [WORLD.rank == 0, WORLD.rank == last, WORLD.rank == 0])


def check_what_nothing_reads():
    rng = rng_of(WORLD)
    x, y = rng.random(2), rng.random(2)
    found = gradient(programs.unread, WORLD, x, y)(WORLD, x, y)
    expected = {0: np.ones(2), 1: np.arange(2.0) * y}.get(WORLD.rank, np.zeros(2))
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def check_a_short_message():
    value = sdfgad.differentiate(programs.short, wrt="x").value
    if HALF.rank == 0:
        assert value(HALF, np.ones(2)) == 1.0
        return
    try:
        value(HALF, np.ones(2))
    except sdfgad.ProgramRaises as error:
        assert "a message of 8 bytes came for a buffer of 16" in str(error)
        assert error.where.text == "comm.Recv(got, source=0)"
    else:
        raise AssertionError("a message that is too short is taken for one that is not")


def check_messages_are_counted():
    """However often a call runs a program, it communicates once."""
    counts = {"run": 0, "back": 0}

    def counting(cls, name):
        original = getattr(cls, name)

        def counted(self, *args):
            counts[name] += 1
            original(self, *args)

        return original, counted

    originals = []
    for cls in Message.__subclasses__():
        for name in counts:
            original, counted = counting(cls, name)
            originals.append((cls, name, original))
            setattr(cls, name, counted)
    os.environ["SDFGAD_CHECK"] = "on" if WORLD.rank % 2 else "off"
    sdfgad.grad(programs.shared, "x", ranks="same")(WORLD, np.ones(3))
    os.environ["SDFGAD_CHECK"] = "off"
    for cls, name, original in originals:
        setattr(cls, name, original)
    assert counts == {"run": 2, "back": 1}, counts  # The transpose of a sum is one.


if __name__ == "__main__":
    check_heat(WORLD)
    check_heat(HALF)
    check_water(WORLD)
    check_water(HALF)
    check_everything()
    check_forward_mode()
    check_complex_numbers()
    check_trips_that_depend_on_data()
    check_what_is_differentiated()
    check_ties()
    check_what_nothing_reads()
    check_a_short_message()
    check_messages_are_counted()
    seconds = WORLD.reduce(sum(os.times()[:4]))
    if WORLD.rank == 0:
        print(f"all ranks agree, in {seconds:.0f} s of processor time")

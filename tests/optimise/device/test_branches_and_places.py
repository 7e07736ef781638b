"""Loops with branches, and with assignments that data places, as boxes: the CPU's results, and no loop on the host."""

import numpy as np
import pytest

import sdfgad
from sdfgad.api.compile_together import compile_together
from sdfgad.emulated import VARIABLE
from sdfgad.ir.program import Branch, Call, Loop, walk
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise
from sdfgad.schedule.kernels import Form, form_of, private_of

SIZE, PLACES = 90, 7


def both_sides(x, k):
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        if x[i] > 0:
            y[i] = x[i] ** 2
        else:
            y[i] = -np.sin(x[i])
    return y


def nested(x, k):
    y = x * 2.0
    for i in range(x.shape[0]):
        if x[i] > -0.5:
            a = x[i] * y[i]
            if k[i] % 3 == 0:
                y[i] = a * x[i]
            elif k[i] % 3 == 1:
                y[i] += a
    return y


def changes_its_condition(x, k):
    y, z = x * 1.0, np.zeros_like(x)
    for i in range(x.shape[0]):
        if y[i] > 0.2:
            y[i] = y[i] - 1.0
            z[i] = y[i] * x[i]
        else:
            z[i] = 3.0 * y[i]
    return y * z


def neighbours(x, k):
    u, v = x.reshape(9, 10), np.zeros((9, 10))
    for i in range(1, 8):
        for j in range(1, 9):
            if k[10 * i + j] > 2:
                v[i, j] = u[i - 1, j] * u[i + 1, j] + u[i, j - 1] - u[i, j + 1]
            else:
                v[i, j] = u[i, j]
    return v


def at_an_edge(x, k):
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        if i > k[i]:
            y[i - k[i]] += x[i] * x[i]
    return y


def inside_alone(x, k):
    h = np.zeros(PLACES)
    for i in range(x.shape[0]):
        j = int(np.floor(x[i] * 3.0)) + 3
        if j >= 0 and j < PLACES:
            h[j] += x[i] * (j + 1)
    return h


def last_one(x, k):
    a = np.ones(PLACES + 2)
    a[k] = x * x
    return a


def last_that_may(x, k):
    a = np.ones(PLACES + 2)
    for i in range(x.shape[0]):
        if x[i] < 0.3:
            a[k[i]] = np.exp(x[i])
    return a


def rows(x, k):
    a, b = x[:90].reshape(30, 3), np.ones((PLACES, 3))
    b[k[:30]] = a * a[:, ::-1]
    return b


def along_two_axes(x, k):
    a = np.zeros((PLACES, 2, PLACES))
    for i in range(x.shape[0] - 1):
        a[k[i], 1, k[i + 1]] = x[i] * x[i + 1]
    return a


def downwards(x, k):
    a = np.zeros(PLACES)
    for i in range(x.shape[0] - 1, 3, -1):
        a[k[i]] = x[i] ** 3
    return a


def through_temporaries(x, k):
    a = np.zeros(PLACES)
    for i in range(x.shape[0]):
        t = np.sin(x[i])
        s = t * x[i]
        a[k[i]] = s + t
    return a


def read_and_cleared(x, k):
    a, s = x[:PLACES] * 2.0, np.zeros_like(x)
    for i in range(x.shape[0]):
        if x[i] > -1.0:
            s[i] = a[k[i]] * x[i]
            a[k[i]] = 0.5
    return np.concatenate([s, a])


def per_trip(x, k):
    y = x * 1.0
    for i in range(x.shape[0]):
        if x[i] > 0:
            for j in range(4):
                if y[i] < 2.0:
                    y[i] = y[i] * 1.5 + 0.1 * j
    return y


PROGRAMS = [
    both_sides,
    nested,
    changes_its_condition,
    neighbours,
    at_an_edge,
    inside_alone,
    last_one,
    last_that_may,
    rows,
    along_two_axes,
    downwards,
    through_temporaries,
    read_and_cleared,
    per_trip,
]


def data():
    rng = np.random.default_rng(4)
    return rng.normal(size=SIZE), rng.integers(0, PLACES, SIZE)


@pytest.fixture(scope="module")
def found():
    """The gradients of all programs on the emulated device and on the CPU, each compiled at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.KERNELS_ONLY)
        options = {"wrt": "x", "reduce": "sum"}
        both = [[sdfgad.differentiate(p, device=d, **options) for p in PROGRAMS] for d in ("gpu", "cpu")]
        for some in both:
            assert compile_together([(one, data()) for one in some]) == [None] * len(PROGRAMS)
        yield dict(zip(PROGRAMS, zip(*both, strict=True), strict=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_gradient(found, program):
    on_device, on_cpu = found[program]
    args = data()
    value, gradient = on_device.value_and_grad(*args)
    other, expected = on_cpu.value_and_grad(*args)
    np.testing.assert_allclose(value, other, rtol=1e-14)
    np.testing.assert_allclose(gradient, expected, rtol=1e-13, atol=1e-15)
    assert np.any(gradient)


# Where a trip assigns an element and then adds to it, trips are in order.
@pytest.mark.parametrize("program", [program for program in PROGRAMS if program is not read_and_cleared])
def test_no_loop_is_on_the_host(found, program):
    on_device, _ = found[program]
    call, specialised = on_device._bind_and_specialise(data(), {})
    made = optimise(specialised.built(specialised.layout(call)).gradients)
    outside = [s for s in _outside_kernels(made.body, made.buffers) if isinstance(s, Loop | Branch | Call)]
    assert outside == []


def _outside_kernels(block, buffers):
    for statement in block:
        if form_of(statement, buffers, private_of(statement, buffers)) is not Form.HOST:
            continue
        yield statement
        if isinstance(statement, Loop | Branch):
            yield from walk((statement,))

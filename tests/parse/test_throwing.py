"""Exceptions that data decides, in functions that a `try` calls: they are values that these return."""

import contextlib
import functools

import numpy as np
import pytest
from scipy.optimize import brentq

import sdfgad
from sdfgad.errors import ProgramRaises, UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

POINTS = [np.array(x) for x in ([0.9, 1.1, 0.8, 1.3], [1.3, 0.5, 1.45, 0.7], [0.4, 0.45, 0.63, 0.55])]


class Rejected(Exception):
    def __init__(self, h, error):
        super().__init__("rejected")
        self.h, self.error = h, error


class Diverged(RuntimeError):
    pass


class NotConverged(Diverged):
    pass


class Stepper:
    def __init__(self, s):
        self.s, self.count = s, 0

    def stage(self, h, y):
        error = h * abs(y[0]) * self.s
        if error > 0.12:
            raise Rejected(h, error)
        return y + h * np.sin(y)

    def step(self, h, y):
        self.count += 1
        y1 = self.stage(h, y)
        return 0.5 * (y1 + self.stage(0.5 * h, y1))


def adaptive_steps(x, s):
    """The handler uses what a method of a method has raised."""
    stepper, y, h, t, k = Stepper(s), x.copy(), 0.5 * s, 0.0, 0
    while t < 1.5 and k < 60:
        k += 1
        try:
            y = stepper.step(h, y)
            t += h
            h *= 1.2
        except Rejected as rejection:
            h = rejection.h * 0.6 / (1 + rejection.error)
    return y.sum() + 0.1 * stepper.count + t


def of_several_classes(x, s):
    """Two handlers, one of which raises again what the one around catches; `else` and `finally`."""

    def inner(v, k):
        if v > 1.3:
            raise Diverged(f"at {k} with {v}")
        if v < 0.45:
            raise ValueError("small")
        return np.sqrt(v)

    def outer(v, k):
        try:
            return 2 * inner(v, k)
        except ValueError:
            return v * v
        except Diverged:
            if k == 2:
                return v
            raise

    total = 0.0
    for k in range(4):
        try:
            total += outer(x[k] * s * 1.6, k)
        except RuntimeError as error:
            total -= 0.3 * x[k] * len(str(type(error).__name__))
        else:
            total *= 1.1
        finally:
            total += 0.01 * x[0]
    return total


def in_expressions(x, s):
    """What Python evaluates before the call is evaluated before it."""
    state = {"a": s, "count": 0}

    def f(v, *more, scale=1.0):
        state["a"] = state["a"] + v
        if v > 1.0:
            raise NotConverged
        state["count"] = state["count"] + 1
        return np.exp(-v) * scale + sum(more)

    total, w = s, np.zeros(4)
    for k in range(4):
        try:
            z = x[k] * f(x[k]) + state["a"] * f(x[k] * s, *(s, s), scale=f(0.1 * s)) ** 2
            if f(x[k] * 0.5) > 0.6:
                total += z
            elif 0 < f(x[k] * 0.7) < 0.1:
                total -= z
            state["a"] += f(0.2)
            w[k] -= f(x[k] * 0.9)
        except Diverged:
            w[k] += state["a"]
            total *= 0.9
    return total + state["count"] + state["a"] + w @ x


def out_of_loops(x, s):
    def f(v, k):
        if v * k > 2.0:
            raise StopIteration
        return v * 1.1 + 0.3

    v, n = x[0] * s, 0
    try:
        for k in range(10):
            v = f(v, k)
            if f(v * 0.1, k) > 5:
                break
            n += 1
        else:
            n += 100
        v = v * 100
    except StopIteration:
        v = v * (1 + x[1])
    return v + n


def in_the_test_of_a_loop(x, s):
    def residual(v):
        r = v**3 - s
        if abs(r) > 50:
            raise Diverged("far")
        return r

    total = 0.0
    for k in range(4):
        v = 4.5 * x[k]
        try:
            while abs(residual(v)) > 1e-10:
                v -= residual(v) / (3 * v**2)
            total += v
        except Diverged:
            total += 0.25 * v
            continue
        total *= 1.01
    return total


def plain(f):
    @functools.wraps(f)
    def wrapper(*args, **keywords):
        return f(*args, **keywords)

    return wrapper


@plain
def decorated(v):
    """Raises, which calls outside of a `try` need not know."""
    if v > 1.2:
        raise ArithmeticError("big")
    return v * v, {"half": v / 2}


def decorated_and_managed(x, s):
    closed = {"count": 0}

    @contextlib.contextmanager
    def resource():
        try:
            yield 2.0
        finally:
            closed["count"] += 1

    total = decorated(s)[0]
    for v in x:
        try:
            with resource() as c:
                square, parts = decorated(v)
                total += c * square + parts["half"]
        except (KeyError, ArithmeticError):
            total += 0.1 * v
    return total + closed["count"]


def by_class(x, s):
    class Soft:
        def __init__(self, a):
            self.a = a

        def energy(self, v):
            return self.a * v**2

    class Hard(Soft):
        def energy(self, v):
            if v > self.a:
                raise OverflowError("overlap")
            return 1 / (self.a + 0.1 - v)

    total = 0.0
    for part, v in zip([Soft(1.0), Hard(1.0), Soft(s), Hard(0.8)], x, strict=True):
        try:
            total += part.energy(v)
        except OverflowError:
            total += 100.0 * v
    return total


def wrapped(x, s):
    def f(v):
        if v > 1.2:
            raise ValueError("above")
        if v < 0.6:
            raise KeyError("below")
        return v

    def g(v):
        try:
            return f(v)
        except ValueError as error:
            raise Diverged("wrapped") from error

    total = 0.0
    for v in x:
        try:
            total += g(v)
        except (Diverged, KeyError) as error:
            total += 2.0 if isinstance(error, Diverged) else v**3
    return total * s


def recursive(x, s):
    def f(v, depth):
        if v > 2.5:
            raise ValueError
        return v if depth == 0 else f(v * 1.2, depth - 1) + v

    total = 0.0
    for v in x:
        try:
            total += f(v, 4)
        except ValueError:
            total += v**2
    return total * s


def in_conditional_expressions(x, s):
    counted = []

    def f(v):
        counted.append(1)
        if v > 1.2:
            raise ValueError
        return v > 0.81

    total = 0.0
    for k in range(4):
        try:
            if x[k] > 0.6 and f(x[k]) and not f(x[k] * 1.05):
                total += x[k]
            total += s if x[k] > 0.52 or f(x[k] * 3.1) else x[k] ** 2
        except ValueError:
            total *= 0.7
    return total + len(counted)


def out_of_handlers(x, s):
    """Jumps out of a handler, which unbind its name as its end does."""

    class Large(Exception):
        def __init__(self, v):
            self.v = v

    def f(v):
        if v > 1.0:
            raise Large(v)
        return v

    def g(y):
        for k in range(4):
            try:
                y = y + f(y[k])
            except Large as large:
                if large.v > 1.4:
                    return y.sum() * large.v
                if large.v > 1.2:
                    break
                if k == 1:
                    continue
                y = y * large.v
            else:
                y = y * 1.01
        return y.sum()

    return g(x * s * 1.33) + g(x * s) + g(x * 0.99)


def of_scipy(x, s):
    """What functions of SciPy raise, too."""
    total = 0.0
    for v in x:
        try:
            total += brentq(lambda z, v=v: z * z - v, 0.0, 1.1)
        except ValueError:
            total += 1.1 * s
    return total


def returned(x, s):
    """A bracket is widened until a function does not raise."""

    def bracket(a, b):
        fa, fb = a**2 - s, b**2 - s
        if fa * fb > 0:
            raise ValueError("no change of sign")
        return fa, fb

    def search(low, high):
        for _ in range(30):
            try:
                fa, fb = bracket(low, high)
            except ValueError:
                high *= 1.3
            else:
                return high * fa / fb
        return 0.0

    return search(0.1, 0.2 * x[0]) * x.sum()


PROGRAMS = [
    adaptive_steps,
    of_several_classes,
    in_expressions,
    out_of_loops,
    in_the_test_of_a_loop,
    decorated_and_managed,
    by_class,
    wrapped,
    recursive,
    in_conditional_expressions,
    out_of_handlers,
    of_scipy,
    returned,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_like_python(program):
    for x in POINTS:
        assert_value_and_slope(program, x, 0.7)


def together(x, s):
    return adaptive_steps(x, s) + of_several_classes(x, s) + in_expressions(x, s) + wrapped(x, s)


def test_in_compiled_code():
    g = sdfgad.value_and_grad(together)
    for x in POINTS:
        value, gradient = g(x, 0.7)
        ends = [(together(x + 1e-6 * e, 0.7) - together(x - 1e-6 * e, 0.7)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(value, together(x, 0.7), rtol=1e-13)
        np.testing.assert_allclose(gradient, ends, rtol=1e-6, atol=1e-7)


def long_loop(x, n):
    def f(h):
        if h * x[0] > 0.2:
            raise Diverged
        return h * 0.9

    h = x[1]
    for _ in range(n):
        try:
            h = f(h)
        except Diverged as error:
            h *= 0.5 + 0 * len(error.args)
    return h


def test_loops_are_not_written_out():
    assert size_of(parsed(long_loop, POINTS[0], 1000).program.body) < 30


def raised_again(x):
    log = []

    def f(v):
        if v > 1.4:
            raise ValueError("above")
        return v * 2.0

    total = 0.0
    for v in x:
        try:
            total += f(v)
        except ValueError:
            log.append(v)
            raise
    return total


def test_what_is_raised_again_is_an_error_of_the_program():
    g = sdfgad.value_and_grad(raised_again)
    np.testing.assert_array_equal(g(POINTS[0])[1], np.full(4, 2.0))
    with pytest.raises(ProgramRaises, match=r"the program raises `ValueError` again\n.*: raise"):
        g(POINTS[1])


def in_a_comprehension(x):
    def f(v):
        if v > 1.4:
            raise ValueError("above")
        return v * 2.0

    total = 0.0
    for _ in range(1000):
        try:
            total += sum([f(v + total) for v in x])
        except ValueError:
            total -= 1.0
    return total


def test_a_call_that_cannot_be_tested():
    with pytest.raises(UnsupportedProgram, match=r"ValueError may be raised here(.|\n)*raise ValueError"):
        sdfgad.value_and_grad(in_a_comprehension)(POINTS[0])

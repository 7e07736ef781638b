"""Roots of systems and fixed points, with derivatives by the implicit function theorem.

The solution x of F(x, p) = 0 is found without derivatives of the steps. Then chord steps ``x - M^-1 (F(x, p) - F*)``,
with F* the constant value of F there, leave it as it is and carry derivatives: each multiplies the error of
dx/dp = -J^-1 F_p by 1 - M^-1 J. So M may be a matrix of difference quotients. They carry second derivatives, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.special import held
from sdfgad.parse.library.powell import near_root
from sdfgad.parse.registry import optional

# The error of a central difference is about 1e-8: three steps leave nothing of it.
CHORDS = 3
STEP = 1e-5
# Both one-sided differences agree so far, or the function has a kink.
AGREEMENT = 1e-2


def as_tuple(args: Any) -> Any:
    """SciPy's `args`: a tuple, or a single argument."""
    return args if isinstance(args, tuple) else (args,)


class System:
    """As many functions of as many unknowns, which are the elements of an array of any shape."""

    def __init__(self, function: Any, args: Any, shape: Any, is_fixed_point: Any) -> None:
        self.function, self.args, self.shape = function, args, shape
        self.is_fixed_point = is_fixed_point

    def __call__(self, x: Any) -> Any:
        value = np.ravel(self.function(np.reshape(x, self.shape), *self.args))
        return x - value if self.is_fixed_point else value


def root(f: Any, x0: Any, *args: Any, tol: Any = 1e-10, max_steps: Any = 100) -> Any:
    """A root of a system of equations, by Newton's method, with the derivative of the implicit function.

    Args:
        f: a function ``f(x, *args)`` that returns as many numbers as `x` has; it is smooth at the root.
        x0: a number or an array to start from; the root does not depend on it.
        args: further arguments of `f`, by which the root has derivatives, as by what `f` takes from outside.
        tol: the largest last step, relative to ``1 + max(abs(x))``.
        max_steps: the most steps.

    Returns:
        The root, with the shape of `x0`.

    Raises:
        RuntimeError: there is none within `max_steps`, or `f` has a kink there.
        LinAlgError: the matrix of its derivatives is singular.

    Example:
        >>> def cube_root(p):
        ...     return sdfgad.root(lambda x: x**3 - p, 1.0)
        >>> sdfgad.grad(cube_root)(8.0)  # doctest: +SKIP
        0.08333333333333333
    """
    system, x = System(f, args, np.shape(x0), False), held(np.ravel(1.0 * np.asarray(x0)))
    size, limit, steps = 1.0, 0.0, 0
    while size > limit and steps < max_steps:
        value = held(system(x))
        step = np.linalg.solve(_slopes(system, x), value)
        length = 1.0
        while np.sum(held(system(x - length * step)) ** 2) > np.sum(value**2) and length > 1e-3:
            length = 0.5 * length
        x = x - length * step
        size, limit = np.max(np.abs(step)), tol * (1.0 + np.max(np.abs(x)))
        steps += 1
    if not size <= limit:
        raise RuntimeError("no root has been found within max_steps")
    return np.reshape(_with_derivative(system, x), np.shape(x0))


def fixed_point(f: Any, x0: Any, *args: Any, tol: Any = 1e-12, max_steps: Any = 1000) -> Any:
    """The solution of ``x = f(x, *args)`` by iteration, with the derivative of the implicit function.

    Args:
        f: a function ``f(x, *args)`` that returns an array shaped like `x`, and is a contraction near the solution.
        x0: a number or an array to start from; the solution does not depend on it.
        args: further arguments of `f`, by which the solution has derivatives, as by what `f` takes from outside.
        tol: the largest last change, relative to ``1 + max(abs(x))``.
        max_steps: the most steps.

    Returns:
        The solution, with the shape of `x0`.

    Raises:
        RuntimeError: the iteration has not converged within `max_steps`, or `f` has a kink there.

    Example:
        >>> def equilibrium(a):
        ...     return np.sum(sdfgad.fixed_point(lambda x: np.cos(a * x), np.zeros(3)))
        >>> sdfgad.grad(equilibrium)(np.array([0.5, 0.7, 0.9]))  # doctest: +SKIP
    """
    system, x = System(f, args, np.shape(x0), True), held(np.ravel(1.0 * np.asarray(x0)))
    change, limit, steps = 1.0, 0.0, 0
    while change > limit and steps < max_steps:
        step = held(system(x))
        x = x - step
        change, limit = np.max(np.abs(step)), tol * (1.0 + np.max(np.abs(x)))
        steps += 1
    if not change <= limit:
        raise RuntimeError("the iteration has not converged within max_steps")
    return np.reshape(_with_derivative(system, x), np.shape(x0))


def _with_derivative(system: System, x: Any) -> Any:
    """The solution with the derivative of the implicit function."""
    slopes, x = _slopes(system, x), held(x)
    _require_smooth(system, x, slopes)
    for _ in range(CHORDS):
        value = system(x)
        x = x - np.linalg.solve(slopes, value - held(value))
    return x


def _slopes(system: System, x: Any) -> Any:
    """The matrix of the derivatives, by central differences."""
    n = x.shape[0]
    slopes = np.zeros((n, n))
    for k in range(n):
        h = STEP * (1.0 + np.abs(x[k]))
        shift = np.where(np.arange(n) == k, h, 0.0)
        slopes[:, k] = held(system(x + shift) - system(x - shift)) / (2.0 * h)
    return held(slopes)


def _require_smooth(system: System, x: Any, slopes: Any) -> None:
    """Require that a step in one direction changes the function as the derivatives say."""
    n = x.shape[0]
    direction = STEP * (1.0 + np.max(np.abs(x))) * (0.5 + np.modf(0.6180339887498949 * np.arange(1.0, n + 1.0))[0])
    here, linear = held(system(x)), slopes @ direction
    for side in range(2):
        sign = 1.0 - 2.0 * side
        apart = held(system(x + sign * direction)) - here - sign * linear
        if np.max(np.abs(apart)) > AGREEMENT * np.max(np.abs(slopes)) * np.max(np.abs(direction)):
            raise RuntimeError("the function has a kink at its solution, and no derivative")


@optional("scipy.optimize", "fsolve", is_definition=True, static=False)
def fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, col_deriv: Any = 0, xtol: Any = 1e-10
) -> Any:
    if full_output:
        raise NotImplementedError("full_output of a root is not supported: leave it out")
    shape, more = np.shape(np.atleast_1d(x0)), as_tuple(args)
    start = near_root(System(func, more, shape, False), np.ravel(1.0 * np.atleast_1d(x0)))
    return root(func, np.reshape(start, shape), *more, tol=np.minimum(xtol, 1e-10))


@optional("scipy.optimize", "fixed_point", is_definition=True, static=False)
def fixed_point_of_scipy(
    func: Any, x0: Any, args: Any = (), xtol: Any = 1e-8, maxiter: Any = 500, method: Any = "del2"
) -> Any:
    return fixed_point(func, x0, *as_tuple(args), tol=np.minimum(xtol, 1e-12), max_steps=20 * maxiter)


METHODS = (
    *("hybr", "lm", "krylov", "broyden1", "broyden2", "anderson", "df-sane"),
    *("linearmixing", "diagbroyden", "excitingmixing"),
)
# Those that hand the function, and return, a vector whatever the shape of `x0` is.
FLAT = ("hybr", "lm")
TOLERANCES = ("xtol", "ftol", "fatol", "frtol", "xatol")
LIMITS = ("maxiter", "maxfev")


class First:
    """The first of two results of a function: its values, without the matrix of their derivatives."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, x: Any, *args: Any) -> Any:
        return self.function(x, *args)[0]


class RootResult:
    """What ``scipy.optimize.root`` returns; where it would report a failure, the program raises."""

    def __init__(self, x: Any, fun: Any) -> None:
        self.x, self.fun = x, fun
        self.success, self.status, self.message = True, 1, "The solution converged."

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name)

    @property
    def nfev(self) -> Any:
        raise NotImplementedError("how often root has called its function is not supported: leave it out")

    @property
    def nit(self) -> Any:
        raise NotImplementedError("the number of steps of root is not supported: leave it out")

    @property
    def fjac(self) -> Any:
        raise NotImplementedError("the Jacobian of root is not supported: compute it from x")


@optional("scipy.optimize", "root", is_definition=True, static=False)
def root_of_scipy(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = "hybr",
    jac: Any = None,
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """By Newton's method with differences, from where Powell's ends if that is asked for: `jac` is not called."""
    _require_known(method, callback, options)
    function, more = First(fun) if jac is True else fun, as_tuple(args)
    start = np.ravel(np.atleast_1d(x0)) if method.lower() in FLAT else x0
    counts = np.size(function(start, *more)), np.size(start)
    if counts[0] != counts[1]:
        raise NotImplementedError(
            "a root of more or fewer equations than there are unknowns is not supported: give as many of both"
        )
    given = {} if options is None else options
    limits = [given[key] for key in LIMITS if given.get(key)]
    if method.lower() == "hybr":
        start = near_root(System(function, more, np.shape(start), False), 1.0 * start, limits[0] if limits else None)
    close = [one for one in (tol, *(given.get(key) for key in TOLERANCES)) if one is not None]
    x = root(function, start, *more, tol=min([1e-10, *close]), max_steps=limits[0] if limits else 100)
    return RootResult(x, np.reshape(function(x, *more), np.shape(x)))


def _require_known(method: Any, callback: Any, options: Any) -> None:
    if method.lower() not in METHODS:
        raise NotImplementedError(
            "this method of root is not known: write hybr, lm, krylov, broyden1, broyden2, anderson or df-sane"
        )
    if callback is not None:
        raise NotImplementedError("the callback of root is not supported, as SciPy makes no steps here: leave it out")
    for key in [] if options is None else options:
        if key not in TOLERANCES and key not in LIMITS:
            raise NotImplementedError(
                "an option of root has no meaning for Newton's method, which is used here: "
                "leave out all but maxiter, maxfev, xtol, ftol, fatol, frtol and xatol"
            )

"""SciPy's solvers with exact derivatives of NumPy programs: they take them from the program itself."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from sdfgad.api.callables import callee_of
from sdfgad.api.products import along, gradient_of
from sdfgad.errors import ArgumentError
from sdfgad.scipy.flat import Flat
from sdfgad.scipy.objective import objective
from sdfgad.scipy.residuals import Residuals

# What SciPy's methods of minimisation use (names in lower case).
WITHOUT_GRADIENT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
WITH_PRODUCTS = frozenset({"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"})
WITH_HESSIAN = frozenset({"dogleg", "trust-exact"})
# Methods that take constraints, and warn of their Hessians.
WITHOUT_SECOND_ORDER = frozenset({"", "slsqp", "cobyla", "cobyqa"})
# Its methods for equations that use the Jacobian.
WITH_JACOBIAN = frozenset({"hybr", "lm"})


def minimize(
    program: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str | None = None,
    memory_limit: int | str | None = None,
    **options: Any,
) -> optimize.OptimizeResult:
    """`scipy.optimize.minimize` with the gradient, and where the method uses it the Hessian, of the program.

    Args:
        program: a NumPy function that returns a real number; its first argument is what varies.
        x0: where to start: a number, an array, or a dict, list, tuple or dataclass of them.
        args: the other arguments of the program.
        method: one of SciPy's. "Newton-CG", "trust-ncg", "trust-krylov" and "trust-constr" get products with the
            Hessian, "dogleg" and "trust-exact" the Hessian itself.
        memory_limit: as in `differentiate`.
        options: SciPy's: `bounds` (of a container ``scipy.optimize.Bounds``, whose limits are numbers or arranged as
            `x0` is), `constraints`, `tol`, `callback`, `options`.

    Returns:
        SciPy's result; `x`, and the gradient `jac`, are arranged as `x0` is ("trust-constr" has a vector `grad`).

    Raises:
        ArgumentError: `x0` has no floats, or derivatives are passed; else as `differentiate` and the calls of its
            result do.

    Example:
        >>> sdfgad.scipy.minimize(scipy.optimize.rosen, np.zeros(5), method="trust-ncg").x  # doctest: +SKIP
        array([1., 1., 1., 1., 1.])
    """
    _refuse_derivatives(options, ("jac", "hess", "hessp"))
    one, flat, name = objective(program, x0, *args, memory_limit=memory_limit), Flat.of(x0), (method or "").lower()
    if name in WITH_PRODUCTS:
        options["hessp"] = one.hessp
    elif name in WITH_HESSIAN:
        options["hess"] = one.hess
    if name in WITHOUT_SECOND_ORDER and "constraints" in options:
        options["constraints"] = _of_first_order(options["constraints"])
    if name in WITHOUT_GRADIENT:
        return _arranged(optimize.minimize(one.value, one.x0, method=method, **_for_vectors(options, flat)), flat)
    found = optimize.minimize(one.fun, one.x0, method=method, jac=True, **_for_vectors(options, flat))
    if isinstance(found.get("jac"), np.ndarray):  # Some methods append multipliers.
        found.jac = flat.direction(found.jac[: flat.size])
    return _arranged(found, flat)


def least_squares(
    program: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, sparsity: Any = None, **options: Any
) -> optimize.OptimizeResult:
    """`scipy.optimize.least_squares` with the exact Jacobian of the residuals.

    Args:
        program: a NumPy function that returns an array of residuals, of any shape; its first argument is what varies.
        x0, args: as in `minimize`.
        sparsity: as in `sdfgad.jacobian`, "auto" or a pattern, for an array `x0`: few products give a sparse Jacobian.
        options: SciPy's, such as `method`, `loss`, `x_scale`, and `bounds`, whose limits are numbers or arranged as
            `x0` is.

    Returns:
        SciPy's result; `x` is arranged as `x0` is, `jac` and `fun` belong to vectors.

    Example:
        >>> sdfgad.scipy.least_squares(residuals, x0, (t, y), sparsity="auto").x  # doctest: +SKIP
    """
    _refuse_derivatives(options, ("jac", "jac_sparsity"))
    one = Residuals(program, x0, args, sparsity)
    if isinstance(options.get("bounds"), (tuple, list)):
        options["bounds"] = optimize.Bounds(*options["bounds"])
    found = optimize.least_squares(one.fun, one.flat.start, jac=one.jac, **_for_vectors(options, one.flat))
    return _arranged(found, one.flat)


def root(
    program: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, method: str = "hybr", **options: Any
) -> optimize.OptimizeResult:
    """`scipy.optimize.root` with the exact Jacobian, for the methods that use one, "hybr" and "lm".

    Args:
        program: a NumPy function that returns as many numbers as `x0` has; its first argument is what varies.
        x0, args: as in `minimize`.

    Returns:
        SciPy's result; `x` is arranged as `x0` is, `fun` is a vector.

    To differentiate a solution by parameters there is `sdfgad.root`.
    """
    _refuse_derivatives(options, ("jac",))
    one = Residuals(program, x0, args)
    jac = {"jac": one.jac} if method in WITH_JACOBIAN else {}
    found = optimize.root(one.fun, one.flat.start, method=method, **jac, **options)
    return _arranged(found, one.flat)


def curve_fit(program: Callable[..., Any], xdata: Any, ydata: Any, p0: Any = None, **options: Any) -> Any:
    """`scipy.optimize.curve_fit` with the exact Jacobian by the parameters.

    Args:
        program: ``program(xdata, *parameters)``, a NumPy function of numbers that returns an array like `ydata`.
        options: SciPy's, such as `sigma`, `absolute_sigma`, `bounds`, `method`.

    Returns:
        The parameters and their covariance, as SciPy returns them.

    Example:
        >>> def decay(t, a, k):
        ...     return a * np.exp(-k * t)
        >>> parameters, covariance = sdfgad.scipy.curve_fit(decay, t, y)  # doctest: +SKIP
    """
    _refuse_derivatives(options, ("jac",))
    count = len(callee_of(program).parameters) - 1 if p0 is None else np.size(p0)
    g = gradient_of(program, tuple(range(1, count + 1)), None)

    @functools.wraps(program)
    def value(x: Any, *parameters: Any) -> Any:
        return g.value(x, *map(float, parameters))

    def jac(x: Any, *parameters: Any) -> Any:
        at = (x, *map(float, parameters))
        columns = [along(g, at, {k + 1: float(k == j) for k in range(count)})[1] for j in range(count)]
        return np.stack([np.reshape(one, -1) for one in columns], axis=1)

    if np.ndim(options.get("sigma", ())) == 0 and options["sigma"] is not None:
        # SciPy takes one number, but not together with a Jacobian.
        options["sigma"] = np.full(np.shape(ydata), options["sigma"])
    value.__signature__ = inspect.signature(program)  # type: ignore[attr-defined]  # SciPy counts its parameters.
    return optimize.curve_fit(value, xdata, ydata, p0, jac=jac, **options)


class Constraint(optimize.NonlinearConstraint):
    """SciPy's constraint, with derivatives from a program."""


def NonlinearConstraint(  # The name is SciPy's.
    program: Callable[..., Any],
    lb: Any,
    ub: Any,
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    sparsity: Any = None,
    keep_feasible: bool = False,
) -> Constraint:
    """``lb <= program(x) <= ub``, with exact derivatives of first and second order.

    Args:
        program: a NumPy function that returns a number or an array; its first argument is what varies.
        lb, ub: numbers, or arrays with as many elements as the program returns.
        x0: how the first argument is arranged, as in `minimize`; `args` are the other arguments.
        sparsity: as in `least_squares`.

    Returns:
        SciPy's object, for the constraints of `minimize`, of this module's or SciPy's own.
    """
    one = Residuals(program, x0, args, sparsity)

    def hess(x: Any, v: Any) -> Any:
        from scipy.sparse.linalg import LinearOperator

        shape = (one.flat.size, one.flat.size)
        return LinearOperator(shape, matvec=lambda p: one.weighted_hess(x, v, np.reshape(p, -1)), dtype=np.float64)

    return Constraint(one.fun, lb, ub, jac=one.jac, hess=hess, keep_feasible=keep_feasible)


def _of_first_order(constraints: Any) -> list[Any]:
    """Constraints for a method that warns of what it does not use."""
    several = constraints if isinstance(constraints, (list, tuple)) else [constraints]
    plain = optimize.NonlinearConstraint
    return [plain(one.fun, one.lb, one.ub, one.jac) if isinstance(one, Constraint) else one for one in several]


def _refuse_derivatives(options: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name in options:
            what = f"`{name}` is passed, which is derived from the program here"
            raise ArgumentError(what, todo="Leave it out, or call SciPy's own function.")


def _for_vectors(options: dict[str, Any], flat: Flat) -> dict[str, Any]:
    """SciPy's options with bounds and callbacks of containers as those of vectors."""
    bounds, callback = options.get("bounds"), options.get("callback")
    if isinstance(bounds, optimize.Bounds):
        limits = (_limit(one, flat) for one in (bounds.lb, bounds.ub))
        options["bounds"] = optimize.Bounds(*limits, np.reshape(bounds.keep_feasible, -1))
    if callback is not None:
        options["callback"] = _arranging(callback, flat)
    return options


def _limit(limit: Any, flat: Flat) -> Any:
    """A limit as a vector; SciPy keeps a container in an array of it alone, or repeated."""
    is_container = isinstance(limit, np.ndarray) and limit.dtype == object
    numbers = flat.vector(limit.flat[0]) if is_container else np.reshape(limit, -1)
    return np.repeat(numbers, flat.size) if numbers.size == 1 else numbers


def _arranging(callback: Callable[..., Any], flat: Flat) -> Callable[..., Any]:
    """A callback that is passed what SciPy passes it, with `x` arranged as the user's start."""
    if set(inspect.signature(callback).parameters) == {"intermediate_result"}:

        def with_result(intermediate_result: Any) -> Any:
            if isinstance(intermediate_result, np.ndarray):  # From "TNC" and "COBYLA", whatever it is called.
                return callback(intermediate_result=flat.tree(intermediate_result))
            return callback(intermediate_result=_arranged(intermediate_result.copy(), flat))

        return with_result

    def with_vector(xk: Any, *others: Any) -> Any:
        return callback(flat.tree(xk), *others)

    return with_vector


def _arranged(found: Any, flat: Flat) -> optimize.OptimizeResult:
    return optimize.OptimizeResult({**found, "x": flat.tree(found["x"])})

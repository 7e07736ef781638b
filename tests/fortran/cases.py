"""Fortran routines as people write them, with arguments, and the same programs in NumPy.

The functions of NumPy take the arguments by name, change none of them, and return the output.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Case:
    """A routine.

    Attributes:
        file, routine, output: where it is, and what is differentiated.
        arguments: those that are passed, arrays column by column.
        numpy: the same program.
        wrt: what it is differentiated by.
    """

    file: str
    routine: str
    output: str
    arguments: dict[str, Any]
    numpy: Callable[..., Any]
    wrt: tuple[str, ...]

    @property
    def path(self):
        return PROGRAMS / self.file

    @property
    def name(self):
        return f"{self.routine}_{self.output}"


def random(*shape, low=0.2, high=1.2, seed=0):
    return np.asfortranarray(np.random.default_rng(seed).uniform(low, high, shape))


def heat_1d(n, steps, u, a):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + a[1:-1] * (u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u**2)


def heat_2d(nx, ny, steps, dt, u, kappa):
    u = u.copy()
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + dt * kappa * (around - 4 * u[1:-1, 1:-1])
    return u


def thomas(lower, diag, upper, rhs):
    return np.linalg.solve(np.diag(diag) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1), rhs)


def implicit_diffusion(n, steps, r, u):
    matrix = np.eye(n) * (1 + 2 * r) - r * np.eye(n, k=1) - r * np.eye(n, k=-1)
    for _ in range(steps):
        u = np.linalg.solve(matrix, u)
    return u


def shallow_water(n, steps, dx, dt, h, q):
    h, q, g = h.copy(), q.copy(), 9.81
    for _ in range(steps):
        h[0], h[-1], q[0], q[-1] = h[1], h[-2], -q[1], -q[-2]
        flux = q**2 / h + 0.5 * g * h * h
        new_h = 0.5 * (h[:-2] + h[2:]) - dt / (2 * dx) * (q[2:] - q[:-2])
        q[1:-1] = 0.5 * (q[:-2] + q[2:]) - dt / (2 * dx) * (flux[2:] - flux[:-2])
        h[1:-1] = new_h
    return np.sum(0.5 * (q[1:-1] ** 2 / h[1:-1] + g * h[1:-1] ** 2) * dx)


def radiation(nlev, t, tau, tsurf, of="olr"):
    passed, planck = np.exp(-1.66 * tau), 5.67e-8 * t**4
    down, up = np.zeros(nlev + 1, t.dtype), np.zeros(nlev + 1, t.dtype)
    up[nlev] = 5.67e-8 * tsurf**4
    for k in range(nlev):
        down[k + 1] = down[k] * passed[k] + (1 - passed[k]) * planck[k]
    for k in reversed(range(nlev)):
        up[k] = up[k + 1] * passed[k] + (1 - passed[k]) * planck[k]
    return up[0] if of == "olr" else (down[:-1] - down[1:]) - (up[:-1] - up[1:])


def gemm(m, n, k, alpha, a, b, beta, c):
    return beta * c + alpha * (a @ b)


def quadratic(a, x, y):
    return x @ (a.T @ (a @ x)) / len(x)


def log_determinant(n, a):
    # Only the lower triangle is read.
    lower = np.tril(a)
    return np.linalg.slogdet(lower + lower.T - np.diag(np.diag(lower)))[1]


def advect(n, steps, courant, scheme, q):
    q = q.copy()
    for _ in range(steps):
        q[:2], q[-2:] = q[n : n + 2].copy(), q[2:4].copy()
        up, down = q[1:-2] - q[:-3], q[2:-1] - q[1:-2]
        if scheme == 1:
            slope = np.where(up * down <= 0, 0.0, np.where(abs(up) < abs(down), up, down))
        elif scheme in (2, 3):
            slope = np.sign(up) * np.maximum(0.0, np.minimum(abs(up), down * np.sign(up)))
        else:
            slope = 0.5 * (up + down)
        flux = courant * (q[1:-2] + 0.5 * (1 - courant) * slope)
        q[2:-2] = q[2:-2] - (flux[1:] - flux[:-1])
    return np.sum(q[2:-2:2] ** 2)


def saturate(nx, nz, t, q):
    ice = 0.611 * np.exp(21.87 * (t - 273.15) / (t - 7.66))
    water = 0.611 * np.exp(17.27 * (t - 273.15) / (t - 35.86))
    excess = np.maximum(q - np.where(t > 273.15, water, ice), 0.0)
    factor = np.where(np.arange(1, nz + 1) % 2 == 0, 1.0, 0.5)
    return np.sum(excess * factor, axis=1)


def kepler(n, mean, ecc):
    e = mean
    for _ in range(30):
        e = e - (e - ecc * np.sin(e) - mean) / (1 - ecc * np.cos(e))
    return e


def series(x, tol):
    total, term = 0.0, 1.0
    for k in range(1, 101):
        total, term = total + term, term * x / k
        if abs(term) < tol:
            break
    return total


def folded(n, x):
    centre, i = n // 2, np.arange(n)
    away = i - centre
    k = np.sign(away) * (abs(away) // 2)
    y = x[abs(k)] * away**2 + np.sign(away) * (abs(away) % 3) * x + away % 3 * x[i % 2] / 2
    y[0] += np.sum(x[::3] ** 2)
    after = len(x[::3]) * 3 + 1
    y[after % n] *= after
    return y


def diffuse_column(th, p, dz, kdiff, dt, nsteps, **bounds):
    """For columns 1 to 4 of 0 to 5, layers 1 to 5 of as many, and rows 0 and 1 of -1 to 2."""
    th, inside = th.copy(), (slice(1, 5), slice(None), slice(1, 3))
    thickness, exner = dz[inside], (p[inside] / 1e5) ** (287.0 / 1004.5)
    for _ in range(nsteps):
        t = th[inside] * exner
        flux = -kdiff * (t[:, 1:] - t[:, :-1]) / (0.5 * (thickness[:, 1:] + thickness[:, :-1]))
        flux = np.concatenate([0 * flux[:, :1], flux, 0 * flux[:, :1]], axis=1)
        th[inside] = np.minimum(t - dt * (flux[:, 1:] - flux[:, :-1]) / thickness, 400.0) / exner
    return th


TEMPERATURES = random(6, 4, low=250, high=300, seed=5).astype(np.float32, order="F")
SPD = np.asfortranarray(random(5, 5, seed=6) @ random(5, 5, seed=6).T + np.eye(5))
COLUMN = {"nlev": 6, "t": random(6, low=220, high=300, seed=7), "tau": random(6, seed=8), "tsurf": 290.0}
MATRIX = {"a": random(4, 5, seed=9), "x": random(5, seed=10), "y": np.zeros(5)}
TRIDIAGONAL = {"lower": random(6, seed=1), "diag": random(6, low=3, high=4, seed=2), "upper": random(6, seed=3),
               "rhs": random(6, seed=4)}  # fmt: skip
WATER = {"n": 10, "steps": 4, "dx": 0.1, "dt": 0.005, "h": 1 + random(12, seed=11), "q": random(12, seed=12)}
MATRICES = {"m": 3, "n": 4, "k": 5, "alpha": 1.5, "a": random(3, 5, seed=13), "b": random(5, 4, seed=14), "beta": 0.5,
            "c": random(3, 4, seed=15)}  # fmt: skip
FIELD = {"n": 12, "steps": 3, "courant": 0.4, "scheme": 1, "q": random(16, seed=16)}
AIR = {"th": random(6, 5, 4, low=280, high=320, seed=20), "p": random(6, 5, 4, low=6e4, high=1e5, seed=21),
       "dz": random(6, 5, 4, low=100, high=200, seed=22), "kdiff": 5.0, "dt": 10.0, "nsteps": 3,
       "ims": 0, "ime": 5, "kms": 1, "kme": 5, "jms": -1, "jme": 2, "its": 1, "ite": 4, "kts": 1, "kte": 5,
       "jts": 0, "jte": 2}  # fmt: skip
HEAT = {"n": 8, "steps": 4, "u": random(8), "a": random(8, high=0.4)}
PLATE = {"nx": 5, "ny": 4, "steps": 3, "dt": 0.1, "u": random(7, 6), "kappa": random(5, 4, seed=1)}
CASES = [
    Case("heat.f90", "heat_1d", "cost", HEAT, heat_1d, ("u", "a")),
    Case("heat.f90", "heat_2d", "u", PLATE, heat_2d, ("dt", "u", "kappa")),
    Case("thomas.f90", "thomas", "x", TRIDIAGONAL, thomas, tuple(TRIDIAGONAL)),
    Case("thomas.f90", "implicit_diffusion", "u", {"n": 6, "steps": 3, "r": 0.4, "u": random(6)}, implicit_diffusion,
         ("r", "u")),
    Case("shallow.f90", "run", "energy", WATER, shallow_water, ("dx", "dt", "h", "q")),
    Case("column.f90", "radiation", "heating", COLUMN, lambda **k: radiation(**k, of="heating"), ("t", "tau", "tsurf")),
    Case("matrices.f90", "gemm", "c", MATRICES, gemm, ("alpha", "a", "b", "beta", "c")),
    Case("matrices.f90", "quadratic", "value", MATRIX, quadratic, ("a", "x")),
    Case("matrices.f90", "cholesky", "logdet", {"n": 5, "a": SPD}, log_determinant, ("a",)),
    Case("advection.f90", "advect", "total", FIELD, advect, ("courant", "q")),
    Case("masks.f90", "saturate", "precip", {"nx": 6, "nz": 4, "t": TEMPERATURES,
         "q": random(6, 4, high=1.5, seed=17).astype(np.float32, order="F")}, saturate, ("t", "q")),
    Case("newton.f90", "kepler", "anomaly", {"n": 4, "mean": random(4, seed=18), "ecc": 0.3}, kepler, ("mean", "ecc")),
    Case("newton.f90", "series", "s", {"x": 0.7, "tol": 1e-10}, series, ("x",)),
    Case("physics.f90", "diffuse_column", "th", AIR, diffuse_column, ("th", "kdiff", "dt")),
    Case("integers.f90", "folded", "y", {"n": 8, "x": random(8, seed=19)}, folded, ("x",)),
]  # fmt: skip

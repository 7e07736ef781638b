"""Routines with variables of modules, hosts, common blocks and derived types, and the same programs in NumPy."""

import numpy as np

from tests.fortran.cases import Case, random

SIGMA = 5.67e-8


def forecast(nsteps, amplitude, drag, nx=8, dx=0.1, dt=0.005, g=9.81):
    h = 1 + amplitude * np.sin(2 * 3.14159265358979 * (np.arange(1, nx + 1) - 0.5) / nx)
    u = np.zeros(nx, h.dtype)
    for _ in range(nsteps):
        right, left = np.roll(h, -1), np.roll(h, 1)
        flux = (right * np.roll(u, -1) - left * np.roll(u, 1)) / (2 * dx)
        u = u - dt * (g * (right - left) / (2 * dx) + drag * u * abs(u))
        h = 0.5 * (left + right) - dt * flux
    return np.sum(0.5 * h * u**2 + 0.5 * g * h**2) * dx + nsteps * dt


def cg_solve(n, kappa, sigma, b, x, tol, maxit):
    matrix = np.diag(kappa[:-1] + kappa[1:] + sigma) - np.diag(kappa[1:-1], 1) - np.diag(kappa[1:-1], -1)
    return np.linalg.solve(matrix, b)


def simulate(steps, dt, **sys):
    m, x, v = (sys[f"sys%mass%{name}"].copy() for name in "mxv")
    k, length = sys["sys%link%stiffness"], sys["sys%link%length"]
    for _ in range(steps):
        for i in range(3):
            d = x[:, i + 1] - x[:, i]
            f = k * (np.linalg.norm(d) - length) * d / np.linalg.norm(d)
            v[:, i] += dt * f / m[i]
            v[:, i + 1] -= dt * f / m[i + 1]
        v *= 1 - dt * sys["sys%damping"]
        x += dt * v
    springs = np.linalg.norm(x[:, 1:] - x[:, :-1], axis=0) - length
    return 0.5 * np.sum(m * v**2) + 0.5 * k * np.sum(springs**2)


def minmod(a, b):
    return np.where(a * b <= 0, 0.0, np.sign(a) * np.minimum(abs(a), abs(b)))


def transport(nx, ny, n, q0, dt):
    q, v = np.zeros((nx + 2, ny + 2)), 0.2 * np.cos(np.arange(1, nx + 1))[:, None]
    q[1:-1, 1:-1] = q0
    for _ in range(n):
        c = q[1:-1, 1:-1]
        sx = minmod(c - q[:-2, 1:-1], q[2:, 1:-1] - c)
        sy = minmod(c - q[1:-1, :-2], q[1:-1, 2:] - c)
        q[1:-1, 1:-1] = (c - dt * (0.3 * sx * nx + v * sy * ny)) * 0.99
        q[0], q[-1] = q[-2].copy(), q[1].copy()
        q[:, 0], q[:, -1] = q[:, -2].copy(), q[:, 1].copy()
    return np.sum(q[1:-1, 1:-1] ** 2) / (nx * ny)


def lorenz(n, nsteps, dt, x, forcing):
    def tendency(y):
        return (np.roll(y, -1) - np.roll(y, 2)) * np.roll(y, 1) - y + forcing

    for _ in range(nsteps):
        k1 = tendency(x)
        k2 = tendency(x + 0.5 * dt * k1)
        k3 = tendency(x + 0.5 * dt * k2)
        k4 = tendency(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def lake(n, nstep, t, sw, dt):
    t = t.copy()
    for k in range(nstep):
        t[0] += dt * ((1 - 0.1) * sw[k] - 0.97 * SIGMA * t[0] ** 4) / (4.2e6 * 0.5)
        for i in range(1, n):
            t[i] += (0.2, 0.1, 0.05)[min(i + 1, 3) - 1] * (t[i - 1] - t[i])
    return np.sum(t)


def bucket(ndays, soil, rain, pet, w0):
    porosity, wilting = (np.float32([0.40, 0.45, 0.48])[soil - 1], np.float32([0.05, 0.12, 0.20])[soil - 1])
    w, wmax, k = [w0], porosity * 1000, 0.02 if soil == 1 else 0.01 / soil
    for d in range(ndays):
        stress = (w[d] - wilting * 1000) / (wmax * (1 - wilting))
        stress = 1.0 if stress >= 0.75 else 0.0 if stress <= 0 else stress / 0.75
        w.append(min(w[d] + rain[d] - pet[d] * stress**1.5 - k * max(w[d], 0.0), wmax))
    return np.array(w)


def esat(t, a, b):
    return 611.2 * np.exp(a * (t - 273.16) / (t - b))


def qsat(t, p):
    ice, eps = np.clip((273.16 - t) / 23, 0, 1), 287 / 461.5
    e = ice * esat(t, 21.875, 7.66) + (1 - ice) * esat(t, 17.502, 32.19)
    return eps * e / np.maximum(p - (1 - eps) * e, 1e-3)


def microphysics(n, dt, p, t, qv, qc, qr):
    rho = p / (287 * t * (1 + 0.608 * qv))
    for _ in range(2):
        qs, heat = qsat(t, p), 2.5e6 + np.where(t < 273.16 - 15, 3.34e5, 0)
        dq = (qv - qs) / (1 + heat**2 * qs / (1004 * 461.5 * t**2))
        dq = np.where(dq > 0, np.minimum(dq, qv), np.maximum(dq, -qc))
        qv, qc, t = qv - dq, qc + dq, t + heat / 1004 * dq
    grown = 1e-3 * np.maximum(qc - 5e-4, 0) + 2.2 * qc * np.maximum(qr, 1e-12) ** 0.875
    dq = np.minimum(qc, grown * dt)
    qr = qr + dq
    dry = np.maximum(0, 1 - qv / qsat(t, p))
    qr = qr - np.minimum(1.6 * np.sqrt(np.maximum(qr, 1e-12)) * dry * dt * 1e-4, qr)
    vt = 36.34 * (1e-3 * rho * np.maximum(qr, 1e-12)) ** 0.1364 * np.sqrt(1.225 / rho)
    return np.sum(rho * qr * vt * dt)


def cost(n, nt, dt, x0, y, xb, nu):
    x, dx, at = x0, 1 / (n - 1), np.array([1, 3, 5])
    total = 0.5 * np.sum((x - xb) ** 2)
    for it in range(1, nt + 1):
        inner = x[1:-1] - dt * x[1:-1] * (x[2:] - x[:-2]) / (2 * dx)
        inner = inner + dt * nu * (x[2:] - 2 * x[1:-1] + x[:-2]) / dx**2
        x = np.concatenate([x[:1], inner, x[-1:]])
        if it % 2 == 0:
            total += 0.5 * np.sum(((x[at] + 0.1 * x[at] ** 2 - y[:, it // 2 - 1]) / 0.5) ** 2)
    return total


TABLE = np.array([[1.0, 0.2, 0.05], [1.2, 0.25, 0.06], [1.4, 0.3, 0.07], [1.7, 0.35, 0.08], [2.0, 0.4, 0.1]])
WEIGHT = (0.3, 0.5, 0.2)


def column_model(nlev, nstep, t, q, dt, co2=400.0):
    matrix = np.eye(nlev) + 0.1 * dt * (2 * np.eye(nlev) - np.eye(nlev, k=1) - np.eye(nlev, k=-1))
    matrix[0, 0] = matrix[-1, -1] = 1 + 0.1 * dt
    for _ in range(nstep):
        olr, heat = 0.0, np.zeros(nlev)
        for band in range(3):
            up = WEIGHT[band] * SIGMA * t[-1] ** 4
            for k in reversed(range(nlev)):
                i = int(np.clip(int((t[k] - 180) / 40), 0, 3))
                f = (t[k] - (180 + i * 40)) / 40
                trans = np.exp(-((1 - f) * TABLE[i, band] + f * TABLE[i + 1, band]) * q[k] * np.log(1 + co2 / 280))
                planck = WEIGHT[band] * SIGMA * t[k] ** 4
                heat[k] += (up - planck) * (1 - trans) * 1e-2
                up = up * trans + planck * (1 - trans)
            olr += up
        t = np.linalg.solve(matrix, t + dt * heat)
    return olr


CHAIN = {"sys%damping": 0.2, "sys%mass%m": random(4, seed=1), "sys%mass%v": random(2, 4, seed=2),
         "sys%mass%x": np.asfortranarray(random(2, 4, seed=3) + np.array([[0, 1, 2, 3], [0, 0, 1, 1]])),
         "sys%link%stiffness": 2.0, "sys%link%length": 0.8, "steps": 5, "dt": 0.05}  # fmt: skip
CHAIN = {name: CHAIN[name] for name in ("sys%damping", "sys%mass%m", "sys%mass%x", "sys%mass%v", *[*CHAIN][4:])}
AIR = {"n": 5, "dt": 20.0, "p": random(5, low=6e4, high=9e4, seed=1), "t": random(5, low=255, high=290, seed=2),
       "qv": random(5, low=6e-3, high=1e-2, seed=3), "qc": random(5, low=1e-3, high=2e-3, seed=4),
       "qr": random(5, low=1e-4, high=1e-3, seed=5)}  # fmt: skip
DAYS = {"ndays": 6, "soil": 2, "rain": random(6, high=9, seed=1).astype(np.float32),
        "pet": random(6, high=5, seed=2).astype(np.float32), "w0": np.float32(240)}  # fmt: skip
VARIATIONS = {"n": 7, "nt": 6, "dt": 0.01, "x0": random(7, seed=1), "y": random(3, 3, seed=2), "xb": random(7, seed=3),
              "nu": 0.08}  # fmt: skip
MODELS = [
    Case("state.f90", "forecast", "energy", {"nsteps": 6, "amplitude": 0.2, "drag": 0.4}, forecast,
         ("amplitude", "drag")),
    Case("krylov.f90", "cg_solve", "x", {"n": 6, "kappa": random(7), "sigma": 0.3, "b": random(6, seed=1),
         "x": np.zeros(6), "tol": 1e-13, "maxit": 30}, cg_solve, ("kappa", "sigma", "b")),
    Case("chain.f90", "simulate", "e", CHAIN, simulate, tuple(n for n in CHAIN if n.startswith("sys"))),
    Case("tracer.f90", "transport", "total", {"nx": 5, "ny": 4, "n": 3, "q0": random(5, 4), "dt": 0.02}, transport,
         ("q0", "dt")),
    Case("lorenz.f90", "integrate", "x", {"n": 6, "nsteps": 3, "dt": 0.02, "x": random(6, high=5), "forcing": 7.5},
         lorenz, ("dt", "x", "forcing")),
    Case("legacy.f", "lake", "tout", {"n": 4, "nstep": 3, "t": random(4, low=280, high=290),
         "sw": random(3, low=100, high=300), "dt": 3600.0}, lake, ("t", "sw", "dt")),
    Case("bucket.f90", "bucket", "w", DAYS, bucket, ("rain", "pet", "w0")),
    Case("micro.f90", "microphysics", "rain", AIR, microphysics, ("dt", "p", "t", "qv", "qc", "qr")),
    Case("assimilate.f90", "cost", "return", VARIATIONS, cost, ("x0", "xb", "nu", "y", "dt")),
    Case("bands.f90", "column_model", "olr", {"nlev": 5, "nstep": 2, "t": random(5, low=210, high=290),
         "q": random(5), "dt": 0.5}, column_model, ("t", "q", "dt")),
]  # fmt: skip

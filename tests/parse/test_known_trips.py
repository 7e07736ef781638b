"""``while`` loops whose number of trips is known before the run: those that count time, or that can be unrolled."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
HEAD = """
import numpy as np

T_END = 2.0

class Simulation:
    def __init__(self, u, s):
        self.u, self.s, self.t, self.dt, self.end, self.history = u, s, 0.0, 0.02, 1.0, []

    def step(self):
        self.u = self.u + self.dt * np.sin(self.u * self.s + self.t)
        self.t += self.dt
        self.history.append(self.u[0])

    def run(self):
        while self.t < self.end - 1e-12:
            self.dt = min(self.dt, self.end - self.t)
            self.step()
        return np.array(self.history)

def program(x, s):
"""
# Bodies of a program, and at most how many statements they are.
KNOWN = {
    "time": (
        "t, u = 0.0, x.copy()\nwhile t < 10.0:\n    u = u + 0.01 * np.sin(u * s + t)\n    t += 0.01\n"
        "return np.sum(u) + t",
        9,
    ),
    "a history": (
        "t, dt, u, L = 0.0, 0.01, x.copy(), []\nwhile t < 10.0:\n    u = u + dt * np.sin(u * s + t)\n"
        "    L.append(np.sum(u))\n    t += dt\nreturn np.sum(np.array(L)) + t + len(L)",
        11,
    ),
    "a last step that is shorter": (
        "t, dt, u, n, out = 0.0, 0.07, x.copy(), 0, np.zeros((72, 4))\nwhile t < 5.0 - 1e-9:\n"
        "    h = min(dt, 5.0 - t)\n"
        "    u = u + h * np.sin(u * s + t)\n    t = t + h\n    out[n] = u\n    n += 1\nreturn np.sum(out) + t + h + n",
        13,
    ),
    "steps that grow": (
        "t, dt, u, L = 0.0, 0.03, x.copy(), []\nwhile t + dt <= T_END:\n    u = u + dt * np.sin(u * s + t)\n"
        "    t = t + dt\n"
        "    L.append(u[0])\n    dt *= 1.02\nreturn sum(L) * t + dt + len(L)",
        14,
    ),
    "time or a number of steps": (
        "t, n, dt, u = 0.0, 0, 0.03, x.copy()\nwhile t < T_END and n < 50:\n"
        "    u = u + dt * np.sin(u * s + t)\n    n += 1\n"
        "    t = n * dt\nreturn np.sum(u) * n + t",
        9,
    ),
    "a schedule": (
        "def beta(t):\n    for start, end, f in ((0, 20, 1.0), (20, 35, 0.4), (35, 60, 0.7)):\n"
        "        if start <= t < end:\n"
        "            return x[0] * f\n    return x[0]\nS, I, L, t = 0.99, 0.01, [], 0.0\nwhile t < 60:\n"
        "    new = beta(t) * S * I\n"
        "    S, I = S - 0.5 * new, I + 0.5 * (new - 0.1 * s * I)\n    L.append(I)\n    t += 0.5\nreturn max(L) + S",
        70,
    ),
    "a branch on data": (
        "t, u, L = 0.0, x[0], []\nwhile t < 1.0:\n    if u > 1.0:\n        u = u * 0.9\n    t += 0.02\n"
        "    u = u + 0.02 * s\n"
        "    L.append(u)\nreturn sum(L) + t",
        16,
    ),
    "operators and functions": (
        "t, n, u, L = 0, 0, x[0], []\nwhile (t < 30 and not n > 90) or n == 0:\n"
        "    h = (n % 3 and 2) + 1 if n // 4 < 5 else -(-1)\n"
        "    t = max(t, round(t + h * 0.5, 3)) + abs(-0.25)\n    n += int(h > 0)\n    u = u * s + 0.1 * t\n"
        "    L.append(u)\n"
        "return sum(L) + t + n + h",
        18,
    ),
    "down to zero": ("n, u = 40, x[0]\nwhile n:\n    n -= 1\n    u = u * s + x[n % 4]\nreturn u", 4),
    "loops in loops": (
        "t, u, L = 0.0, x[0], []\nwhile t < 1.0:\n    t += 0.05\n    r = 1.0\n    while r < 2.0:\n        r += 0.05\n"
        "        u = u + 0.001 * s * r\n    L.append(u)\nreturn r + sum(L)",
        30,
    ),
    "an object": ("m = Simulation(x, s)\nh = m.run()\nreturn np.sum(h) + m.t * m.u[1] + len(m.history) + m.dt", 16),
    "a dict": (
        "d, L = {'t': 0.0, 'u': x[0]}, []\nwhile d['t'] < 1.0:\n    d['u'] = d['u'] + 0.02 * s\n    d['t'] += 0.02\n"
        "    L.append(d['u'])\nreturn sum(L) * d['t']",
        12,
    ),
}
# Data decides these, or what a function changes, or they are short.
OTHERS = {
    "a limit that a function changes": "n, t, lim = 0, 0.0, 60\ndef less():\n    nonlocal lim\n"
    "    lim -= 1\nwhile n < lim:\n"
    "    t = t * s + x[n % 4]\n    less()\n    n += 1\nreturn t + n + lim",
    "a global limit that a function changes": "global LIMIT\nLIMIT = 60\ndef less():\n    global LIMIT\n"
    "    LIMIT -= 1\n"
    "n, t = 0, 0.0\nwhile n < LIMIT:\n    t = t * s + x[n % 4]\n    less()\n    n += 1\nreturn t + n + LIMIT",
    "steps in branches": "t, u = 0.0, x[0]\nwhile t < 1.0:\n    if u > 1.0:\n        t += 0.01\n"
    "    t += 0.02\n    u = u + 0.02 * s\n"
    "return u + t",
    "left": "t, u = 0.0, x[0]\nwhile t < 1.0:\n    u = u + 0.02 * s\n    if u > 1.2:\n        break\n"
    "    t += 0.02\nreturn u + t",
    "skipped": "t, u = 0.0, x[0]\nwhile t < 1.0:\n    t += 0.02\n    if u > 1.2:\n        continue\n"
    "    u = u + 0.02 * s * t\n"
    "return u + t",
    "a start that is data": "t, u = s * 0.0, x[0]\nwhile t < 1.0:\n    u = u + 0.02 * s * t\n    t += 0.02\n"
    "return u + t",
    "short": "t, u = 0.0, x[0]\nwhile t < 1.0:\n    u = u + 0.02 * s * t\n    t += 0.2\nreturn u + t",
    "none": "t, u = 2.0, x[0]\nwhile t < 1.0:\n    u = u + 0.02 * s * t\n    t += 0.2\nreturn u + t",
    "a list as its own counter": "L = [x[0]]\nwhile len(L) < 30:\n    L.append(L[-1] * s + x[len(L) % 4])\n"
    "return sum(L)",
    "integers that grow": "k, n, u = 1, 0, x[0]\nwhile k < 10**12:\n    k *= 2\n    n += 1\n"
    "    u = u * s + x[n % 4]\nreturn u + n",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", KNOWN)
def test_known(name, tmp_path):
    body, most = KNOWN[name]
    primal = assert_value_and_slope(program_of(body, tmp_path), X, 0.7)
    assert size_of(primal.program.body) <= most
    # No trip is counted at run time.
    assert not any("trips" in name for name in primal.program.buffers)


@pytest.mark.parametrize("name", OTHERS)
def test_others(name, tmp_path):
    assert_value_and_slope(program_of(OTHERS[name], tmp_path), X, 0.7)


def test_endless(tmp_path):
    """The run of the slice ends."""
    program = program_of("t, u = 0.5, x[0]\nwhile t < 1.0:\n    u = u * s\n    t *= 1.0\nreturn u", tmp_path)
    with pytest.raises(sdfgad.UnsupportedProgram, match="this loop never ends"):
        parsed(program, X, 0.7)
    growing = program_of("n, u = 2, x[0]\nwhile n > 1:\n    u = u * s\n    n = n * n\nreturn u", tmp_path)
    assert parsed(growing, X, 0.7).program.checks


def test_integers_and_floats_are_told_apart(tmp_path):
    body = "u = x[0]\nfor start in (0, 0.0):\n    t = start\n    while t < 20:\n        u = u * s\n        t += 1\n"
    program = program_of(
        body + "    u = u + x[int(t) % 4] + (100.0 if isinstance(t, int) else 1.0)\nreturn u", tmp_path
    )
    assert_value_and_slope(program, X, 0.7)


def relaxed(x, s):
    t, dt, u, history = 0.0, 0.01, x * 1.0, []
    while t < 0.5:
        h = min(dt, 0.5 - t)
        u[1:-1] = u[1:-1] + h * s * (u[2:] - 2 * u[1:-1] + u[:-2]) * np.cos(t)
        history.append(np.sum(u * u))
        t += h
    return np.trapezoid(np.array(history)) + t


def test_compiled(rng):
    for size in (5, 9):
        x = rng.uniform(0.2, 0.8, size)
        assert sdfgad.differentiate(relaxed).value(x, 1.1) == pytest.approx(relaxed(x, 1.1), rel=1e-12)
        sdfgad.check_grads(relaxed, x, 1.1)

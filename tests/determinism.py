"""What one process makes of programs, as hashes: ``python -m tests.determinism`` prints them as JSON.

Arguments: what to make ("code": C++ and plans; "gradients": values), then the names of programs, in order of calls.
"""

import hashlib
import json
import sys

import numpy as np

import npbench_suite
import sdfgad


def triangular(a, n):
    """Loops within loops, whose bounds depend on each other."""
    for i in range(n):
        for j in range(i):
            a[i] += np.sin(a[j]) * a[i] * 0.1
        a[i] = np.tanh(a[i])
    return np.sum(a)


def branching(x, n):
    """Branches and a loop whose number of trips is data."""
    total = 0.0
    for i in range(n):
        if x[i] > 0.5:
            total += x[i] ** 2
        elif x[i] > 0.2:
            total -= np.exp(x[i])
        while total > 3.0:
            total = total * 0.7 - x[0] * 0.1
    return total


def gathering(x, w, k):
    """Reads and updates through an array of indices."""
    y = x[k] * w
    z = np.zeros_like(x)
    for i in range(len(k)):
        z[k[i]] += y[i] * x[k[(i + 1) % len(k)]]
    return np.sum(z * z) + np.sum(np.where(y > 0.3, y, 0.0))


def sums(x, w, v):
    """Sums and products large enough for several threads, inside OpenBLAS and outside."""
    for _ in range(3):
        x = np.sin(x) * x + np.mean(x)
        v = np.tanh(w @ v) + np.sum(v * v) * 1e-6 + np.dot(v, v) * 1e-7
    return np.sum(x * x) + np.sum(np.exp(-x)) + np.sum(w.T @ np.cos(w)) * 1e-9 + np.sum(v)


def products(w, v, a, b, c, z):
    """Products and factorisations for which OpenBLAS's own threads would add up in an order of their number."""
    s = np.cos(w) @ np.sin(v)
    m = a @ a.T + np.eye(a.shape[0])
    x = np.linalg.solve(m, a)
    low = np.linalg.cholesky(m)
    values, _ = np.linalg.eigh(m)
    d = np.sum(np.tanh(b @ c.T)) + np.sum(np.tanh(b.T @ c)) + np.sum(np.abs(z @ z.T) ** 2)
    return np.sum(np.sin(s)) + np.sum(w @ v) + np.sum(x * x) + np.sum(low) + np.sum(values) + d


def smooth(u, a, n):
    """A stencil, in place, in a loop with states to keep."""
    for _ in range(n):
        u[1:-1] += a[1:-1] * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def own():
    rng = np.random.default_rng(3)
    indices = rng.integers(0, 50, 80)
    return {
        "triangular": (triangular, (rng.random(20), 20), {}),
        "branching": (branching, (rng.random(30), 30), {}),
        "gathering": (gathering, (rng.random(50), rng.random(80), indices), {}),
        "sums": (sums, (rng.random(300_000), rng.random((400, 400)), rng.random(400)), {}),
        "products": (
            products,
            (
                *(rng.random(shape) for shape in ((50, 20_000), 20_000, (300, 310))),
                *(rng.random((310, 1010)).astype(np.float32) for _ in range(2)),
                rng.random((190, 230)) + 1j * rng.random((190, 230)),
            ),
            {},
        ),
        "smooth": (smooth, (rng.random(64), rng.random(64), 40), {"memory_limit": 12_000}),
    }


def of_suite(name):
    entry = npbench_suite.load(name)
    output = None if entry.output == "return" else entry.output
    return entry.program, entry.arguments_for("S"), {"output": output, "reduce": "sum", "allow_unused": True}


def gradient_of(name):
    made = own()
    program, args, options = made[name] if name in made else of_suite(name)
    # Time is no limit for the solver: a plan that was cut short depends on what else the machine does.
    return sdfgad.differentiate(program, solver_seconds=1000.0, **options), args


def texts(name):
    """The plan, and the C++ of what computes the gradients."""
    from sdfgad.runtime.compile import source_of

    g, args = gradient_of(name)
    plan = g.plan(*args)
    call, made = g._bind_and_specialise(args, {})
    source = source_of(made.built(made.layout(call)).gradients)
    return f"{plan.decisions}{plan.peak_bytes}{plan.status}{plan.gap}", f"{source.code}{source.arguments}"


def values(name):
    """The bits of the gradients and of the value."""
    g, args = gradient_of(name)
    value, gradients = g.value_and_grad(*args)
    again = g(*args)
    return [repr(value), *(np.asarray(found[key]).tobytes().hex() for found in (gradients, again) for key in found)]


if __name__ == "__main__":
    made = {name: (texts if sys.argv[1] == "code" else values)(name) for name in sys.argv[2:]}
    hashes = {name: [hashlib.sha256(text.encode()).hexdigest()[:16] for text in found] for name, found in made.items()}
    print(json.dumps(hashes, sort_keys=True))

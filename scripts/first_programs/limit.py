"""A gradient within a memory limit: the plan says what is stored, and the gradient stays the same."""

import numpy as np

import sdfgad


def burgers(u, steps):
    for _ in range(steps):
        u[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


LIMIT = 2**20
u = np.sin(np.linspace(0.0, 3.0, 10_000))
free = sdfgad.differentiate(burgers, wrt="u", strategy="store_all")
limited = sdfgad.differentiate(burgers, wrt="u", memory_limit=LIMIT)
plan = limited.plan(u, 100)
print(plan)
assert plan.peak_bytes <= LIMIT < free.plan(u, 100).peak_bytes
np.testing.assert_allclose(limited(u, 100), free(u, 100), rtol=1e-12)

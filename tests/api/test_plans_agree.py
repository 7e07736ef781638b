"""Gradients under different plans: equal bit by bit for small programs, and up to the order of sums for large ones."""

import numpy as np

import sdfgad
from sdfgad.api.compile_together import compile_together
from tests.helpers import module_from

TEXT = """
import numpy as np

def bodies(pos, vel, mass, n):
    for t in range(n):
        dx = pos[:, 0:1].T - pos[:, 0:1]
        dy = pos[:, 1:2].T - pos[:, 1:2]
        inv = (dx ** 2 + dy ** 2 + 0.1) ** (-1.5)
        vel[:, 0] += ((dx * inv) @ mass) * 0.01
        vel[:, 1] += ((dy * inv) @ mass) * 0.01
        pos += vel * 0.01
    return np.sum(pos ** 2) + np.sum(vel ** 2)

def volumes(q, a, n):
    for t in range(n):
        f = 0.5 * q * q + a * q
        flux = 0.5 * (f[1:] + f[:-1]) - 0.5 * np.abs(q[1:] + q[:-1]) * (q[1:] - q[:-1])
        q[1:-1] -= 0.1 * (flux[1:] - flux[:-1])
        q[0] = q[-2]
    return np.sum(q * q)

def tree(x, w):
    m = 16
    while m > 1:
        m = m // 2
        x[:m] = np.tanh(x[:m] + x[m:2 * m] * w[:m])
    return x[0]

def paths(z, mu, sigma, n):
    s = np.ones(z.shape[1])
    total = 0.0
    for t in range(n):
        s = s * np.exp((mu - 0.5 * sigma ** 2) * 0.1 + sigma * 0.3 * z[t])
        total = total + np.sum(np.maximum(s - 1.0, 0.0)) / 12
    return total + np.mean(s)
"""


def cases(module, bodies, steps):
    rng = np.random.default_rng(11)
    yield module.bodies, (rng.normal(size=(bodies, 2)), rng.normal(size=(bodies, 2)), rng.random(bodies), steps)
    yield module.volumes, (rng.normal(size=40), rng.normal(size=40), steps)
    yield module.tree, (rng.normal(size=16), rng.normal(size=16))
    yield module.paths, (rng.normal(size=(steps, 30)), 0.1, 0.3, steps)


def gradients(program, args):
    """The gradients by plan."""
    stored = sdfgad.differentiate(program, strategy="store_all")
    peak = stored.plan(*args).peak_bytes
    passed = 2 * sum(np.asarray(a).nbytes for a in args)
    limits = {f"limit {share}": int(passed + share * (peak - passed)) for share in (1.0, 0.7, 0.4)}
    plans = {"stored": stored, "again": sdfgad.differentiate(program, strategy="recompute_all")}
    plans |= {name: sdfgad.differentiate(program, memory_limit=limit) for name, limit in limits.items()}
    made = compile_together([(g, args) for g in plans.values()])
    refused = {name for name, error in zip(plans, made, strict=True) if error is not None}
    assert refused <= {"limit 0.7", "limit 0.4"}
    return {name: g.value_and_grad(*args)[1] for name, g in plans.items() if name not in refused}


def test_small_programs_have_the_same_gradients_bit_by_bit(tmp_path):
    for program, args in cases(module_from(TEXT, tmp_path), 9, 12):
        if program.__name__ == "paths":
            continue
        found = gradients(program, args)
        assert len(found) >= 3
        for plan, mine in found.items():
            for name, expected in found["stored"].items():
                np.testing.assert_array_equal(mine[name], expected, err_msg=f"{program.__name__}, {name}, {plan}")


def assert_rounding_only(found, roundings):
    for plan, mine in found.items():
        for name, expected in found["stored"].items():
            error, scale = np.max(np.abs(mine[name] - expected)), np.max(np.abs(expected))
            assert error <= roundings * np.finfo(float).eps * scale, (name, plan)


def test_large_loops_differ_by_the_order_of_sums_at_most(tmp_path):
    # With 300 bodies, rows are jammed by fours in one plan and not in the other: sums over them meet in other orders.
    # In each of 12 steps there are sums of 300 terms.
    program, args = next(cases(module_from(TEXT, tmp_path), 300, 12))
    assert_rounding_only(gradients(program, args), 12 * 300)


def test_functions_of_vectors_differ_from_those_of_single_numbers_by_their_roundings(tmp_path):
    # An exponential in each of 12 steps, off by at most 4 units in the last place: that of 28 elements comes from the
    # library for vectors and that of the other two does not. And the products with it.
    *_, (program, args) = cases(module_from(TEXT, tmp_path), 9, 12)
    assert_rounding_only(gradients(program, args), 12 * 2 * (4 + 4))

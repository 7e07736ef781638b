"""Arrays of one trip that are not needed at once share storage."""

import random

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.memory.lifetimes import peak_bytes
from sdfgad.optimise.pass_manager import Phase, pass_of
from sdfgad.optimise.passes import PASSES, optimise
from sdfgad.optimise.storage.contract import contract
from sdfgad.optimise.storage.reuse import reuse
from sdfgad.optimise.storage.split import split
from tests.helpers import with_target
from tests.helpers_passes import assert_same, gradient_case, outputs
from tests.helpers_text import program_of, tidy

LONG = 40
SHAPES = dict.fromkeys("xyzabcde", (LONG,)) | {"s": (), "f": (2 * LONG,)}


@pytest.fixture(autouse=True)
def small_arrays_are_shared(monkeypatch):
    with_target(monkeypatch, local_bytes=0)


def made(text, outs="z", shapes=SHAPES):
    return program_of(text.replace("N", str(LONG)), shapes, "x", outs)


def check(program):
    arrays = {"x": np.random.default_rng(1).standard_normal(LONG)}
    changed = reuse(program)
    assert_same(outputs(changed, arrays, seed=2), outputs(program, arrays), "with storage shared")
    return changed


def test_an_array_goes_where_an_earlier_one_was():
    changed = check(
        made("""
        for p < N: z[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(z[p])
            for p < N: b[p] = a[p] * z[p]
            for p < N: c[p] = b[p] + z[p]
            for p < N: z[p] = c[p] * b[p]
            for p < N: d[p] = sin(z[p])
            for p < N: z[p] = z[p] + d[p]
        """)
    )
    assert program_text(changed) == tidy(
        """
        for p < N: z[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(z[p])
            for p < N: b[p] = (a[p] * z[p])
            for p < N: a[p] = (b[p] + z[p])
            for p < N: z[p] = (a[p] * b[p])
            for p < N: a[p] = sin(z[p])
            for p < N: z[p] = (z[p] + a[p])
        """.replace("N", str(LONG))
    )
    assert {"c", "d"}.isdisjoint(changed.buffers)


STAYS = {
    "carried to the next trip": """
        for p < N: z[p] = x[p]
        for p < N: a[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(a[p])
            for p < N: b[p] = z[p] + 1.0
            for p < N: z[p] = b[p]
        """,
    "read after the loop": """
        for p < N: z[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(z[p])
            for p < N: z[p] = a[p]
            for p < N: b[p] = z[p] * 2.0
            for p < N: z[p] = z[p] + 1.0
        for p < N: z[p] = b[p]
        """,
    "not all of it is written first": """
        for p < N: z[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(z[p])
            for p < N: z[p] = a[p]
            for p < 9: b[p] = z[p] * 2.0
            for p < N: z[p] = z[p] + b[p]
        """,
    "needed together": """
        for p < N: z[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(z[p])
            for p < N: b[p] = a[p] + z[p]
            for p < N: z[p] = a[p] + b[p]
        """,
    "of another length": """
        for p < N: z[p] = x[p]
        loop t < 4:
            for p < N: a[p] = sin(z[p])
            for p < N: z[p] = a[p]
            for q < M: f[q] = 2.0 * t
            for p < N: z[p] = z[p] + f[p]
        """.replace("M", str(SHAPES["f"][0])),
    "in threads": """
        for p < N: z[p] = x[p]
        loop parallel t < 4:
            for p < N: a[p] = x[p] + t
            for p < N: b[p] = a[p] * 2.0
            for p < N: c[p] = b[p] * 2.0
            for p < N: z[p] += c[p]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    program = made(STAYS[name])
    if name == "not all of it is written first":
        assert program_text(reuse(program)) == program_text(program)
    else:
        assert program_text(check(program)) == program_text(program)


def steps(T, u, k):
    for _ in range(T):
        a = np.sin(u)
        a[1:-1] += k * (a[2:] - a[:-2])
        b = np.exp(-a * a)
        b[1:] -= 0.1 * b[:-1] * a[1:]
        c = np.tanh(b * u)
        c[:-1] *= 1.0 + 0.1 * c[1:]
        u[:] = u + 0.1 * c
    return np.sum(u * u)


def test_a_time_loop_holds_less(monkeypatch):
    # Smaller arrays are local variables, which are not counted.
    with_target(monkeypatch, local_bytes=0)
    _, gradient, arrays, integers = gradient_case(steps, (3, np.linspace(-1.0, 1.0, 60), 0.3))
    program = optimise(gradient.program)
    without = tuple(NOT_SHARED if one.name == "contract" else one for one in PASSES)
    before = optimise(gradient.program, without)
    assert peak_bytes(program, integers) < peak_bytes(before, integers)
    assert_same(outputs(program, arrays, integers, 3), outputs(before, arrays, integers, 4), "with storage shared")


NOT_SHARED = pass_of(Phase.LOOPS, split, contract, name="contract")

HEADS = ("loop u < 3:", "loop backwards u < 2:", "loop u < 0:", "loop parallel u < 4:", "if z[0] > 0.1:")


def random_block(rng, depth, known):
    """Statements that make temporaries, whole or in part, and mostly read what is `known`, within one another."""
    lines = []
    for _ in range(rng.randint(3, 7)):
        to, sides = rng.choice("abcdez"), [rng.choice(known if rng.random() < 0.97 else "abcde") for _ in range(2)]
        if depth and rng.random() < 0.2:
            lines += [rng.choice(HEADS), *(f"    {line}" for line in random_block(rng, depth - 1, known))]
        elif to in known and rng.random() < 0.15:
            lines.append(f"for p < {rng.randint(1, 4)}: {to}[p] += 0.5")
        else:
            length = 4 if rng.random() < 0.9 else 3
            lines.append(f"for p < {length}: {to}[p] = 0.5 * {sides[0]}[p] + sin({sides[1]}[p])")
            known = known + to if length == 4 else known
    return lines


def test_random_loops():
    """What is read before it is set is not a number; programs whose results are none tell nothing."""
    x, count = {"x": np.linspace(-0.5, 0.7, 4)}, 0
    for seed in range(200):
        rng = random.Random(seed)
        body = "\n".join(f"    {line}" for line in random_block(rng, 2, "xz"))
        program = program_of(f"for p < 4: z[p] = x[p]\nloop t < 3:\n{body}", dict.fromkeys("xzabcde", (4,)), "x", "z")
        changed = reuse(program)
        if changed == program:
            continue
        try:
            expected = outputs(program, x)
        except AssertionError:  # Trips of a parallel loop meet.
            continue
        assert_same(outputs(changed, x, seed=seed), expected, f"of seed {seed}, with storage shared")
        count += bool(np.isfinite(expected["z"]).all())
    assert count > 40

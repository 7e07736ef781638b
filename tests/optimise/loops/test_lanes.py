"""Strips of independent lanes run through sequential loops side by side, and nothing else changes."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import Loop
from sdfgad.ir.text import program_text
from sdfgad.optimise.loops.lanes import run_in_lanes
from sdfgad.optimise.passes import optimise
from tests.helpers import ensemble, with_target
from tests.helpers_compiled import threads
from tests.helpers_passes import assert_same, gradient_case, outputs
from tests.helpers_text import program_of, tidy

LANES, ROWS = 640, 24
SHAPES = dict.fromkeys("xyzt", (LANES,)) | dict.fromkeys("XYZT", (ROWS, 60)) | {"s": (), "w": (LANES,)}


@pytest.fixture(autouse=True)
def a_little_work_is_worth_threads(monkeypatch):
    with_target(monkeypatch, parallel_work=4096)


def made(text, outs, shapes=SHAPES):
    inputs = [name for name in shapes if name not in outs and name in "xyXYw"]
    return program_of(text, shapes, inputs, outs)


def check(program):
    """The program in lanes, which computes the same."""
    rng = np.random.default_rng(3)
    arrays = {n: rng.standard_normal([e.const for e in program.buffers[n].shape]) for n in program.inputs}
    found = run_in_lanes(program)
    for seed in range(2):
        assert_same(outputs(found, arrays, seed=seed), outputs(program, arrays), "in lanes")
    return found


def test_a_loop_over_time():
    program = made(
        """
        for p < 640: z[p] = x[p]
        loop j < 10:
            for p < 640: t[p] = z[p] * y[p]
            for p < 640: z[p] = sin(t[p])
        """,
        "z",
    )
    assert program_text(check(program)) == tidy("""
        loop parallel piece < 8:
            for p < 80: z[p + 80*piece] = x[p + 80*piece]
            loop j < 10:
                for p < 80: t[p + 80*piece] = (z[p + 80*piece] * y[p + 80*piece])
                for p < 80: z[p + 80*piece] = sin(t[p + 80*piece])
        """)


IN_LANES = {
    "two sweeps": (
        "tz",
        """
        for p < 640: t[p] = 0.0
        for p < 640: z[p] = 0.0
        loop j < 10:
            for p < 640: t[p] = sin(x[p]) + t[p]
        loop backwards j < 10:
            for p < 640: z[p] = cos(t[p]) + z[p]
        """,
    ),
    "a sum over the lanes": (
        "zs",
        """
        s = 0.0
        for p < 640: z[p] = x[p]
        loop j < 10:
            for p < 640: z[p] = sin(z[p])
            for p < 640: s += z[p]
        """,
    ),
    "rows": (
        "Z",
        """
        for p < 24, q < 60: Z[p, q] = X[p, q]
        loop j < 10:
            for p < 24, q < 59: T[p, q] = sin(Z[p, q])
            for p < 24, q < 59: Z[p, q + 1] = T[p, q]
        """,
    ),
    "parallel loops": (
        "z",
        """
        loop j < 10:
            loop parallel f < 640:
                t[f] = x[f] * y[f]
                z[f] = sin(t[f])
        """,
    ),
}


@pytest.mark.parametrize(("outs", "text"), IN_LANES.values(), ids=IN_LANES)
def test_what_runs_in_lanes(outs, text):
    assert "loop parallel piece" in program_text(check(made(text, outs)))


def test_much_work_in_each_trip_runs_in_as_many_strips_as_threads_may_share():
    text = """
        for p < 6400: z[p] = x[p]
        loop j < 10:
            for p < 6400: z[p] = sin(z[p] * y[p])
        """
    shapes = dict.fromkeys("xyz", (6400,))
    assert "loop parallel piece < 64:" in program_text(check(program_of(text, shapes, "xy", "z")))
    # Strips of 64 lanes at least are too few of these.
    few = dict.fromkeys(shapes, (1280,))
    program = program_of(text.replace("6400", "1280"), few, "xy", "z")
    assert run_in_lanes(program) == program


NOT = {
    "neighbours": """
        for p < 640: z[p] = x[p]
        loop j < 10:
            for p < 639: t[p] = z[p] + z[p + 1]
            for p < 639: z[p] = sin(t[p])
        """,
    "a sum that all lanes use": """
        for p < 640: z[p] = x[p]
        loop j < 10:
            s = 0.0
            for p < 640: s += z[p]
            for p < 640: z[p] = z[p] / s
        """,
    "no strips of one length": """
        for p < 641: Q[p] = 1.0
        loop j < 10:
            for p < 641: Q[p] = sin(Q[p])
        """,
    "short rows": """
        loop j < 10:
            for p < 24, q < 60: Z[p, q] = sin(X[p, q]) + Y[p, q]
            for p < 23, q < 60: T[p, q] = Z[p + 1, q]
            for p < 23, q < 60: Z[p, q] = T[p, q] * 2.0
        """,
    "products of matrices": """
        loop j < 10:
            for p < 24, q < 60, r < 60: Z[p, q] += X[p, r] * V[r, q]
            for p < 24, q < 60: T[p, q] = sin(X[p, q])
        """,
    "little work": """
        loop j < 10:
            for p < 24: v[p] = sin(v[p])
        """,
    "enough work in each trip": """
        loop j < 10:
            for p < 640: z[p] = sin(sin(sin(sin(sin(sin(sin(x[p] * y[p]) * y[p]) * y[p]))))) + x[p]
        """,
}


@pytest.mark.parametrize("text", NOT.values(), ids=NOT)
def test_what_does_not(text):
    shapes = SHAPES | {"Q": (641,), "v": (24,), "V": (60, 60)}
    outs = [name for name in ("Q", "z", "Z", "v") if f"{name}[" in text][:1]
    program = program_of(text, shapes, [n for n in "xyXYwV" if n not in outs], outs)
    assert run_in_lanes(program) == program


def test_both_sweeps_of_an_ensemble_run_strip_by_strip(rng, monkeypatch):
    with_target(monkeypatch, parallel_work=20_000)
    _, gradient, arrays, integers = gradient_case(ensemble, (rng.uniform(0, 1, 640), 1.3, 6), wrt=["x", "k"])
    found = optimise(gradient.program)
    (strips,) = (s for s in found.body if isinstance(s, Loop) and s.var.startswith("piece"))
    assert sum(isinstance(s, Loop) and not s.is_parallel for s in strips.body) == 2
    assert_same(outputs(found, arrays, integers), outputs(gradient.program, arrays, integers), "an ensemble")


def test_results_do_not_depend_on_the_number_of_threads(rng, monkeypatch):
    with_target(monkeypatch, parallel_work=200_000)
    x, found = rng.uniform(0, 1, 6400), []
    for number in (1, 2, 4):
        with threads(number):
            value, grads = sdfgad.value_and_grad(ensemble, argnums=(0, 1))(x, 1.3, 6)
        found.append((value, *grads))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    step = 1e-6
    slope = (ensemble(x, 1.3 + step, 6) - ensemble(x, 1.3 - step, 6)) / (2 * step)
    np.testing.assert_allclose(found[0][2], slope, rtol=1e-7)


FORMS = (
    "for p < 640: {0}[p] = sin({1}[p]) + {2}[p]",
    "for p < 640: {0}[p] = {0}[p] * {1}[p]",
    "for p < 640: {0}[p] += {1}[p]",
    "for p < 640: s += {1}[p] * {2}[p]",
    "for p < 639: {0}[p] += {1}[p + 1]",
    "for p < 640: {0}[p] = {1}[639 - p] + {2}[p]",
    "for p < 640: {0}[p] = {1}[p] + s",
)
# How likely each of these is: most programs have nothing but lanes.
LIKELY = np.array([8, 8, 6, 3, 0.5, 0.5, 0.5]) / 26.5


def test_random_programs():
    rng, found = np.random.default_rng(5), 0
    for _ in range(30):
        lines = ["s = 0.0", *(f"for p < 640: {name}[p] = x[p] * y[p]" for name in "ztw")]
        for j in range(rng.integers(1, 4)):
            lines.append(f"loop {'backwards ' if rng.random() < 0.4 else ''}j{j} < {rng.integers(3, 6)}:")
            for form in rng.choice(FORMS, rng.integers(1, 5), p=LIKELY):
                target = rng.choice(list("ztw"))
                others = rng.permutation([name for name in "ztwxy" if name != target])
                lines.append("    " + str(form).format(target, *others))
        after = check(program_of("\n".join(lines), SHAPES, ["x", "y"], ["z", "t", "w", "s"]))
        found += "loop parallel piece" in program_text(after)
    assert 10 < found < 30

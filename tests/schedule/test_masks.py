"""Loops that do something only where a mask is set do it in the same order, and look at nothing else."""

from dataclasses import replace

import pytest

from sdfgad.ir.program import Loop, transform
from sdfgad.schedule.masks import mask_of
from tests.helpers_compiled import run_packed
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

SHAPES = {"m": (61,), "x": (61,), "z": (61,), "M": (61, 61), "q": (), "c": (61,)}
START = "for p < 61: z[p] = 1.0\nq = 0.5\nfor p < 61: c[p] = m[p]\n"
SKIPPING = {
    "forward": "loop k < 61:\n    if m[k]:\n        q = q * 0.9 + x[k]\n        z[k] = q",
    "backwards": "loop backwards k < 61:\n    if m[k]:\n        q = q * 0.9 + x[k]\n        z[k] = q",
    "a part": "loop 3 <= k < 52:\n    if m[k]:\n        q = q * 0.9 + x[k]\n        z[k] = q",
    "a part backwards": "loop backwards 3 <= k < 52:\n    if m[k]:\n        q = q * 0.9 + x[k]\n        z[k] = q",
    "inside": "loop j < 5:\n    loop k < 61 - 9*j:\n        if m[k]:\n            z[k] = z[k] * x[j] + q",
    "nothing": "loop k < 0:\n    if m[k]:\n        z[k] = q",
}
ALL = {
    "otherwise": "loop k < 61:\n    if m[k]:\n        z[k] = q\n    else:\n        z[k] = x[k]",
    "more": "loop k < 61:\n    if m[k]:\n        z[k] = q\n    q = q * 0.9 + x[k]",
    "changed": "loop k < 60:\n    if c[k]:\n        z[k] = q\n        c[k + 1] = m[k] == m[k + 1]",
    "another place": "loop k < 60:\n    if m[k + 1]:\n        z[k] = q",
    "a row": "loop k < 61:\n    if M[3, k]:\n        z[k] = q",
    "a number": "loop k < 61:\n    if x[k] > 0.0:\n        z[k] = q",
}


def made(text):
    dtypes = dict.fromkeys("mMc", bool)
    program = program_of(START + text, SHAPES, ("m", "x", "M"), ("z", "q"), dtypes=dtypes)
    # The interpreter takes a loop with guards to begin at 0.
    return program.with_body(transform(program.body, lambda s: (replace(s, guards=()) if isinstance(s, Loop) else s,)))


def loop_of(program):
    loop = program.body[-1]
    return loop.body[0] if loop.var == "j" else loop


@pytest.mark.parametrize("name", SKIPPING)
def test_skips(name):
    program = made(SKIPPING[name])
    assert mask_of(loop_of(program), program.buffers) == "m"


@pytest.mark.parametrize("name", ALL)
def test_does_not_skip(name):
    program = made(ALL[name])
    assert mask_of(loop_of(program), program.buffers) is None


def test_as_interpreted(rng):
    cases, names = [], []
    for share in (0.0, 0.05, 0.6, 1.0):
        for name, text in (SKIPPING | ALL).items():
            mask, rows = rng.uniform(size=61) < share, rng.uniform(size=(61, 61)) < share
            cases.append((made(text), {"m": mask, "x": rng.normal(size=61), "M": rows}, {}))
            names.append(f"{name} {share}")
    for name, case, found in zip(names, cases, run_packed(cases), strict=True):
        assert_same(found, outputs(*case), name)

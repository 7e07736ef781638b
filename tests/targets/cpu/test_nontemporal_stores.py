"""Large arrays that a nest only fills are stored past the cache, and hold what they would hold without that."""

import numpy as np
import pytest

from sdfgad.ir.expr import Lin
from sdfgad.schedule.target import CPU
from sdfgad.targets.cpu import nontemporal_stores
from sdfgad.targets.cpu.nests import nest_of
from sdfgad.targets.cpu.nontemporal import Nontemporal
from tests.helpers import with_target
from tests.helpers_compiled import run_packed, threads
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of, tidy
from tests.targets.cpu.test_nests_compiled import CASES

N, M = 5000, 1000
SHAPES = {"Z": (N, M), "W": (N, M), "X": (N, M), "S": (100, 200), "F": (N * M,), "x": (M,), "y": (N,), "s": ()}
STREAMED = {
    "a matrix": ("for p < 5000, q < 1000: Z[p, q] = y[p] * x[q]", "Z"),
    "a copy": ("for p < 5000000: F[p] = 0.0", "F"),
    "two in a loop": (
        """
        loop parallel f < 5000:
            loop parallel g < 1000:
                s += X[f, g]
                Z[f, g] = X[f, g] * x[g]
                W[f, g] = X[f, g] * y[f]
        """,
        "ZW",
    ),
    "a triangle, flat": ("loop k < 1000:\n    for p < k: F[p + k * k] = x[p]\n    y[k] = x[k]\n", "F"),
    "from the second place on": ("for p < 5000, q < 999: Z[p, q + 1] = x[q]", "Z"),
}
NOT_STREAMED = {
    "small": "for p < 100, q < 200: S[p, q] = x[q]",
    "across memory": "loop k < 1000:\n    for p < 5000: Z[p, k] = y[p]\n    y[k] = x[k]\n",
    "read in the nest": "loop k < 5000:\n    for p < 1000: Z[k, p] = x[p]\n    y[k] = Z[k, 0]\n",
    "read as a bound": """
        loop k < 5000:
            for p < 1000: Z[k, p] = x[p]
            if Z[k, 0] > 0.0:
                y[k] = 1.0
        """,
    "added to": "loop k < 5000:\n    for p < 1000: Z[k, p] = x[p]\n    for p < 1000: Z[k, p] += x[p] * y[k]\n",
    "twice in a trip": "loop parallel f < 4999999:\n    F[f] = 1.0\n    F[f + 1] = 2.0\n",
    "short rows": "loop k < 1000:\n    for p < 20: Z[k, p] = x[p]\n    y[k] = x[k]\n",
    "every other element": "for p < 2500000: F[2*p] = 1.0",
    "backwards": "loop backwards k < 5000000:\n    F[k] = 2.0\n",
    "whole numbers": "for p < 5000000: i[p] = p",
}


def codes_of(program):
    past = Nontemporal(program)
    return [
        nest_of((s,), f"nest_{k}_", program.buffers, {*program.buffers}, filled=past.at(k)).code
        for k, s in enumerate(program.body)
    ]


def code_of(text):
    program = program_of(text, SHAPES | {"i": (N * M,)}, "x", ["i", *SHAPES], dtypes={"i": np.int64})
    (code,) = codes_of(program)
    return code


@pytest.mark.parametrize("name", STREAMED)
def test_streamed(name):
    text, arrays = STREAMED[name]
    code = code_of(text)
    assert code.count("sdfgad::stream(") == len(arrays)
    for array in arrays:
        assert f"sdfgad::stream(&b_{array}_[" in code
    # In the function that stores, before all loops.
    function = code[: code.index("sdfgad::stream(")].rpartition("static void")[2]
    assert "const sdfgad::Streams streams_;" in function.partition("for (")[0]


@pytest.mark.parametrize("name", NOT_STREAMED)
def test_not_streamed(name):
    assert "stream" not in code_of(NOT_STREAMED[name])


def past(text, shape, outputs="z"):
    shapes = dict.fromkeys("xyz", shape)
    program = program_of(text, shapes, "x", outputs)
    cache = Nontemporal(program)
    return [sorted(cache.at(k)) for k in range(len(program.body))]


TWO = "for p < {n}: y[p] = x[p]\nfor p < {n}: z[p] = x[p] * y[p]\n"


def test_what_is_larger_than_the_cache():
    n = CPU.last_cache_bytes // 8
    assert past(TWO.format(n=n), (n,)) == [["y"], ["z"]]


def test_results_of_a_program_that_holds_more_than_the_cache():
    n = CPU.last_cache_bytes // 16
    assert past(TWO.format(n=n), (n,)) == [[], ["z"]]
    assert past(TWO.format(n=n) + "z[0] = 1.0\n", (n,)) == [[], [], ["z"]]
    assert past(TWO.format(n=n // 2), (n // 2,)) == [[], []]


def test_only_if_sizes_are_known():
    shapes = {"x": ("n",), "z": ("n",)}
    program = program_of("for p < n: z[p] = x[p]", shapes, "x", "z", ["n"])
    assert not Nontemporal(program).at(0)


def test_rows_go_along_memory():
    p, k = Lin.symbol("p"), Lin.symbol("k")
    assert nontemporal_stores._is_along((k, p + k.scaled(7)), "p")
    assert not nontemporal_stores._is_along((p, p), "p")
    assert not nontemporal_stores._is_along((k, p.scaled(2)), "p")
    assert not nontemporal_stores._is_along((p, k), "p")


ROWS = {"Z": (37, 41), "F": (2000,), "x": (41,), "y": (37,), "X": (37, 41), "s": ()}
BEFORE = "for p < 37, q < 41: Z[p, q] = X[p, q]\nfor p < 2000: F[p] = 2.0\ns = y[0]\n"
COMPUTED = {
    "odd rows": "for p < 37, q < 40: Z[p, q + 1] = y[p] * x[q]\n",
    "parts of lines": "loop k < 37:\n    for p < k: F[p + 41 * k + 3] = x[p] + y[k]\n    s = y[k]\n",
    "with a sum": """
        loop parallel f < 37:
            loop parallel g < 41:
                s += X[f, g]
                Z[f, g] = X[f, g] * x[g]
        """,
    "flattened": """
        loop parallel f < 37:
            loop parallel g < 41:
                Z[f, g] = X[f, g] * 2.0
        """,
}


def test_computed(monkeypatch):
    """Everything that can be is stored past the cache, in strips, by threads."""
    with_target(monkeypatch, last_cache_bytes=1)
    with_target(monkeypatch, streamed_trips=0)
    with_target(monkeypatch, strip=24)
    with_target(monkeypatch, parallel_work=1)
    rng = np.random.default_rng(0)
    cases = [(made, program, arrays, integers) for made, program, arrays, integers in CASES.values()]
    for text in COMPUTED.values():
        program = program_of(BEFORE + tidy(text), ROWS, "xyX", "ZFs")
        cases.append((program, program, {name: rng.normal(size=ROWS[name]) for name in program.inputs}, {}))
    codes = [code for program, _, _, _ in cases for code in codes_of(program)]
    assert sum("sdfgad::stream(" in code for code in codes) > len(CASES) // 4
    with threads(4):
        results = run_packed([(made, arrays, integers) for made, _, arrays, integers in cases])
    for result, (_, program, arrays, integers) in zip(results, cases, strict=True):
        assert_same(result, outputs(program, arrays, integers), "")

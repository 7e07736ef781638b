"""The graph of a gradient can be saved and loaded, and is the same then."""

import dace
import numpy as np
import pytest

import npbench_suite
import sdfgad


def to_corners(x):
    n = x.shape[0]
    for i in range(n):
        x[: n - i] *= np.sin(x[i])
        for j in range(n - i):
            x[: n - i - j] *= np.sin(x[j])
            for k in range(n - i - j):
                x[: n - i - j - k] *= np.sin(x[k])
    for k in range(n):
        for j in range(n - k):
            x[: n - j - k] *= np.sin(x[j])


def twice_as_fast(x):
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 2 * i):
            x[2 * i + 2 * j // 2 : n] *= np.cos(x[i])
            for k in range(n - 2 * i - j):
                x[: n - 2 * i - j - k] += np.sin(x[k])


def below_the_diagonal(x):
    for i in range(len(x)):
        for j in range(i, -1, -1):
            x[j] = x[j] * np.sum(np.sin(x[j : i + 1]))


def after_both(x, m):
    for i in range(m):
        for j in range(m - i):
            for k in range(i + j, m):
                x[k] = x[k] * x[m - 1 - i - j] + x[j]


TRIANGULAR = {to_corners: (), twice_as_fast: (), below_the_diagonal: (), after_both: (6,)}


def assert_saved(graph, folder):
    graph.save(str(folder / "graph.sdfg"))
    loaded = dace.SDFG.from_file(str(folder / "graph.sdfg"))
    assert loaded.to_json()["nodes"] == graph.to_json()["nodes"]


@pytest.mark.parametrize("program", TRIANGULAR, ids=lambda program: program.__name__)
def test_triangular_loops_in_place(program, tmp_path):
    g = sdfgad.differentiate(program, wrt="x", output="x", reduce="sum")
    assert_saved(g.sdfg(np.linspace(0.5, 1.0, 6), *TRIANGULAR[program]), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in npbench_suite.names() if npbench_suite.load(name).arrays])
def test_every_program_of_the_suite(name, tmp_path):
    entry = npbench_suite.load(name)
    g = sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, reduce="sum", allow_unused=True)
    assert_saved(g.sdfg(*entry.arguments_for(next(iter(entry.presets)))), tmp_path)

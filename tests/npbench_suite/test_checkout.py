"""Benchmarks of a checkout of NPBench: here a made-up one, in NPBench's layout."""

import importlib.util
import json
import sys
import textwrap

import numpy as np
import pytest

from npbench_suite import checkout

SQUARES = {
    "bench_info/squares.json": {
        "relative_path": "group/squares",
        "module_name": "sq",
        "func_name": "kernel",
        "parameters": {"S": {"N": 80, "M": 88, "p": 2.5}, "L": {"N": 800, "M": 880, "p": 2.5}},
        "init": {"func_name": "initialize", "input_args": ["N", "M"], "output_args": ["fn", "A", "idx"]},
        "input_args": ["N", "fn", "A", "idx", "p"],
        "array_args": ["A", "idx"],
        "output_args": [],
    },
    "npbench/benchmarks/group/squares/sq.py": """
        import numpy as np

        def initialize(N, M, datatype=np.float32):
            return datatype(N), np.linspace(1, 2, N * M).astype(datatype).reshape(N, M), np.arange(N) % 3
        """,
    "npbench/benchmarks/group/squares/sq_numpy.py": """
        import numpy as np

        def kernel(n, fn, grid, which, power, extra=3):
            total = np.sum(grid[which] ** power, axis=1) / fn
            return n, total
        """,
}
COUNTING = {
    "bench_info/counting.json": {
        "relative_path": "counting",
        "module_name": "counting",
        "func_name": "count",
        "parameters": {"S": {"N": 50}},
        "init": {"func_name": "make", "input_args": ["N"], "output_args": ["seq"]},
        "input_args": ["seq"],
        "array_args": ["seq"],
        "output_args": [],
    },
    "npbench/benchmarks/counting/counting.py": """
        import numpy as np

        def make(N, datatype):
            return np.arange(N, dtype=np.uint8) % 7
        """,
    "npbench/benchmarks/counting/counting_numpy.py": """
        def count(seq):
            found = 0
            for x in seq:
                if x == 3:
                    found += 1
            return found
        """,
}
# No initialiser; the types come from NPBench's framework; returns integers, and updates more than the description says.
PLANE = {
    "bench_info/plane.json": {
        "relative_path": "plane",
        "module_name": "plane",
        "func_name": "plane",
        "parameters": {"S": {"lo": -1.0, "hi": 2.0, "XN": 40}},
        "input_args": ["lo", "hi", "XN"],
        "array_args": [],
        "output_args": [],
    },
    "npbench/benchmarks/plane/plane_numpy.py": """
        import numpy as np
        from npbench.infrastructure.framework import np_complex, np_float

        def plane(lo, hi, xn):
            x = np.linspace(lo, hi, xn, dtype=np_float)
            z = np.zeros(xn, dtype=np_complex)
            z[:] = x * (1 + 2j)
            return z, np.arange(xn)
        """,
}
SWEEP = {
    "bench_info/sweep.json": {
        "relative_path": "sweep",
        "module_name": "sweep",
        "func_name": "sweep",
        "parameters": {"M": {"T": 20, "N": 24}},
        "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["a", "b"]},
        "input_args": ["T", "a", "b"],
        "array_args": ["a", "b"],
        "output_args": ["b"],
    },
    "npbench/benchmarks/sweep/sweep.py": """
        import numpy as np

        def initialize(N):
            return np.linspace(1.0, 2.0, N), np.linspace(2.0, 3.0, N) ** 2
        """,
    "npbench/benchmarks/sweep/sweep_numpy.py": """
        def sweep(T, a, b):
            if a.size < 6:
                raise ValueError("too small")
            for t in range(T):
                a[1:] = 0.5 * (a[1:] + b[:-1])
            return T
        """,
}


def write(root, *benchmarks):
    """A checkout in `root`."""
    for benchmark in benchmarks:
        for place, content in benchmark.items():
            path = root / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                textwrap.dedent(content) if isinstance(content, str) else json.dumps({"benchmark": content})
            )
    return root


def replaced(benchmark, **changes):
    """A benchmark with other entries in its description."""
    return {p: c if isinstance(c, str) else c | changes for p, c in benchmark.items()}


def test_names(tmp_path):
    assert checkout.names(write(tmp_path, SQUARES, PLANE, COUNTING)) == ["counting", "plane", "squares"]
    assert checkout.names(tmp_path / "nowhere") == []


def test_arguments_are_those_of_the_program(tmp_path):
    benchmark = checkout.load(write(tmp_path, SQUARES), "squares")
    assert benchmark.name == "squares"
    assert benchmark.arguments == ("n", "fn", "grid", "which", "power")
    assert benchmark.arrays == ("fn", "grid", "power")
    assert benchmark.output == "return[1]"
    n, fn, grid, which, power = benchmark.arguments_for("L")
    assert (n, fn, power) == (800, 800.0, 2.5)
    assert (type(n), type(fn), type(power)) == (int, np.float64, float)
    assert (grid.shape, grid.dtype) == ((800, 880), np.float64)
    assert which.dtype == np.int64
    returned = benchmark.program(n, fn, grid, which, power)
    outputs = benchmark.outputs_from((n, fn, grid, which, power), returned)
    assert outputs["return[1]"] is returned[1]
    assert outputs["grid"] is grid


def test_arguments_are_new_each_time(tmp_path):
    benchmark = checkout.load(write(tmp_path, SQUARES), "squares")
    first, second = benchmark.arguments_for("S")[2], benchmark.arguments_for("S")[2]
    np.testing.assert_array_equal(first, second)
    assert not np.shares_memory(first, second)


def test_files_are_used_where_they_are(tmp_path):
    """Also where two checkouts have files of the same names."""
    one, two = write(tmp_path / "one", SQUARES), write(tmp_path / "two", SQUARES)
    numpy_file = two / "npbench/benchmarks/group/squares/sq_numpy.py"
    numpy_file.write_text(numpy_file.read_text().replace("/ fn", "/ fn + 1.0"))
    programs = [checkout.load(root, "squares").program for root in (one, two)]
    assert programs[1].__code__.co_filename == str(numpy_file)
    arguments = checkout.load(one, "squares").arguments_for("S")
    np.testing.assert_allclose(programs[0](*arguments)[1] + 1.0, programs[1](*arguments)[1])


def test_integers_only(tmp_path):
    benchmark = checkout.load(write(tmp_path, COUNTING), "counting")
    assert benchmark.arrays == ()
    assert benchmark.output is None
    (sequence,) = benchmark.arguments_for("S")
    assert sequence.dtype == np.uint8


def test_no_initialiser_and_types_of_the_framework(tmp_path):
    is_installed = importlib.util.find_spec("npbench") is not None
    benchmark = checkout.load(write(tmp_path, PLANE), "plane")
    assert benchmark.arguments == ("lo", "hi", "xn")
    assert benchmark.arrays == ("lo", "hi")
    assert benchmark.output == "return[0]"
    assert benchmark.program(*benchmark.arguments_for("S"))[0].dtype == np.complex128
    assert ("npbench" in sys.modules) == is_installed


def test_listed_output_that_is_not_updated(tmp_path):
    """What is updated is the output; what returns an integer has no floating return value."""
    assert checkout.load(write(tmp_path, SWEEP), "sweep").output == "a"


def test_listed_output_that_does_not_change(tmp_path):
    idle = "def sweep(T, a, b):\n    b *= 1.0\n"
    benchmark = SWEEP | {"npbench/benchmarks/sweep/sweep_numpy.py": idle}
    assert checkout.load(write(tmp_path, benchmark), "sweep").output == "b"


def test_single_returned_value(tmp_path):
    simple = "def sweep(T, a, b):\n    return a * b\n"
    benchmark = SWEEP | {"npbench/benchmarks/sweep/sweep_numpy.py": simple}
    assert checkout.load(write(tmp_path, benchmark), "sweep").output == "return"


def test_small_sizes(tmp_path):
    benchmark = checkout.load(write(tmp_path, SQUARES), "squares", is_small=True)
    n, _, grid, _, power = benchmark.arguments_for("S")
    assert (n, grid.shape, power) == (10, (10, 11), 2.5)


def test_small_sizes_are_those_with_which_the_program_runs(tmp_path):
    benchmark = checkout.load(write(tmp_path, SWEEP), "sweep", is_small=True)
    steps, a, _ = benchmark.arguments_for("M")
    assert (steps, a.size) == (5, 6)


def test_program_that_never_runs(tmp_path):
    broken = SWEEP | {"npbench/benchmarks/sweep/sweep_numpy.py": "def sweep(T, a, b):\n    raise ValueError('no')\n"}
    benchmark = checkout.load(write(tmp_path, broken), "sweep", is_small=True)
    with pytest.raises(ValueError, match="no"):
        benchmark.arguments_for("M")


def test_results_that_are_no_numbers(tmp_path):
    """Sizes are larger, if that helps, and nothing warns."""
    averages = "def sweep(T, a, b):\n    return a[10:].mean()\n"
    benchmark = SWEEP | {"npbench/benchmarks/sweep/sweep_numpy.py": averages}
    assert checkout.load(write(tmp_path / "1", benchmark), "sweep", is_small=True).arguments_for("M")[1].size == 12
    never = "import numpy as np\n\ndef sweep(T, a, b):\n    return np.log(-a)\n"
    benchmark = SWEEP | {"npbench/benchmarks/sweep/sweep_numpy.py": never}
    assert np.isfinite(
        checkout.load(write(tmp_path / "2", benchmark), "sweep", is_small=True).arguments_for("M")[1]
    ).all()


def test_small_arrays_have_elements(tmp_path):
    tail = "import numpy as np\n\ndef initialize(N):\n    return np.ones(N), np.ones(N - 5)\n"
    benchmark = SWEEP | {"npbench/benchmarks/sweep/sweep.py": tail}
    numpy_file = {"npbench/benchmarks/sweep/sweep_numpy.py": "def sweep(T, a, b):\n    return a + b.sum()\n"}
    root = write(tmp_path, benchmark | numpy_file)
    assert checkout.load(root, "sweep", is_small=True).arguments_for("M")[1].size == 6


@pytest.mark.parametrize(
    ("sizes", "divisor", "expected"),
    [
        ({"N": 100, "dt": 0.5}, 8, {"N": 12, "dt": 0.5}),
        ({"N": 3, "M": 3}, 8, {"N": 3, "M": 3}),
        ({"H": 28, "W": 28, "K": 5}, 8, {"H": 5, "W": 5, "K": 4}),
        ({"A": 17, "B": 10, "C": 16}, 8, {"A": 6, "B": 4, "C": 5}),
        ({"A": 17, "B": 10}, 1, {"A": 17, "B": 10}),
    ],
)
def test_divided(sizes, divisor, expected):
    """Sizes that differ stay different: a program may ask whether they do."""
    assert checkout.divided(sizes, divisor) == expected

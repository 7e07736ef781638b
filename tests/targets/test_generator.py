"""Code of whole SDFGs: functions of marked nodes and their calls, when arrays are held, and how a run ends."""

import ctypes
import re
from dataclasses import replace

import dace
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import OutOfMemory, TooFewSlots, UnsupportedGraph
from sdfgad.ir.expr import INT, Int, Lin, Op, Read
from sdfgad.ir.program import Buffer
from sdfgad.memory.lifetimes import lifetimes, local_variables
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_sdfg, generate
from sdfgad.sdfg.marks import is_marked
from sdfgad.sdfg.outline import Outline
from sdfgad.sdfg.states import code_nodes
from sdfgad.sdfg.writer import write
from sdfgad.targets.generator import elements_text
from tests.helpers_compiled import compiled_outputs
from tests.helpers_ir import gradient_of, parsed
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of, sample

F64 = np.dtype(np.float64)
N, M = Lin.symbol("n"), Lin.symbol("m")
BLOCKS = "__blocks_0"


def chain(x, n):
    y = np.sin(x)
    for i in range(n):
        t = y * x
        if t[0] > 0:
            y = t + np.cos(t)
    z = y * y
    return np.sum(z)


@pytest.fixture(scope="module", params=["as parsed", "optimised"])
def program(request):
    made = gradient_of(parsed(chain, np.ones(9000), 3)).program
    return optimise(made) if request.param == "optimised" else made


@pytest.fixture(scope="module")
def body(program):
    """The generated code of the program's body, from the declaration of its blocks on."""
    code = generate(write(program)).code
    found = re.search(rf"sdfgad::Blocks<(\d+)> {BLOCKS};", code)
    assert int(found[1]) == len(held(program))
    return code[found.start() :].partition("\nDACE_EXPORTED")[0]


ALLOCATED = re.compile(rf"(\w+) = {BLOCKS}\.allocate<\w+>\((\d+), ([^;]*)\);")


def held(program):
    live, local = lifetimes(program), local_variables(program)
    return {name: span for name, span in live.items() if name not in local}


def test_each_array_is_allocated_and_released_once(program, body):
    live = held(program)
    made = ALLOCATED.findall(body)
    assert len(live) >= 3
    assert sorted(name for name, _, _ in made) == sorted(live)
    assert len({number for _, number, _ in made}) == len(made)
    released = re.findall(rf"{BLOCKS}\.release\((\d+)\)", body)
    assert len(set(released)) == len(released)
    # The rest releases itself where the program ends.
    kept = {number for _, number, _ in made} - set(released)
    last = len(program.body) - 1
    assert {name for name, number, _ in made if number in kept} == {n for n, (_, end) in live.items() if end == last}
    assert "aligned" not in body


def calls_of(body):
    """The position in the text, and the arguments, of each call of a nest."""
    return [(c.start(), re.findall(r"\w+", c[1])) for c in re.finditer(r"\bnest_\w+\(([^;{]*)\);", body)]


def test_allocated_before_and_released_after_use(program, body):
    calls = calls_of(body)
    assert calls
    for name, number, _ in ALLOCATED.findall(body):
        users = [place for place, arguments in calls if name in arguments]
        start = body.index(f"{name} = {BLOCKS}")
        release = body.find(f"{BLOCKS}.release({number});")
        assert users, name
        assert all(start < use and (release < 0 or use < release) for use in users), name
        # As late and as early as can be.
        assert not [place for place, _ in calls if start < place < users[0]], name
        assert release < 0 or not [place for place, _ in calls if users[-1] < place < release], name
        assert body.count(f"* {name} = nullptr;") + body.count(f"*{name} = nullptr;") == 1


def test_nests_allocate_nothing(program):
    code = generate(write(program)).code
    for function in re.findall(r"static void nest_\w+\(.*?\n\}\n", code, re.DOTALL):
        assert "__blocks" not in function
        assert "new " not in function


def test_each_marked_node_is_a_call_of_a_function(program):
    sdfg = write(program)
    sdfg.expand_library_nodes()
    marked = [n for s in sdfg.states() for n in code_nodes(s) if is_marked(n)]
    code = generate(sdfg).code
    functions = re.findall(r"static void (nest_\d+_\d+_)\(", code)
    assert len(functions) == len(set(functions))
    # What clears the target of the next statement is no function of its own; statements of one form share one.
    outline, calls = Outline(sdfg), re.findall(r"(?<!void )(nest_\d+_\d+_)\(", code)
    assert len(calls) == sum(len(outline.positions(node)) > 0 for node in marked) >= len(program.body) - 3
    assert set(calls) == set(functions)


# --- sizes


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((Lin(4),), "4"),
        ((Lin(4), Lin(0)), "4"),
        ((Lin(4), Lin(5)), "20"),
        ((N,), "sdfgad::memory::largest(1, n) * 1"),
        ((N, Lin(5), M + 1), "sdfgad::memory::largest(1, n) * sdfgad::memory::largest(1, m + 1) * 5"),
    ],
)
def test_numbers_of_elements(shape, expected):
    assert elements_text(Buffer("a", shape, F64)) == expected


def test_sizes_that_are_data_are_refused():
    with pytest.raises(UnsupportedGraph, match=r"the size of `a` depends on `k`"):
        elements_text(Buffer("a", (Lin.symbol(Read("k", (), INT)),), F64))


def test_products_and_quotients_of_sizes():
    product = Lin.symbol(Op("multiply", (Int(N), Int(M)), INT))
    half = Lin.symbol(Op("floor_divide", (Int(N), Int(Lin(2))), INT))
    assert elements_text(Buffer("a", (product,), F64)).count("n") >= 1
    assert "floor_divide" in elements_text(Buffer("a", (half + 1,), F64))


# --- how a run ends


def executable_of(text, shapes, inputs, result, integers, bounds=()):
    program = program_of(text, shapes, inputs, result, integers, {"k": INT})
    return Executable(compile_sdfg(write(replace(program, bounds=bounds))))


TAPE = """
k = 0
loop f < 20:
    b[k] = x[f]
    k = k + 1
z[0] = b[0] + b[1]
z[1] = 1.0 * k
"""


def test_too_few_slots_are_an_error():
    run = executable_of(TAPE, {"x": (20,), "z": (2,), "b": ("n",), "k": ()}, "x", "z", ["n"], ("n",))
    x, z = np.linspace(0.0, 1.0, 20), np.zeros(2)
    for n in (19, 3, 1):
        with pytest.raises(TooFewSlots):
            run({"x": x, "z": z}, {"n": n})
        run.reset_peak()
        assert run.peak_bytes == 0
    run({"x": x, "z": z}, {"n": 20})
    np.testing.assert_array_equal(z, [x[0] + x[1], 20])


def squared(run, n, m=1):
    z = np.zeros(1)
    run({"x": np.full(1, 3.0), "z": z}, {"n": n, "m": m})
    return z[0]


@pytest.fixture(scope="module")
def large():
    """A program with an array of n times m numbers between others, of which it uses as many as there are."""
    text = """
loop f < 4:
    a[f] = x[0]
loop f < n:
    b[f, 0] = a[0]
z[0] = 0.0
loop f < n:
    z[0] = z[0] + b[f, 0] * a[1]
"""
    return executable_of(text, {"x": (1,), "z": (1,), "a": (4096 * 4,), "b": ("n", "m")}, "x", "z", ["n", "m"])


@pytest.mark.parametrize(
    ("n", "m"), [(1 << 40, 1), (1 << 40, 1 << 40), (1 << 62, 4), (1 << 61, 8), ((1 << 63) - 1,) * 2]
)
def test_sizes_that_overflow_are_too_little_memory(large, n, m):
    with pytest.raises(OutOfMemory):
        squared(large, n, m)
    # All has been released.
    large.reset_peak()
    assert large.peak_bytes == 0
    assert squared(large, 3, 2) == 27.0


@pytest.mark.parametrize(("n", "m"), [(0, 5), (-7, 3), (0, -1), (-(1 << 62), -8)])
def test_arrays_without_elements(large, n, m):
    assert squared(large, n, m) == 0.0


def test_what_is_held_is_counted(large):
    large.reset_peak()
    assert squared(large, 1000, 7) == 9000.0
    assert large.peak_bytes == 8 * (4096 * 4 + 7000)


def test_the_entry_point_returns_what_happened(large):
    library = ctypes.CDLL(str(large.library.path))
    assert hasattr(library, f"sdfgad_run_{large.library.name}")
    assert dict(large.library.arguments) == {"x": "array", "z": "array", "n": "integer", "m": "integer"}


# --- whole programs


def test_generating_expands_library_nodes():
    program, arrays, integers = sample("for p < 20, c < 6, d < 6: Z[p, c] = sum of X[p, d] * Y[p, c] * y[d]")
    sdfg = write(program)
    generate(sdfg)
    assert not [n for n, _ in sdfg.all_nodes_recursive() if isinstance(n, dace.nodes.LibraryNode)]
    found = compiled_outputs(program, arrays, integers)
    assert_same(found, outputs(program, arrays, integers), "")


def test_code_is_the_same_each_time(program):
    assert generate(write(program)) == generate(write(program))


def test_options_only_for_what_is_called():
    plain, _, _ = sample("for p < 20: z[p] = x[p]")
    assert generate(write(plain)).options == ()
    product = program_of(
        "for p < 64, q < 64, r < 64: c[p, q] = sum of a[p, r] * b[r, q]", dict.fromkeys("abc", (64, 64)), "ab", "c"
    )
    assert any("openblas" in option for option in generate(write(product)).options)


def triangle(x, n):
    for k in range(n):
        for _ in range(n):
            for _ in range(k + 1, 5):
                a = np.sin(x)
                x[:] = a * a + 0.1 * x
    return np.sum(x * x)


def test_a_size_that_needs_a_number_twice():
    """How many trips a triangle has in all is computed where its tape is allocated."""
    sdfgad.check_grads(triangle, np.linspace(0.5, 1.1, 4), 3, wrt="x")


def ends_inside(x):
    s = x[3]
    w = 0
    while w < 4 and s > 0.45:
        w += 1
        for t in range(0, w, 2):
            x[1:-1] = np.sin(-0.1 * x[:-2] + 0.3 * x[1:-1])
            x[t] -= 0.2 * (x[t::2] @ x[t::2])
            if t == 1:
                break
        x[:] = x * x
    return np.sum(x * s)


def test_what_is_known_of_a_counter_reads_what_there_is():
    """The range of a counter was said by a number that is computed under another name."""
    sdfgad.check_grads(ends_inside, np.linspace(0.5, 0.9, 13), wrt="x")

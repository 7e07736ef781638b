"""Which statements become calls of BLAS, and that the calls compute what NumPy does."""

import copy

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import Const, Lin, Op, Read
from sdfgad.ir.program import Access, Buffer, Compute, Program, computes
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_sdfg
from sdfgad.schedule.products import product_of
from sdfgad.schedule.target import CPU
from sdfgad.sdfg.writer import write
from tests.helpers import assert_close, module_from
from tests.helpers_ir import parsed

M, N, K = 9, 8, 10
assert min(M * N * K, M * K * 8) >= CPU.gemm_work


def products(function, *args):
    """The products that the program of a function has: "gemm" or "gemv" for each, and the number of loops around."""
    program = parsed(function, *args).program
    found = [product_of(statement, program.buffers) for statement in computes(program.body)]
    return [name_of(p) for p in found if p is not None]


def assert_same(found, expected, tolerance, what=""):
    for part in (np.real, np.imag) if np.iscomplexobj(expected) else (np.real,):
        assert_close(part(found), part(expected), tolerance, what)


def name_of(product):
    return ("gemm" if product.n else "gemv") + " in a loop" * len(product.batch)


def array(*shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng((seed, *shape))
    values = rng.uniform(-1, 1, shape)
    return (values + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else values).astype(dtype)


ARGUMENTS = {
    "A": array(M, K),
    "B": array(K, N),
    "AT": array(K, M),
    "BT": array(N, K),
    "big": array(3 * M, 3 * K),
    "wide": array(K, 3 * N),
    "long": array(60, 40),
    "x": array(40),
    "y": array(60),
    "x2": array(40, 2),
    "cube": array(4, 30, 40),
    "four": array(3, 5, 6, 40),
    "batch": array(4, 40, 6),
    "heads": array(8, 3, 10),
}

RECOGNISED = {
    "A @ B": "gemm",
    "AT.T @ B": "gemm",
    "A @ BT.T": "gemm",
    "AT.T @ BT.T": "gemm",
    "(A @ B).T": "gemm",
    "np.dot(A, B)": "gemm",
    "big[:M, :K] @ B": "gemm",
    "big[M : 2 * M, K : 2 * K] @ wide[:, N : 2 * N]": "gemm",
    "big[::3, 1 : K + 1] @ B": "gemm",
    "big[2 : M + 2, :K] @ wide.T[N : 2 * N].T": "gemm",
    "A.T.T @ B": "gemm",
    "A @ A.T": "gemm",
    "(BT @ AT).T": "gemm",
    "cube[1, :M, :K] @ B": "gemm",
    "long @ x": "gemv",
    "long.T @ y": "gemv",
    "y @ long": "gemv",
    "long @ x2[:, 1]": "gemv",
    "long[:, ::1] @ x": "gemv",
    "long[::2] @ x": "gemv",
    "long[:, 3:38] @ x[3:38]": "gemv",
    "cube[2] @ x": "gemv",
    # Several parameters as one.
    "cube @ x": "gemv",
    "cube @ long.T": "gemm",
    "four @ long.T[:, :7]": "gemm",
    "np.tensordot(four, four, ((0, 1), (0, 1)))": "gemm",
    "np.einsum('abck,abcl->kl', four, four[:, :, :, ::-1][:, :, :, ::-1])": "gemm",
    "np.reshape(four, (15, 6, 1, 40)) @ long.T": "gemm",
    "np.reshape(cube, (12, 400)) @ np.reshape(long, (400, 6))": "gemm",
    "np.reshape(np.reshape(cube, (30, 160))[:, 5:], (30, 155)).T @ long[:30]": "gemm",
    # Loops of calls.
    "cube @ batch": "gemm in a loop",
    "np.einsum('bij,bj->bi', cube, batch[:, :, 2])": "gemv in a loop",
    "np.einsum('ihd,jhd->hij', heads, heads)": "gemm in a loop",
    "np.einsum('abck,bl->ackl', four, cube[0, :5])": "gemm in a loop",
    "cube[:, 3:20] @ long[:40, :9]": "gemm in a loop",
    "np.einsum('bij,bkj->ik', cube[:, ::2], cube[:, 1::2])": "gemm in a loop",
    "four[1:, 1:, 1:] @ long.T": "gemm in a loop in a loop",
}
COMPLEX = {
    "Z": array(M, K, dtype=complex),
    "W": array(K, N, dtype=complex),
    "WH": array(N, K, dtype=complex),
    "ZT": array(K, M, dtype=complex),
    "square": array(30, 30, dtype=complex),
    "z": array(30, dtype=complex),
    "stack": array(3, 9, 10, dtype=complex),
}
RECOGNISED_COMPLEX = {
    "Z @ W": "gemm",
    "Z @ WH.T": "gemm",
    "ZT.T @ W": "gemm",
    "1j * np.einsum('ik,kj->ij', Z, W)": "gemm",
    "np.einsum('ik,jk->ij', Z, np.conj(WH))": "gemm",
    "np.einsum('ki,kj->ij', np.conj(ZT), W)": "gemm",
    "np.einsum('ik,kj->ji', np.conj(Z), np.conj(W))": "gemm",
    "np.einsum('ki,jk->ij', np.conj(ZT), np.conj(WH))": "gemm",
    "np.einsum('ij,j->i', np.conj(square), z)": "gemv",
    "np.einsum('ji,j->i', np.conj(square), z)": "gemv",
    "square @ z": "gemv",
    "square.T @ z": "gemv",
    "stack @ W": "gemm",
    "np.einsum('bik,bjk->bij', np.conj(stack), stack)": "gemm in a loop",
}

NOT_RECOGNISED = [
    "A * A",
    "A[:, ::2] @ B[::2]",
    "big[::3, ::3] @ B",
    "np.outer(x, y)",
    "np.einsum('bi,bi->b', cube[:, :, 0], cube[:, :, 1])",
    "np.einsum('bi,bj->bij', cube[:, 0], cube[:, 1])",
    "np.sum(A)",
    "A[:2, :3] @ B[:3, :2]",
    "long @ x[::-1]",
]


def function_of(text, folder, arguments=ARGUMENTS):
    names = ", ".join(arguments)
    values = f"M, N, K = {M}, {N}, {K}"
    return module_from(f"import numpy as np\n{values}\ndef program({names}):\n    return {text}", folder).program


@pytest.mark.parametrize("text", RECOGNISED)
def test_recognised(text, tmp_path):
    assert products(function_of(text, tmp_path), *ARGUMENTS.values()) == [RECOGNISED[text]]


@pytest.mark.parametrize("text", NOT_RECOGNISED)
def test_not_recognised(text, tmp_path):
    assert products(function_of(text, tmp_path), *ARGUMENTS.values()) == []


@pytest.mark.parametrize("text", RECOGNISED_COMPLEX)
def test_recognised_in_complex_numbers(text, tmp_path):
    function = function_of(text, tmp_path, COMPLEX)
    assert products(function, *COMPLEX.values()) == [RECOGNISED_COMPLEX[text]]


def test_a_vector_has_no_conjugate():
    buffers = {
        n: Buffer(n, shape, np.dtype(complex))
        for n, shape in (("a", (Lin(30),) * 2), ("x", (Lin(30),)), ("y", (Lin(30),)))
    }
    i, j = Lin.symbol("i"), Lin.symbol("j")
    a, x = Read("a", (i, j), np.dtype(complex)), Read("x", (j,), np.dtype(complex))
    for factors, is_product in (((a, x), True), ((conjugate(a), x), True), ((a, conjugate(x)), False)):
        value = Op("multiply", factors, np.dtype(complex))
        statement = Compute((("i", Lin(30)), ("j", Lin(30))), Access("y", (i,)), value, "add")
        assert (product_of(statement, buffers) is not None) == is_product


def test_single_precision():
    single = [array(M, K, dtype=np.float32), array(K, N, dtype=np.float32)]
    assert products(lambda a, b: a @ b, *single) == ["gemm"]
    assert products(lambda a, b: a @ b, single[0], array(K, N)) == []


def test_integers_are_not_for_blas():
    ones = np.ones((10, 10), np.int64)
    assert products(lambda a, b: a @ b, ones, ones) == []


def in_place(c, a, b):
    for i in range(8):
        c[i:, i] += c[i:, :i] @ c[i, :i]
    return c


def rows(c, a, b):
    for i in range(9):
        c[i] += a[i] @ b
    return c


def test_target_among_the_operands():
    square = array(40, 40)
    program = parsed(in_place, square, square, square).program
    for statement in computes(program.body):
        product = product_of(statement, program.buffers)
        assert product is None or product.c.access.buffer not in (product.a.access.buffer, product.b.access.buffer)


def test_three_factors_with_a_parameter():
    def program(a, b, w):
        c = np.zeros((9, 8))
        c += np.sum(a[:, :, None] * w[None, :, None] * b[None, :, :], axis=1)
        return c

    assert products(program, array(M, K), array(K, N), array(K)) == []


def test_products_in_loops():
    assert products(rows, array(M, 100), array(M, K), array(K, 100)) == ["gemv"]


@pytest.mark.parametrize(
    ("arguments", "cases"),
    [(ARGUMENTS, (*RECOGNISED, *NOT_RECOGNISED)), (COMPLEX, tuple(RECOGNISED_COMPLEX))],
    ids=["real", "complex"],
)
def test_results_and_gradients_in_one_program(arguments, cases, tmp_path):
    """All that is recognised, and some that is not, at sizes where calls are made."""
    names = ", ".join(arguments)
    space = {"np": np, "M": M, "N": N, "K": K, **copy.deepcopy(arguments)}
    values = [np.asarray(eval(text, dict(space))) for text in cases]
    ends = np.cumsum([value.size for value in values])
    lines = [f"    out[{e - v.size}:{e}] = np.ravel({t})" for t, v, e in zip(cases, values, ends, strict=True)]
    dtype = next(iter(arguments.values())).dtype
    head = f"import numpy as np\nM, N, K = {M}, {N}, {K}\ndef program({names}):\n"
    start = f"    out = np.zeros({ends[-1]}, np.{dtype.name})\n"
    program = module_from(head + start + "\n".join(lines) + "\n    return out", tmp_path).program
    g = sdfgad.differentiate(program, allow_unused=True)
    args = tuple(arguments.values())
    found = g.value(*args)
    for text, value, end in zip(cases, values, ends, strict=True):
        assert_same(found[end - value.size : end], np.ravel(value), 1e-13, text)
    # The gradient along a direction, by central differences: each entry is linear or quadratic in the arguments.
    cotangent, h = array(ends[-1], dtype=dtype), 1e-3
    gradients = g.vjp(*args, cotangent=cotangent)
    for name in gradients:
        direction = array(*np.shape(arguments[name]), dtype=dtype, seed=1)
        ahead, behind = (program(**{**arguments, name: arguments[name] + step * direction}) for step in (h, -h))
        slope = np.vdot(cotangent, ahead - behind).real / (2 * h)
        assert_close(np.vdot(gradients[name], direction).real, slope, 1e-9, name)


# --- any strides, as statements


def conjugate(value):
    return Op("conjugate", (value,), value.dtype)


def strided(rng, name, shape, dtype):
    """A buffer, and the index of an element of a part of it: axes in any order, with gaps, offsets and reshaped."""
    order = rng.permutation(len(shape)) if rng.integers(2) else range(len(shape))
    starts, gaps = (rng.integers(0, 3, len(shape)) * rng.integers(0, 2) for _ in range(2))
    extents = tuple(Lin(int(starts[k] + shape[k] + gaps[k])) for k in order)
    return Buffer(name, extents, dtype), order, starts


def random_product(rng, number, dtype):
    """A product as a statement, its buffers, and a function from values to what the target is expected to be."""
    axes = {f"p{k}": int(rng.choice([1, 2, 3, 5, 8, 24])) for k in range(rng.integers(3, 7))}
    roles = {p: ("ac", "bc", "ab")[k] if k < 3 else rng.choice(["ac", "bc", "ab", "abc"]) for k, p in enumerate(axes)}
    accesses, buffers, parts = {}, {}, {}
    for which in "abc":
        params = [p for p in axes if which in roles[p]]
        buffer, order, starts = strided(rng, f"{which}{number}", [axes[p] for p in params], dtype)
        buffers[which] = buffer
        parts[which] = (tuple(slice(starts[k], starts[k] + axes[params[k]]) for k in order), [params[k] for k in order])
        index = tuple(Lin.symbol(params[k]) + int(starts[k]) for k in order)
        accesses[which] = Access(buffer.name, index)
    turned = [dtype.kind == "c" and bool(rng.integers(2)) for _ in "ab"]
    factors = [accesses[w].read(dtype) for w in "ab"]
    factors = [conjugate(f) if c else f for f, c in zip(factors, turned, strict=True)]
    value = Op("negative", (Op("multiply", tuple(factors), dtype),), dtype)
    fresh = bool(rng.integers(2))
    params = tuple((p, Lin(axes[p])) for p in rng.permutation(list(axes)))
    statement = Compute(params, accesses["c"], value, "add", fresh=fresh)

    def expected(a, b, c):
        operands = []
        letters = {p: chr(ord("a") + k) for k, p in enumerate(axes)}
        for which, x, is_turned in (("a", a, turned[0]), ("b", b, turned[1])):
            x = x[parts[which][0]]
            operands.append(np.conj(x) if is_turned else x)
        texts = {w: "".join(letters[p] for p in parts[w][1]) for w in "abc"}
        product = np.einsum(f"{texts['a']},{texts['b']}->{texts['c']}", *operands)
        c = c.copy()
        c[parts["c"][0]] = -product if fresh else c[parts["c"][0]] - product
        return c

    return statement, buffers, expected


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_random_layouts(dtype):
    dtype, rng = np.dtype(dtype), np.random.default_rng(7)
    made = []
    while len(made) < 50:
        statement, buffers, expected = random_product(rng, len(made), dtype)
        product = product_of(statement, {b.name: b for b in buffers.values()})
        if product is not None and product.work < 20000:
            made.append((statement, buffers, expected, product))
    assert {"gemm", "gemm in a loop", "gemm in a loop in a loop"} <= {name_of(p) for *_, p in made}
    assert any(name_of(p).startswith("gemv") for *_, p in made)
    assert any(len(group) > 1 for *_, p in made for group in (p.m, p.n, p.k))
    storage = {b.name: b for _, buffers, *_ in made for b in buffers.values()}
    # A target is an input, too, whose values are kept where nothing is written.
    inputs = tuple(name for name in storage if name[0] != "c")
    outputs = {name: name for name in storage if name[0] == "c"}
    program = Program("products", storage, inputs, (), outputs, tuple(statement for statement, *_ in made))
    values = {name: array(*(e.const for e in b.shape), dtype=dtype, seed=3) for name, b in storage.items()}
    before = copy.deepcopy(values)
    Executable(compile_sdfg(write(program)))(values, {})
    for statement, buffers, expected, product in made:
        a, b, c = (before[buffers[w].name] for w in "abc")
        tolerance = 1e-13 if dtype.itemsize // (1 + (dtype.kind == "c")) == 8 else 1e-5
        assert_same(values[buffers["c"].name], expected(a, b, c), tolerance, f"{name_of(product)}: {statement}")


def test_what_is_fresh_needs_no_value_before():
    def statement(target, factors, params):
        index = {name: tuple(map(Lin.symbol, axes)) for name, axes in (target, *factors)}
        reads = tuple(Read(name, index[name], np.dtype(np.float64)) for name, _ in factors)
        value = Op("multiply", reads, np.dtype(np.float64))
        return Compute(params, Access(target[0], index[target[0]]), value, "add", fresh=True)

    shapes = {"a": (30, 20), "b": (20, 25), "x": (20,), "c": (30, 25), "y": (30,), "d": (30, 25), "e": (30,)}
    buffers = {n: Buffer(n, tuple(map(Lin, shape)), np.dtype(np.float64)) for n, shape in shapes.items()}
    i, j, k, none = ("i", Lin(30)), ("j", Lin(25)), ("k", Lin(20)), ("k", Lin.symbol("count"))
    body = (
        statement(("c", "ij"), (("a", "ik"), ("b", "kj")), (i, j, k)),
        statement(("y", "i"), (("a", "ik"), ("x", "k")), (i, k)),
        # Nothing is summed, but the target is cleared.
        statement(("d", "ij"), (("a", "ik"), ("b", "kj")), (i, j, none)),
        statement(("e", "i"), (("a", "ik"), ("x", "k")), (i, none)),
    )
    assert [product_of(s, buffers) is not None for s in body] == [True] * 4
    program = Program("fresh", buffers, ("a", "b", "x"), ("count",), {n: n for n in "cyde"}, body)
    run = Executable(compile_sdfg(write(program)))
    for count in (0, -1, 7):
        values = {n: array(*s) if n in "abx" else np.full(s, np.nan) for n, s in shapes.items()}
        run(values, {"count": count})
        a, b, x = values["a"], values["b"], values["x"]
        some = slice(0, max(count, 0))
        assert_close(values["c"], a @ b, 1e-13)
        assert_close(values["y"], a @ x, 1e-13)
        assert_close(values["d"], a[:, some] @ b[some], 1e-13)
        assert_close(values["e"], a[:, some] @ x[some], 1e-13)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_a_matrix_times_its_own_transpose(dtype):
    """Half of it and a copy, where the target is assigned, and only there."""
    dtype, n = np.dtype(dtype), 131
    buffers = {name: Buffer(name, (Lin(3), Lin(n), Lin(n)), dtype) for name in ("a", "plain", "turned", "batch")}
    i, j, k, b, two = Lin.symbol("i"), Lin.symbol("j"), Lin.symbol("k"), Lin.symbol("b"), Lin(2)
    params = tuple((name, Lin(n)) for name in "ijk")

    def statement(target, first, second, params=params, fresh=True):
        reads = (Read("a", first, dtype), Read("a", second, dtype))
        return Compute(params, Access(*target), Op("multiply", reads, dtype), "add", fresh=fresh)

    def is_symmetric(one):
        return product_of(one, buffers).is_symmetric

    body = (
        statement(("plain", (two, i, j)), (two, i, k), (two, j, k)),
        statement(("turned", (two, i, j)), (two, k, i), (two, k, j)),
        statement(("batch", (b, i, j)), (b, i, k), (b, j, k), (("b", Lin(3)), *params)),
    )
    assert all(map(is_symmetric, body))
    assert not is_symmetric(statement(("plain", (two, i, j)), (two, i, k), (two, j, k), fresh=False))
    assert not is_symmetric(statement(("plain", (two, i, j)), (two, i, k), (two, k, j)))
    assert not is_symmetric(statement(("plain", (two, i, j)), (two, i, k), (Lin(1), j, k)))
    shorter = (params[0], ("j", Lin(n - 1)), params[2])
    assert not is_symmetric(statement(("plain", (two, i, j)), (two, i, k), (two, j, k), shorter))
    program = Program("squares", buffers, ("a",), (), {s.target.buffer: s.target.buffer for s in body}, body)
    values = {name: array(3, n, n, dtype=dtype) for name in buffers}
    Executable(compile_sdfg(write(program)))(values, {})
    a, tolerance = values["a"], 1e-13 if dtype == np.float64 else 1e-5
    assert_same(values["plain"][2], a[2] @ a[2].T, tolerance)
    assert_same(values["turned"][2], a[2].T @ a[2], tolerance)
    assert_same(values["batch"], a @ a.swapaxes(1, 2), tolerance)
    assert_same(values["plain"][:2], a[:2], tolerance)


def test_a_target_is_cleared_once():
    """A target whose points share elements cannot be cleared by the first of them."""
    i, j, k, dtype = Lin.symbol("i"), Lin.symbol("j"), Lin.symbol("k"), np.dtype(np.float64)
    buffers = {n: Buffer(n, (Lin(30), Lin(40)), dtype) for n in "abc"}
    value = Op("multiply", (Read("a", (i, k), dtype), Read("b", (j, k), dtype)), dtype)
    params = (("i", Lin(30)), ("j", Lin(30)), ("k", Lin(40)))

    def product(index, **options):
        return product_of(Compute(params, Access("c", index), value, "add", **options), buffers)

    assert product((Lin(3), i + j)) is None
    assert product((i, j), fresh=True) is not None
    assert product((Lin(0), i.scaled(40) + j), fresh=True) is not None
    assert product((Lin(0), i.scaled(29) + j), fresh=True) is None


def test_the_target_is_no_factor():
    dtype = np.dtype(np.float64)
    buffers = {n: Buffer(n, (Lin(30), Lin(30)), dtype) for n in "abc"}
    i, j, k = (Lin.symbol(name) for name in "ijk")
    params = (("i", Lin(30)), ("j", Lin(30)), ("k", Lin(30)))
    value = Op("multiply", (Read("a", (i, k), dtype), Read("b", (k, j), dtype)), dtype)
    for factor, is_product in ((Const(2.0, dtype), True), (Read("c", (Lin(0), Lin(1)), dtype), False)):
        statement = Compute(params, Access("c", (i, j)), Op("multiply", (factor, value), dtype), "add")
        assert (product_of(statement, buffers) is not None) == is_product


def test_small_products_are_loops():
    a, x = array(CPU.gemv_work // 16 - 1, 16), array(16)
    assert products(lambda a, x: a @ x, a, x) == []
    b = array(16, CPU.gemm_work // 16 - 1)
    assert products(lambda a, b: a @ b, array(1, 16), b) == []
    assert products(lambda a, b: a[:2] @ b[:, :7], a, b) == []


def test_results_in_single_precision_and_in_place():
    def program(a, b, c, d, e):
        f = a @ b
        c -= 0.5 * (a @ b)
        d += e @ d * 0.25
        for i in range(9):
            c[i] += a[i] @ b
        return f, c, d

    args = (*(array(*s, dtype=np.float32) for s in ((M, K), (K, N), (M, N))), array(30), array(30, 30))
    expected = program(*copy.deepcopy(args))
    for k in range(3):
        found = sdfgad.differentiate(program, output=f"return[{k}]", allow_unused=True).value(*args)
        assert found.dtype == expected[k].dtype
        assert_close(found, expected[k], 1e-6 if k < 2 else 1e-13)

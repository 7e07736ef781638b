"""Programs as people write them for DaCe, and what NumPy makes of them."""

# Names of tasklets:
# ruff: noqa: F821, F841

import dace
import numpy as np

N, M, K = dace.symbol("N"), dace.symbol("M"), dace.symbol("K")
RNG = np.random.default_rng(11)


def uniform(*shape):
    return RNG.uniform(0.5, 1.5, shape)


def jacobi(T: dace.int64, A: dace.float64[N], B: dace.float64[N]):
    for t in range(1, T):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def matvec(A: dace.float64[N, M], x: dace.float64[M]):
    y = A @ x
    return np.sum(y * y)


def elementwise(A: dace.float64[N, M], s: dace.float64):
    B = np.exp(A) * s + A**2 / np.sqrt(1.0 + A * A)
    return np.sum(np.maximum(B, 0.5) * A, axis=1)


def gemm(A: dace.float64[N, M], B: dace.float64[M, N], C: dace.float64[N, N], alpha: dace.float64):
    C[:] = alpha * A @ B + 0.3 * C


def branches(x: dace.float64[N], n: dace.int64):
    y = np.zeros_like(x)
    for i in range(n):
        if x[i] > 0.0:
            y[i] = x[i] * x[i]
        else:
            y[i] = -x[i]
    return np.sum(y)


def halving(x: dace.float64[N]):
    r = 1.0
    k = 0
    while r > 0.01:
        r = r * 0.5
        x[:] = x * 0.9
        k += 1
    return np.sum(x * x) * k


def maximum(A: dace.float64[N, M]):
    return np.max(A, axis=0) * np.mean(A, axis=0)


def einsum(A: dace.float64[N, M], B: dace.float64[M, K]):
    return np.einsum("ij,jk->ik", A, B)


def batched(A: dace.float64[K, N, M], B: dace.float64[K, M, N]):
    return A @ B


def contracted(A: dace.float64[N, M], B: dace.float64[N, K]):
    return np.tensordot(A.T @ B, B, axes=([1], [1]))


def masked(A: dace.float64[N, M]):
    A[A > 1.0] = 0.5
    return np.sum(A * A)


def solved(A: dace.float64[N, N], B: dace.float64[N, M]):
    return np.linalg.solve(A, B)


NUMPY = {
    "einsum": (einsum, {"A": uniform(4, 3), "B": uniform(3, 5)}, ("A", "B"), "return"),
    "batched": (batched, {"A": uniform(2, 4, 3), "B": uniform(2, 3, 4)}, ("A", "B"), "return"),
    "contracted": (contracted, {"A": uniform(4, 3), "B": uniform(4, 5)}, ("A", "B"), "return"),
    "masked": (masked, {"A": uniform(4, 3)}, ("A",), "return"),
    "solved": (solved, {"A": uniform(4, 4) + 3.0 * np.eye(4), "B": uniform(4, 2)}, ("A", "B"), "return"),
    "jacobi": (jacobi, {"T": 4, "A": uniform(8), "B": uniform(8)}, ("A", "B"), "A"),
    "matvec": (matvec, {"A": uniform(4, 3), "x": uniform(3)}, ("A", "x"), "return"),
    "elementwise": (elementwise, {"A": uniform(4, 3), "s": 1.3}, ("A", "s"), "return"),
    "gemm": (
        gemm,
        {"A": uniform(4, 3), "B": uniform(3, 4), "C": uniform(4, 4), "alpha": 1.3},
        ("A", "B", "C", "alpha"),
        "C",
    ),
    "branches": (branches, {"x": RNG.normal(size=6), "n": 5}, ("x",), "return"),
    "halving": (halving, {"x": uniform(5)}, ("x",), "return"),
    "maximum": (maximum, {"A": uniform(4, 3)}, ("A",), "return"),
}


# --- with names of DaCe


@dace.program
def squares(A: dace.float64[N, M], s: dace.float64[1]):
    s[0] = 0.0
    for i, j in dace.map[0:N, 0:M]:
        with dace.tasklet:
            a << A[i, j]
            o >> s(1, lambda x, y: x + y)[0]
            b = a * a
            o = b * 2.0


def squares_in_numpy(A, s):
    s[0] = 2.0 * np.sum(A * A)


@dace.program
def seidel(T: dace.int64, A: dace.float64[N, N]):
    for t in range(T):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0


def seidel_in_numpy(T, A):
    for t in range(T):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0


@dace.program
def solve(L: dace.float64[N, N], x: dace.float64[N], b: dace.float64[N]):
    for i in range(N):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def solve_in_numpy(L, x, b):
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@dace.program
def step(u: dace.float64[N], v: dace.float64[N]):
    for i in dace.map[1 : N - 1]:
        v[i] = u[i - 1] * u[i] + u[i + 1]


@dace.program
def nested(u: dace.float64[N], T: dace.int64):
    v = dace.define_local([N], dace.float64)
    v[:] = u
    for t in range(T):
        step(u, v)
        step(v, u)
    return np.sum(u)


def nested_in_numpy(u, T):
    v = u.copy()
    for t in range(T):
        v[1:-1] = u[:-2] * u[1:-1] + u[2:]
        u[1:-1] = v[:-2] * v[1:-1] + v[2:]
    return np.sum(u)


@dace.program
def in_blocks(A: dace.float64[N, M]):
    B = np.reshape(A, (M, N))
    return np.sum(B * B, axis=1)


def in_blocks_in_numpy(A):
    B = np.reshape(A, (A.shape[1], A.shape[0]))
    return np.sum(B * B, axis=1)


DACE = {
    "in blocks": (in_blocks, in_blocks_in_numpy, {"A": uniform(4, 3)}, ("A",), "return"),
    "squares": (squares, squares_in_numpy, {"A": uniform(4, 3), "s": np.zeros(1)}, ("A",), "s"),
    "seidel": (seidel, seidel_in_numpy, {"T": 2, "A": uniform(5, 5)}, ("A",), "A"),
    "solve": (solve, solve_in_numpy, {"L": uniform(5, 5), "x": uniform(5), "b": uniform(5)}, ("L", "b"), "x"),
    "nested": (nested, nested_in_numpy, {"u": uniform(6), "T": 2}, ("u",), "return"),
}

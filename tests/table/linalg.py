"""Linear algebra. Where a factor's signs are free, the case does not depend on them."""

from tests.table.cases import Group

add = Group("np.linalg")

SQUARES = "1x1 square | 2x2 square | 3x3 square | 3x3 square transposed | 3x3 square .T | 2x3x3 square"
POSITIVE = "np.matmul(x, np.conj(np.swapaxes(x, -1, -2))) + 0.5 * np.eye(3)"
SYMMETRIC = "(x + np.conj(np.swapaxes(x, -1, -2))) * 0.5"
BOTH = "3x3 | 2x3x3 | 3x3 transposed"

add("np.linalg.inv(x)", x=SQUARES, dtypes="dfc", tolerance=10)
add("np.linalg.det(x)", x=SQUARES, dtypes="dfc", tolerance=10)
add("np.linalg.slogdet(x)[1]", x=SQUARES, dtypes="dfc", tolerance=10)
add("np.linalg.slogdet(x)[0] + x[0, 0]", x="3x3 square", function="np.linalg.slogdet", tolerance=10)
x = "1x1 square | 2x2 square | 3x3 square | 3x3 square .T | 3x3 square | 3x3 square | 2x3x3 square"
y = "1 | 2 | 3 | 3 | 3x2 | 3x2 transposed | 2x3x1"
add("np.linalg.solve(x, y)", x=x, y=y, dtypes="dfc", tolerance=10)
add("np.linalg.matrix_power(x, 3)", x="2x2 | 3x3 transposed", dtypes="dfc", tolerance=10)
add("np.linalg.matrix_power(x, 0)", x="2x2", dtypes="dfc")
add("np.linalg.matrix_power(x, -2)", x="2x2 square", dtypes="dfc", tolerance=100)
for name, text, shapes in [
    ("cholesky", f"np.linalg.cholesky({POSITIVE})", BOTH),
    ("eigvalsh", f"np.linalg.eigvalsh({SYMMETRIC})", BOTH),
    ("eigh", f"np.linalg.eigh({SYMMETRIC})[0]", BOTH),
    ("eigh", f"np.abs(np.linalg.eigh({SYMMETRIC})[1]) ** 2", BOTH),
    ("svd", "np.linalg.svd(x, compute_uv=False)", "3x3 | 2x3 | 3x2 | 2x3x2"),
    ("svd", "np.linalg.svd(x, full_matrices=False)[1]", "3x3 | 2x3 | 3x2 .T"),
    ("svd", "np.abs(np.linalg.svd(x, full_matrices=False)[0]) ** 2", "3x3 | 2x3 | 3x2"),
    ("svd", "np.abs(np.linalg.svd(x, full_matrices=False)[2]) ** 2", "3x3 | 2x3 | 3x2"),
    ("svdvals", "np.linalg.svdvals(x)", "3x3 | 2x3"),
    ("qr", "np.abs(np.linalg.qr(x)[0]) ** 2", "3x3 square | 3x2 | 3x3 square .T"),
    ("qr", "np.abs(np.linalg.qr(x)[1]) ** 2", "3x3 square | 3x2"),
    ("pinv", "np.linalg.pinv(x)", "3x3 square | 3x2 | 2x3"),
    ("cond", "np.linalg.cond(x)", "3x3 square"),
]:
    dtypes = "df" if name in ("cond",) else "dfc"
    add(text, x=shapes, function=f"np.linalg.{name}", dtypes=dtypes, tolerance=100)
# JAX has no derivative of all singular vectors.
for text, shapes in [
    ("np.abs(np.linalg.svd(x)[0][:, :2]) ** 2", "3x2 | 2x3"),
    ("np.abs(np.linalg.svd(x)[2]) ** 2", "3x2 | 2x3 | 2x2x3"),
    ("u = np.linalg.svd(x)[0][:, 2:]\nreturn u @ np.conj(u.T)", "4x2"),
]:
    add(text, x=shapes, function="np.linalg.svd", dtypes="dfc", jax=None, tolerance=100)
# The length and the phase of eigenvectors are LAPACK's in NumPy, and free in JAX's derivative; of real matrices, their
# signs differ between versions of LAPACK.
add("np.linalg.eigvals(x)", x="3x3 square | 2x3x3 square", dtypes="c", tolerance=100)
add("np.linalg.eigvals(x.astype(np.complex128))", x="3x3 square", dtypes="d", jax=None, tolerance=100)
add("np.linalg.eig(x)[1]", x="3x3 square | 4x4 square .T | 2x3x3 square", dtypes="c", jax=None, tolerance=100)
TURNED = "x + 3.0 * np.array([[0.0, -1.0, 0.2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.7]])"
add(f"np.linalg.eigvals({TURNED})", x="3x3", dtypes="d", tolerance=100)
add(f"np.linalg.eig({TURNED})[1] ** 2", function="np.linalg.eig", x="3x3", jax=None, tolerance=100)
add("np.linalg.lstsq(x, y)[0]", x="3x3 square | 4x2 | 4x2", y="3 | 4 | 4x3", tolerance=100)
for order in ("", ", 2", ", 1", ", np.inf", ", 3", ", axis=0", ", axis=-1, keepdims=True"):
    where = "2x3 nonzero" if "axis" in order else "3 distinct | 3 distinct strided"
    add(f"np.linalg.norm(x{order})", x=where, dtypes="df" if "inf" in order or "1" in order else "dfc")
for order in ("", ", 'fro'", ", 'nuc'", ", 2", ", 1", ", np.inf", ", axis=(0, 1)"):
    exotic = order in (", 'nuc'", ", 2")
    dtypes = "df" if order in (", 1", ", np.inf") else "dfc"
    add(f"np.linalg.norm(x{order})", label=f"matrix norm{order}", x="3x3 distinct | 2x3 distinct .T", dtypes=dtypes,
        tolerance=100 if exotic else 1)  # fmt: skip
add("np.linalg.multi_dot([x, y, x])", x="2x3", y="3x2", dtypes="dfc")
add("np.linalg.vector_norm(x)", x="3 | 2x3")
add("np.linalg.matrix_norm(x)", x="2x3")
add("np.linalg.trace(x)", x="3x3")
add("np.linalg.diagonal(x)", x="3x3")
add("np.linalg.outer(x, y)", x="2", y="3")
add("np.linalg.cross(x, y)", x="3", y="3")
add("np.linalg.tensordot(x, y)", x="2x3", y="2x3")
add("np.linalg.matmul(x, y)", x="2x3", y="3x2")
add("np.linalg.vecdot(x, y)", x="2x3", y="2x3")
add("np.linalg.tensorinv(x, ind=1)", x="4x2x2", tolerance=100)
add("np.linalg.tensorsolve(x, y)", x="4x2x2", y="4", tolerance=100)

add = Group("scipy.linalg, structured matrices")

T = {"jax": None, "tolerance": 100}
add("linalg.solve_toeplitz(x + np.array([9.0, 0, 0, 0]), y)", x="4", y="4", dtypes="dc", **T)
add("linalg.solve_toeplitz((x + np.array([9.0, 0, 0, 0]).astype(x.dtype), z), y)", x="4", y="4x2", z="4", **T)
add("linalg.matmul_toeplitz((x, z), y)", x="4", y="3x2", z="3", dtypes="dfc", **T)
add("linalg.matmul_toeplitz(x, y)", x="4", y="4", dtypes="dc", **T)
for mode in ("full", "same", "valid"):
    for count in (3, 5):
        add(f"linalg.convolution_matrix(x, {count}, mode='{mode}')", x="4 | 2", dtypes="dc", jax=None)
add("linalg.tanm(x) + linalg.tanhm(x)", x="3x3 unit", dtypes="dc", **T)
add("np.matvec(x, y)", x="2x3x4", y="4 | 2x4", dtypes="dfc", jax=None)
add("np.vecmat(x, y)", x="3", y="3x4 | 2x3x4", dtypes="dfc", jax=None)

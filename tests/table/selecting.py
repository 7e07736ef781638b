"""Functions that select elements, sort and search."""

import numpy as np

from tests.table.cases import Group

add = Group("Selecting, sorting and searching")

K = np.array([2, 0, 2, -1])
ROWS = np.array([1, 0])
MASK = np.array([True, False, True])

add("np.take(x, k)", k=K, x="3 | 2x3 | 3 strided", dtypes="dfc")
add("np.take(x, k, axis=1)", k=np.array([2, 0]), x="2x3 | 2x3 .T".replace(" .T", " transposed"), dtypes="dfc")
add("np.take(x, 1)", x="3 | 2x3")
add("np.take(x, [[0, 1], [1, 2]])", x="3", jax="np.take(x, np.array([[0, 1], [1, 2]]))")
add("np.take(x, [0, 5], mode='clip')", x="3", jax="x[np.array([0, 2])]")
add("x.take(k)", k=K, x="3", dtypes="dfc")
add("np.take_along_axis(x, k, 1)", k=np.array([[2], [0]]), x="2x3")
add("np.compress([True, False, True], x)", x="3", jax="x[np.array([0, 2])]")
add("np.extract(x > 0, x)", x="4 nonzero", jax="x[jnp_mask(x > 0)]")
add("np.choose(k, [x, x * x, x + 1.0])", k=np.array([0, 2, 1]), x="3")
add("np.choose(k, x)", k=np.array([0, 2, 1]), x="3x3 | 3x3 transposed | 3x1 | 3", label="choose rows", dtypes="dfc")
add("np.choose(k, x, mode='wrap')", k=np.array([[0], [-2], [7]]), x="3x4", jax=None)
add("np.choose(k, x, mode='clip')", k=np.array([0, -2, 7]), x="3x1 | 3", jax=None)
add("np.choose(k, x)", k=1, x="3x2", label="choose one row", jax=None)
add("k.choose(x)", k=np.array([1, 0]), x="2x2", function="np.choose", jax=None)

# reading by arrays
add("x[k]", function="x[integers]", k=K, x="3 | 4x2 | 3 strided | 4x2 transposed", dtypes="dfc")
add("x[k, :]", function="x[integers]", k=K, x="3x2", dtypes="dfc")
add("x[:, k]", function="x[integers]", k=K, x="2x3 | 2x3 transposed", dtypes="dfc")
add("x[k, k]", function="x[integers]", k=K, x="3x3", dtypes="dfc")
add("x[k, 1]", function="x[integers]", k=K, x="3x2", dtypes="dfc")
add("x[k[:, None], k]", function="x[integers]", k=np.array([1, 0]), x="3x3")
add("x[np.ix_(k, k)]", function="x[integers]", k=np.array([1, 0]), x="3x3")
add("x[[2, 0]]", function="x[integers]", x="3 | 3x2", dtypes="dfc", jax="x[np.array([2, 0])]")
add("x[[0, 1], [1, 2]]", function="x[integers]", x="2x3", jax="x[np.array([0, 1]), np.array([1, 2])]", dtypes="dfc")
add("x[k]", function="x[integers]", label="x[k] of two dimensions", k=np.array([[0, 1], [2, 2]]), x="3 | 3x2")
add("x[k]", function="x[integers]", label="x[k] of none", k=np.array([], dtype=np.int64), x="3")
add("x[k, ::-1]", function="x[integers]", k=K, x="3x2")
add("x[k, None]", function="x[integers]", k=K, x="3")
add("x[1:][k]", function="x[integers]", k=np.array([1, 0]), x="3")
add("x[k, :, k]", function="x[integers]", k=np.array([1, 0]), x="2x3x2")
add(
    "np.sum(x[m] ** 3, axis=0)",
    function="x[mask]",
    m=MASK,
    x="3 | 3x2 | 3 strided",
    dtypes="dfc",
    jax="np.sum(x[np.array([0, 2])] ** 3, axis=0)",
)
add(
    "np.prod(x[:, m], axis=1)",
    function="x[mask]",
    m=np.array([True, True, True]),
    x="2x3",
    dtypes="df",
    jax="np.prod(x, axis=1)",
    label="whole rows by a mask",
)
add(
    "np.sum(x[:, m] ** 2, axis=1)",
    function="x[mask]",
    m=MASK,
    x="2x3",
    dtypes="dfc",
    jax="np.sum(x[:, np.array([0, 2])] ** 2, axis=1)",
)
add("np.std(x[x > 0])", function="x[mask]", x="6 nonzero | 2x4 nonzero", jax=None)
add("np.sum(x[x > 0])", function="x[mask]", x="4 nonzero | 2x3 nonzero", jax="np.sum(np.where(x > 0, x, 0))")
add("np.mean(x[x > 0])", function="x[mask]", x="6 nonzero", jax="np.mean(x, where=x > 0)")
add("np.sum(x[m] ** 2)", function="x[mask]", m=MASK, x="3", jax="np.sum(np.where(m, x, 0) ** 2)")
add("np.sum(np.sin(x[np.where(x > 0)]))", function="x[mask]", x="4 nonzero", jax=None)
add("np.sum(x[np.nonzero(m)] ** 2)", function="x[mask]", m=MASK, x="3", jax="np.sum(x[np.array([0, 2])] ** 2)")
add("np.sum(x[np.flatnonzero(m)] ** 2)", function="x[mask]", m=MASK, x="3", jax="np.sum(x[np.array([0, 2])] ** 2)")
add("np.where(m, x, y)", m=MASK, x="3 | 2x3 | ()", y="() | 3 | 3", dtypes="dfc")

# order: indices are constants
add("np.sort(x)", x="5 distinct | 2x3 distinct | 3 distinct strided | 1 | 0")
add("np.sort(x, axis=0)", x="3x2 distinct")
add("np.sort(x, axis=None)", x="2x3 distinct")
add("np.sort(x)[::-1]", x="4 distinct")
add(
    "y = x.copy()\ny.sort()\nreturn y",
    function="ndarray.sort",
    label="x.sort()",
    x="4 distinct | 2x3 distinct",
    jax="np.sort(x)",
)
add("sorted(x)[0]", function="sorted", x="4 distinct", jax="np.min(x)")
add("np.partition(x, 2)[2]", function="np.partition", x="5 distinct", jax="np.sort(x)[2]")
add("np.argsort(x)", x="5 distinct | 2x3 distinct", differences=False)
add("x[np.argsort(x)]", function="np.argsort", x="5 distinct | 3 distinct strided")
add("y[np.argsort(x)]", function="np.argsort", x="4 distinct", y="4")
add("x.argsort()", x="4 distinct", differences=False)
for name in ("argmax", "argmin"):
    add(f"np.{name}(x)", x="5 distinct | 2x3 distinct | 2x3 distinct transposed", differences=False)
    add(f"np.{name}(x, axis=0)", x="2x3 distinct", differences=False)
    add(f"np.{name}(x, axis=-1, keepdims=True)", x="2x3 distinct", differences=False)
    add(f"x.{name}()", x="4 distinct | 2x3 distinct", differences=False)
    add(f"x[np.{name}(x)]", function=f"np.{name}", x="4 distinct")
    add(f"y[np.{name}(x)]", function=f"np.{name}", x="4 distinct", y="4 | 4x2")
add("np.lexsort((x,))", x="4 distinct", differences=False)
add(
    "np.searchsorted([-1.0, 0.0, 1.0], x)",
    x="3 nonint | () nonint",
    differences=False,
    jax="np.searchsorted(np.array([-1.0, 0.0, 1.0]), x)",
)
add("np.searchsorted(y, x)", x="3 odd", y="4 rising", differences=False)
add("z[np.searchsorted(y, x)]", function="np.searchsorted", x="3 odd", y="4 rising", z="5")
add(
    "np.digitize(x, [-1.0, 0.0, 1.0])",
    x="3 nonint",
    differences=False,
    jax="np.digitize(x, np.array([-1.0, 0.0, 1.0]))",
)
add("np.histogram(x, bins=3, range=(-2.0, 2.0))[0]", function="np.histogram", x="6 nonint", differences=False)
add("np.histogram(x, bins=3, range=(-2.0, 2.0), weights=y)[0]", function="np.histogram", x="6 nonint", y="6")
add("np.bincount(k, weights=x)", k=np.array([0, 1, 1, 2]), x="4", jax="np.bincount(k, weights=x, length=3)")
add(
    "np.bincount(k, weights=x, minlength=5)", k=np.array([0, 1, 1, 2]), x="4", jax="np.bincount(k, weights=x, length=5)"
)
add("np.unique(x)", x="4 distinct", jax="np.sort(x)")
add("x * np.unique(np.array([4, 1, 4, 2]))", function="np.unique", x="3")
add("np.nonzero(x > 0)[0]", function="np.nonzero", x="4 nonzero", jax=None, differences=False)
add("np.argwhere(m)[:, 0] * x[:2]", function="np.argwhere", m=MASK, x="3", jax="np.array([0, 2]) * x[:2]")
add("np.unravel_index(4, (2, 3))[1] * x", function="np.unravel_index", x="3")
add("np.ravel_multi_index((1, 1), (2, 3)) * x", function="np.ravel_multi_index", x="3", jax="4 * x")

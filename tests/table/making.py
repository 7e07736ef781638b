"""Functions that make arrays."""

from tests.table.cases import Group

add = Group("Making arrays")

NUMBER = "() | () scalar | () float"

for name in ("zeros", "ones"):
    for shape in ("3", "(2, 3)", "()", "(0,)", "(2, 0)"):
        add(f"np.{name}({shape}) + x", function=f"np.{name}", x="()", dtypes="dfc")
    add(f"np.{name}(3, dtype=x.dtype) * x", function=f"np.{name}", x="3", dtypes="dfc")
    add(f"np.{name}(x.shape) * x", function=f"np.{name}", x="2x3 | 0", dtypes="dfc")
    add(f"np.{name}_like(x) + x", function=f"np.{name}_like", x="() | 0 | 2x3 | 2x3 transposed", dtypes="dfc")
    add(f"np.{name}_like(x, dtype=np.float64) + x", function=f"np.{name}_like", x="2x3")
    add(f"np.{name}_like(x, shape=(2,)) * x[0]", function=f"np.{name}_like", x="3")
for text, name in (
    ("np.empty(3)", "np.empty"),
    ("np.empty((2, 3))", "np.empty"),
    ("np.empty_like(x)", "np.empty_like"),
):
    where = "2x3" if "2" in text or "like" in text else "3"
    add(f"y = {text}\ny[:] = x * 2.0\nreturn y", function=name, label=f"{text} filled", x=where, jax="2.0 * x")
add("np.empty((0, 2)) * x", function="np.empty", x="()")
add("np.full(3, x)", x=NUMBER)
add("np.full((2, 3), x)", x=NUMBER + " | 3", dtypes="dfc")
add("np.full((2, 3), x, dtype=np.float64)", x="()")
add("np.full(3, 2.5) * x", function="np.full", x="3")
add("np.full_like(x, 2.5) * x", function="np.full_like", x="2x3 | () | 0", dtypes="dfc")
add("np.full_like(x, y)", function="np.full_like", x="2x3", y="()")
add("np.array([x, y])", x=NUMBER + " | 3", y=NUMBER + " | 3", dtypes="dfc")
add("np.array([[x, 1.0], [0.0, x * x]])", x=NUMBER, dtypes="dfc")
add("np.array(x)", x="() | 2x3 transposed", dtypes="dfc")
add("np.array([x, x], dtype=np.float64)", x="3")
add("np.array((x[0], x[1]))", x="3")
add("np.array([[x[0], x[1]], [x[2], 1.0]])", x="3")
add("np.asarray(x) * 2.0", function="np.asarray", x="3 | 2x3 strided", dtypes="dfc")
add("np.asarray([x, y])", x="()", y="()")
add("np.ascontiguousarray(x)", x="2x3 transposed", jax="x")
add("np.copy(x)", x="2x3 | 3 strided | ()", dtypes="dfc")
add("x.copy()", x="2x3 | 3 strided | ()", dtypes="dfc")
add("np.eye(3) * x", function="np.eye", x="() | 3", dtypes="dfc")
add("np.eye(2, 3, k=1) + x", function="np.eye", x="3 | 2x3")
add("np.eye(3, k=-1, dtype=np.float32) * x", function="np.eye", x="3")
add("np.identity(3) @ x", function="np.identity", x="3 | 3x2")
add("np.arange(3) * x", function="np.arange", x="3 | ()", dtypes="dfc")
add("np.arange(1, 4) * x", function="np.arange", x="3")
add("np.arange(5, -1, -2) * x", function="np.arange", x="3")
add("np.arange(3.0) * x", function="np.arange", x="3", dtypes="dfc")
add("np.arange(0.0, 0.75, 0.25) * x", function="np.arange", x="3")
add("np.arange(3, dtype=np.float32) * x", function="np.arange", x="3")
add("np.linspace(0.0, 1.0, 5) * x", function="np.linspace", x="() | 5", dtypes="dfc")
add("np.linspace(x, y, 4)", x=NUMBER, y=NUMBER)
add("np.linspace(x, y, num=3, endpoint=False)", x="() | 2", y="() | 2")
add("np.linspace(x, 2.0, 1)", x="()")
add("np.logspace(x, y, 3)", x="()", y="()")
add("np.logspace(0.0, 1.0, 3) * x", function="np.logspace", x="3")
add("np.geomspace(1.0, 8.0, 4) * x", function="np.geomspace", x="4")
add("np.meshgrid(x, y)[0] * np.meshgrid(x, y)[1]", function="np.meshgrid", x="2 | 3", y="3 | 1", dtypes="dfc")
add("np.meshgrid(x, y, indexing='ij')[0]", function="np.meshgrid", x="2", y="3", dtypes="dfc")
add(
    "u, v = np.meshgrid(x, y)\nreturn u * u + np.sin(v)",
    function="np.meshgrid",
    label="meshgrid taken apart",
    x="2",
    y="3",
)
add("np.mgrid[0:2, 0:3][1] * x", function="np.mgrid", x="2x3")
add("np.mgrid[0:1:3j] * x", function="np.mgrid", x="3")
add("np.ogrid[0:2, 0:3][0] * x", function="np.ogrid", x="2x3")
add("np.indices((2, 3))[0] * x", function="np.indices", x="2x3")
add("np.fromfunction(lambda i, j: i + j, (2, 3)) * x", function="np.fromfunction", x="2x3")
add("np.tri(3) * x", function="np.tri", x="3 | 3x3", dtypes="dfc")
add("np.tri(2, 3, 1) * x", function="np.tri", x="3")
for name in ("triu", "tril"):
    add(f"np.{name}(x)", x="3x3 | 2x3 | 3x3 transposed | 2x3 .T | 2x2x3", dtypes="dfc")
    add(f"np.{name}(x, 1)", x="3x3 | 2x3", dtypes="dfc")
    add(f"np.{name}(x, k=-1)", x="3x3 | 2x3", dtypes="dfc")
    add(f"x[np.{name}_indices(3)]", function=f"np.{name}_indices", x="3x3")
for k in ("", ", 1", ", k=-1"):
    add(f"np.diag(x{k})", x="3 | 3x3 | 2x3 | 3x3 transposed | 3x3 .T", dtypes="dfc")
add("np.diagflat(x)", x="3 | 2x2")
add("np.diagonal(x)", x="3x3 | 2x3 | 3x2 .T", dtypes="dfc")
add("np.diagonal(x, offset=1)", x="3x3")
add("np.diagonal(x, axis1=1, axis2=2)", x="2x3x3")
add("x.diagonal()", x="3x3", dtypes="dfc")
add("np.vander(x)", x="3")
add("np.vander(x, 4, increasing=True)", x="3")
add("np.hanning(4) * x", function="np.hanning", x="4")
add("np.hamming(4) * x", function="np.hamming", x="4")
add("np.blackman(4) * x", function="np.blackman", x="4", differences=True)
add("np.pi * x + np.e", function="np.pi, np.e, np.inf", x="3", dtypes="dfc")
add("np.atleast_1d(x)", x="() | 3", dtypes="dfc")
add("np.atleast_2d(x)", x="() | 3 | 2x3", dtypes="dfc")
add("np.atleast_3d(x)", x="() | 3 | 2x3", dtypes="dfc")
add("np.fromiter((t * t for t in x), dtype=np.float64)", x="3", jax="x * x")
add("np.block([[x, x], [x, x * x]])", x="2x2")

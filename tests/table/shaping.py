"""Functions that change shapes, join and cut arrays."""

from tests.table.cases import Group

add = Group("Shapes, joins and cuts")

MATRIX = "2x3 | 2x3 transposed | 2x3 .T | 2x3 strided"
CUBE = "2x3x2 | 2x3x2 transposed"

for text in (
    "np.reshape(x, (3, 2))",
    "np.reshape(x, -1)",
    "np.reshape(x, (3, -1))",
    "x.reshape(3, 2)",
    "x.reshape((6,))",
):
    add(text, x=MATRIX + " | 6 | 6 strided", dtypes="dfc")
add("x.reshape(-1, 1)", x="3 | 2x3", dtypes="dfc")
add("np.reshape(x, (1, 1))", x="() | 1", dtypes="dfc")
add("np.reshape(x, (0, 3))", x="0 | 3x0", dtypes="dfc")
add("np.reshape(x, (3, 2), order='F')", x="2x3 | 2x3 transposed")
add("np.ravel(x)", x=MATRIX + " | () | 0 | 3", dtypes="dfc")
add("x.ravel()", x=MATRIX, dtypes="dfc")
add("np.ravel(x, order='F')", x="2x3")
add("x.flatten()", x=MATRIX + " | ()", dtypes="dfc")
add("x.flatten('F')", x="2x3", jax="np.ravel(x.T)")
add("x.T", function="ndarray.T", x="2x3 | 3 | () | 2x3x2 | 2x3 strided", dtypes="dfc")
add("x.mT", function="ndarray.mT", x="2x3 | 2x3x2", dtypes="dfc")
add("np.transpose(x)", x="2x3 | 3 | 2x3x2", dtypes="dfc")
add("np.transpose(x, (2, 0, 1))", x=CUBE, dtypes="dfc")
add("np.transpose(x, axes=(1, 0))", x="2x3")
add("np.permute_dims(x, (1, 0))", x="2x3")
add("np.matrix_transpose(x)", x="2x3")
add("x.transpose()", x="2x3 | 2x3 transposed", dtypes="dfc")
add("x.transpose(1, 0, 2)", x=CUBE, dtypes="dfc")
add("x.transpose((-1, 0, 1))", x=CUBE)
add("np.swapaxes(x, 0, 1)", x=MATRIX, dtypes="dfc")
add("np.swapaxes(x, -1, 0)", x=CUBE, dtypes="dfc")
add("x.swapaxes(0, -1)", x=CUBE, dtypes="dfc")
add("np.moveaxis(x, 0, -1)", x=CUBE + " | 2x3", dtypes="dfc")
add("np.moveaxis(x, [0, 1], [-1, 0])", x="2x3x2")
add("np.rollaxis(x, 2)", x="2x3x2")
add("np.squeeze(x)", x="1x3 | 1x1 | 3x1x2", dtypes="dfc")
add("np.squeeze(x, axis=0)", x="1x3", dtypes="dfc")
add("np.squeeze(x, axis=(0, 2))", x="1x3x1")
add("x.squeeze()", x="1x3 | 3x1", dtypes="dfc")
add("x.squeeze(-1)", x="3x1")
add("np.expand_dims(x, 0)", x="() | 3 | 2x3 .T", dtypes="dfc")
add("np.expand_dims(x, axis=-1)", x="3 | 2x3", dtypes="dfc")
add("np.expand_dims(x, axis=(0, 2))", x="3 | 2x3")
for text in ("x[None]", "x[:, None]", "x[..., None]", "x[None, :, None]", "x[np.newaxis, ...]"):
    add(text, function="None in an index", x="3 | 2x3 | 2x3 transposed", dtypes="dfc")

# slices
for text in (
    "x[1:]",
    "x[:-1]",
    "x[::2]",
    "x[::-1]",
    "x[-3:-1]",
    "x[3:1]",
    "x[4:0:-2]",
    "x[1:99]",
    "x[...]",
    "x[2]",
    "x[-1]",
):
    add(text, function="slices and elements", x="5 | 5x2 | 5x2 transposed | 5 strided", dtypes="dfc")
for text in ("x[0, 1]", "x[:, 0]", "x[1, ::2]", "x[::-1, ::-1]", "x[:, -1:]", "x[..., 1]", "x[1][2]", "x.T[1]"):
    add(text, function="slices and elements", x=MATRIX.replace("| 2x3 .T", "| 2x3 reversed"), dtypes="dfc")
add("x[()]", function="slices and elements", x="()", dtypes="dfc")

# joins
for name in ("concatenate", "hstack", "vstack", "dstack", "column_stack", "stack"):
    for parts in ("(x, y)", "[x, x * y, y]"):
        add(f"np.{name}({parts})", x="3 | 2x3 | 3 strided | 2x3 .T", y="3 | 2x3 | 3 | 2x3", dtypes="dfc")
for axis in ("0", "1", "-1"):
    add(f"np.concatenate((x, y), axis={axis})", x="2x3 | 2x3 transposed", y="2x3 | 2x3", dtypes="dfc")
    add(f"np.stack((x, y), axis={axis})", x="2x3 | 3", y="2x3 | 3", dtypes="dfc")
add("np.concatenate((x, y), axis=None)", x="2x3", y="3")
add(
    "np.concatenate((x, y))",
    label="np.concatenate of unequal lengths",
    x="3 | 0 | 1 | 2x3",
    y="2 | 3 | 0 | 1x3",
    dtypes="dfc",
)
add("np.concatenate([x])", x="3")
add("np.stack([x, y])", label="np.stack of numbers", x="()", y="()", dtypes="dfc")
add("np.hstack((x, 1.0))", x="3")
add("np.append(x, y)", x="3 | 2x3", y="2 | ()", dtypes="dfc")
add("np.append(x, y, axis=0)", x="2x3", y="1x3")
add("np.insert(x, 1, y)", x="3", y="()")
add("np.delete(x, 1)", x="3 | 4 strided")
add("np.delete(x, [0, 2], axis=1)", x="2x3", jax="x[:, 1:2]")
add("np.r_[x, y]", function="np.r_, np.c_", x="3", y="2")
add("np.c_[x, y]", function="np.r_, np.c_", x="3", y="3")
add("np.resize(x, (2, 3))", x="4")

# cuts
add("np.split(x, 3)[1]", function="np.split", x="6 | 3x2 | 6 strided", dtypes="dfc")
add("np.split(x, [1, 3])[2]", function="np.split", x="5")
add("np.split(x, 2, axis=1)[0]", function="np.split", x="2x4", dtypes="dfc")
add("a, b = np.split(x, 2)\nreturn a * b", function="np.split", label="np.split taken apart", x="4 | 2x3")
add("np.array_split(x, 3)[0]", function="np.array_split", x="5")
add("np.hsplit(x, 2)[1]", function="np.hsplit", x="2x4")
add("np.vsplit(x, 2)[1]", function="np.vsplit", x="4x2")

# repetition and order
add("np.tile(x, 2)", x="3 | 2x3 | () | 3 strided", dtypes="dfc")
add("np.tile(x, (2, 3))", x="3 | 2x3 .T | ()", dtypes="dfc")
add("np.repeat(x, 2)", x="3 | 2x3 | () | 3 strided", dtypes="dfc")
add("np.repeat(x, 3, axis=0)", x="2x3 | 2x3 transposed", dtypes="dfc")
add("np.repeat(x, 2, axis=-1)", x="2x3", dtypes="dfc")
add("np.repeat(x, [1, 0, 2])", x="3", jax="x[np.array([0, 2, 2])]")
add("x.repeat(2)", x="3 | 2x3")
add("np.roll(x, 1)", x="3 | 2x3 | 3 strided | 2x3 .T | 0", dtypes="dfc")
add("np.roll(x, -2)", x="5", dtypes="dfc")
add("np.roll(x, 7)", x="5")
add("np.roll(x, 1, axis=0)", x="2x3 | 2x3 transposed", dtypes="dfc")
add("np.roll(x, -1, axis=-1)", x="2x3", dtypes="dfc")
add("np.roll(x, (1, 2), axis=(0, 1))", x="2x3", dtypes="dfc")
add("np.flip(x)", x="3 | 2x3 | 2x3 transposed", dtypes="dfc")
add("np.flip(x, 0)", x="3 | 2x3 .T", dtypes="dfc")
add("np.flip(x, axis=(0, 1))", x="2x3x2")
add("np.fliplr(x)", x="2x3", dtypes="dfc")
add("np.flipud(x)", x="2x3 | 3", dtypes="dfc")
for k in ("", ", 2", ", k=3", ", -1", ", 1, (1, 2)"):
    add(f"np.rot90(x{k})", x="2x3x2" if "(" in k else "2x3 | 2x3 .T", dtypes="dfc")
add("np.pad(x, 1)", x="3 | 2x3", dtypes="dfc")
add("np.pad(x, (1, 2))", x="3 | 2x3 transposed", dtypes="dfc")
add("np.pad(x, ((1, 0), (0, 2)))", x="2x3", dtypes="dfc")
for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
    add(f"np.pad(x, 1, mode='{mode}')", x="3 | 2x3", dtypes="dfc")
    add(f"np.pad(x, (2, 1), '{mode}')", x="3")
add("np.pad(x, 1, constant_values=2.5)", x="3 | 2x3")
add("np.broadcast_to(x, (2, 3))", x="3 | () | 2x1 | 2x3", dtypes="dfc")
add(
    "x * np.broadcast(x, y).size + np.ones(np.broadcast(x, y).shape)", function="np.broadcast", x="3 | 2x1", y="2x1 | 3",
    jax="x * 6 + np.ones((2, 3))",
)  # fmt: skip
add("np.broadcast_to(x, (0, 3))", x="3 | ()")
add("np.broadcast_arrays(x, y)[0] * 2.0", function="np.broadcast_arrays", x="3 | 2x1", y="2x1 | 3", dtypes="dfc")

# differences
add("np.diff(x)", x="5 | 2x3 | 3 strided | 2x3 .T | 1", dtypes="dfc")
add("np.diff(x, axis=0)", x="3x2", dtypes="dfc")
add("np.diff(x, n=2)", x="5 | 2x4", dtypes="dfc")
add("np.diff(x, prepend=0.0)", x="3")
add("np.ediff1d(x)", x="4")
add("np.gradient(x)", x="5 | 2 | 5 strided", dtypes="dfc")
add("np.gradient(x, 0.1)", x="5")
add("np.gradient(x, axis=0)", x="4x3", dtypes="dfc")
add("np.gradient(x)[1]", x="3x4")
add("np.gradient(x, y)", x="5", y="5 rising", jax=None)
add("np.gradient(x, edge_order=2)", x="5", jax=None)
add("np.interp(x, [-3.0, 0.0, 3.0], [1.0, 2.0, 0.5])", x="4 nonzero | () nonzero", jax=None)
add("np.interp(x, y, z)", x="4 odd | 2x2 odd", y="4 rising", z="4 | 4")
add("np.unwrap(x)", x="4")
add("np.lib.stride_tricks.sliding_window_view(x, 2)", x="4", jax="np.stack((x[:-1], x[1:]), 1)")
add("x.size * x + x.ndim", function="ndarray.shape, .size, .ndim", x="2x3 | ()", dtypes="dfc")
add("x * x.shape[0]", function="ndarray.shape, .size, .ndim", x="2x3", dtypes="dfc")
add("len(x) * x", function="len", x="2x3 | 0", dtypes="dfc")

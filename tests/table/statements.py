"""Assignments to parts of arrays, and other statements."""

import numpy as np

from tests.table.cases import Group

add = Group("Assignments")

K = np.array([2, 0, 2])
ONCE = np.array([2, 0])
MASK = np.array([True, False, True])


def assign(statement, jax, name, **arguments):
    """``statement`` on a copy of x, called z; `jax` is the resulting array."""
    text = f"z = x.copy()\n{statement}\nreturn z"
    add(text, function=name, label=statement, jax=jax and jax.replace("z", "x"), **arguments)


BOTH = {"x": "4 | 4 strided | 4x2 | 4x2 transposed", "dtypes": "dfc"}
for target in ("[1:3]", "[::2]", "[::-1]", "[-1]", "[...]", "[2:2]"):
    assign(f"z{target} = 2.5", f"z.at{target}.set(2.5)", "x[slice] = y", **BOTH)
    assign(f"z{target} = y", f"z.at{target}.set(y)", "x[slice] = y", y="()", **BOTH)
    assign(f"z{target} += y", f"z.at{target}.add(y)", "x[slice] += y", y="()", **BOTH)
    assign(f"z{target} *= y", f"z.at{target}.multiply(y)", "x[slice] *= y", y="()", **BOTH)
for sign, how in (("-=", "add(-y)"), ("/=", "divide(y)"), ("**=", "power(y)")):
    assign(f"z[1:] {sign} y", f"z.at[1:].{how}", f"x[slice] {sign} y", x="3 positive | 4x2 positive", y="() positive")
assign("z += y", "z + y", "x += y", x="3 | 2x3", y="3 | 3", dtypes="dfc")
assign("z *= z", "z * z", "x *= y", x="3 | 2x3 .T", dtypes="dfc")
assign("z[1:] = z[:-1]", "z.at[1:].set(z[:-1])", "x[slice] = y", x="4 | 3x2", dtypes="dfc")
assign("z[0], z[1] = z[1], z[0]", "z.at[0].set(z[1]).at[1].set(z[0])", "x[i], x[j] = x[j], x[i]", x="4", dtypes="df")
assign("z[0, 1] = y", "z.at[0, 1].set(y)", "x[slice] = y", x="2x3 | 2x3 .T".replace(" .T", " strided"), y="()")
assign("z[:, 1] = y", "z.at[:, 1].set(y)", "x[slice] = y", x="2x3", y="2 | ()")
assign("z[:] = y[:, None]", "z.at[:].set(y[:, None])", "x[slice] = y", x="2x3", y="2")
assign("z.fill(y)", "np.full_like(z, y)", "ndarray.fill", x="3", y="()")
assign("np.copyto(z, y)", "np.broadcast_to(y, z.shape)", "np.copyto", x="2x3", y="3")
assign("np.fill_diagonal(z, y)", "np.fill_diagonal(z, y, inplace=False)", "np.fill_diagonal", x="3x3", y="()")

# masks and integer arrays
assign("z[z > 0] = 0.5", "np.where(z > 0, 0.5, z)", "x[mask] = y", x="4 nonzero | 2x3 nonzero | 4 nonzero strided")
assign("z[z < 0] *= y", "np.where(z < 0, z * y, z)", "x[mask] *= y", x="4 nonzero | 2x3 nonzero", y="()")
assign("z[z < 0] += y", "np.where(z < 0, z + y, z)", "x[mask] += y", x="4 nonzero | 2x3 nonzero", y="()")
assign("z[m] = y", "np.where(m, y, z)", "x[mask] = y", m=MASK, x="3 | 3 strided", y="()", dtypes="dfc")
assign("z[m] = y[m]", "np.where(m, y, z)", "x[mask] = y", m=MASK, x="3", y="3", dtypes="dfc")
assign("z[:, m] = 0.5", "np.where(m, 0.5, z)", "x[mask] = y", m=MASK, x="2x3")
add(
    "z = x.copy()\nz[m] = y\nreturn z",
    **{"label": "z[m] = y of as many", "function": "x[mask] = y", "jax": "x.at[np.array([0, 2])].set(y)"},
    **{"m": MASK, "x": "3", "y": "2"},
)
assign("np.putmask(z, z > 0, 0.5)", "np.where(z > 0, 0.5, z)", "np.putmask", x="4 nonzero")
assign("np.place(z, z > 0, [0.5])", "np.where(z > 0, 0.5, z)", "np.place", x="4 nonzero")
assign("z[k] = y", "z.at[k].set(y)", "x[integers] = y", k=ONCE, x="3 | 3x2 | 3", y="() | 2 | 2", dtypes="dfc")
assign("z[k] += y", "z.at[k].add(y)", "x[integers] += y", k=ONCE, x="3 | 3x2 | 3", y="() | 2 | 2", dtypes="dfc")
assign("z[k] *= y", "z.at[k].set(z[k] * y)", "x[integers] *= y", k=ONCE, x="3", y="2", dtypes="dfc")
assign("z[k, k] = y", "z.at[k, k].set(y)", "x[integers] = y", k=ONCE, x="3x3", y="() | 2".replace(" | 2", ""))
assign("z[:, k] = y", "z.at[:, k].set(y)", "x[integers] = y", k=ONCE, x="2x3", y="2")
assign("z[k, 1:] = y", "z.at[k, 1:].set(y)", "x[integers] = y", k=ONCE, x="3x3", y="2")
assign("np.put(z, k, y)", "z.at[k].set(y)", "np.put", k=ONCE, x="3", y="2")
assign("np.add.at(z, k, y)", "z.at[k].add(y)", "np.add.at", k=K, x="3 | 3x2 | 3", y="() | 2 | 3", dtypes="dfc")
assign("np.add.at(z, (k, k), y)", "z.at[k, k].add(y)", "np.add.at", k=K, x="3x3", y="3")
assign("np.add.at(z, slice(1, 3), y)", "z.at[1:3].add(y)", "np.add.at", x="3x2", y="2")
assign("np.subtract.at(z, (1, slice(1, None)), y)", "z.at[1, 1:].add(-y)", "np.add.at", x="3x3", y="2")
assign("np.subtract.at(z, k, y)", "z.at[k].add(-y)", "np.subtract.at", k=K, x="3", y="3")
assign("np.multiply.at(z, k, y)", None, "np.multiply.at", k=K, x="3", y="()")
assign("np.maximum.at(z, k, y)", "z.at[k].max(y)", "np.maximum.at", k=ONCE, x="3 even", y="2 odd")
add("x[k] += y\nreturn x * x", function="x[integers] += y", label="x[k] += y of an argument", k=ONCE, x="3", y="2",
    jax="x.at[k].add(y) ** 2")  # fmt: skip
add("x[1:] *= y\nreturn x * x", function="x[slice] *= y", label="x[1:] *= y of an argument", x="3", y="()",
    jax="x.at[1:].multiply(y) ** 2")  # fmt: skip

# views
VIEWS = {
    "row": ("r = z[1]\nr *= 2.0", "z.at[1].multiply(2.0)"),
    "transpose": ("r = z.T\nr[0] = r[1] * 2.0", "z.at[:, 0].set(z[:, 1] * 2.0)"),
    "ravel": ("r = z.ravel()\nr[1] = 3.0", "z.at[0, 1].set(3.0)"),
    "reshape": ("r = z.reshape(3, 2)\nr[1] = 3.0", "z.at[0, 2].set(3.0).at[1, 0].set(3.0)"),
    "copy": ("r = z[1].copy()\nr *= 2.0", "z"),
    "diagonal": ("r = z[::-1]\nr[0] += z[0]", "z.at[1].add(z[0])"),
}
for name, (statement, jax) in VIEWS.items():
    text = f"z = x.copy()\n{statement}\nreturn z * z"
    jax = f"(lambda z: ({jax}) ** 2)(x)"
    add(text, function="writes through views", label=f"view: {name}", x="2x3 | 2x3 strided", jax=jax, dtypes="dfc")

add = Group("Several statements")
SNIPPETS = {
    "softmax": (
        "e = np.exp(x - np.max(x, axis=-1, keepdims=True))\nreturn e / np.sum(e, axis=-1, keepdims=True)",
        "x: 3 distinct | 2x3 distinct",
        "",
    ),
    "loop over rows": (
        "s = 0.0\nfor row in x:\n    s = s + np.sin(row).sum()\nreturn s",
        "x: 2x3",
        "np.sum(np.sin(x))",
    ),
    "recurrence": (
        "z = x.copy()\nfor i in range(1, len(z)):\n    z[i] = z[i] * z[i - 1] + 0.5\nreturn z",
        "x: 4 | 1",
        "np.array([x[0], x[1]*x[0]+.5, x[2]*(x[1]*x[0]+.5)+.5, x[3]*(x[2]*(x[1]*x[0]+.5)+.5)+.5]) if len(x) > 1 else x",
    ),
    "normalise": ("return (x - np.mean(x, axis=0)) / (0.1 + np.std(x, axis=0))", "x: 4x2 distinct", ""),
    "distances": (
        "d = x[:, None, :] - x[None, :, :]\nreturn np.sum(d * d, axis=-1)",
        "x: 3x2 | 3x2 transposed",
        "",
    ),
    "where across statements": (
        "t = np.log(np.abs(x))\ny = np.where(x > 0, t, 0.0)\nreturn y * x",
        "x: 4 nonzero",
        "",
    ),
    "Horner": (
        "p = 0.0\nfor c in (1.0, -2.0, 0.5):\n    p = p * x + c\nreturn p",
        "x: 3 | ()",
        "x * x - 2.0 * x + 0.5",
    ),
    "branch on a shape": (
        "if x.ndim == 2:\n    return x.T @ x\nreturn x * x",
        "x: 2x3 | 3",
        "x.T @ x if x.ndim == 2 else x * x",
    ),
    "comprehension": ("return np.array([t * t for t in x])", "x: 3", "x * x"),
    "while": (
        "i = 0\ns = x * 1.0\nwhile i < 3:\n    s = np.sin(s)\n    i += 1\nreturn s",
        "x: 3",
        "np.sin(np.sin(np.sin(x)))",
    ),
    "a helper": (
        "def f(t):\n    return t * np.sin(t)\n\nreturn f(f(x))",
        "x: 3",
        "(lambda f: f(f(x)))(lambda t: t * np.sin(t))",
    ),
}
for name, (text, arguments, jax) in SNIPPETS.items():
    add(text, function=name, label=f"snippet: {name}", x=arguments.removeprefix("x: "), jax=jax)

"""Functions that reduce or accumulate over axes, and products."""

from tests.table.cases import Group

add = Group("Reductions and products")

WHOLE = "() {0} | 1 {0} | 5 {0} | 2x3 {0} | 3 {0} strided | 2x3 {0} transposed | 2x3 {0} .T | 6 {0} [::2]"
AXIS = "2x3 {0} | 2x3 {0} transposed | 2x3 {0} .T | 2x3 {0} strided"
CUBE = "2x3x2 {0} | 2x3x2 {0} transposed"

# function -> domain, whether it takes complex numbers, whether it takes several axes
REDUCTIONS = {
    "sum": ("any", "dfc", True),
    "mean": ("any", "dfc", True),
    "prod": ("nonzero", "dfc", True),
    "var": ("distinct", "dfc", True),
    "std": ("distinct", "dfc", True),
    "max": ("distinct", "df", True),
    "min": ("distinct", "df", True),
    "ptp": ("distinct", "df", True),
    "median": ("distinct", "df", True),
    "average": ("any", "dfc", True),
    "nansum": ("any", "df", True),
    "nanmean": ("any", "df", True),
    "nanmax": ("distinct", "df", True),
    "nanmin": ("distinct", "df", True),
}
UNDEFINED_AT_ONE = ("std",)  # the derivative of a deviation that is zero

for name, (domain, dtypes, several) in REDUCTIONS.items():
    whole = WHOLE.format(domain)
    if name in UNDEFINED_AT_ONE:
        whole = whole.removeprefix(f"() {domain} | 1 {domain} | ")
    add(f"np.{name}(x)", x=whole, dtypes=dtypes)
    add(f"np.{name}(x, axis=0)", x=AXIS.format(domain), dtypes=dtypes)
    add(f"np.{name}(x, axis=-1)", x=AXIS.format(domain), dtypes=dtypes)
    add(f"np.{name}(x, axis=1, keepdims=True)", x=AXIS.format(domain), dtypes=dtypes)
    if several:
        add(f"np.{name}(x, axis=(0, 2))", x=CUBE.format(domain), dtypes=dtypes)
        add(f"np.{name}(x, axis=(-1, 0), keepdims=True)", x=CUBE.format(domain), dtypes=dtypes)
for name in ("sum", "mean", "prod", "max", "min", "var", "std"):
    domain, dtypes, _ = REDUCTIONS[name]
    add(f"x.{name}()", x=f"2x3 {domain} | 3 {domain} strided", dtypes=dtypes)
    add(f"x.{name}(axis=0)", x=f"2x3 {domain} | 2x3 {domain} transposed", dtypes=dtypes)
    add(f"x.{name}(1)", x=f"2x3 {domain}", dtypes=dtypes)
    add(f"x.{name}(-1, keepdims=True)", x=f"2x3 {domain}", dtypes=dtypes)
for name in ("sum", "prod"):
    add(f"np.{name}(x)", x="0 | 0x3", label=f"empty np.{name}(x)", dtypes="dfc")
    add(f"np.{name}(x, axis=0)", x="0x3", label=f"empty np.{name}(x, axis=0)", dtypes="dfc")
    add(f"np.{name}(x, dtype=np.float64)", x="2x3 nonzero")
    add(f"np.{name}(x, initial=2.0)", x="3 nonzero")
    add(f"np.{name}(x, where=x > 0)", x="2x3 nonzero")
add("np.max(x, initial=0.2)", x="3 nonzero")
add("np.max(x, axis=1, where=x > -9.0, initial=-9.0)", x="2x3 distinct")
add("np.var(x, ddof=1)", x="4 | 2x3", dtypes="dfc")
add("np.std(x, axis=0, ddof=1)", x="4 distinct | 3x2 distinct", dtypes="dfc")
add("np.average(x, weights=y)", x="3", y="3 positive")
add("np.average(x, axis=1, weights=y)", x="2x3", y="3 positive")
add("np.amax(x)", x="2x3 distinct", jax="np.max(x)")
add("np.amin(x, axis=0)", x="2x3 distinct", jax="np.min(x, axis=0)")
add("np.percentile(x, 30.0)", x="5 distinct")
add("np.quantile(x, 0.3 * y)", x="5 distinct", y="() positive | 2 positive", jax=None, dtypes="d")
add("np.percentile(x, 30 * y, axis=1)", x="2x5 distinct", y="2 positive", jax=None, dtypes="d")
add("np.quantile(x, 0.3, axis=0)", x="5x2 distinct")
add("np.count_nonzero(x > 0)", x="3 nonzero", differences=False)
add("np.any(x > 0)", x="3 nonzero", differences=False)
add("np.all(x > 0, axis=0)", x="2x3 nonzero", differences=False)
add("np.sum(x > 0)", label="np.sum of truths", x="2x3 nonzero", differences=False)
add("np.mean(x > 0)", label="np.mean of truths", x="2x3 nonzero", differences=False)
add("sum(x)", function="sum of a sequence", x="3 | 2x3", jax="np.sum(x, axis=0)")
add("max(x)", function="max, min of a sequence", x="3 distinct", jax="np.max(x)")
add("min([x[0], x[1], x[2]])", function="max, min of a sequence", x="3 distinct", jax="np.min(x)")

for name in ("cumsum", "cumprod", "nancumsum"):
    dtypes = "df" if name.startswith("nan") else "dfc"
    add(f"np.{name}(x)", x="() nonzero | 0 | 1 | 5 nonzero | 2x3 nonzero | 3 strided | 2x3 transposed", dtypes=dtypes)
    add(f"np.{name}(x, axis=0)", x="3x2 nonzero | 3x2 .T nonzero", dtypes=dtypes)
    add(f"np.{name}(x, axis=-1)", x="3x2 nonzero | 3x2 strided nonzero", dtypes=dtypes)
    if not name.startswith("nan"):
        add(f"x.{name}()", x="3 | 2x3", dtypes=dtypes)
        add(f"x.{name}(axis=1)", x="2x3", dtypes=dtypes)
add("np.maximum.accumulate(x)", x="5 distinct", jax=None)
add("np.minimum.accumulate(x)", x="3x2 distinct", jax=None)

for name in ("dot", "matmul"):
    # vectors, matrices, both, stacks; an argument that is transposed or strided
    x = "3 | 2x3 | 2x3 | 3 | 3 strided | 3x2 transposed | 2x3 .T | 1 | 1x1 | 2x0 | 2x2x3 | 3"
    y = "3 | 3x2 | 3 | 3x2 | 3 strided | 2x3 transposed | 3x4 | 1 | 1x1 | 0x2 | 3x2 | 2x3x2"
    x, y = x.replace("2x3 .T", "2x3 .T"), y.replace("3x4", "3x4 .T")
    add(f"np.{name}(x, y)", x=x, y=y, dtypes="dfc")
add("np.dot(x, y)", label="np.dot(number, array)", x="() | 2x3", y="2x3 | ()", dtypes="dfc")
add("np.dot(x, y)", label="np.dot(cube, cube)", x="2x2x3", y="2x3x2", dtypes="df")
add("np.matmul(x, y)", label="np.matmul of stacks", x="2x2x3 | 2x2x3 | 1x2x3", y="2x3x2 | 3x2 | 2x3x2", dtypes="dfc")
add(
    "x @ y", function="x @ y", x="3 | 2x3 | 2x3 | 3x2 .T", y="3 | 3 | 3x2 | 2 | 2x3".replace("| 2 |", "|"), dtypes="dfc"
)
add("x.dot(y)", x="3 | 2x3", y="3 | 3x2", dtypes="dfc")
add("np.vdot(x, y)", x="3 | 2x3 | 1", y="3 | 2x3 | 1", dtypes="dfc")
add("np.vecdot(x, y)", x="3 | 2x3", y="3 | 2x3", dtypes="dfc")
add("np.inner(x, y)", x="3 | 2x3 | 2x3 | ()", y="3 | 4x3 | 3 | 2x2", dtypes="dfc")
add("np.outer(x, y)", x="3 | 2x2 | () | 3 strided | 0", y="2 | 3 | 2 | 2 | 2", dtypes="dfc")
add("np.kron(x, y)", x="2 | 2x2", y="3 | 1x3", dtypes="dfc")
add("np.cross(x, y)", x="3 | 2x3", y="3 | 3", dtypes="dfc")
add("np.tensordot(x, y)", x="2x3x2", y="3x2x2", dtypes="dfc")
add("np.tensordot(x, y, axes=1)", x="2x3 | 3", y="3x2 | 3x2", dtypes="dfc")
add("np.tensordot(x, y, axes=0)", x="2", y="3", dtypes="dfc")
add("np.tensordot(x, y, axes=([0, 1], [1, 0]))", x="2x3x2", y="3x2", dtypes="dfc")
for rule, x, y in [
    ("ij,jk->ik", "2x3", "3x2"),
    ("ij,jk", "2x3", "3x2 .T"),
    ("i,i->", "3", "3"),
    ("i,j->ij", "2", "3"),
    ("bij,bjk->bik", "2x2x3", "2x3x2"),
    ("ij,ij->j", "2x3", "2x3"),
    ("...i,i->...", "2x3", "3"),
    ("ii,i->i", "3x3", "3"),
]:
    add(f"np.einsum('{rule}', x, y)", x=x, y=y, dtypes="dfc")
for rule, x in [("ii->", "3x3"), ("ij->ji", "2x3"), ("ij->", "2x3"), ("ijk->j", "2x3x2"), ("ii->i", "3x3")]:
    add(f"np.einsum('{rule}', x)", x=f"{x} | {x} transposed", dtypes="dfc")
add("np.einsum('ij,jk,k->i', x, x, y)", x="2x2", y="2", dtypes="dfc")
add("np.trace(x)", x="3x3 | 2x3 | 3x3 transposed", dtypes="dfc")
add("np.trace(x, offset=1)", x="3x3", dtypes="dfc")
add("np.trace(x, axis1=0, axis2=2)", x="2x3x2", dtypes="dfc")
add("x.trace()", x="3x3", dtypes="dfc")
add("np.cov(x)", x="2x4", tolerance=10)
add("np.corrcoef(x)", x="2x4 distinct", tolerance=10)
add("np.convolve(x, y)", x="5 | 3 | 4 strided", y="3 | 5 | 2", dtypes="dfc")
for mode in ("full", "same", "valid"):
    add(f"np.convolve(x, y, mode='{mode}')", x="5", y="3", dtypes="dfc")
add("np.correlate(x, y, mode='full')", x="5", y="3", dtypes="dfc")
add("np.polyval(x, y)", x="3", y="2 | 2x2", dtypes="dfc")
add("np.trapezoid(x)", x="4 | 2x3", dtypes="dfc")
add("np.trapezoid(x, y)", x="4", y="4 rising")
add("np.trapezoid(x, dx=0.1, axis=0)", x="3x2")

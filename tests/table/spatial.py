"""Distances of scipy.spatial between two vectors, and interpolation of scattered points."""

from tests.table.cases import Group

add = Group("scipy.spatial")

PAIR = {"x": "5 positive", "y": "5 positive", "jax": None}
HEAD = "from scipy.spatial import distance\nreturn distance."
OF_TWO = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "braycurtis", "canberra")
for name in (*OF_TWO, "minkowski"):
    label, known = f"scipy.spatial.distance.{name}", {"function": f"scipy.spatial.distance.{name}", **PAIR}
    add(f"{HEAD}{name}(x, y)", label=label, **known)
    add(f"{HEAD}{name}(x, y, w=z)", z="5 positive", dtypes="d", label=f"{label} with weights", **known)
for rest in ("3, z", "np.inf, z", "1"):
    add(f"{HEAD}minkowski(x, y, {rest})", z="5 positive", dtypes="d", function="scipy.spatial.distance.minkowski",
        label=f"minkowski by {rest}", **PAIR)  # fmt: skip
add(f"{HEAD}mahalanobis(x, y, z @ z.T + np.eye(3))", x="3", y="3", z="3x3", jax=None, label="mahalanobis",
    function="scipy.spatial.distance.mahalanobis")  # fmt: skip
add(f"{HEAD}correlation(x, y, centered=False)", dtypes="d", function="scipy.spatial.distance.correlation",
    label="correlation that is not centred", **PAIR)  # fmt: skip
for rest in ("", ", 2, axis=1, keepdims=True"):
    add(f"{HEAD}jensenshannon(x, y{rest})", x="3x2 positive", y="3x2 positive", jax=None, label=f"jensenshannon{rest}",
        function="scipy.spatial.distance.jensenshannon")  # fmt: skip
add("from scipy.spatial import distance_matrix, minkowski_distance\n"
    "return distance_matrix(x, y) + distance_matrix(x, y, p=1) * minkowski_distance(x[0], y[0])", x="3x2", y="4x2",
    jax=None, function="scipy.spatial.distance_matrix", label="distance_matrix")  # fmt: skip

add = Group("scipy.interpolate, of few or scattered points")

RADIAL = {"jax": None, "dtypes": "d", "tolerance": 1000}
for kernel in ("linear", "thin_plate_spline", "cubic", "quintic"):
    add(f"interpolate.RBFInterpolator(x, y, kernel='{kernel}')(z)", x="9x2", y="9", z="4x2", **RADIAL)
for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"):
    add(f"interpolate.RBFInterpolator(x, y, kernel='{kernel}', epsilon=1.3, smoothing=0.1)(z)", x="9x2", y="9x3", z="4x2",
        **RADIAL)  # fmt: skip
add("interpolate.RBFInterpolator(x, y, degree=2, smoothing=z)(x)", x="9x1", y="9", z="9 positive", **RADIAL)
add("interpolate.RBFInterpolator(x, y, kernel='gaussian', epsilon=2, degree=-1)(x)", x="6x1", y="6", **RADIAL)
add("interpolate.lagrange(x, y)(z)", x="4 rising", y="4", z="3", **RADIAL)
add("interpolate.pchip_interpolate(x, y, z) + interpolate.pchip_interpolate(x, y, z, der=1)", x="5 rising",
    y="5 distinct", z="3 inner", **RADIAL)  # fmt: skip

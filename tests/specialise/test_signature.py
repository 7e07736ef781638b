"""Arguments: what is taken, that it is left alone, and that gradients come back in its own kind."""

import copy
import inspect
import itertools

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, ShapeMismatch
from sdfgad.specialise.signature import _bound, _bound_plainly, bind
from tests.helpers import assert_close, line_of


def overwrite(a, b, s, n):
    for i in range(n):
        a[i, :] = a[i, :] * b[:, i] * s
    b *= s
    return np.sum(a * a) + np.sum(b * b)


def overwrite_gradients(a, b, s, n):
    rows = np.arange(a.shape[0])[:, None] < n
    scale = np.where(rows, b.T * s, 1.0)
    done = a * scale
    by_b = 2 * done * np.where(rows, a * s, 0.0)
    by_s = np.sum(2 * done * np.where(rows, a * b.T, 0.0)) + np.sum(2 * b * s * b)
    return {"a": 2 * done * scale, "b": by_b.T + 2 * b * s * s, "s": by_s}


def make(rng, kind, dtype):
    """A 4 x 4 array in another memory layout."""
    base = rng.uniform(0.5, 1.5, (4, 4)).astype(dtype)
    if kind == "fortran":
        return np.asfortranarray(base)
    if kind == "strided":
        return np.repeat(np.repeat(base, 2, 0), 3, 1)[::2, ::3]
    if kind == "reversed":
        return np.ascontiguousarray(base[::-1, ::-1])[::-1, ::-1]
    if kind == "read-only":
        base.flags.writeable = False
    if kind == "unaligned":
        raw = np.zeros(base.nbytes + 1, np.uint8)
        moved = np.frombuffer(raw.data, dtype, 16, 1).reshape(4, 4)
        raw[1:] = np.frombuffer(base.tobytes(), np.uint8)
        return moved
    return base


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["plain", "fortran", "strided", "reversed", "read-only", "unaligned"])
def test_memory_layouts(rng, kind, dtype):
    a, b, s = make(rng, kind, dtype), make(rng, kind, dtype), dtype(0.7)
    before, flags = copy.deepcopy((a, b, s)), (str(a.flags), a.strides)
    value, found = sdfgad.differentiate(overwrite).value_and_grad(a, b, s, 3)
    assert (str(a.flags), a.strides) == flags
    for now, then in zip((a, b, s), before, strict=True):
        np.testing.assert_array_equal(now, then)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    assert_close(value, overwrite(a.copy(), b.copy(), s, 3), tolerance)
    for name, expected in overwrite_gradients(a.astype(float), b.astype(float), float(s), 3).items():
        assert found[name].dtype == dtype
        assert_close(found[name], expected, tolerance, name)
    assert type(found["s"]) is dtype
    assert found["a"].flags.writeable


def cube(x):
    return np.sum(x * x * x)


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        np.float64(2.0),
        np.float32(2.0),
        np.array(2.0),
        np.array(2.0, np.float32),
        np.array([2.0]),
        np.full((1, 2, 1, 2), 2.0),
        np.empty(0),
        np.empty((3, 0), np.float32),
        np.zeros((0, 2, 3)),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', 'float')}-{np.shape(x)}",
)
def test_gradient_is_of_the_argument_s_kind(x):
    value, found = sdfgad.differentiate(cube, wrt="x").value_and_grad(x)
    assert type(found) is type(x)
    assert np.shape(found) == np.shape(x)
    assert np.asarray(found).dtype == np.asarray(x).dtype
    np.testing.assert_array_equal(found, 3 * np.asarray(x) ** 2)
    assert value == cube(x)


def test_gradients_are_the_callers_own():
    g = sdfgad.differentiate(cube, wrt="x")
    first = g(np.ones(3))
    second = g(np.full(3, 2.0))
    np.testing.assert_array_equal(first, [3, 3, 3])
    first[:] = 0
    np.testing.assert_array_equal(second, [12, 12, 12])
    np.testing.assert_array_equal(g(np.ones(3)), [3, 3, 3])


def test_the_same_array_for_two_arguments():
    x = np.array([1.0, 2.0, 4.0])
    found = sdfgad.differentiate(lambda x, y: np.sum(x * x * y))(x, x)
    np.testing.assert_array_equal(found["x"], 2 * x * x)
    np.testing.assert_array_equal(found["y"], x * x)


@pytest.mark.parametrize("views", [(slice(None), slice(None)), (slice(0, 2), slice(1, 3))])
def test_arguments_that_share_memory_are_refused_where_one_is_updated(views):
    def product(x, y):
        x[0] = 3.0 * y[1]
        return np.sum(x * y)

    x = np.array([1.0, 2.0, 4.0])
    with pytest.raises(ArgumentError, match="`x` and `y` share memory") as caught:
        sdfgad.differentiate(product)(x[views[0]], x[views[1]])
    assert str(caught.value.where) == line_of(product, "def product")
    np.testing.assert_array_equal(x, [1, 2, 4])


def flattened(x):
    r = x.ravel()
    r[1:] += r[:-1] * r[:-1]
    return np.sum(x * x)


def flattened_only(x):
    return np.sum(x.reshape(-1)[1:] * x.ravel()[:-1])


def test_arguments_that_numpy_would_copy_to_reshape_them_are_refused_where_they_are_updated():
    x = np.array([[1.0, 2.0, 4.0], [0.5, 3.0, 1.5]])
    g = sdfgad.differentiate(flattened)
    assert g.value_and_grad(x)[0] == flattened(x.copy())
    for other in (np.asfortranarray(x), x.repeat(2, axis=1)[:, ::2]):
        with pytest.raises(ArgumentError, match="`x` is not stored row by row") as caught:
            g(other)
        assert str(caught.value.where) == line_of(flattened, "def flattened")
        value, gradient = sdfgad.value_and_grad(flattened_only)(other)
        assert value == flattened_only(other)
        np.testing.assert_array_equal(gradient, sdfgad.grad(flattened_only)(x))


def updated_pairs(x):
    pairs = x.reshape(3, 2)
    pairs[:, 1] *= pairs[:, 0]
    pairs.T.reshape(-1)[0] = 7.0
    return np.sum(x * x * x)


def test_vectors_of_any_stride_are_reshaped_without_a_copy():
    x = np.array([1.0, 2.0, 4.0, 0.5, 3.0, 1.5])
    g = sdfgad.differentiate(updated_pairs)
    expected = g.value_and_grad(x.copy())
    assert expected[0] == updated_pairs(x.copy())
    for other in (x.repeat(2)[::2], x[::-1].copy()[::-1]):
        value, gradient = g.value_and_grad(other)
        assert value == expected[0]
        np.testing.assert_array_equal(gradient["x"], expected[1]["x"])
        np.testing.assert_array_equal(other, x)


def mixed(x, k, y, flag):
    z = x * k + y
    return np.sum(z * z) if flag else np.sum(z)


def test_mixed_precision_and_other_dtypes():
    x, k = np.array([1.5, -2.0], np.float32), np.array([2, 3], np.int32)
    y = np.array([0.5, 1.0])
    found = sdfgad.differentiate(mixed)(x, k, y, True)
    z = x.astype(float) * k + y
    np.testing.assert_array_equal(found["x"], (2 * z * k).astype(np.float32), strict=True)
    np.testing.assert_array_equal(found["y"], 2 * z, strict=True)
    found = sdfgad.differentiate(mixed)(x, np.array([True, False]), 1.0, np.False_)
    np.testing.assert_array_equal(found["x"], np.array([1, 0], np.float32), strict=True)
    assert found["y"] == 2.0


def test_python_floats_do_not_widen_single_precision():
    def scaled(x, s):
        return np.sum(x * s) * 0.5

    x = np.array([1.0, 2.0], np.float32)
    value, found = sdfgad.differentiate(scaled).value_and_grad(x, 3.0)
    assert value.dtype == np.float32
    assert value == scaled(x, 3.0)
    assert found["x"].dtype == np.float32
    assert found["s"] == 1.5
    wide, _ = sdfgad.differentiate(scaled).value_and_grad(x, np.float64(3.0))
    assert wide.dtype == np.float64


def constant(x, shape, scale):
    return np.sum(np.reshape(x, shape)[0]) * scale["a"] if scale else np.sum(x)


def test_tuples_and_none_are_constants():
    g = sdfgad.differentiate(constant, wrt="x")
    np.testing.assert_array_equal(g(np.ones(6), (2, 3), None), np.ones(6))
    with pytest.raises(ArgumentError, match=r"must be constants: `scale\['a'\]` \(bytearray\)"):
        g(np.ones(6), (2, 3), {"a": bytearray(b"1")})


def free(x, fixed):
    return np.sum(x[[k for k in range(len(x)) if k not in fixed]] ** 2)


def test_sets_are_constants_by_what_is_in_them():
    g, x = sdfgad.differentiate(free, wrt="x"), np.arange(1.0, 5.0)
    fixed = {0, 2}
    np.testing.assert_array_equal(g(x, fixed), [0.0, 4.0, 0.0, 8.0])
    fixed.add(1)
    np.testing.assert_array_equal(g(x, fixed), [0.0, 0.0, 0.0, 8.0])


# --- what does not fit


@pytest.mark.parametrize(
    ("args", "kwargs", "what"),
    [
        ((), {}, "missing a required argument: 'x'"),
        ((1.0, 2.0), {}, "too many positional arguments"),
        ((1.0,), {"y": 2.0}, "unexpected keyword argument 'y'"),
        ((1.0,), {"x": 2.0}, "multiple values for argument 'x'"),
    ],
)
def test_wrong_arguments(args, kwargs, what):
    with pytest.raises(ArgumentError, match=f"does not fit `cube`: .*{what}") as caught:
        sdfgad.differentiate(cube)(*args, **kwargs)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("x", "what"),
    [
        (np.array([1.0, None], dtype=object), "`x` has the dtype object"),
        (np.array(["a"]), "`x` has the dtype <U1"),
        (np.array([1.0], ">f8"), "`x` has the dtype >f8"),
        (np.array([1.0], np.float16), "`x` has the dtype float16"),
        (np.array([1.0], np.longdouble), "`x` has the dtype"),
        (np.array(["2020-01-01"], "M8[D]"), "`x` has the dtype"),
    ],
)
def test_arguments_of_a_kind_that_is_not_supported(x, what):
    with pytest.raises(ArgumentError, match=what):
        sdfgad.differentiate(cube)(x)


def test_other_array_types_are_named():
    import jax.numpy as jnp

    with pytest.raises(ArgumentError, match=r"`x` is a .*, not a NumPy array\n.*\n.*np.asarray"):
        sdfgad.differentiate(cube)(jnp.ones(3))


def test_each_signature_has_its_own_shapes():
    def product(x, y):
        return np.sum(x * y)

    g = sdfgad.differentiate(product, wrt="x")
    np.testing.assert_array_equal(g(np.ones(3), np.arange(3.0)), [0, 1, 2])
    np.testing.assert_array_equal(g(np.ones((2, 3)), np.arange(3.0)), [[0, 1, 2]] * 2)
    np.testing.assert_array_equal(g(np.ones((3, 1)), np.arange(3.0)), [[3]] * 3)
    with pytest.raises(ShapeMismatch):
        g(np.ones(3), np.ones(2))


# --- the key of a specialisation


def test_key_holds_shapes_and_dtypes_but_no_integers():
    def program(x, n, flag=True):
        return x

    def key(*args):
        return bind(program, args, {}).key

    assert key(np.ones(3), 1) == key(np.zeros(3), np.int64(7))
    assert key(np.ones(3), 1) == key(np.ones(6)[::2], 1)
    assert key(np.ones(3), 1) != key(np.ones(4), 1)
    assert key(np.ones(3), 1) != key(np.ones(3, np.float32), 1)
    assert key(np.ones(()), 1) != key(1.0, 1)
    assert key(np.ones(3), 1) != key(np.ones(3), True)
    assert key(np.ones(3), 1, True) != key(np.ones(3), 1, 1)
    assert key(np.ones(3), 1) == key(np.ones(3), 1, True)


def plain(a, b, c=3, d=4):
    c += 1
    return a


def others(a, /, b=2, *, c=3, d=4):
    return a


def collecting(a, *b, c=3, **d):
    return a


CALLS = [(count, keys) for count in range(6) for n in range(4) for keys in itertools.combinations("abcdef", n)]


@pytest.mark.parametrize("function", [plain, others, collecting, lambda: 0, lambda a: 0])
def test_arguments_are_bound_as_python_does(function):
    for count, keys in CALLS:
        args, kwargs = tuple(range(10, 10 + count)), {key: ord(key) for key in keys}
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError:
            with pytest.raises(ArgumentError, match="does not fit"):
                _bound(function, args, kwargs)
            assert _bound_plainly(function, args, kwargs) is None
            continue
        bound.apply_defaults()
        expected = list(bound.arguments.items())
        assert list(_bound(function, args, kwargs).items()) == expected
        found = _bound_plainly(function, args, kwargs)
        assert (found is None) == (function in (others, collecting))
        assert found is None or list(found.items()) == expected


def test_defaults_and_signatures_may_change():
    def program(x, s=2.0):
        return np.sum(x * s)

    g = sdfgad.differentiate(program, wrt="x")
    np.testing.assert_array_equal(g(np.ones(2)), [2, 2])
    program.__defaults__ = (5.0,)
    np.testing.assert_array_equal(g(np.ones(2)), [5, 5])

"""Python's own functions, helpers, and what is known while parsing."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from tests.helpers import assert_gradient, module_from, refusal_or_gradient
from tests.helpers_ir import assert_value_and_slope

FACTOR = 3.0


def squares(v, times=1.0):
    """A helper with a default."""
    return v * v * times


def add_to(target, v):
    target += v
    target[0] *= v[0]


def two(v):
    return v * FACTOR, np.sum(v)


def uses_helpers(x, y):
    z = squares(x) + squares(y, times=2.0)
    add_to(x, z)
    a, b = two(x)
    return np.sum(a * y) * b


def uses_helpers_jax(x, y):
    z = x * x + 2.0 * y * y
    x = (x + z).at[0].multiply(z[0])
    return jnp.sum(3.0 * x * y) * jnp.sum(x)


def test_helpers_are_followed(rng):
    assert_gradient(uses_helpers, uses_helpers_jax, rng.uniform(0.5, 1, 4), rng.uniform(0.5, 1, 4))


def order_of_evaluation(x):
    return np.sum(x * bump(x) + x)


def bump(x):
    x[0] = x[0] * x[1]
    return x[2]


def test_a_helper_that_writes_is_called_in_order(rng):
    x = rng.uniform(0.5, 1.5, 4)

    def reference(x):
        after = x.at[0].multiply(x[1])
        # x is one array: NumPy multiplies after the call has written into it.
        return jnp.sum(after * x[2] + after)

    assert_gradient(order_of_evaluation, reference, x)


def recursive(x, n):
    return x if n == 0 else recursive(x * x, n - 1)


def power_by_squaring(x):
    return np.sum(recursive(x, 3))


def test_recursion_with_a_known_end(rng):
    assert_gradient(power_by_squaring, lambda x: jnp.sum(x**8), rng.uniform(0.8, 1.2, 4))


def integers(x, n):
    half, rest = n // 2, n % 2
    m = max(half, rest + 1)
    s = 0.0
    for i in range(min(n, len(x)) - m, int(n)):
        s += x[i] * x[abs(i - half)] * (i + 1) / n
    return s * float(n) ** 2


def test_integer_arithmetic(rng):
    for n in (4, 5):
        assert_gradient(integers, integers, rng.uniform(0.5, 1, 5), n)


def chained(x):
    a = b = x * 2.0
    b[0] = 7.0
    c = d = 0.0
    c += x[1]
    (e, f), g = (x[0], x[1] * x[2]), x[2]
    x[0], x[1] = x[1], x[0]
    return np.sum(a * a) + c * e + d + f * g + x[0] * x[0] * x[1]


def chained_jax(x):
    a = (x * 2.0).at[0].set(7.0)
    return jnp.sum(a * a) + x[1] * x[0] + x[1] * x[2] * x[2] + x[1] * x[1] * x[0]


def test_assignments_to_several_targets(rng):
    assert_gradient(chained, chained_jax, rng.uniform(0.5, 1, 3))


def paired(x):
    y = 0.0
    for k, w in zip(range(3), [0.5, 1.5, 2.5], strict=True):
        y += k * w * x[k] * x[0]
    for k, v in enumerate(x):
        y += k * v * v
    for v, w in zip(x, reversed(x), strict=True):
        y += v * v * w
    return y


def paired_jax(x):
    k = jnp.arange(3.0)
    return x[0] * jnp.sum(k * (k + 0.5) * x) + jnp.sum(k * x * x) + jnp.sum(x * x * x[::-1])


def test_zip_enumerate_and_reversed(rng):
    """Differentiated, or refused with the line: never an error of Python's own."""
    error = refusal_or_gradient(paired, paired_jax, rng.uniform(0.5, 1, 3))
    assert error is None or error.where is not None


def module_constants(x):
    weights = [0.5, 1.5, np.pi]
    table = {"a": 2.0, "b": x[0]}
    table["c"] = table["a"] * x[1]
    y = table["c"] * table["b"]
    for w in weights:
        y = y * w + x[2]
    assert y is not None, "never looked at"
    pass
    return y


def test_lists_and_dicts(rng):
    assert_gradient(module_constants, module_constants_jax, rng.uniform(0.5, 1, 3))


def module_constants_jax(x):
    y = 2.0 * x[1] * x[0]
    for w in (0.5, 1.5, np.pi):
        y = y * w + x[2]
    return y


def test_names_of_every_kind(rng, tmp_path):
    text = """
        import numpy as np
        def program(lambda_, int_, double, status, x_bar, E, N, result, δ, in0_, p):
            total = double * int_ + status * x_bar
            for std in range(3):
                total = total * E + N * result
            new = δ * in0_ * p
            return np.sum(total * lambda_ * new)
    """
    program = module_from(text, tmp_path).program

    def reference(lambda_, int_, double, status, x_bar, E, N, result, d, in0_, p):
        total = double * int_ + status * x_bar
        for _ in range(3):
            total = total * E + N * result
        return jnp.sum(total * lambda_ * d * in0_ * p)

    assert_gradient(program, reference, *(rng.uniform(0.5, 1, 2) for _ in range(11)))


def test_closures_and_globals():
    def make(scale):
        return lambda x: np.sum(x) * scale * FACTOR

    found = [sdfgad.grad(make(scale))(np.ones(2))[0] for scale in (2.0, 5.0)]
    assert found == [6.0, 15.0]


# --- keys, and texts


def square(v):
    return v * v


def extrema_by_keys(x, a, n):
    by_size = max(x[0], x[1], key=abs) * 2 + min([x[2], x[0], x[1]], key=abs) * 3
    by_lambda = max(x, key=lambda v: v * x[0]) * 5 + min(x, key=square) * 7
    # Of equal keys the first item wins.
    first = max(x[1], x[3], key=lambda v: 1.0) * 11 + min(x[1], x[3], key=lambda v: 1.0) * 13
    row = max(a[0], a[1], a[2], key=np.sum)
    integer = max(n, 3, key=lambda v: -v) + max(1, 2, key=lambda v: v * x[0])
    rest = max([], default=x[0], key=abs) + max(x[0], x[1], key=None)
    rest = rest + max(x[:n], key=abs) + max(x[:n], key=abs, default=x[2])
    return by_size + by_lambda + first + np.sum(row * row) + integer * x[2] + rest


def extrema_by_keys_by_hand(x, a, n):
    by_size = x[1] * 2 + x[2] * 3
    by_lambda = x[3] * 5 + x[2] * 7
    first = x[1] * 11 + x[1] * 13
    return by_size + by_lambda + first + jnp.sum(a[2] * a[2]) + (2 + 2) * x[2] + x[0] + x[0] + x[1] + x[1]


def test_extrema_by_keys():
    x, a = np.array([0.5, -1.5, 0.25, 2.0]), np.arange(12.0).reshape(3, 4)
    assert_gradient(extrema_by_keys, extrema_by_keys_by_hand, x, a, 2)


def texts(x, mode, n):
    total = x * 2.0 if mode.lower() == "full" else x
    total = total * len("a,b".partition(",")[0]) * float("1,5".replace(",", "."))
    weights = {f"w{i}": x[i] for i in (0, 1)}
    name = f"{x} of {n}"
    if f"{len(mode):03d}{mode!r}" == "004'Full'" and " ".join(["a", "b"]) == "a b" and name:
        total = total + weights["w0"] * weights["w1"]
    return total


def test_texts_that_are_known_while_parsing():
    def program(x, n):
        return texts(x, "Full", n)

    assert_gradient(program, lambda x, n: x * 3.0 + x[0] * x[1], np.array([0.5, 1.5, 2.0]), 2)


def sorted_lists(x):
    numbers, others = [3, -4, 2], {}
    numbers.sort(reverse=True)
    first = numbers[0]
    numbers.sort(key=abs)
    others.update(u=x[0] * 2.0)
    return x * first + numbers[2] * x[1] + others["u"]


def test_keywords_of_methods_of_lists_and_dicts():
    assert_gradient(sorted_lists, lambda x: x * 3 - 4 * x[1] + 2.0 * x[0], np.array([0.5, 1.5, 2.0]))


def sums_of_a_long_list(x, y):
    values = [x, y] * 400
    return sum(values)[1] + sum(value[0] * value[1] for value in values)


def extrema_of_a_long_list(x, y):
    values = [x[0], y[1]] * 400
    return max(values) * 2.0 + min(values)


@pytest.mark.parametrize("program", [sums_of_a_long_list, extrema_of_a_long_list])
def test_long_lists(program):
    args = np.array([0.5, 2.0]), np.array([1.0, 3.0])
    assert_value_and_slope(program, *args)


def complex_numbers(x, s, z):
    number = complex(s, x[0, 0]) * complex(2) * complex(x[1, 1]) * complex(imag=s) * complex(z) * complex(s, z)
    w = x[0] + 1j * x[1] - complex(*x[0, :2])
    return np.abs(number) ** 2 + (w * complex(s, 1)).imag.sum() + abs(complex("1+2j"))


def test_complex_numbers_of_their_parts():
    args = np.random.default_rng(47).random((2, 3)), 0.3, 1 + 2j
    np.testing.assert_allclose(sdfgad.differentiate(complex_numbers).value(*args), complex_numbers(*args), rtol=1e-13)
    sdfgad.check_grads(complex_numbers, *args)


def sums_of_truth_values(x, s, z):
    above = sum(v > s for v in x[0]) + 10 * sum([x[1, 0] > s, True, x[1, 1] > s, x[1, 2] > s])
    rows = sum([row > s for row in x]) + sum((x[0] > s, x[1] > s), 0.0) / 4
    halves = sum([np.arange(3), np.arange(3)], 0.0)
    halves[0] = 0.5
    return np.sum(x[0] * rows) * above + np.sum(halves * x[1]) + abs(z)


def test_sums_of_truth_values():
    args = np.array([[0.9, 0.7, 0.1], [0.8, 0.6, 0.5]]), 0.3, 1 + 2j
    assert_value_and_slope(sums_of_truth_values, *args)


def lists_of_numbers(x, s, z):
    joined = sum([[1.0, x[0, 0]], [s], [x[0, 1] * s]], [])  # noqa: RUF017
    joined.append(2.0)
    parts = sum(((s, 3), (x[1, 1],)), ())
    low = np.minimum(x, [0.5, s, x[0, 0]]) + np.arctan2([[1], [2]], x) + np.multiply((1, 2, s), np.float32(0.5))
    low += np.clip(x, [0.2, 0.1, s], (0.85, 3 * s, 0.7)) * np.where([True, False, True], [s, 2.0, x[0, 0]], x)
    low += np.linalg.det([[2.0, s], [s, x[0, 0]]]) * np.linalg.solve([[s, 2.0], [1.0, s]], [x[0, 1], 1.0])[0]
    return sum(v * k for k, v in enumerate(joined)) + parts[0] * parts[-1] * len(parts) + np.sum(low**2) + abs(z)


def test_lists_of_numbers():
    args = np.array([[0.9, 0.7, 0.1], [0.8, 0.6, 0.45]]), 0.3, 1 + 2j
    assert_value_and_slope(lists_of_numbers, *args)

"""Forms that are other numbers at every point, and what two of them have in common."""

from itertools import product

import numpy as np
import pytest

from sdfgad.dependence.mixed_radix import digits_of, radix_of, writes_all, writes_same_elements, written_indices
from sdfgad.ir.expr import Lin
from tests.helpers_text import sample

NAMES = "abc"


def form_of(const, *weights):
    form = Lin(const)
    for name, weight in zip(NAMES, weights, strict=True):
        form = form + Lin.symbol(name).scaled(weight)
    return form


def values(form, counts):
    """The form at every point."""
    points = product(*(range(count) for count in counts))
    return [form.substitute(dict(zip(NAMES, point, strict=True))).const for point in points]


@pytest.mark.parametrize("seed", range(300))
def test_digits_are_right(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, 3).tolist()
    scale = [1, counts[0], counts[0] * counts[1]]
    rng.shuffle(scale)
    weights = [int(w) if rng.random() < 0.7 else int(rng.integers(-2, 9)) for w in scale]
    form = form_of(int(rng.integers(0, 3)), *weights)
    extents = {name: Lin(count) for name, count in zip(NAMES, counts, strict=True)}
    counts = [count if weight else 1 for count, weight in zip(counts, weights, strict=True)]
    found, radix = digits_of(form, extents), radix_of(form, extents)
    assert (found is None) == (radix is None)
    if found is None:
        return
    mine = values(form, counts)
    assert len(mine) == len(set(mine))
    for digits in (found, radix):
        spans = [range(0, weight * count, weight) for weight, count in digits.digits]
        assert sorted(mine) == sorted(form.const + sum(point) for point in product(*spans))


def test_what_is_known():
    extents = {"a": Lin(2), "b": Lin(3), "c": Lin(4)}
    assert digits_of(form_of(0, 12, 4, 1), extents).is_all(Lin(24))
    assert digits_of(form_of(0, 4, 8, 1), extents).is_all(Lin(24))
    assert not digits_of(form_of(1, 12, 4, 1), extents).is_all(Lin(24))
    assert not digits_of(form_of(0, 24, 8, 1), extents).is_all(Lin(48))
    assert digits_of(form_of(0, 3, 1, 1), extents) is None
    assert digits_of(form_of(0, 12, 4, -1), extents) is None
    assert digits_of(form_of(0, 12, 4, 1), {**extents, "a": Lin.symbol("n")}) is None
    assert digits_of(Lin(0), {}).is_all(Lin(1))


def statement(text, **integers):
    program, _, _ = sample(text, **integers)
    return program.body[0]


def test_places():
    assert written_indices(statement("for g < 4, h < 5: z[g + 4*h] = x[g]")) == written_indices(
        statement("for p < 20: z[p] = x[p]")
    )
    assert written_indices(statement("for p < 5: Z[p, p] = x[p]")) is None
    assert written_indices(statement("for p < 5: Z[p, i[p]] = x[p]")) is None
    assert written_indices(statement("for p < 5, c < 6: z[p] += X[p, c]")) is not None


def test_all_of_a_buffer():
    def is_all(text):
        made = statement(text)
        return writes_all(made, (Lin(20), Lin(6)) if made.target.buffer == "Z" else (Lin(20),))

    assert is_all("for g < 4, h < 5: z[g + 4*h] = x[g]")
    assert is_all("for g < 4, h < 5, c < 6: Z[g + 4*h, c] = x[g]")
    assert not is_all("for g < 4, h < 5: z[g + h] = x[g]")
    assert not is_all("for g < 4, h < 4: z[g + 4*h] = x[g]")
    assert not is_all("for g < 4, h < 5, c < 5: Z[g + 4*h, c] = x[g]")


def test_the_same_place():
    def is_same(one, other):
        return writes_same_elements(statement(one), statement(other))

    assert is_same("for p < 20: z[p] = 0.0", "for g < 4, h < 5: z[g + 4*h] += x[g]")
    assert is_same("for p < 20: z[p] = 0.0", "for g < 4, h < 5, c < 6: z[g + 4*h] += X[g, c]")
    assert not is_same("for p < 20: z[p] = 0.0", "for g < 4, h < 5: z[g + 5*h] += x[g]")
    assert not is_same("for p < 20, c < 6: z[p] = X[p, c]", "for p < 20: z[p] = x[p]")
    assert not is_same("for p < 5: z[p + i[0]] = 0.0", "for p < 5: z[p + i[0]] += x[p]")

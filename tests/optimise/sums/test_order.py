"""How many points a sum has."""

from itertools import product

import numpy as np
import pytest

from sdfgad.ir.expr import Lin
from sdfgad.optimise.sums.order import Domain


@pytest.mark.parametrize("seed", range(20))
def test_points_of_a_form(seed):
    rng = np.random.default_rng(seed)
    box = {
        name: (int(low), int(low + rng.integers(1, 9))) for name, low in zip("xyz", rng.integers(-3, 4, 3), strict=True)
    }
    coefficients = dict(zip("xyz", (int(c) for c in rng.choice([-3, -2, -1, 1, 2, 3], 3)), strict=True))
    const = int(rng.integers(-9, 10))
    form = sum((Lin.symbol(name).scaled(c) for name, c in coefficients.items()), Lin(const))
    points = product(*(range(*span) for span in box.values()))
    expected = sum(const + sum(c * v for c, v in zip(coefficients.values(), p, strict=True)) >= 0 for p in points)
    assert Domain(box, (form,)).points(frozenset(box)) == expected


def test_points_of_a_large_triangle():
    size = 5000
    below = Lin.symbol("i") - Lin.symbol("p")
    assert Domain({"i": (0, size), "p": (0, size)}, (below,)).points(frozenset("ip")) == size * (size + 1) // 2

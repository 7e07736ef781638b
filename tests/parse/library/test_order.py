"""Quantiles at shares that are data."""

import numpy as np
import pytest

from tests.helpers_ir import outputs_of, parsed


def program(x, q):
    return np.quantile(x, q * 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_dtype_are_numpys(dtype):
    x, q = np.array([1, 3, 2, 7, 4], dtype), np.array([0.2, 0.7, 2.0], dtype)
    (found,) = outputs_of(parsed(program, x, q), x, q).values()
    assert found.dtype == program(x, q).dtype
    np.testing.assert_allclose(found, program(x, q), rtol=1e-6)

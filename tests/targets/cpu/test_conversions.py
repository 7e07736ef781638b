"""Floats that become narrow integers, through compiled code."""

import numpy as np
import pytest

import sdfgad

# What overflows `int` or long is undefined in NumPy, too.
VALUES = np.array([-1.2, 1.5, -3.7, 0.2, 300.4, -129.0, 65537.5, -70000.1])


def narrowed(x):
    return {
        "int8": x.astype(np.int8) * 1.0,
        "int16": x.astype(np.int16) / 2,
        "uint8": x.astype(np.uint8) + np.uint8(1),
        "uint16": x.astype(np.uint16) * 1.0,
        "uint32": x.astype(np.uint32) / -1.5,
        "filled": np.full(2, 7, np.uint32) + x[2].astype(np.uint32),
        "sum": np.sum(x * x),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_out_of_the_range_of_a_narrow_integer_wrap_around_as_in_numpy(dtype):
    x = VALUES.astype(dtype)
    with np.errstate(invalid="ignore"):
        wanted = narrowed(x)
    found, _ = sdfgad.jvp(narrowed, (x,), (np.ones_like(x),))
    for name in wanted.keys() - {"sum"}:
        assert found[name].dtype == wanted[name].dtype
        assert np.array_equal(found[name], wanted[name]), name

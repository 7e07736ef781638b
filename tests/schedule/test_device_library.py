"""Which calls libraries of a device run."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.interpret.library import LIBRARY as INTERPRETED
from sdfgad.ir.expr import Lin
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Call, Whole
from sdfgad.schedule.device_library import FUNCTIONS, has_device_form, seconds_of


def call_of(name, shape, *sizes, dtype=float):
    whole = Whole("a", tuple(map(Lin, shape)), np.dtype(dtype))
    return Call(name, (whole,), (replace(whole, buffer="b"),), sizes)


@pytest.mark.parametrize(
    ("call", "has_form"),
    [
        (call_of("lu_columns", (1, 4, 4), 1, 4), True),
        (call_of("lu_columns", (1, 4, 4), 1, 4, dtype=np.int64), False),
        (call_of("lu_columns", (0, 4, 4), 0, 4), False),
        (call_of("lu_columns", (1, 1 << 16, 1), 1, 1 << 16), False),
        (call_of("lu_solve_columns", (1, 1, 1 << 16), 1, 1, 1 << 16, 0), False),
        (call_of("fourier", (2, 3), 2, 3, 1, 1, dtype=complex), True),
        (call_of("fourier", (3, 4), 1, 3, 4, 1, dtype=complex), True),
        (call_of("fourier", (2, 3, 4), 2, 3, 4, 1, dtype=complex), False),
        (call_of("argsort", (3,), 3), False),
    ],
)
def test_calls_with_a_form_on_the_device(call, has_form):
    assert has_device_form(call) == has_form


def test_all_of_them_run_elsewhere_too():
    assert FUNCTIONS.keys() <= LIBRARY.keys() & INTERPRETED.keys()


def test_estimates():
    small, large = (call_of("lu_columns", (1, n, n), 1, n) for n in (4, 400))
    assert 2e-5 < seconds_of(small, 1e-11) < 1e-4 < seconds_of(large, 1e-11) < 1e-2
    one, many = (call_of("lu_columns", (batch, 300, 300), batch, 300) for batch in (1, 9))
    assert seconds_of(many, 0.0) > 5 * seconds_of(one, 0.0)

"""Calls that NumPy, or this front end, refuses: the error names the user's line."""

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from tests.helpers import module_from
from tests.helpers_ir import parsed
from tests.parse.library.oracle import arguments

REFUSED = [
    "np.split(a, 3, axis=1)",
    "np.concatenate((a, x))",
    "np.concatenate((a, a[:, 1:]))",
    "np.einsum('ij,jk', a, a)",
    "np.einsum('ijk', a)",
    "np.tensordot(a, a, 1)",
    "np.pad(x, 2, mode='median')",
    "np.convolve(a, x)",
    "np.linalg.norm(c, axis=(0, 1, 2))",
    "np.linalg.norm(x, 'fro')",
    "np.delete(x, 7)",
    "np.insert(x, 9, s)",
    "np.gradient(x, edge_order=3)",
    "np.gradient(x, y)",
    "np.interp(s, x, y)",
    "np.histogram(x, 'auto')",
    "np.moveaxis(a, 2, 0)",
    "np.diff(x, -1)",
    "np.average(a, weights=x)",
    "np.select([x > 1], [x, y])",
    "np.repeat(x, k)",
    "np.array([x, 1.0])",
    "np.reshape(x, 3)",
    "x.reshape(2, 2, order='A')",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_the_line_is_named(expression, tmp_path):
    values = arguments()
    text = f"import numpy as np\ndef program({', '.join(values)}):\n    return {expression}\n"
    with pytest.raises(SdfgadError) as error:
        parsed(module_from(text, tmp_path).program, *values.values())
    assert str(expression) in str(error.value)


def test_integers_out_of_range_are_found_at_run_time(tmp_path):
    text = "import numpy as np\ndef program(x, k):\n    return np.take(x, k)\n"
    primal = parsed(module_from(text, tmp_path).program, np.ones(3), np.array([0, 5]))
    assert len(primal.program.checks) == 1

"""Distributions beyond the ends of their supports, far out, and of shapes of any sign, against SciPy; not compiled."""

import numpy as np
import pytest
from scipy import stats

from sdfgad.parse.library.further_densities import FURTHER
from tests.helpers import module_from
from tests.helpers_ir import outputs_of, parsed

X = np.array([-3.0, -1e-3, 0.0, 1e-3, 0.7, 1.0, 1.9, 2.5, 12.0])
Q = np.array([1e-9, 0.01, 0.4, 0.999])
HEAD = "import numpy as np\nfrom scipy import stats\n\n\n"
SHAPES = {"f": "3.0, 4.5", "betaprime": "2.0, 3.5", "loguniform": "0.5, 2.0"}
SIGNED = ("0.0", "0.4", "-0.4", "1e-9", "np.array([0.0, -0.7, 2.0])[:, None]")
CASES = [
    (name, shape)
    for name, d in FURTHER.items()
    for shape in (
        SIGNED if name.startswith("gen") and d.shapes == ("c",) else (SHAPES.get(name, "3.0" if d.shapes else ""),)
    )
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "shape"), CASES)
def test_ends(name, shape, tmp_path):
    methods = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"] + ["ppf", "isf"] * (FURTHER[name].quantile is not None)
    for method in methods:
        # The complement of a share that is nearly 0 has lost digits.
        at = {"ppf": Q, "isf": Q[1:]}.get(method, X)
        text = f"{HEAD}def program(x):\n    return stats.{name}.{method}(x, {shape})\n"
        program = module_from(text, tmp_path).program
        found = outputs_of(parsed(program, at), at)["return"]
        # SciPy takes some logarithms of what is no number but 0 any more.
        expected = program(at)
        expected = np.where(np.isneginf(expected) & np.isfinite(found) & (found < -700.0), found, expected)
        np.testing.assert_allclose(found, expected, 1e-9, 1e-14, err_msg=method)


def test_table_is_of_scipys_shapes():
    for name, d in FURTHER.items():
        given = getattr(stats, name).shapes
        assert d.shapes == (() if given is None else tuple(given.split(", "))), name

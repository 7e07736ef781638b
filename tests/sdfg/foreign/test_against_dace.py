"""What is read of a graph is what DaCe's own generator makes of it, run."""

import contextlib
import copy
import io
import warnings

import numpy as np
import pytest

from tests.helpers_graphs import value_of
from tests.sdfg.foreign.constructs import CONSTRUCTS

# Of a schedule for a device, and of a LAPACK that DaCe does not find here.
ELSEWHERE = {"maps of any schedule", "Solve", "Inv", "Cholesky"}
RUN = [one for one in CONSTRUCTS if one.reference and one.name not in ELSEWHERE]


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(RUN)), ids=[one.name for one in RUN])
def test_a_graph_runs_as_it_is_read(number, tmp_path, monkeypatch):
    one = RUN[number]
    monkeypatch.chdir(tmp_path)
    found = value_of(one.graph().sdfg, "z", **one.arguments)
    sdfg = one.graph().sdfg
    sdfg.name = f"graph_{number}"
    z = np.array(one.arguments.get("z", np.full(np.shape(found) or (1,), np.nan)))
    passed = {name: copy.deepcopy(value) for name, value in one.arguments.items() if name != "z"}
    if "column by column" in one.name:
        passed["A"] = np.asfortranarray(passed["A"])
    sizes = {name: size for name, size in {"M": 4, "N": 6}.items() if name in sdfg.symbols}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        sdfg.validate()
        sdfg(z=z, **passed, **sizes)
    np.testing.assert_allclose(z, np.reshape(found, z.shape), rtol=1e-12)

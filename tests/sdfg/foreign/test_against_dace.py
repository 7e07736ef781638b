"""What is read of a graph is what DaCe's own generator makes of it, run."""

import contextlib
import copy
import io
import warnings

import dace
import numpy as np
import pytest
import scipy_openblas32
from dace.libraries.blas.environments.openblas import OpenBLAS

from tests.helpers_graphs import value_of
from tests.sdfg.foreign.rows import CONSTRUCTS

# Of a schedule for a device, and what DaCe has no code for.
ELSEWHERE = {"maps of any schedule", "IFFT, of two axes, with a factor"}
# ONNX's own definitions are what its nodes are read by: what DaCe's convolution computes here is something else.
# `test_onnx_nodes` compares with PyTorch.
RUN = [one for one in CONSTRUCTS if one.reference and one.name not in ELSEWHERE]
RUN = [one for one in RUN if not one.graph.__module__.endswith("onnx_constructs")]


OF_LAPACK = {"Getrf", "Getrs", "Getri", "Potrf", "Solve", "Inv", "Cholesky"}
FUNCTIONS = [f"LAPACKE_{letter}{name}" for letter in "sdcz" for name in ("getrf", "getrs", "getri", "potrf")]


@pytest.fixture
def lapack(monkeypatch):
    """DaCe's LAPACK is that of the wheel, whose functions have a prefix, and not one of the system."""
    names = " ".join(f"-D{name}=scipy_{name}" for name in FUNCTIONS)
    place = scipy_openblas32.get_lib_dir()
    link = f"-L{place} -l{scipy_openblas32.get_library()} -Wl,-rpath,{place}"
    monkeypatch.setattr(OpenBLAS, "cmake_packages", [])
    monkeypatch.setattr(OpenBLAS, "cmake_compile_flags", [f"-I{scipy_openblas32.get_include_dir()} {names}"])
    monkeypatch.setattr(OpenBLAS, "cmake_link_flags", [link])
    monkeypatch.setattr(OpenBLAS, "cmake_libraries", staticmethod(list))


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(RUN)), ids=[one.name for one in RUN])
def test_a_graph_runs_as_it_is_read(number, tmp_path, monkeypatch, lapack):
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
        for node, _ in sdfg.all_nodes_recursive():
            if isinstance(node, dace.nodes.LibraryNode):
                # The default of a library may be what a node of it does not have.
                node.implementation = "OpenBLAS" if type(node).__name__ in OF_LAPACK else node.default_implementation
                node.implementation = node.implementation or "pure"
        sdfg(z=z, **passed, **sizes)
    np.testing.assert_allclose(z, np.reshape(found, z.shape), rtol=1e-12)

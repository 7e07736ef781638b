"""Every operator of ATen's table against PyTorch: values by the program in NumPy, and gradients by compiled code.

Most gradients are those of expressions that `test_onnx_operators.py` compiles, too: those batches are long.
"""

from functools import lru_cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import sdfgad.torch  # noqa: E402
from sdfgad.models.aten.table import OPERATORS  # noqa: E402
from tests.helpers_tiers import some  # noqa: E402
from tests.models.aten_cases import BATCHES, Batch  # noqa: E402
from tests.models.networks import decomposed  # noqa: E402

# Advice of parts of PyTorch to others.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
# Those of the networks in test_modules.py, or of some versions of PyTorch only.
ELSEWHERE = {"lstm.input", "gru.input", "_native_batch_norm_legit_functional.default", "sym_size.int"}
ELSEWHERE |= {"alias.default", "_unsafe_view.default"}


def inputs_of(batch):
    return tuple(x for _, *inputs in BATCHES[batch] for x in inputs)


@lru_cache
def differentiated(batch):
    inputs = inputs_of(batch)
    return sdfgad.torch.differentiate(Batch(BATCHES[batch]), inputs, wrt=range(len(inputs)), allow_unused=True)


def test_operators_have_pytorchs_values():
    program, x = decomposed()
    taken_apart = sdfgad.torch.differentiate(program)
    np.testing.assert_allclose(taken_apart.program(*(one.numpy() for one in x)), program.module()(*x), rtol=1e-5)
    seen = set(taken_apart.operators)
    for batch, cases in BATCHES.items():
        g, inputs = differentiated(batch), inputs_of(batch)
        values = g.program(*(one.numpy() for one in inputs))
        assert values == pytest.approx(float(Batch(cases)(*inputs)), rel=1e-5), batch
        seen |= g.operators
    assert set(OPERATORS) - seen == ELSEWHERE - seen


@pytest.mark.parametrize("batch", some(BATCHES, 6))
def test_gradients_are_pytorchs(batch):
    g, inputs = differentiated(batch), inputs_of(batch)
    owners = [k for k, (_, *own) in enumerate(BATCHES[batch]) for _ in own]
    leaves = [x.clone().requires_grad_() for x in inputs]
    value = Batch(BATCHES[batch])(*leaves)
    expected = torch.autograd.grad(value, leaves, allow_unused=True)
    ours, gradient = g.value_and_grad(*inputs)
    assert float(ours) == pytest.approx(float(value), rel=1e-5)
    for owner, name, leaf, want in zip(owners, g.inputs, leaves, expected, strict=True):
        want = torch.zeros_like(leaf) if want is None else want
        np.testing.assert_allclose(gradient[name], want, rtol=2e-5, atol=2e-5, err_msg=f"{batch}[{owner}]")

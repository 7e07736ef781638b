"""Every operator of the table against onnxruntime, and its gradient, compiled, against differences."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import sdfgad.onnx  # noqa: E402
from sdfgad.models.onnx.table import OPERATORS  # noqa: E402
from tests.models.cases import BATCHES, feeds, model_of  # noqa: E402

STEP = 1e-6


def opset(batch):
    """RMSNormalization is of opset 23, and onnxruntime has GlobalLpPool up to opset 21."""
    return 23 if batch == "normalisations" else 21


def named(g, arrays):
    """Arrays by the names that the program has for them."""
    return {one.identifier: arrays[one.name] for one in g._model.parameters if one.name in arrays}


@pytest.mark.parametrize("batch", BATCHES)
def test_values_are_those_of_onnxruntime(batch):
    ort.set_default_logger_severity(3)
    cases = BATCHES[batch]()
    model = model_of(cases, opset(batch))
    g = sdfgad.onnx.differentiate(model, output="loss")
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {name: feeds(cases)[name] for name in g.inputs}
    expected = session.run(None, inputs)
    for name, ours, theirs in zip(g.outputs, g.program(**named(g, inputs)), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=3e-5, atol=2e-5, err_msg=name)
        assert name == "loss" or np.asarray(ours).dtype == theirs.dtype, name


@pytest.mark.parametrize("batch", BATCHES)
def test_compiled_gradients_are_those_of_differences(batch, rng):
    cases = [case for case in BATCHES[batch]() if not case.is_variant]
    g = sdfgad.onnx.differentiate(model_of(cases, opset(batch)), output="loss", allow_unused=True)
    at = {name: feeds(cases)[name].astype(np.float64) for name in g.inputs}
    value, gradient = g.value_and_grad(**at)
    run = lambda **other: g.program(**named(g, {**at, **other}))[-1]  # noqa: E731
    np.testing.assert_allclose(value, run(), rtol=1e-12)
    for name in g.inputs:
        along = rng.normal(size=at[name].shape)
        difference = run(**{name: at[name] + STEP * along}) - run(**{name: at[name] - STEP * along})
        expected = difference / (2 * STEP)
        assert not (OPERATORS[name.partition("/")[0]].is_constant and gradient[name].any()), name
        assert np.sum(gradient[name] * along) == pytest.approx(expected, rel=1e-6, abs=1e-6), name


def test_every_operator_of_the_table_has_a_case():
    covered = {case.op for make in BATCHES.values() for case in make()}
    assert covered == {case.op for make in BATCHES.values() for case in make() if not case.is_variant}
    assert set(OPERATORS) - covered == {"Constant", "Swish"}

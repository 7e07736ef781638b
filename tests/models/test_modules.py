"""Gradients of PyTorch's modules against its own."""

import copy
import pickle
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import sdfgad  # noqa: E402
import sdfgad.torch  # noqa: E402
from sdfgad.errors import ArgumentError, OutputError, UnsupportedGraph, WrtError  # noqa: E402
from tests.models import networks  # noqa: E402

# Advice on `named_parameters` of LSTMs, from PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
nn = torch.nn


class Loss(nn.Module):
    """The sum of sines of all that a module returns."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        found = self.module(*inputs)
        return sum(torch.sin(one).sum() for one in (found if isinstance(found, tuple) else (found,)))


def expected_of(module, inputs):
    """The value and the gradients by name, without a trace in the module's buffers."""
    module = copy.deepcopy(module)
    leaves = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    value = module(*leaves)
    named = {f"inputs_{k}": x for k, x in enumerate(leaves) if x.is_floating_point()} | dict(module.named_parameters())
    return value, dict(zip(named, torch.autograd.grad(value, list(named.values())), strict=True))


@pytest.mark.parametrize("network", networks.NETWORKS)
def test_gradients_are_pytorchs(network):
    module, inputs = network()
    module = Loss(module)
    before = {name: one.clone() for name, one in module.state_dict().items()}
    g = sdfgad.torch.differentiate(module, inputs)
    value, gradient = g.value_and_grad(*inputs)
    want_value, want = expected_of(module, inputs)
    assert value.dtype == torch.float32
    assert float(value) == pytest.approx(float(want_value), rel=1e-4, abs=1e-4)
    assert gradient.keys() == want.keys()
    for name, one in want.items():
        assert gradient[name].dtype == torch.float32
        torch.testing.assert_close(gradient[name], one, rtol=2e-4, atol=2e-5 * float(one.abs().max()) + 1e-6, msg=name)
    assert all(torch.equal(one, before[name]) for name, one in module.state_dict().items())


@pytest.fixture(scope="module")
def small():
    module, inputs = networks.small()
    module = Loss(module)
    return module, inputs, sdfgad.torch.differentiate(module, inputs)


def test_a_memory_limit_is_kept(small):
    module, inputs, g = small
    free = g.plan(*inputs).peak_bytes
    limit = free * 6 // 10
    limited = sdfgad.torch.differentiate(module, inputs, memory_limit=limit)
    assert limited.measure(*inputs, repeats=1).peak_bytes <= limit < free
    for name, one in expected_of(module, inputs)[1].items():
        torch.testing.assert_close(limited(*inputs)[name], one, rtol=1e-4, atol=1e-5, msg=name)


def test_the_plan_names_the_module(small):
    _, inputs, g = small
    assert any("convolution in module.conv" in row.source for row in g.plan(*inputs).decisions)


def test_the_text_is_a_numpy_program(small):
    _, inputs, g = small
    assert "aten.convolution(" in g.source
    np.testing.assert_allclose(g.program(inputs[0].numpy()), g.value(*inputs), rtol=1e-5)


def test_parameters_are_those_of_the_module_now(small):
    module, inputs, g = small
    module = copy.deepcopy(module)
    g = sdfgad.torch.differentiate(module, inputs)
    for one in module.parameters():
        one.data.mul_(0.9)
    module.module.fc.bias = nn.Parameter(torch.ones(5))
    torch.testing.assert_close(g.value(*inputs), module(*inputs).detach())
    other = torch.zeros(5)
    module.module.fc.bias = nn.Parameter(other)
    assert float(g.value(inputs[0], **{"module.fc.bias": other})) == pytest.approx(float(module(*inputs)))


def test_a_copy_in_another_process_is_the_same(small):
    _, inputs, g = small
    again = pickle.loads(pickle.dumps(g))
    torch.testing.assert_close(again.value(*inputs), g.value(*inputs))


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.unused = nn.Parameter(torch.tensor(2.0)), nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        return self.a * x * y.detach(), x.view(x.shape[0] * 3).sum() * x.shape[0]


def test_inputs_that_are_one_tensor_are_two_inputs_and_sizes_may_vary():
    module, x = Scale(), torch.arange(6.0).reshape(2, 3)
    g = sdfgad.torch.differentiate(module, (x, x), wrt=("x", "y"), output="return[0]", allow_unused=True)
    gradient = g.vjp(x, x + 1, cotangent=torch.ones(2, 3))
    torch.testing.assert_close(gradient["x"], 2 * (x + 1))
    assert not gradient["y"].any()
    rows = torch.export.Dim("rows", max=100)
    program = torch.export.export(module, (x, x + 1), dynamic_shapes=({0: rows}, {0: rows}))
    g = sdfgad.torch.differentiate(program, wrt="x", output="return[1]")
    assert "sym_size.int" in g.operators
    torch.testing.assert_close(g(torch.ones(4, 3), torch.ones(4, 3)), torch.full((4, 3), 4.0))
    torch.testing.assert_close(g(x, x), torch.full((2, 3), 2.0))
    with pytest.raises(OutputError, match=r"has no output 'loss'"):
        sdfgad.torch.differentiate(module, (x, x + 1), output="loss")


class Named(nn.Module):
    """What a function makes of its input."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def without_gradient(x):
    with torch.no_grad():
        y = x * 2
    return x * y


class Rounded(torch.autograd.Function):
    """Rounding with the derivative of the identity."""

    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent


def with_hook(x):
    y = x * 2
    y.register_hook(lambda cotangent: 3 * cotangent)
    return y


def hooked():
    module = nn.Sequential(nn.Linear(3, 3))
    module[0].weight.register_hook(lambda cotangent: 3 * cotangent)
    return module


def hooked_as_a_whole():
    module = nn.Sequential(nn.Linear(3, 3))
    module[0].register_full_backward_hook(lambda module, given, taken: None)
    return module


X = torch.ones(2, 3, requires_grad=True)
REFUSED = [
    (Named(Rounded.apply), "gradients by the function `Rounded`, whose `backward` is its own", "detach"),
    (Named(with_hook), "gradients by a hook of a tensor", "Take it out"),
    (hooked(), r"gradients by a hook of `0\.weight`", "Take it out"),
    (hooked_as_a_whole(), "gradients by a hook of `0`", "Take it out"),
    (Named(lambda x: nn.functional.embedding(torch.tensor([1]), x, scale_grad_by_freq=True)), "scale_grad_by_freq", ""),
    (nn.Dropout(), "native_dropout.default is refused: it draws random numbers", "module.eval()"),
    (Named(without_gradient), "gradients are switched on or off for a part", r"x.detach\(\)"),
    (Named(lambda x: x * torch.rand_like(x)), "rand_like.default is refused: it draws random", "eval"),
    (
        Named(lambda x: torch.linalg.svdvals(x)),
        "the operator _linalg_svd.default is not understood",
        "docs/languages.md",
    ),
    (Named(lambda x: x[x > 0]), "the shape of its result depends on data|is not understood", ""),
    (Named(lambda x: x.half() * 2), "has the dtype torch.float16", "float32"),
    (Named(lambda x: x if x.sum() > 0 else -x), "PyTorch does not export `Named`", "torch.export.export"),
    (nn.TransformerEncoderLayer(3, 1, 4), "draws random numbers", "eval"),
]


@pytest.mark.parametrize(("module", "what", "todo"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(module, what, todo):
    with pytest.raises((UnsupportedGraph, ArgumentError), match=what) as caught:
        sdfgad.torch.differentiate(module, (X,))
    assert re.search(todo, caught.value.todo)


def test_functions_of_pytorch_are_as_they_were_after_a_refusal():
    with pytest.raises(UnsupportedGraph, match="changes gradients"):
        sdfgad.torch.differentiate(Named(Rounded.apply), (X,))
    assert torch.autograd.grad(Rounded.apply(X).sum(), X)[0].all()


def test_refusals_name_the_node():
    with pytest.raises(UnsupportedGraph) as caught:
        sdfgad.torch.differentiate(nn.Sequential(nn.Linear(3, 3), nn.Dropout()), (X,))
    assert str(caught.value.where).endswith("native_dropout in 1")


def test_arguments_that_do_not_fit():
    g = sdfgad.torch.differentiate(nn.Linear(3, 2), (X,), reduce="sum")
    with pytest.raises(ArgumentError, match=r"`input` has the shape \(2, 4\)") as caught:
        g(torch.ones(2, 4))
    assert "The model takes floats of shape (2, 3)." in str(caught.value)
    with pytest.raises(ArgumentError, match="passed by position, and `Linear` "):
        g(X, X)
    with pytest.raises(ArgumentError, match="lacks the inputs input"):
        g()
    with pytest.raises(ArgumentError, match="has no argument 'bais'"):
        g(X, bais=X)
    with pytest.raises(ArgumentError, match=r"is no torch\.nn\.Module"):
        sdfgad.torch.differentiate(torch.sin, (X,))
    with pytest.raises(ArgumentError, match="no tuple"):
        sdfgad.torch.differentiate(nn.Linear(3, 2), X)
    with pytest.raises(WrtError, match="has no argument 'wieght'"):
        sdfgad.torch.differentiate(nn.Linear(3, 2), (X,), wrt="wieght")

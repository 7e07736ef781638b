"""`sdfgad.torch` against PyTorch's own autograd and its checks."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from sdfgad.errors import ArgumentError, InfeasibleBudget, UnsupportedProgram

torch = pytest.importorskip("torch")
import sdfgad.torch  # noqa: E402
from tests.bridges.programs import energy, heat, waves  # noqa: E402

gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


def tensor(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator).requires_grad_()


def affine(x, w, b):
    return np.tanh(x @ w + b)


@dataclass
class Layer:
    w: object
    b: object


of_energy, of_heat = sdfgad.torch.function(energy), sdfgad.torch.function(heat)
of_waves, of_affine = sdfgad.torch.function(waves), sdfgad.torch.function(affine)


def test_a_number_has_pytorchs_gradients():
    x, k = tensor(5), tensor(5, seed=1)
    of_energy(x, k).backward()
    expected = torch.autograd.grad((0.5 * k * x * x).sum() + torch.sin(x).sum(), (x, k))
    torch.testing.assert_close((x.grad, k.grad), expected)


def test_derivatives_of_all_orders_and_modes_pass_pytorchs_checks():
    inputs = tensor(4), tensor(4, seed=1)
    assert gradcheck(of_energy, inputs, check_forward_ad=True)
    assert gradgradcheck(of_energy, inputs)


def test_a_loop_with_updates_returns_several_tensors():
    inputs = tensor(6), tensor(4)

    def both(u, a):
        return of_heat(3, u, a)[:2]

    assert gradcheck(both, inputs, check_forward_ad=True)
    assert gradgradcheck(both, inputs)
    assert of_heat(3, *inputs)[2] == 3


def test_arguments_stay_as_they_are():
    u, a = tensor(6), tensor(4)
    before = u.detach().clone()
    of_heat(2, u, a)
    assert torch.equal(u, before)


def test_containers_and_complex_tensors():
    z, s = tensor(3, dtype=torch.complex128), tensor()
    assert of_waves(z, {"s": s})["name"] == "waves"

    def both(z, s):
        found = of_waves(z, {"s": s})
        return found["w"], found["n"]

    assert gradcheck(both, (z, s), check_forward_ad=True)
    # A part of the outputs alone; the conjugate shares memory with z.
    (found,) = torch.autograd.grad(of_waves(z.conj(), {"s": s})["n"].sum(), z)
    torch.testing.assert_close(found, 2.0 * z)


def test_a_dataclass_of_tensors():
    def norm(layer):
        return np.sum(layer.w**2) + layer.b * 3.0

    layer = Layer(tensor(2, 2), tensor())
    sdfgad.torch.function(norm)(layer).backward()
    torch.testing.assert_close(layer.w.grad, 2.0 * layer.w.detach())
    assert layer.b.grad.item() == 3.0


def test_gradients_of_what_needs_none_are_not_computed():
    x, k = tensor(5), tensor(5, seed=1).detach()
    of_energy(x, k).backward()
    assert k.grad is None
    assert not of_energy(x.detach(), k).requires_grad
    with torch.no_grad():
        assert not of_energy(x, k).requires_grad


def test_single_precision_and_shared_memory():
    x = tensor(4, dtype=torch.float32)
    value = of_energy(x, torch.ones(4))
    value.backward()
    assert value.dtype == x.grad.dtype == torch.float32
    assert np.shares_memory(sdfgad.torch.array_of(x, "x"), x.detach().numpy())


def test_torch_func_transforms_it():
    x, k = tensor(4).detach(), tensor(4, seed=1).detach()
    torch.testing.assert_close(torch.func.grad(of_energy)(x, k), k * x + torch.cos(x))
    torch.testing.assert_close(torch.func.hessian(of_energy)(x, k), torch.diag(k - torch.sin(x)))
    rows = torch.stack([x, 2.0 * x])
    found = torch.func.vmap(torch.func.grad(of_energy), in_dims=(0, None))(rows, k)
    torch.testing.assert_close(found, k * rows + torch.cos(rows))


def test_a_parameter_that_is_not_mapped_gets_the_sum_over_all_elements():
    rows, k = torch.stack([tensor(4).detach(), tensor(4, seed=1).detach()]), tensor(4, seed=2)
    (found,) = torch.autograd.grad(torch.func.vmap(lambda x: of_energy(x, k))(rows).sum(), k)
    torch.testing.assert_close(found, 0.5 * (rows**2).sum(0))


def test_constants_that_differ_between_elements_are_refused():
    def largest(x):
        return np.sum(x), int(np.argmax(x))

    mapped = torch.func.vmap(lambda x: math.prod(sdfgad.torch.function(largest)(x)))
    rows = torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(mapped(rows[1:2]), torch.ones(1, dtype=torch.float64))
    with pytest.raises(ArgumentError, match="`largest` returns the constant 0 for an element, 1 for another"):
        mapped(rows)
    with pytest.raises(ArgumentError, match="`largest` is mapped over an axis of length zero"):
        mapped(rows[:0])


def test_several_cotangents_at_once():
    x, k = tensor(4), tensor(4, seed=1)
    (expected,) = torch.autograd.grad(of_energy(x, k), x)
    (found,) = torch.autograd.grad(of_energy(x, k), x, torch.tensor([1.0, -2.0]).double(), is_grads_batched=True)
    torch.testing.assert_close(found, torch.stack([expected, -2.0 * expected]))


@pytest.mark.parametrize("of_program", [of_energy, lambda *inputs: of_affine(*inputs, 0.0).sum()])
def test_changed_inputs_and_freed_graphs_are_pytorchs_errors(of_program):
    x, k = tensor(4), tensor(4, seed=1)
    value = of_program(x, k)
    value.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        value.backward()
    moved = 1.0 * x
    value = of_program(moved, k)
    with torch.no_grad():
        moved += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


def test_a_module_is_trained_as_pytorchs_own():
    class Net(torch.nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.w = torch.nn.Parameter(tensor(3, 2).detach().clone())
            self.b = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
            self.layer = layer

        def forward(self, x):
            return self.layer(x, self.w, self.b).sum(dim=1)

    x, y = tensor(8, 3).detach(), tensor(8).detach()
    nets = [Net(of_affine), Net(lambda x, w, b: torch.tanh(x @ w + b))]
    for net in nets:
        optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
        for _ in range(20):
            optimizer.zero_grad()
            ((net(x) - y) ** 2).mean().backward()
            optimizer.step()
    torch.testing.assert_close(nets[0].w, nets[1].w, rtol=1e-10, atol=1e-12)


def test_a_gradient_penalty():
    x, w, b = tensor(4, 3), tensor(3, 2, seed=1), tensor(2)
    found, expected = [
        torch.autograd.grad(_penalty(layer, x, w, b), (w, b))
        for layer in (of_affine, lambda x, w, b: torch.tanh(x @ w + b))
    ]
    torch.testing.assert_close(found, expected)


def _penalty(layer, x, w, b):
    (slope,) = torch.autograd.grad(layer(x, w, b).sum(), x, create_graph=True)
    return (slope**2).sum()


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # PyTorch's compiler reads it itself.
def test_it_works_in_functions_that_pytorch_compiles():
    @torch.compile(backend="eager")
    def loss(x, k):
        return of_energy(2.0 * x, k) + x.sum()

    x, k = tensor(4), tensor(4, seed=1)
    loss(x, k).backward()
    torch.testing.assert_close(x.grad, 4.0 * k.detach() * x.detach() + 2.0 * torch.cos(2.0 * x.detach()) + 1.0)


def test_an_array_that_changes_after_the_forward_run_is_as_it_was():
    x, k = tensor(4), np.arange(4.0)
    value = sdfgad.torch.function(lambda x, k: k * x**2)(x, k)
    k[:] = 7.0
    value.sum().backward()
    torch.testing.assert_close(x.grad, 2.0 * torch.arange(4.0, dtype=torch.float64) * x.detach())


def test_any_number_of_arguments_and_several_results():
    def folded(x, *more):
        return x * more[0], more[1][1] ** 2 * x

    x, y, a, b = tensor(3), tensor(3, seed=1), tensor(3, seed=2), tensor(3, seed=3)
    of_folded = sdfgad.torch.function(folded)
    found = torch.autograd.grad(sum(one.sum() for one in of_folded(x, y, (a, b))), (x, y, b))
    torch.testing.assert_close(found, ((y + b**2).detach(), x.detach(), (2.0 * b * x).detach()))


def test_a_program_without_a_file():
    text = "import numpy as np\n\n\ndef squares(x):\n    return np.sum(x * x)\n"
    names = {}
    exec(text, names)
    x = tensor(3)
    sdfgad.torch.function(names["squares"], source=text)(x).backward()
    torch.testing.assert_close(x.grad, 2.0 * x.detach())


# --- refusals


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (torch.ones(3, device="meta"), "the tensor `x` is on the device meta"),
        (torch.ones(3, dtype=torch.bfloat16), "the tensor `x` has the dtype torch.bfloat16"),
        (torch.eye(3).to_sparse(), "the tensor `x` is sparse"),
    ],
)
def test_a_tensor_that_is_no_array_is_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        of_energy(given, torch.ones(3))


def test_keywords_and_calls_that_do_not_fit():
    x, k = tensor(5), tensor(5)
    assert of_energy(x, k=k) == of_energy(x, k)
    with pytest.raises(ArgumentError, match="the call does not fit `energy`"):
        of_energy(x, j=k)

    def by_name(x, *, k):
        return np.sum(k * x)

    with pytest.raises(ArgumentError, match="`k` can be passed by name only"):
        sdfgad.torch.function(by_name)(x, k=k)


def test_refusals_of_programs_and_limits_reach_the_caller():
    def reads_a_file(x):
        return np.sum(x) + len(open("data").read())

    with pytest.raises(UnsupportedProgram, match=r"test_torch\.py:\d+: return np\.sum\(x\)"):
        sdfgad.torch.function(reads_a_file)(tensor(3))
    with pytest.raises(InfeasibleBudget):
        sdfgad.torch.function(energy, memory_limit="1 KiB")(tensor(500), tensor(500))

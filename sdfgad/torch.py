"""NumPy programs as differentiable functions of PyTorch's tensors.

>>> import sdfgad.torch
>>> def energy(x, k):
...     return 0.5 * np.sum(k * x * x)
>>> e = sdfgad.torch.function(energy)(x, k)  # tensors of the CPU  # doctest: +SKIP
>>> e.backward()  # doctest: +SKIP
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdfgad.api.pullbacks import Differentiable
from sdfgad.errors import ArgumentError, MissingPackage
from sdfgad.parse.structure import Structure, build, container, flattened

try:
    import torch
except ModuleNotFoundError as error:
    raise MissingPackage("torch", "torch") from error

# The dtypes of tensors that NumPy programs take.
DTYPES = frozenset(
    {torch.float64, torch.float32, torch.complex128, torch.complex64, torch.bool, torch.uint8}
    | {torch.int8, torch.int16, torch.int32, torch.int64}
)

# Stands for a tensor among the leaves of a container.
_TENSOR = object()


def function(
    program: Callable[..., Any], *, memory_limit: int | str | None = None, **options: Any
) -> Callable[..., Any]:
    """A NumPy program as a function of tensors that PyTorch differentiates, to any order.

    Values and gradients are computed by compiled code; tensors and arrays share their memory. Of a program that returns
    one real number, value and gradient come from one run.

    Args:
        program: a NumPy function that returns arrays, numbers, or containers of them.
        memory_limit, options: as in `sdfgad.differentiate`, for the gradients.

    Returns:
        A function with the program's arguments. Tensors, also in dicts, lists, tuples and dataclasses, become arrays
        that share their memory; other arguments are passed as they are, and are constant. Arrays and floats that the
        program returns become tensors. It works in `torch.nn.Module`, with `torch.optim`, with ``create_graph=True``,
        and with `torch.func`, whose `vmap` calls it for one element after the other.

    Raises:
        ArgumentError: a tensor is not on the CPU, is sparse, or has a dtype that NumPy has not (in the call); else as
            `sdfgad.differentiate` and the calls of its result do.

    Example:
        >>> relax = sdfgad.torch.function(heat, memory_limit="100 MiB")  # doctest: +SKIP
        >>> loss = ((relax(steps, u, a) - seen) ** 2).sum()  # doctest: +SKIP
        >>> loss.backward()  # doctest: +SKIP
    """
    one = Differentiable(program, {"memory_limit": memory_limit, **options})

    @functools.wraps(program)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        return _called(one, one.positional(args, kwargs))

    return of_tensors


@dataclass
class _Call:
    """One call of a program.

    Attributes:
        structure: of all arguments; `leaves` are theirs, of which those at `places` are tensors.
        wants_gradient: the names of the leaves whose gradient is computed together with a value that is a number.
        returned: the structure of the result, and its leaves, `_TENSOR` for tensors; known when it has run.
        gradients: those that were computed together with the value, by name.
    """

    program: Differentiable
    structure: Structure | None
    leaves: list[Any]
    places: list[int]
    names: list[str]
    wants_gradient: tuple[str, ...]
    returned: tuple[Structure | None, list[Any]] = (None, [])
    gradients: dict[str, Any] = field(default_factory=dict)

    def args(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with these tensors, or arrays."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        return build(self.structure, iter(leaves), container)

    def run(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The tensors that the program returns."""
        args = self.args([_array(one, name) for one, name in zip(tensors, self.names, strict=True)])
        if self.wants_gradient and self._returns_one_number(args):
            value, gradients = self.program.value_and_gradients(args, self.wants_gradient)
            self.gradients = dict(zip(self.wants_gradient, gradients, strict=True))
        else:
            value = self.program.value(args)
        structure, leaves = flattened(value, "result")
        self.returned = structure, [_TENSOR if _is_data(leaf) else _plain(leaf) for leaf in leaves]
        return tuple(torch.from_numpy(np.asarray(leaf)) for leaf in leaves if _is_data(leaf))

    def arranged(self, outputs: Sequence[Any]) -> Any:
        """What the program returns, with these tensors."""
        structure, leaves = self.returned
        left = iter(outputs)
        return build(structure, (next(left) if leaf is _TENSOR else leaf for leaf in leaves), container)

    def cotangent(self, given: Sequence[Any]) -> Any:
        """The cotangent of what is returned; None for what is no tensor, or has none."""
        structure, leaves = self.returned
        left = iter(given)
        return build(structure, (next(left) if leaf is _TENSOR else None for leaf in leaves), container)

    def tangents(self, given: Sequence[Any]) -> list[Any]:
        """The tangents of the arguments."""
        found = [None] * len(self.leaves)
        for place, tangent in zip(self.places, given, strict=True):
            found[place] = tangent
        return list(build(self.structure, iter(found), container))

    def _returns_one_number(self, args: tuple[Any, ...]) -> bool:
        forward = self.program.forward(args)[1]
        output = forward.primal.program.buffers[next(iter(forward.primal.program.outputs.values()))]
        return forward.is_single and output.shape == () and output.dtype.kind == "f"


class _Function(torch.autograd.Function):
    """A call of a program on PyTorch's tape; its pullback is a call of such a function, too."""

    @staticmethod
    def forward(call: _Call, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return call.run(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.call, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(one for one in output if not _is_float(one)))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        call, tensors, needed = ctx.call, ctx.saved_tensors, ctx.needs_input_grad[1:]
        wanted = [name for name, is_needed in zip(call.names, needed, strict=True) if is_needed]
        if all(one is None for one in cotangents) or not wanted:
            return (None, *(None for _ in needed))
        if call.gradients.keys() >= set(wanted) and not torch.is_grad_enabled():
            found = (cotangents[0].item() * torch.from_numpy(np.asarray(call.gradients[name])) for name in wanted)
        else:
            pulled = call.program.pullback(wanted, is_single=call.returned[0] is None)
            found = iter(_called(pulled, (call.args(tensors), call.cotangent(cotangents))))
        return (None, *_spread(found, needed))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        call = ctx.call
        pushed = _called(call.program.pushforward(), (call.args(ctx.saved_tensors), call.tangents(tangents)))
        pairs = zip(flattened(pushed, "tangent")[1], call.returned[1], strict=True)
        return tuple(tangent for tangent, leaf in pairs if leaf is _TENSOR)

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: _Call, *tensors: torch.Tensor) -> tuple[Any, Any]:
        rows = [
            _Function.apply(call, *(_row(one, dim, k) for one, dim in zip(tensors, in_dims[1:], strict=True)))
            for k in range(info.batch_size)
        ]
        return tuple(torch.stack(one) for one in zip(*rows, strict=True)), tuple(0 for _ in rows[0])


def _called(program: Differentiable, args: tuple[Any, ...]) -> Any:
    """What a program returns for arguments with tensors, on PyTorch's tape."""
    structure, leaves = flattened(args, "arguments")
    places = [k for k, leaf in enumerate(leaves) if _is_tensor(leaf)]
    every = program.leaves(args)
    names = [every[k] for k in places]
    wanted = [
        name for name, k in zip(names, places, strict=True) if leaves[k].requires_grad and torch.is_grad_enabled()
    ]
    constants = [None if _is_tensor(leaf) else leaf for leaf in leaves]
    call = _Call(program, structure, constants, places, names, tuple(wanted))
    return call.arranged(_Function.apply(call, *(leaves[k] for k in places)))


def _spread(found: Iterator[Any], needed: Sequence[bool]) -> Iterator[Any]:
    return (next(found) if is_needed else None for is_needed in needed)


def _row(tensor: torch.Tensor, dim: int | None, k: int) -> torch.Tensor:
    return tensor if dim is None else tensor.select(dim, k)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor)


def _is_float(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _is_data(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.inexact, float, complex))


def _plain(leaf: Any) -> Any:
    return leaf.item() if isinstance(leaf, np.generic) else leaf


def _array(tensor: torch.Tensor, name: str) -> Any:
    """The array that shares a tensor's memory.

    Raises:
        ArgumentError: there is none.
    """
    what = f"the tensor `{name}` "
    if tensor.device.type != "cpu":
        raise ArgumentError(f"{what}is on the device {tensor.device}", todo="Move it to the CPU: .cpu().")
    if tensor.layout is not torch.strided:
        raise ArgumentError(f"{what}is sparse", todo="Pass a dense one: .to_dense().")
    if tensor.dtype not in DTYPES:
        raise ArgumentError(f"{what}has the dtype {tensor.dtype}", todo="Convert it: .to(torch.float32).")
    return tensor.detach().resolve_conj().resolve_neg().numpy()

"""NumPy programs as differentiable functions of PyTorch's tensors, and PyTorch's modules as NumPy programs.

>>> import sdfgad.torch
>>> def energy(x, k):
...     return 0.5 * np.sum(k * x * x)
>>> e = sdfgad.torch.function(energy)(x, k)  # tensors of the CPU  # doctest: +SKIP
>>> e.backward()  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.api.pullbacks import Differentiable
from sdfgad.api.tensor_calls import TENSOR, TensorCall, of_tensors, taken_apart, tensor_call
from sdfgad.errors import ArgumentError, MissingPackage
from sdfgad.parse.structure import flattened
from sdfgad.specialise.signature import own_copy

if TYPE_CHECKING:
    from sdfgad.api.modules import DifferentiatedModule

try:
    import torch

    from sdfgad.models.aten.tensors import array_of, is_float
except ModuleNotFoundError as error:
    raise MissingPackage("PyTorch", "torch", "torch") from error


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
        and with `torch.func`, whose `vmap` calls it for one element after the other; not with ``vectorize=True`` of
        `torch.autograd.functional`.

    Raises:
        ArgumentError: a tensor is not on the CPU, is sparse, or has a dtype that NumPy has not (in the call); else as
            `sdfgad.differentiate` and the calls of its result do.

    Example:
        >>> relax = sdfgad.torch.function(heat, memory_limit="100 MiB")  # doctest: +SKIP
        >>> loss = ((relax(steps, u, a) - seen) ** 2).sum()  # doctest: +SKIP
        >>> loss.backward()  # doctest: +SKIP
    """
    return _apart_from_compilers(of_tensors(program, {"memory_limit": memory_limit, **options}, _called))


def differentiate(
    module: Any, example_inputs: tuple[Any, ...] = (), *, wrt: Any = None, output: str | None = None, **options: Any
) -> DifferentiatedModule:
    """The gradient of a PyTorch module by its inputs and parameters.

    The module is exported by `torch.export`, for tensors of the shapes of the examples, in the mode (train or eval)
    that it is in. What comes out is read as a NumPy program with one statement for each operator, which is
    differentiated as any program.

    Args:
        module: a `torch.nn.Module`, or what `torch.export.export` returns, which may have shapes that vary.
        example_inputs: tensors of the shapes and dtypes that calls pass.
        wrt: names of inputs, as `forward` has them, or of parameters, such as "fc1.weight": one, whose gradient is
            returned, or several, whose gradients come as a dict by name. None: all floating inputs and parameters.
        output: "return[1]" where the module returns several tensors.
        options: `memory_limit`, `reduce`, `strategy` and the others of `sdfgad.differentiate`.

    Returns:
        A `DifferentiatedModule` ``g``: ``g(x)`` takes inputs by position or name, as tensors of the CPU or arrays, and
        returns tensors. Parameters and buffers are those that the module has then, unless they are passed by name:
        ``g(x, **{"fc1.weight": w})``; the module is never changed, running statistics included. ``g.source`` is the
        NumPy program.

    Raises:
        UnsupportedGraph: PyTorch does not export the module, or an operator is not understood; it names the node.
        WrtError, OutputError: `wrt` or `output` name what the module has not.
        ArgumentError: as `sdfgad.differentiate` does.

    Example:
        >>> g = sdfgad.torch.differentiate(net, (images,), wrt="conv1.weight", reduce="sum")  # doctest: +SKIP
        >>> g(images).shape == net.conv1.weight.shape  # doctest: +SKIP
        True
    """
    try:
        from sdfgad.api.modules import DifferentiatedModule  # Needs SciPy, and a second for torch.export.
    except ModuleNotFoundError as error:
        raise MissingPackage("SciPy", "torch.differentiate", "torch") from error
    return DifferentiatedModule(module, example_inputs, wrt, output, options)


def _apart_from_compilers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that `torch.compile` does not trace, as what it calls is compiled already.

    PyTorch's decorator imports its compiler, which takes a second: here that is left to those who use it.
    """
    kept: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        if not kept:
            kept.append(torch.compiler.disable(function))
        return kept[0](*args, **kwargs)

    return called


class _Run:
    """The values of one call, and the gradients that come with them.

    Attributes:
        wanted: the names of the leaves whose gradients are computed together with a value that is a number.
        gradients: those, by name, after the run.
    """

    def __init__(self, call: TensorCall, wanted: tuple[str, ...]) -> None:
        self.call, self.wanted = call, wanted
        self.gradients: dict[str, Any] = {}

    def outputs(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The tensors that the program returns."""
        call = self.call
        args = call.args([array_of(one, name) for one, name in zip(tensors, call.names, strict=True)])
        if self.wanted and call.program.returns_one_number(args):
            value, gradients = call.program.value_and_gradients(args, self.wanted)
            self.gradients = dict(zip(self.wanted, gradients, strict=True))
        else:
            value = call.program.value(args)
        structure, leaves, data = taken_apart(value, _is_data)
        call.returned = structure, [leaf.item() if isinstance(leaf, np.generic) else leaf for leaf in leaves]
        return tuple(torch.from_numpy(np.asarray(one)) for one in data)


class _Function(torch.autograd.Function):
    """A call of a program on PyTorch's tape; its pullback is a call of such a function, too."""

    @staticmethod
    def forward(run: _Run, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return run.outputs(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.run, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(one for one in output if not is_float(one)))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        run, call, needed = ctx.run, ctx.run.call, ctx.needs_input_grad[1:]
        tensors = ctx.saved_tensors  # Raises if they have been changed or freed, as after any function of PyTorch's.
        wanted = [name for name, is_needed in zip(call.names, needed, strict=True) if is_needed]
        if all(one is None for one in cotangents) or not wanted:
            return (None, *(None for _ in needed))
        if run.gradients.keys() >= set(wanted) and not torch.is_grad_enabled():
            every = [torch.from_numpy(np.asarray(run.gradients[name])) for name in wanted]
            found = iter([(cotangents[0] * one).to(one.dtype) for one in every])
        else:
            pulled = call.program.pullback(wanted, call.is_single)
            found = iter(_called(pulled, (call.args(tensors), call.cotangent(cotangents))))
        return (None, *(next(found) if is_needed else None for is_needed in needed))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        call = ctx.run.call
        pushed = _called(call.program.pushforward(), (call.args(ctx.saved_tensors), call.tangents(tangents)))
        pairs = zip(flattened(pushed, "tangent")[1], call.returned[1], strict=True)
        return tuple(tangent for tangent, leaf in pairs if leaf is TENSOR)

    @staticmethod
    def vmap(info: Any, in_dims: Any, run: _Run, *tensors: torch.Tensor) -> tuple[Any, Any]:
        runs = [_Run(replace(run.call), run.wanted) for _ in range(info.batch_size)]
        rows = [
            _Function.apply(one, *(_row(tensor, dim, k) for tensor, dim in zip(tensors, in_dims[1:], strict=True)))
            for k, one in enumerate(runs)
        ]
        run.call.returned = _same_constants(run.call, runs)
        return tuple(torch.stack(one) for one in zip(*rows, strict=True)), tuple(0 for _ in rows[0])


def _called(program: Differentiable, args: tuple[Any, ...]) -> Any:
    """What a program returns for arguments with tensors, on PyTorch's tape."""
    call, tensors = tensor_call(program, args, _is_tensor)
    pairs = zip(call.names, tensors, strict=True) if torch.is_grad_enabled() else ()
    wanted = tuple(name for name, tensor in pairs if tensor.requires_grad)
    if wanted:
        # The reverse sweep must see constants as they are now; tensors have versions.
        call.leaves = [own_copy(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in call.leaves]
    return call.arranged(_Function.apply(_Run(call, wanted), *tensors))


def _same_constants(call: TensorCall, runs: Sequence[_Run]) -> tuple[Any, list[Any]]:
    """What the calls for all elements return besides tensors.

    Raises:
        ArgumentError: they differ, or there is no element.
    """
    if not runs:
        raise ArgumentError(f"`{call.program.name}` is mapped over an axis of length zero", todo="Leave the call out.")
    first = runs[0].call.returned
    for one in runs:
        for constant, other in zip(first[1], one.call.returned[1], strict=True):
            if constant is not other and constant != other:
                what = f"`{call.program.name}` returns the constant {constant!r} for an element, {other!r} for another"
                todo = "Return an array, such as np.array([k]), or map over the elements in a loop."
                raise ArgumentError(what, todo=todo)
    return first


def _row(tensor: torch.Tensor, dim: int | None, k: int) -> torch.Tensor:
    return tensor if dim is None else tensor.select(dim, k)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor)


def _is_data(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.inexact, float, complex))

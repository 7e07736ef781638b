"""The gradient of a PyTorch module, by its inputs and by the parameters that it has when it is called."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.utils._pytree import tree_map

from sdfgad.api.models import DifferentiatedModel
from sdfgad.errors import ArgumentError, UnsupportedGraph
from sdfgad.models.aten.backward import refuse_own_gradients
from sdfgad.models.aten.reader import read
from sdfgad.models.aten.tensors import array_of


class DifferentiatedModule(DifferentiatedModel):
    """A `DifferentiatedModel` whose arguments and results are tensors, and whose weights are those of a module now."""

    def __init__(self, module: Any, inputs: Any, wrt: Any, output: str | None, options: Mapping[str, Any]) -> None:
        self._made_of = module, inputs, wrt, output, options
        exported = module if isinstance(module, ExportedProgram) else _exported(module, inputs)
        self._module = exported if isinstance(module, ExportedProgram) else module
        name = type(module).__name__ if module is not exported else "program"
        model = read(exported, name, self._tensors())
        floating = [one.name for one in model.parameters if one.kind in "fc"]
        buffers = {*exported.graph_signature.buffers, *exported.constants}
        chosen = [one for one in floating if one not in buffers] if wrt is None else wrt
        super().__init__(model, chosen, output, options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _tensors(super().__call__(*args, **kwargs))

    def value(self, *args: Any, **kwargs: Any) -> Any:
        return _tensors(super().value(*args, **kwargs))

    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        value, gradient = super().value_and_grad(*args, **kwargs)
        return _tensors(value), _tensors(gradient)

    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Any:
        return _tensors(super().vjp(*args, cotangent=_array(cotangent, "cotangent"), **kwargs))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def _tensors(self) -> dict[str, torch.Tensor]:
        """The parameters and buffers of the module, each under its first name."""
        if isinstance(self._module, ExportedProgram):
            return dict(self._module.state_dict)
        every = (self._module.named_parameters, self._module.named_buffers)
        return {name: one for named in every for name, one in named(remove_duplicate=False)}

    def _weights(self) -> dict[str, Any]:
        return {name: one for name, one in self._tensors().items() if name in self._named}

    def _checked(self, name: str, value: Any) -> Any:
        return super()._checked(name, _array(value, name))


def _exported(module: Any, inputs: Any) -> ExportedProgram:
    """A module as `torch.export` sees it.

    Raises:
        ArgumentError: it is no module.
        UnsupportedGraph: PyTorch does not export it.
    """
    if not isinstance(module, torch.nn.Module):
        raise ArgumentError(
            f"{module!r} is no torch.nn.Module", todo="Pass a module, or what torch.export.export returns."
        )
    if not isinstance(inputs, tuple):
        raise ArgumentError("the example inputs are no tuple", todo="Pass a tuple of tensors: (x,).")
    try:
        with warnings.catch_warnings():
            # PyTorch's own advice on how its modules are written.
            warnings.simplefilter("ignore")
            refuse_own_gradients(module, inputs)
            return torch.export.export(module, _apart(inputs))
    except UnsupportedGraph:
        raise
    except Exception as error:
        what = f"PyTorch does not export `{type(module).__name__}`: {str(error).splitlines()[0]}"
        raise UnsupportedGraph(what, None, "torch.export.export(module, inputs) says more.") from error


def _apart(inputs: Any) -> Any:
    """Copies of tensors: of inputs that are the same one, `torch.export` makes one input."""
    return tree_map(lambda one: one.detach().clone() if isinstance(one, torch.Tensor) else one, inputs)


def _array(value: Any, name: str) -> Any:
    return array_of(value, name) if isinstance(value, torch.Tensor) else value


def _tensors(result: Any) -> Any:
    """Arrays and numbers as tensors."""
    if isinstance(result, dict):
        return {name: _tensors(one) for name, one in result.items()}
    return tuple(map(_tensors, result)) if isinstance(result, tuple) else torch.from_numpy(np.asarray(result))

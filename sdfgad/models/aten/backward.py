"""Gradients that a module defines itself, which `torch.export` leaves out without a word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from sdfgad.errors import UnsupportedGraph
from sdfgad.models.aten.tensors import is_float


def refuse_own_gradients(module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
    """Refuse what a module does to gradients by functions with a `backward`, or by hooks: it runs once, to see them.

    Raises:
        UnsupportedGraph: there is one; the message names it.
    """
    found = [f"a hook of `{name}`" for name, one in module.named_parameters() if one._backward_hooks]
    found += [f"a hook of `{name}`" for name, one in module.named_modules() if _has_hooks(one)]
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), _hooks_noted(found):
        found += _functions(_run(module, inputs))
    if found:
        what = f"`{type(module).__name__}` changes gradients by {found[0]}, which torch.export leaves out"
        raise UnsupportedGraph(what, None, "Take it out, or write what it does to gradients with x.detach().")


def _has_hooks(module: Any) -> bool:
    return bool(module._backward_hooks or module._backward_pre_hooks)


def _run(module: torch.nn.Module, inputs: tuple[Any, ...]) -> Any:
    """What a module returns for copies of its parameters and buffers, which it may change."""
    copies = {name: one.detach().clone() for name, one in module.named_buffers()}
    copies |= {name: _tracked(one) for name, one in module.named_parameters()}
    # Inputs that are changed in place must not be leaves of the tape.
    given = tuple(_tracked(one) * 1 if isinstance(one, torch.Tensor) and is_float(one) else one for one in inputs)
    return torch.func.functional_call(module, copies, given)


def _tracked(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(is_float(tensor))


def _functions(outputs: Any) -> list[str]:
    """The functions written in Python on PyTorch's tape of some outputs."""
    left = [one.grad_fn for one in tree_leaves(outputs) if isinstance(one, torch.Tensor)]
    seen: set[Any] = set()
    found: list[str] = []
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            name = type(node).__name__.removesuffix("Backward")
            found.append(f"the function `{name}`, whose `backward` is its own")
        left += [one for one, _ in node.next_functions]
    return found


@contextmanager
def _hooks_noted(found: list[str]) -> Iterator[None]:
    """Note hooks that tensors are given."""
    original = torch.Tensor.register_hook

    def noted(tensor: Any, hook: Any) -> Any:
        found.append("a hook of a tensor")
        return original(tensor, hook)

    torch.Tensor.register_hook = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.Tensor.register_hook = original  # type: ignore[method-assign]

"""Tensors as arrays that share their memory."""

from __future__ import annotations

from typing import Any

import torch

from sdfgad.errors import ArgumentError

# The dtypes of tensors that NumPy programs take.
DTYPES = frozenset(
    {torch.float64, torch.float32, torch.complex128, torch.complex64, torch.bool, torch.uint8}
    | {torch.int8, torch.int16, torch.int32, torch.int64}
)


def is_float(tensor: torch.Tensor) -> bool:
    """Whether a tensor has a gradient, real or complex."""
    return tensor.is_floating_point() or tensor.is_complex()


def array_of(tensor: torch.Tensor, name: str) -> Any:
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

"""``np.fft``: Fourier transforms over axes, with padding, truncation and normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.fourier import transform
from sdfgad.parse.registry import in_numpy


def with_length(a: Any, n: Any) -> Any:
    """The array with its last axis truncated, or padded with zeros, to `n` elements."""
    have = a.shape[-1]
    if n is None or n == have:
        return a
    if n < 1:
        raise ValueError("a Fourier transform needs at least one element")
    if n < have:
        return a[..., :n]
    return np.concatenate([a, np.zeros((*a.shape[:-1], n - have), dtype=a.dtype)], axis=-1)


def scale_of(n: Any, norm: Any, is_backward: Any) -> Any:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError("the norm of a Fourier transform is 'backward', 'ortho' or 'forward'")
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if is_backward == (norm in (None, "backward")) else 1.0


def transform_axis(a: Any, n: Any, axis: Any, norm: Any, sign: Any) -> Any:
    rows = with_length(np.swapaxes(a, axis, -1), n)
    scale = scale_of(rows.shape[-1], norm, sign > 0)
    result = transform(rows, sign)
    if scale != 1.0:
        result = result * scale
    return np.swapaxes(result, axis, -1)


@in_numpy(np.fft.fft)
def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return transform_axis(a, n, axis, norm, -1)


@in_numpy(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return transform_axis(a, n, axis, norm, 1)


@in_numpy(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    whole = np.swapaxes(transform_axis(a, n, axis, norm, -1), axis, -1)
    return np.swapaxes(whole[..., : whole.shape[-1] // 2 + 1], axis, -1)


@in_numpy(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The real inverse of a half spectrum; the imaginary parts of the zero and Nyquist frequencies are ignored."""
    half = np.swapaxes(a, axis, -1)
    n = 2 * (half.shape[-1] - 1) if n is None else n
    half = with_length(half, n // 2 + 1)
    inner = half[..., 1 : (n + 1) // 2]
    parts = [np.real(half[..., :1]), inner]
    if n % 2 == 0:
        parts = [*parts, np.real(half[..., n // 2 :])]
    whole = np.concatenate([*parts, np.conj(np.flip(inner, -1))], axis=-1)
    return np.swapaxes(np.real(transform_axis(whole, None, -1, norm, 1)), axis, -1)


@in_numpy(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    swapped: Any = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    return np.fft.irfft(np.conj(a), n, axis, swapped)


def lengths_and_axes(a: Any, s: Any, axes: Any) -> Any:
    """The lengths to transform, None for all that an axis has, and the axes, as two tuples."""
    if axes is None:
        axes = tuple(range(-a.ndim if s is None else -len(s), 0))
    if s is None:
        return tuple([None for _ in axes]), axes
    if len(s) != len(axes):
        raise ValueError("the lengths and the axes of a Fourier transform differ in number")
    # A length of -1 is the axis' own.
    return tuple([a.shape[axes[k]] if s[k] == -1 else s[k] for k in range(len(axes))]), axes


def transform_axes(a: Any, s: Any, axes: Any, norm: Any, sign: Any) -> Any:
    lengths, axes = lengths_and_axes(a, s, axes)
    for position in range(len(axes)):
        a = transform_axis(a, lengths[position], axes[position], norm, sign)
    return a


@in_numpy(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return transform_axes(a, s, axes, norm, -1)


@in_numpy(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return transform_axes(a, s, axes, norm, 1)


@in_numpy(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return transform_axes(a, s, axes, norm, -1)


@in_numpy(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return transform_axes(a, s, axes, norm, 1)


@in_numpy(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    lengths, axes = lengths_and_axes(a, s, axes)
    half = np.fft.rfft(a, lengths[-1], axes[-1], norm)
    return transform_axes(half, None if s is None else lengths[:-1], axes[:-1], norm, -1)


@in_numpy(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return np.fft.rfftn(a, s, axes, norm)


@in_numpy(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    lengths, axes = lengths_and_axes(a, s, axes)
    rest = transform_axes(a, None if s is None else lengths[:-1], axes[:-1], norm, 1)
    return np.fft.irfft(rest, lengths[-1], axes[-1], norm)


@in_numpy(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return np.fft.irfftn(a, s, axes, norm)


def shifted(x: Any, axes: Any, sign: Any) -> Any:
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in axes:
        n = x.shape[axis]
        x = np.roll(x, n // 2 if sign > 0 else -(n // 2), axis)
    return x


@in_numpy(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    return shifted(x, axes, 1)


@in_numpy(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    return shifted(x, axes, -1)

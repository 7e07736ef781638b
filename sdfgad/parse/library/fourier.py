"""``np.fft``: Fourier transforms over axes, with padding, truncation and normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.fourier import half_transform, real_transform, transform
from sdfgad.parse.registry import in_numpy


def with_length(a: Any, n: Any, axis: Any) -> Any:
    """The array with an axis truncated, or padded with zeros, to `n` elements."""
    if n is None:
        return a
    have = a.shape[axis]
    if n == have:
        return a
    if n < 1:
        raise ValueError("a Fourier transform needs at least one element")
    a = np.swapaxes(a, axis, -1)
    if n < have:
        return np.swapaxes(a[..., :n], axis, -1)
    padding = np.zeros((*a.shape[:-1], n - have), dtype=a.dtype)
    return np.swapaxes(np.concatenate([a, padding], axis=-1), axis, -1)


def scaled(a: Any, n: Any, norm: Any, is_backward: Any) -> Any:
    """An unnormalised transform of length `n` with the factor of its norm."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError("the norm of a Fourier transform is 'backward', 'ortho' or 'forward'")
    if norm == "ortho":
        return a * (1.0 / math.sqrt(n))
    if is_backward == (norm in (None, "backward")):
        return a * (1.0 / n)
    return a


def transform_axis(a: Any, n: Any, axis: Any, norm: Any, sign: Any) -> Any:
    a = with_length(a, n, axis)
    return scaled(transform(a, axis, sign), a.shape[axis], norm, sign > 0)


@in_numpy(np.fft.fft)
def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return transform_axis(a, n, axis, norm, -1)


@in_numpy(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return transform_axis(a, n, axis, norm, 1)


@in_numpy(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    if np.iscomplexobj(a):
        raise ValueError("np.fft.rfft transforms real numbers")
    a = with_length(a, n, axis)
    return scaled(real_transform(a, axis), a.shape[axis], norm, False)


@in_numpy(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    n = 2 * (a.shape[axis] - 1) if n is None else n
    if n < 1:
        raise ValueError("a Fourier transform needs at least one element")
    return scaled(half_transform(with_length(a, n // 2 + 1, axis), axis, n), n, norm, True)


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


@in_numpy(np.fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0) -> Any:
    """Frequencies for a spacing that is known at run time only."""
    k = np.arange(n)
    return np.where(k < (n + 1) // 2, k, k - n) * (1.0 / (n * d))


@in_numpy(np.fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


def shifted(x: Any, axes: Any, sign: Any) -> Any:
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in axes:
        n = x.shape[axis]
        x = np.roll(x, n // 2 if sign > 0 else -(n // 2), axis)
    return x if len(axes) > 0 else np.copy(x)


@in_numpy(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    return shifted(x, axes, 1)


@in_numpy(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    return shifted(x, axes, -1)

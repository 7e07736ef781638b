"""``scipy.fft``: Fourier transforms as in NumPy, and discrete cosine and sine transforms by them.

A sum of products with cosines or sines of a product of both indices is a part of a complex Fourier transform of twice
the length, with phases before or behind it; those of type 1 are transforms of the even or odd extension (the idea is in
Makhoul, IEEE Transactions on Acoustics, Speech, and Signal Processing 28 (1980), 27). SciPy numbers the types so.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.facts import array_like, inexact
from sdfgad.parse.library.fourier import lengths_and_axes, with_length
from sdfgad.parse.registry import optional

MODULES = ("scipy.fft", "scipy.fftpack")


def _transform(name: str, module: str, is_definition: bool = True) -> Any:
    return optional(module, name, is_definition=is_definition)


def _along(transform: Any) -> Any:
    """NumPy's transform along an axis, with SciPy's arguments."""

    def definition(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, *options: Any, **more: Any) -> Any:
        return transform(array_like(x), n, axis, norm)

    return definition


def _over(transform: Any, usual: Any) -> Any:
    """NumPy's transform over several axes, with SciPy's arguments."""

    def definition(x: Any, s: Any = None, axes: Any = usual, norm: Any = None, *options: Any, **more: Any) -> Any:
        return transform(array_like(x), s, axes, norm)

    return definition


for _name in ("fft", "ifft", "rfft", "irfft", "hfft"):
    _transform(_name, "scipy.fft")(_along(getattr(np.fft, _name)))
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    _transform(_name, "scipy.fft")(_over(getattr(np.fft, _name), (-2, -1)))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _transform(_name, "scipy.fft")(_over(getattr(np.fft, _name), None))


def ihfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, *options: Any, **more: Any) -> Any:
    """The inverse of `hfft`, of real numbers."""
    swapped: Any = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    return np.conj(np.fft.rfft(array_like(x), n, axis, swapped))


for _module in ("scipy.fft", "numpy.fft"):
    _transform("ihfft", _module)(ihfft)


@optional("scipy.fft", "next_fast_len")
def next_fast_len(b: Builder, target: Any, real: Any = False) -> Any:
    """Of a length that is known while parsing."""
    return b.python(sys.modules["scipy.fft"].next_fast_len, b.constant(target), real)


@_transform("fftshift", "scipy.fft")
def fftshift(x: Any, axes: Any = None) -> Any:
    return np.fft.fftshift(array_like(x), axes)


@_transform("ifftshift", "scipy.fft")
def ifftshift(x: Any, axes: Any = None) -> Any:
    return np.fft.ifftshift(array_like(x), axes)


@_transform("fftfreq", "scipy.fft")
def fftfreq(n: Any, d: Any = 1.0) -> Any:
    return np.fft.fftfreq(n, d)


@_transform("rfftfreq", "scipy.fft")
def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    return np.fft.rfftfreq(n, d)


@_transform("fft", "scipy.fftpack")
def fft_of_old(x: Any, n: Any = None, axis: Any = -1, overwrite_x: Any = False) -> Any:
    return np.fft.fft(array_like(x), n, axis)


@_transform("ifft", "scipy.fftpack")
def ifft_of_old(x: Any, n: Any = None, axis: Any = -1, overwrite_x: Any = False) -> Any:
    return np.fft.ifft(array_like(x), n, axis)


# --- cosine and sine transforms along the last axis, without factors


def _turned(n: Any, first: Any, step: Any) -> Any:
    """Phases ``exp(-i * pi * (first + step * k))`` for n indices k."""
    return np.exp(-1j * np.pi * (first + step * np.arange(n)))


def _of_twice(x: Any, count: Any) -> Any:
    """The first `count` terms of the Fourier transform of twice the length."""
    return np.fft.fft(x, 2 * x.shape[-1])[..., :count]


def _cosines(x: Any, type: Any) -> Any:
    n = x.shape[-1]
    if type == 1:
        if n < 2:
            raise ValueError("a cosine transform of type 1 needs two elements or more")
        return np.real(np.fft.rfft(np.concatenate((x, np.flip(x[..., 1:-1], -1)), axis=-1)))
    if type == 2:
        return 2 * np.real(_turned(n, 0.0, 0.5 / n) * _of_twice(x, n))
    if type == 3:
        doubled = np.concatenate((x[..., :1], 2 * x[..., 1:]), axis=-1)
        return np.real(_of_twice(doubled * _turned(n, 0.0, 0.5 / n), n))
    return 2 * np.real(_turned(n, 0.25 / n, 0.5 / n) * _of_twice(x * _turned(n, 0.0, 0.5 / n), n))


def _sines(x: Any, type: Any) -> Any:
    n = x.shape[-1]
    if type == 1:
        zero = np.zeros((*x.shape[:-1], 1), x.dtype)
        odd = np.concatenate((zero, x, zero, -np.flip(x, -1)), axis=-1)
        return -np.imag(np.fft.rfft(odd)[..., 1 : n + 1])
    if type == 2:
        return -2 * np.imag(_turned(n, 0.5 / n, 0.5 / n) * _of_twice(x, n + 1)[..., 1:])
    if type == 3:
        last = np.concatenate((2 * x[..., :-1], x[..., -1:]), axis=-1) * _turned(n, 0.5 / n, 0.5 / n)
        # With the term of index 0, which is zero, there are n + 1.
        padded = np.concatenate((np.zeros((*x.shape[:-1], 1), last.dtype), last), axis=-1)
        return -np.imag(np.fft.fft(padded, 2 * n)[..., :n])
    return -2 * np.imag(_turned(n, 0.25 / n, 0.5 / n) * _of_twice(x * _turned(n, 0.0, 0.5 / n), n))


# --- with factors, along any axis


def _ends(x: Any, first: Any, last: Any) -> Any:
    """The array with its first and its last element along the last axis multiplied by these."""
    k, n = np.arange(x.shape[-1]), x.shape[-1]
    return x * (np.where(k == 0, first, 1.0) * np.where(k == n - 1, last, 1.0)).astype(x.dtype)


def _one_axis(
    x: Any, type: Any, n: Any, axis: Any, norm: Any, is_orthogonal: Any, is_sine: Any, is_inverse: Any
) -> Any:
    if type not in (1, 2, 3, 4):
        raise ValueError("the type of a cosine or sine transform is 1, 2, 3 or 4")
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError("the norm of a cosine or sine transform is 'backward', 'ortho' or 'forward'")
    if np.iscomplexobj(x):
        raise ValueError("a cosine or sine transform of complex numbers is not supported: transform x.real and x.imag")
    x = np.moveaxis(with_length(x.astype(inexact(x.dtype)), n, axis), axis, -1)
    kind = {1: 1, 2: 3, 3: 2, 4: 4}[type] if is_inverse else type
    root = math.sqrt(2.0)
    is_orthogonal = norm == "ortho" if is_orthogonal is None else is_orthogonal
    if is_orthogonal and (kind == 3 or (kind == 1 and not is_sine)):
        x = _ends(x, 1.0 if is_sine else root, root if is_sine or kind == 1 else 1.0)
    y = (_sines(x, kind) if is_sine else _cosines(x, kind)).astype(x.dtype)
    if is_orthogonal and (kind == 2 or (kind == 1 and not is_sine)):
        y = _ends(y, 1.0 if is_sine else 1 / root, 1 / root if is_sine or kind == 1 else 1.0)
    count = x.shape[-1] if kind != 1 else x.shape[-1] + 1 if is_sine else x.shape[-1] - 1
    is_scaled = norm == "forward" if not is_inverse else norm in (None, "backward")
    factor = 1.0 / math.sqrt(2.0 * count) if norm == "ortho" else 0.5 / count if is_scaled else 1.0
    return np.moveaxis(y * factor, -1, axis)


def _one(is_sine: bool, is_inverse: bool) -> Any:
    def definition(
        x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, orthogonalize: Any = None
    ) -> Any:  # fmt: skip
        return _one_axis(array_like(x), type, n, axis, norm, orthogonalize, is_sine, is_inverse)

    return definition


def _several(is_sine: bool, is_inverse: bool) -> Any:
    def definition(
        x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, *, orthogonalize: Any = None
    ) -> Any:  # fmt: skip
        x = array_like(x)
        lengths, axes = lengths_and_axes(x, s, axes)
        for k in range(len(axes)):
            x = _one_axis(x, type, lengths[k], axes[k], norm, orthogonalize, is_sine, is_inverse)
        return x

    return definition


for _name, _is_sine in (("dct", False), ("dst", True)):
    for _prefix, _is_inverse in (("", False), ("i", True)):
        for _module in MODULES:
            _transform(f"{_prefix}{_name}", _module)(_one(_is_sine, _is_inverse))
            _transform(f"{_prefix}{_name}n", _module)(_several(_is_sine, _is_inverse))

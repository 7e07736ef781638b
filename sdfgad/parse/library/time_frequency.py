"""Short-time Fourier transforms of scipy.signal: spectra of segments of a signal, and signals of such spectra."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, inexact
from sdfgad.parse.library.filters import extended
from sdfgad.parse.library.spectra import segments, settings, window_of
from sdfgad.parse.registry import definitions

_signal = definitions("scipy.signal")
BOUNDARIES = ("zeros", "even", "odd", "constant", None)


def _scale(weights: Any, fs: Any, scaling: Any) -> Any:
    """The factor of a power; that of an amplitude is its root."""
    if scaling in ("psd", "density"):
        return 1.0 / (fs * np.sum(weights * weights))
    if scaling != "spectrum":
        raise ValueError("the scaling of a transform is 'spectrum' or 'psd', and of a spectrogram 'density'")
    return 1.0 / np.sum(weights) ** 2


def _transformed(rows: Any, weights: Any, size: Any, step: Any, length: Any, detrend: Any, onesided: Any) -> Any:
    """The transforms of the segments of rows: the segments, then the frequencies, are the last axes."""
    parts = segments(rows, size, step, detrend) * weights.astype(np.real(rows).dtype)
    return np.fft.rfft(parts, length) if onesided else np.fft.fft(parts, length)


def _frequencies(length: Any, fs: Any, onesided: Any) -> Any:
    return np.fft.rfftfreq(length, 1.0 / fs) if onesided else np.fft.fftfreq(length, 1.0 / fs)


def _middles(n: Any, size: Any, step: Any, fs: Any) -> Any:
    """The times of the middles of segments."""
    return (size / 2 + step * np.arange(0.0, (n - size) // step + 1)) / fs


@_signal("stft")
def stft(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = 256, noverlap: Any = None, nfft: Any = None,
    detrend: Any = False, return_onesided: Any = True, boundary: Any = "zeros", padded: Any = True, axis: Any = -1,
    scaling: Any = "spectrum"
) -> Any:  # fmt: skip
    """The frequencies, the times, and the transform, of which the last axis is that of the times."""
    if boundary not in BOUNDARIES:
        raise ValueError("the boundary of stft is 'zeros', 'even', 'odd', 'constant' or None")
    x = array_like(x)
    x = x.astype(inexact(x.dtype))
    axis = axis_of(axis, x.ndim)
    rows = np.moveaxis(x, axis, 0)
    weights, size, step, length = settings(fixed_int(rows.shape[0]), window, nperseg, noverlap, nfft)
    half = size // 2
    if boundary == "zeros":
        rows = np.pad(rows, [(half, half)] + [(0, 0)] * (rows.ndim - 1))
    elif boundary is not None:
        rows = extended(rows, boundary, half)
    n = fixed_int(rows.shape[0])
    if padded:
        more = (-(n - size) % step) % size
        rows, n = np.pad(rows, [(0, more)] + [(0, 0)] * (rows.ndim - 1)), n + more
    onesided = return_onesided and not np.iscomplexobj(x)
    result = _transformed(np.moveaxis(rows, 0, -1), weights, size, step, length, detrend, onesided)
    result = result * np.sqrt(_scale(weights, fs, scaling)).astype(np.real(x).dtype)
    times = _middles(n, size, step, fs) - (0.0 if boundary is None else size / 2 / fs)
    return _frequencies(length, fs, onesided), times, np.moveaxis(result, -1, axis)


@_signal("istft")
def istft(
    Zxx: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    input_onesided: Any = True, boundary: Any = True, time_axis: Any = -1, freq_axis: Any = -2,
    scaling: Any = "spectrum"
) -> Any:  # fmt: skip
    """The signal of which the transforms are nearest to the given ones, by least squares (Griffin and Lim, IEEE
    Transactions on Acoustics, Speech and Signal Processing 32 (1984), 236).
    """
    z = array_like(Zxx)
    time, freq = axis_of(time_axis, z.ndim), axis_of(freq_axis, z.ndim)
    rows = np.moveaxis(z, (time, freq), (-2, -1))
    count, given = fixed_int(rows.shape[-2]), fixed_int(rows.shape[-1])
    whole = 2 * (given - 1) if input_onesided else given
    if nperseg is None and not isinstance(window, (str, tuple)):
        nperseg = fixed_int(array_like(window).shape[0])
    size = whole if nperseg is None else nperseg
    length = nfft if nfft is not None else size if input_onesided and size == whole + 1 else whole
    step = size - (size // 2 if noverlap is None else noverlap)
    weights = window_of(window, size)
    parts = (np.fft.irfft(rows, length) if input_onesided else np.fft.ifft(rows, length))[..., :size]
    kind = np.real(parts).dtype
    parts = parts * (weights / np.sqrt(_scale(weights, fs, scaling))).astype(kind)
    n, total = size + (count - 1) * step, np.zeros(size + (count - 1) * step)
    x = np.zeros((*parts.shape[:-2], n), parts.dtype)
    for k in range(count):
        x[..., k * step : k * step + size] += parts[..., k, :]
        total[k * step : k * step + size] += weights * weights
    x = x / np.where(total > 1e-10, total, 1.0).astype(kind)
    x = x[..., size // 2 : n - size // 2] if boundary else x
    times = np.arange(0.0, x.shape[-1]) / fs
    return times, np.moveaxis(x, -1, time - 1 if freq < time else time)


@_signal("spectrogram")
def spectrogram(
    x: Any, fs: Any = 1.0, window: Any = ("tukey", 0.25), nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    mode: Any = "psd"
) -> Any:  # fmt: skip
    """The frequencies, the times, and the power, or the amplitude, of each segment."""
    if mode not in ("psd", "complex", "magnitude", "angle"):
        raise ValueError("the mode of a spectrogram is 'psd', 'complex', 'magnitude' or 'angle': unwrap the angle")
    x = array_like(x)
    x = x.astype(inexact(x.dtype))
    axis = axis_of(axis, x.ndim)
    n = fixed_int(x.shape[axis])
    if noverlap is None:
        size = nperseg if isinstance(window, (str, tuple)) else fixed_int(array_like(window).shape[0])
        noverlap = min(256 if size is None else size, n) // 8
    weights, size, step, length = settings(n, window, nperseg, noverlap, nfft)
    onesided = return_onesided and not np.iscomplexobj(x)
    found = _transformed(np.moveaxis(x, axis, -1), weights, size, step, length, detrend, onesided)
    kind, scale = np.real(x).dtype, _scale(weights, fs, scaling)
    if mode == "psd":
        k = np.arange(fixed_int(found.shape[-1]))
        is_single = np.logical_or(k == 0, 2 * k == length) if onesided else k >= 0
        found = (np.real(found) ** 2 + np.imag(found) ** 2) * (scale * np.where(is_single, 1.0, 2.0)).astype(kind)
    else:
        found = found * np.sqrt(scale).astype(kind)
        found = np.abs(found) if mode == "magnitude" else np.angle(found) if mode == "angle" else found
    return _frequencies(length, fs, onesided), _middles(n, size, step, fs), np.moveaxis(found, -1, axis)

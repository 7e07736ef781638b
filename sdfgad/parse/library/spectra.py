"""Spectral analysis of scipy.signal: analytic signals, power and cross spectra, resampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, inexact
from sdfgad.parse.library.filters import detrend as without_trend
from sdfgad.parse.library.fourier import with_length
from sdfgad.parse.registry import definitions

_signal = definitions("scipy.signal")


@_signal("hilbert")
def hilbert(x: Any, N: Any = None, axis: Any = -1) -> Any:
    """The analytic signal: without negative frequencies."""
    x = array_like(x)
    if np.iscomplexobj(x):
        raise ValueError("the analytic signal is that of real numbers: pass x.real")
    rows = np.moveaxis(with_length(x, N, axis), axis, -1)
    n = fixed_int(rows.shape[-1])
    k = np.arange(n)
    weights = np.where(k == 0, 1.0, np.where(2 * k < n, 2.0, np.where(2 * k == n, 1.0, 0.0)))
    return np.moveaxis(np.fft.ifft(np.fft.fft(rows) * weights.astype(inexact(x.dtype))), -1, axis)


def window_of(window: Any, n: Any) -> Any:
    """The weights of a window by its name, or as they are given."""
    from scipy.signal import get_window

    return get_window(window, n) if isinstance(window, (str, tuple)) else array_like(window)


def segments(x: Any, size: Any, step: Any, detrend: Any) -> Any:
    """Parts of the rows that may overlap, without their trends."""
    count = (fixed_int(x.shape[-1]) - size) // step + 1
    parts = np.stack([x[..., k * step : k * step + size] for k in range(count)], axis=-2)
    if detrend is False:
        return parts
    return without_trend(parts, -1, detrend)


def settings(n: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any) -> Any:
    """The window, the length of segments, the step between them, and the length of the transform."""
    if not isinstance(window, (str, tuple)):
        nperseg = fixed_int(array_like(window).shape[0])
    size = min(256 if nperseg is None else nperseg, n)
    overlap = size // 2 if noverlap is None else noverlap
    if overlap >= size or (nfft is not None and nfft < size):
        raise ValueError("segments of a spectrum must overlap by less than their length, and nfft be no shorter")
    return window_of(window, size), size, size - overlap, size if nfft is None else nfft


def _spectra(
    x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any, onesided: Any,
    scaling: Any, axis: Any, average: Any
) -> Any:  # fmt: skip
    """The frequencies, and the mean of ``conj(X) * Y`` over segments (Welch, IEEE Transactions on Audio and
    Electroacoustics 15 (1967), 70).
    """
    if not onesided or average != "mean" or np.iscomplexobj(x) or np.iscomplexobj(y):
        raise ValueError(
            "spectra are only supported one-sided, of real numbers, with average='mean': leave options out"
        )
    if scaling not in ("density", "spectrum"):
        raise ValueError("the scaling of a spectrum is 'density' or 'spectrum'")
    weights, size, step, length = settings(fixed_int(x.shape[axis]), window, nperseg, noverlap, nfft)
    weights = weights.astype(inexact(x.dtype))
    first = np.fft.rfft(segments(np.moveaxis(x, axis, -1), size, step, detrend) * weights, length)
    second = first
    if y is not x:
        second = np.fft.rfft(segments(np.moveaxis(y, axis, -1), size, step, detrend) * weights, length)
    scale = 1.0 / (fs * np.sum(weights**2)) if scaling == "density" else 1.0 / np.sum(weights) ** 2
    k = np.arange(length // 2 + 1)
    doubled = np.where((k == 0) | (2 * k == length), 1.0, 2.0).astype(weights.dtype)
    spectrum = np.mean(np.conj(first) * second, axis=-2) * (scale * doubled)
    return np.fft.rfftfreq(length, 1.0 / fs), np.moveaxis(spectrum, -1, axis)


@_signal("csd")
def csd(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    average: Any = "mean"
) -> Any:  # fmt: skip
    """The cross power spectral density."""
    x, y = (array_like(x), array_like(y))
    if x.shape != y.shape:
        raise ValueError("a cross spectrum is only supported of two arrays of one shape: pad the shorter one")
    options = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    return _spectra(x, y, *options)


@_signal("welch")
def welch(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    average: Any = "mean"
) -> Any:  # fmt: skip
    """The power spectral density."""
    x = array_like(x)
    options = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    frequencies, spectrum = _spectra(x, x, *options)
    return frequencies, np.real(spectrum)


@_signal("periodogram")
def periodogram(
    x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1
) -> Any:  # fmt: skip
    """The power spectral density of all elements at once."""
    n = fixed_int(array_like(x).shape[axis])
    return welch(x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


@_signal("coherence")
def coherence(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", axis: Any = -1
) -> Any:  # fmt: skip
    """The squared magnitude of the cross spectrum by the spectra."""
    options = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    frequencies, ours = welch(x, *options)
    both = csd(x, y, *options)[1]
    return frequencies, (np.real(both) ** 2 + np.imag(both) ** 2) / ours / welch(y, *options)[1]


@_signal("resample")
def resample(x: Any, num: Any, t: Any = None, axis: Any = 0, window: Any = None, domain: Any = "time") -> Any:
    """Another number of samples of the trigonometric interpolant."""
    x = array_like(x)
    if t is not None or window is not None or domain != "time" or np.iscomplexobj(x):
        raise ValueError(
            "scipy.signal.resample is only supported of real numbers in time, without t and window: leave them out"
        )
    rows = np.moveaxis(x.astype(inexact(x.dtype)), axis, -1)
    n, num = fixed_int(rows.shape[-1]), fixed_int(num)
    half = min(n, num) // 2
    spectrum = with_length(np.fft.rfft(rows)[..., : half + 1], num // 2 + 1, -1)
    # Of an even number the term of the highest frequency stands for two, or for one of two.
    factor = 1.0 if min(n, num) % 2 == 1 or n == num else 0.5 if n < num else 2.0
    factors = np.where(np.arange(num // 2 + 1) == half, factor, 1.0) * (num / n)
    return np.moveaxis(np.fft.irfft(spectrum * factors.astype(rows.dtype), num), -1, axis)

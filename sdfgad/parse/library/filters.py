"""Filters of scipy.signal that are made of others: in sections, without phase, smoothing by polynomials, trends."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, inexact
from sdfgad.parse.library.images import convolve1d
from sdfgad.parse.library.signals import filtered
from sdfgad.parse.registry import definitions

_signal = definitions("scipy.signal")


# --- recursive filters


def _padded(x: Any, n: Any) -> Any:
    return np.concatenate((x, np.zeros(n - fixed_int(x.shape[0]), x.dtype)))


@_signal("lfilter_zi")
def lfilter_zi(b: Any, a: Any) -> Any:
    """The state of a filter that answers to a constant input of 1 by a constant output."""
    b, a = (np.atleast_1d(array_like(b)), np.atleast_1d(array_like(a)))
    n = max(fixed_int(a.shape[0]), fixed_int(b.shape[0]))
    b, a = (_padded(b / a[0], n), _padded(a / a[0], n))
    # The state z has z[k] = z[k + 1] + b[k + 1] - a[k + 1] y for a constant output y = z[0] + b[0].
    answer = np.sum(b) / np.sum(a)
    return np.flip(np.cumsum(np.flip(b[1:] - a[1:] * answer)))


@_signal("freqz")
def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: Any = False, plot: Any = None, fs: Any = 2 * np.pi,
    include_nyquist: Any = False
) -> Any:  # fmt: skip
    """The frequencies, and the response there: the quotient of two polynomials on the unit circle."""
    if plot is not None:
        raise ValueError("scipy.signal.freqz with plot is not supported: plot what it returns")
    b, a = (np.atleast_1d(array_like(b)), np.atleast_1d(array_like(a)))
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError("scipy.signal.freqz of several filters is not supported: call it for each")
    if worN is None or isinstance(worN, int):
        is_closed = include_nyquist and not whole
        angles = np.linspace(0, 2 * np.pi if whole else np.pi, 512 if worN is None else worN, endpoint=is_closed)
    else:
        angles = np.atleast_1d(array_like(worN)) * (2 * np.pi / fs)
    points = np.exp(-1j * angles)
    response = np.polyval(np.flip(b), points) / np.polyval(np.flip(a), points)
    return angles * (fs / (2 * np.pi)), response


@_signal("sosfilt")
def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """A filter in sections of second order."""
    if zi is not None:
        raise ValueError("scipy.signal.sosfilt with zi is not supported: call lfilter with zi for each section")
    sos, x = (array_like(sos), array_like(x))
    axis = axis_of(axis, x.ndim)
    rows = np.moveaxis(x, axis, 0)
    for k in range(fixed_int(sos.shape[0])):
        rows = filtered(sos[k, :3], sos[k, 3:], rows, None)
    return np.moveaxis(rows, 0, axis)


def extended(rows: Any, padtype: Any, edge: Any) -> Any:
    """Rows with as many more before and behind, mirrored at the ends."""
    if padtype not in ("odd", "even", "constant", None):
        raise ValueError("padtype is 'odd', 'even', 'constant' or None")
    if edge == 0 or padtype is None:
        return rows
    if fixed_int(rows.shape[0]) <= edge:
        raise ValueError("a filter without phase needs more elements than it adds at an end: pass a smaller padlen=")
    before, behind = np.flip(rows[1 : edge + 1], 0), np.flip(rows[-edge - 1 : -1], 0)
    if padtype == "odd":
        before, behind = 2 * rows[:1] - before, 2 * rows[-1:] - behind
    if padtype == "constant":
        before, behind = np.zeros_like(before) + rows[:1], np.zeros_like(behind) + rows[-1:]
    return np.concatenate((before, rows, behind), axis=0)


def _there_and_back(sections: Any, x: Any, axis: Any, padtype: Any, edge: Any) -> Any:
    """Filters one behind the other, then again in the other direction, each from its steady state."""
    axis = axis_of(axis, x.ndim)
    edge = 0 if padtype is None else edge
    rows = extended(np.moveaxis(x, axis, 0), padtype, edge)
    for _ in range(2):
        first, gain = rows[:1], 1.0
        for b, a in sections:
            state = np.reshape(lfilter_zi(b, a), (-1,) + (1,) * (x.ndim - 1))
            rows = filtered(b, a, rows, gain * state * first)
            gain = gain * np.sum(b) / np.sum(a)
        rows = np.flip(rows, 0)
    return np.moveaxis(rows[edge : rows.shape[0] - edge], 0, axis)


@_signal("filtfilt")
def filtfilt(
    b: Any, a: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None, method: Any = "pad",
    irlen: Any = None
) -> Any:  # fmt: skip
    """A filter without phase: forward, then backward."""
    if method != "pad":
        raise ValueError("scipy.signal.filtfilt with method='gust' is not supported: leave method out")
    b, a = (np.atleast_1d(array_like(b)), np.atleast_1d(array_like(a)))
    edge = 3 * max(fixed_int(a.shape[0]), fixed_int(b.shape[0])) if padlen is None else padlen
    return _there_and_back([(b, a)], array_like(x), axis, padtype, edge)


@_signal("sosfiltfilt")
def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """A filter without phase, in sections of second order."""
    sos = array_like(sos)
    count = fixed_int(sos.shape[0])
    if padlen is None:
        raise ValueError("scipy.signal.sosfiltfilt needs padlen= here, 6 * len(sos) + 3, say: write a number")
    sections = [(sos[k, :3], sos[k, 3:]) for k in range(count)]
    return _there_and_back(sections, array_like(x), axis, padtype, padlen)


# --- polynomials in windows


def _derivatives(t: Any, order: Any, deriv: Any) -> Any:
    """The derivatives of the powers 0 to `order` at some places, one power a column."""
    columns = []
    for k in range(order + 1):
        factor = 1.0
        for j in range(deriv):
            factor *= k - j
        columns.append(factor * t ** max(k - deriv, 0))
    return np.stack(columns, axis=1)


@_signal("savgol_filter")
def savgol_filter(
    x: Any, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, axis: Any = -1, mode: Any = "interp",
    cval: Any = 0.0
) -> Any:  # fmt: skip
    """Least-squares polynomials in moving windows (Savitzky and Golay, Analytical Chemistry 36 (1964), 1627)."""
    x = array_like(x)
    x = x.astype(inexact(x.dtype))
    width, order, axis = fixed_int(window_length), fixed_int(polyorder), axis_of(axis, x.ndim)
    if width % 2 == 0 or order >= width or (mode == "interp" and width > fixed_int(x.shape[axis])):
        raise ValueError("a Savitzky-Golay filter needs an odd window that is larger than the order, and not than x")
    half = width // 2
    places = np.arange(-half, half + 1).astype(np.float64)
    fit = np.linalg.pinv(np.vander(places, order + 1, increasing=True)) / delta**deriv
    whole = _derivatives(places, order, deriv) @ fit
    middle = np.flip(whole[half]).astype(x.dtype)
    if mode != "interp":
        return convolve1d(x, middle, axis, None, mode, cval)
    rows = np.moveaxis(x, axis, -1)
    inner = convolve1d(rows, middle, -1, None, "constant", 0.0)
    whole = whole.astype(x.dtype)
    start, end = rows[..., :width] @ whole[:half].T, rows[..., -width:] @ whole[half + 1 :].T
    smooth = np.concatenate((start, inner[..., half : inner.shape[-1] - half], end), axis=-1)
    return np.moveaxis(smooth, -1, axis)


@_signal("detrend")
def detrend(data: Any, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False) -> Any:
    """Without the mean, or the least-squares line."""
    x = array_like(data)
    x = x.astype(inexact(x.dtype))
    if type in ("constant", "c"):
        return x - np.mean(x, axis=axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError("the type of a trend is 'linear' or 'constant'")
    if np.ndim(bp) > 0 or bp != 0:
        raise ValueError("scipy.signal.detrend with break points is not supported: loop over the parts")
    rows = np.moveaxis(x, axis, -1)
    places = np.arange(rows.shape[-1]) - 0.5 * (rows.shape[-1] - 1)
    places = places.astype(x.dtype)
    slope = np.sum(places * rows, axis=-1, keepdims=True) / np.sum(places * places)
    return np.moveaxis(rows - np.mean(rows, axis=-1, keepdims=True) - slope * places, -1, axis)


@_signal("medfilt")
def medfilt(volume: Any, kernel_size: Any = 3) -> Any:
    """The median in a window, of a vector with zeros around it."""
    x = array_like(volume)
    width = fixed_int(kernel_size)
    if x.ndim != 1 or width % 2 == 0:
        raise ValueError("scipy.signal.medfilt is only supported for vectors and an odd window: loop over the rows")
    padded = np.pad(x, width // 2)
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=-1)

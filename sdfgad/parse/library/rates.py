"""Other rates of samples, of scipy.signal: filters between inserting zeros and leaving samples out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, inexact
from sdfgad.parse.library.filters import sosfilt, sosfiltfilt
from sdfgad.parse.registry import definitions

_signal = definitions("scipy.signal")
# SciPy's names of what is beyond the ends, and those of np.pad.
PADDING = {"constant": "constant", "edge": "edge", "symmetric": "symmetric", "reflect": "reflect", "wrap": "wrap"}
BACKGROUNDS = ("mean", "median", "minimum", "maximum")


def _filtered(rows: Any, h: Any, up: Any, down: Any, start: Any, count: Any, mode: Any, cval: Any) -> Any:
    """The samples `start`, ``start + down``, … of a filter after ``up - 1`` zeros behind each row (Crochiere and
    Rabiner, Multirate Digital Signal Processing (1983), section 3.3): the taps of one phase alone meet no zeros.
    """
    if mode not in PADDING:
        raise ValueError(
            "this mode beyond the ends is not supported: use 'constant', 'edge', 'symmetric', 'reflect' or 'wrap'"
        )
    n, taps = fixed_int(rows.shape[0]), -(-fixed_int(h.shape[0]) // up)
    h = np.concatenate((h, np.zeros(taps * up - fixed_int(h.shape[0]), h.dtype)))
    before = max(0, taps - 1 - start // up)
    behind = max(0, (start + (count - 1) * down) // up - n + 1)
    widths, kind = [(before, behind)] + [(0, 0)] * (rows.ndim - 1), PADDING[mode]
    padded = _padded(rows, widths, kind, cval)
    place = start + down * np.arange(count)
    total = np.zeros((count, *rows.shape[1:]), np.result_type(rows.dtype, h.dtype))
    for k in range(taps):
        weight = np.take(h, place % up + k * up)
        total += np.reshape(weight, (count,) + (1,) * (rows.ndim - 1)) * np.take(padded, before + place // up - k, 0)
    return total


def _padded(rows: Any, widths: Any, kind: Any, cval: Any) -> Any:
    return np.pad(rows, widths, kind, constant_values=cval) if kind == "constant" else np.pad(rows, widths, kind)


@_signal("upfirdn")
def upfirdn(h: Any, x: Any, up: Any = 1, down: Any = 1, axis: Any = -1, mode: Any = "constant", cval: Any = 0) -> Any:
    h, x = array_like(h), array_like(x)
    h, x, axis = h.astype(inexact(h.dtype)), x.astype(inexact(x.dtype)), axis_of(axis, x.ndim)
    rows, up, down = np.moveaxis(x, axis, 0), fixed_int(up), fixed_int(down)
    count = -(-((fixed_int(rows.shape[0]) - 1) * up + fixed_int(h.shape[0])) // down)
    return np.moveaxis(_filtered(rows, h, up, down, 0, count, mode, cval), 0, axis)


@_signal("resample_poly")
def resample_poly(
    x: Any, up: Any, down: Any, axis: Any = 0, window: Any = ("kaiser", 5.0), padtype: Any = "constant",
    cval: Any = None
) -> Any:  # fmt: skip
    """Without delay, by a low-pass filter of linear phase."""
    from scipy.signal import firwin

    if cval is not None and padtype != "constant":
        raise ValueError("cval of resample_poly goes with padtype='constant': leave one of them out")
    x = array_like(x)
    axis, common = axis_of(axis, x.ndim), math.gcd(fixed_int(up), fixed_int(down))
    up, down = fixed_int(up) // common, fixed_int(down) // common
    if up == down:
        return np.copy(x)
    x = x.astype(inexact(x.dtype))
    if isinstance(window, (str, tuple)):
        most = max(up, down)
        h = np.asarray(firwin(20 * most + 1, 1.0 / most, window=window)).astype(x.dtype)
    else:
        h = array_like(window)
    half, rows = (fixed_int(h.shape[0]) - 1) // 2, np.moveaxis(x, axis, 0)
    count = -(-fixed_int(rows.shape[0]) * up // down)
    mode, background = padtype, 0.0
    if padtype in BACKGROUNDS:
        of_rows: Any = {"mean": np.mean, "median": np.median, "minimum": np.min, "maximum": np.max}[padtype]
        mode, background = "constant", of_rows(rows, axis=0, keepdims=True)
        rows = rows - background
    result = _filtered(rows, up * h, up, down, half, count, mode, 0.0 if cval is None else cval)
    return np.moveaxis(result + background if padtype in BACKGROUNDS else result, 0, axis)


@_signal("decimate")
def decimate(x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: Any = -1, zero_phase: Any = True) -> Any:
    """Every q-th sample behind a low-pass filter: Chebyshev's of the first kind, or a window."""
    from scipy.signal import cheby1, firwin

    x, q = array_like(x), fixed_int(q)
    x = x.astype(inexact(x.dtype))
    if ftype == "iir":
        n = 8 if n is None else fixed_int(n)
        sos = np.asarray(cheby1(n, 0.05, 0.8 / q, output="sos")).astype(np.real(x).dtype)
        y = sosfiltfilt(sos, x, axis, padlen=3 * (n + 1)) if zero_phase else sosfilt(sos, x, axis)
        rows = np.moveaxis(y, axis, 0)[::q]
        return np.moveaxis(rows, 0, axis)
    if ftype != "fir":
        raise ValueError("ftype of decimate is 'iir' or 'fir': design another filter, and slice what filtfilt returns")
    b = np.asarray(firwin((20 * q if n is None else fixed_int(n)) + 1, 1.0 / q, window="hamming")).astype(x.dtype)
    if zero_phase:
        return resample_poly(x, 1, q, axis, b)
    rows = np.moveaxis(x, axis, 0)
    count = -(-fixed_int(rows.shape[0]) // q)
    return np.moveaxis(_filtered(rows, b, 1, q, 0, count, "constant", 0.0), 0, axis)

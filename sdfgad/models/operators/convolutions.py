"""Convolutions of any number of axes, in groups, with strides and dilations, and their transposes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.models.operators.windows import Array, columns, padded_sides, part, places, with_border


def conv(
    x: Array,
    w: Array,
    b: Array = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Array:
    """Convolution (cross-correlation): a product of the weights with all windows.

    Args:
        x: batch × channels × spatial axes.
        w: outputs × channels / group × spatial axes of the kernel.
        b: one number for each output.
    """
    size, axes = w.shape[2:], w.ndim - 2
    strides = (1,) * axes if strides is None else strides
    dilations = (1,) * axes if dilations is None else dilations
    x = with_border(x, padded_sides(x, size, strides, dilations, auto_pad, pads), 0.0)
    seen = columns(x, size, strides, dilations)
    steps, outputs = seen.shape[3:], w.shape[0]
    if group == 1:
        y = np.reshape(w, (outputs, -1)) @ np.reshape(seen, (x.shape[0], -1, int(np.prod(steps))))
    else:
        seen = np.reshape(seen, (x.shape[0], group, -1, int(np.prod(steps))))
        y = np.reshape(w, (group, outputs // group, -1)) @ seen
    y = np.reshape(y, (x.shape[0], outputs, *steps))
    return y if b is None else y + np.reshape(b, (-1, *((1,) * axes)))


def conv_transpose(
    x: Array,
    w: Array,
    b: Array = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    output_padding: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Array:
    """Transposed convolution: each element adds its multiple of the kernel to the output.

    Args:
        x: batch × channels × spatial axes.
        w: channels × outputs / group × spatial axes of the kernel.
        b: one number for each output.
    """
    size, axes, batch = w.shape[2:], w.ndim - 2, x.shape[0]
    strides = (1,) * axes if strides is None else strides
    dilations = (1,) * axes if dilations is None else dilations
    more = (0,) * axes if output_padding is None else output_padding
    pads = (0,) * (2 * axes) if pads is None else pads
    steps, outputs = x.shape[2:], w.shape[1] * group
    w = np.reshape(w, (group, w.shape[0] // group, -1))
    seen = np.swapaxes(w, 1, 2) @ np.reshape(x, (batch, group, w.shape[1], -1))
    seen = np.reshape(seen, (batch, outputs, int(np.prod(size)), *steps))
    reaches = [(steps[k] - 1) * strides[k] + (size[k] - 1) * dilations[k] + 1 for k in range(axes)]
    y = np.zeros((batch, outputs, *[reaches[k] + more[k] for k in range(axes)]), x.dtype)
    for k, place in enumerate(places(size)):
        y[part(place, steps, strides, dilations)] += seen[:, :, k]
    inside = [slice(pads[k], y.shape[k + 2] - pads[k + axes]) for k in range(axes)]
    y = y[(slice(None), slice(None), *inside)]
    return y if b is None else y + np.reshape(b, (-1, *((1,) * axes)))

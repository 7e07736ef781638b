"""Recurrent layers in ONNX's layout: time × batch × features, with weights for each direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

Array = Any


def _lstm_step(gates: Array, c: Array, hidden: int) -> tuple[Array, Array]:
    """The next output and cell state; gates in the order input, output, forget, cell."""
    i, o = expit(gates[:, :hidden]), expit(gates[:, hidden : 2 * hidden])
    f, g = expit(gates[:, 2 * hidden : 3 * hidden]), np.tanh(gates[:, 3 * hidden :])
    c = f * c + i * g
    return o * np.tanh(c), c


def _gru_step(x: Array, h: Array, r: Array, rb: Array, hidden: int, linear_before_reset: int) -> Array:
    """The next state; gates in the order update, reset, hidden, of which `x` has the inputs' part."""
    z = expit(x[:, :hidden] + h @ r[:hidden].T + rb[:hidden])
    reset = expit(x[:, hidden : 2 * hidden] + h @ r[hidden : 2 * hidden].T + rb[hidden : 2 * hidden])
    if linear_before_reset:
        n = np.tanh(x[:, 2 * hidden :] + reset * (h @ r[2 * hidden :].T + rb[2 * hidden :]))
    else:
        n = np.tanh(x[:, 2 * hidden :] + (reset * h) @ r[2 * hidden :].T + rb[2 * hidden :])
    return (1.0 - z) * n + z * h


def _directions(direction: str) -> tuple[int, ...]:
    """1 for each direction that runs forward in time, -1 for each that runs backward."""
    return {"forward": (1,), "reverse": (-1,), "bidirectional": (1, -1)}[direction]


def _start(initial: Array, k: int, x: Array, hidden: int) -> Array:
    """The state before the first step of a direction."""
    return np.zeros((x.shape[1], hidden), x.dtype) if initial is None else initial[k]


def _biases(b: Array, k: int, x: Array, gates: int) -> tuple[Array, Array]:
    """The biases of inputs and of states."""
    if b is None:
        return np.zeros(gates, x.dtype), np.zeros(gates, x.dtype)
    return b[k, :gates], b[k, gates:]


def lstm(
    x: Array,
    w: Array,
    r: Array,
    b: Array = None,
    sequence_lens: Any = None,
    initial_h: Array = None,
    initial_c: Array = None,
    *,
    direction: str = "forward",
    hidden_size: int,
    input_forget: int = 0,
) -> tuple[Array, Array, Array]:
    """Long short-term memory.

    Returns:
        All outputs (time × directions × batch × hidden), the last outputs, and the last cell states.
    """
    y, last_h, last_c = [], [], []
    ways, steps = _directions(direction), x.shape[0]
    for k in range(len(ways)):
        bias, more = _biases(b, k, x, 4 * hidden_size)
        gates = x @ w[k].T + (bias + more)
        h, c = _start(initial_h, k, x, hidden_size), _start(initial_c, k, x, hidden_size)
        every = np.empty((steps, x.shape[1], hidden_size), x.dtype)
        for t in range(steps)[:: ways[k]]:
            h, c = _lstm_step(gates[t] + h @ r[k].T, c, hidden_size)
            every[t] = h
        y.append(every)
        last_h.append(h)
        last_c.append(c)
    return np.stack(y, axis=1), np.stack(last_h), np.stack(last_c)


def gru(
    x: Array,
    w: Array,
    r: Array,
    b: Array = None,
    sequence_lens: Any = None,
    initial_h: Array = None,
    *,
    direction: str = "forward",
    hidden_size: int,
    linear_before_reset: int = 0,
) -> tuple[Array, Array]:
    """Gated recurrent unit; returns all outputs (time × directions × batch × hidden), and the last ones."""
    y, last_h = [], []
    ways, steps = _directions(direction), x.shape[0]
    for k in range(len(ways)):
        bias, more = _biases(b, k, x, 3 * hidden_size)
        gates, h = x @ w[k].T + bias, _start(initial_h, k, x, hidden_size)
        every = np.empty((steps, x.shape[1], hidden_size), x.dtype)
        for t in range(steps)[:: ways[k]]:
            h = _gru_step(gates[t], h, r[k], more, hidden_size, linear_before_reset)
            every[t] = h
        y.append(every)
        last_h.append(h)
    return np.stack(y, axis=1), np.stack(last_h)


def rnn(
    x: Array,
    w: Array,
    r: Array,
    b: Array = None,
    sequence_lens: Any = None,
    initial_h: Array = None,
    *,
    direction: str = "forward",
    hidden_size: int,
) -> tuple[Array, Array]:
    """Elman's network with tanh; returns all outputs (time × directions × batch × hidden), and the last ones."""
    y, last_h = [], []
    ways, steps = _directions(direction), x.shape[0]
    for k in range(len(ways)):
        bias, more = _biases(b, k, x, hidden_size)
        gates, h = x @ w[k].T + (bias + more), _start(initial_h, k, x, hidden_size)
        every = np.empty((steps, x.shape[1], hidden_size), x.dtype)
        for t in range(steps)[:: ways[k]]:
            h = np.tanh(gates[t] + h @ r[k].T)
            every[t] = h
        y.append(every)
        last_h.append(h)
    return np.stack(y, axis=1), np.stack(last_h)

"""Library calls that communicate, and their transposes: what programs that use mpi4py and derivative rules call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sdfgad.ir.program import MESSAGES, Buffer
from sdfgad.messages.host import Message, place_of
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.creation import zeros_like
from sdfgad.parse.registry import function
from sdfgad.parse.values import Index, Tensor, as_tensor, view_of

FLOAT, INT = np.dtype(np.float64), np.dtype(np.int64)
Shaped = tuple[Index, np.dtype[Any]]


def emit(
    b: Builder,
    kind: str,
    message: Message,
    inputs: Sequence[Tensor],
    results: Iterable[Shaped],
    numbers: Sequence[int] = (),
) -> list[Tensor]:
    """Communicates here: what the message gives. Statements that communicate keep their order.

    Args:
        numbers: further arguments of the rule.
    """
    if MESSAGES not in b.buffers:
        b.buffers[MESSAGES] = Buffer(MESSAGES, (), FLOAT)
    place, order, shapes = place_of(message), view_of(b.buffers[MESSAGES]), list(results)
    dtypes = [*(x.dtype for x in inputs), *(dtype for _, dtype in shapes)]
    is_real = message.has_transpose and (not dtypes or dtypes[0].kind in "fc")
    captured = b.capture("place", place, lambda: place)
    *found, after = b.call(
        f"message_{kind}", [captured, order, *inputs], [*shapes, ((), FLOAT)], [int(is_real), *numbers]
    )
    b.assign(order, after)
    return found


def like(x: Tensor) -> Shaped:
    return x.shape, x.dtype


def _wide(x: Any) -> Shaped:
    """The shape of a cotangent, which is in double precision."""
    x = as_tensor(x)
    return x.shape, np.result_type(x.dtype, np.float64)


def _given(b: Builder, bar: Any, x: Any) -> Tensor:
    return zeros_like(b, x) if bar is None else as_tensor(bar)


def _linked(b: Builder, name: str, inputs: Sequence[Any], shapes: Sequence[Shaped], sizes: Sequence[int]) -> Any:
    """A call in a rule, after the one that left `inputs[1]`: its results and what it leaves itself."""
    return tuple(b.call(f"message_{name}", map(as_tensor, inputs), [*shapes, ((), FLOAT)], sizes))


# --- what rules call. Each takes where the message is, what the call before it left, and arrays; those called `like_`
# give shapes alone.


def share_back(place: Any, before: Any, bar: Any, like_y: Any, like_x: Any) -> Any:
    """The cotangents of what all ranks share."""
    raise NotImplementedError


def exchange_back(place: Any, before: Any, bar: Any, tag: Any, like_x: Any, like_y: Any) -> Any:
    """The cotangents of what is sent, and of what is in the buffer."""
    raise NotImplementedError


def send_back(place: Any, before: Any, like_x: Any) -> Any:
    """The cotangent of what is sent: it is received."""
    raise NotImplementedError


def receive_back(place: Any, before: Any, bar: Any, tag: Any, like_y: Any) -> Any:
    """The cotangent of what is in the buffer; that of what is received is sent."""
    raise NotImplementedError


def signal_back(place: Any, before: Any) -> Any:
    """The transpose of what has no values: a wait is a start, and the other way round."""
    raise NotImplementedError


@function(share_back)
def _share_back(b: Builder, place: Any, before: Any, bar: Any, like_y: Any, like_x: Any) -> Any:
    return _linked(b, "share_back", [place, before, _given(b, bar, like_y)], [_wide(like_x)], ())


@function(exchange_back)
def _exchange_back(b: Builder, place: Any, before: Any, bar: Any, tag: Any, like_x: Any, like_y: Any) -> Any:
    inputs = [place, before, _given(b, bar, like_y), tag]
    return _linked(b, "exchange_back", inputs, [_wide(like_x), _wide(like_y)], ())


@function(send_back)
def _send_back(b: Builder, place: Any, before: Any, like_x: Any) -> Any:
    return _linked(b, "send_back", [place, before], [_wide(like_x)], ())


@function(receive_back)
def _receive_back(b: Builder, place: Any, before: Any, bar: Any, tag: Any, like_y: Any) -> Any:
    return _linked(b, "receive_back", [place, before, _given(b, bar, like_y), tag], [_wide(like_y)], ())


@function(signal_back)
def _signal_back(b: Builder, place: Any, before: Any) -> Any:
    return _linked(b, "signal_back", [place, before], [], ())[0]

"""Adjoints of communication: the transposed communication, which always happens, as it does on the other ranks.

`before` and `after` are the places of a call in the order of messages. In the reverse sweep `after_bar` is what the
transpose that ran before has left. What the rules read of values is their shapes alone.
"""

from __future__ import annotations

from typing import Any

from sdfgad.parse.functions.messages import (
    exchange_back,
    receive_back,
    send_back,
    share_back,
    signal_back,
)
from sdfgad.rules.library import call_rule


@call_rule("message_share")
def _share(place: Any, before: Any, x: Any, y: Any, after: Any, y_bar: Any, after_bar: Any, is_real: Any) -> Any:
    if not is_real:
        return None, after_bar, None
    x_bar, then = share_back(place, after_bar, y_bar, y, x)
    return None, then, x_bar


@call_rule("message_exchange")
def _exchange(
    place: Any,
    before: Any,
    x: Any,
    old: Any,
    y: Any,
    tag: Any,
    after: Any,
    y_bar: Any,
    tag_bar: Any,
    after_bar: Any,
    is_real: Any,
    is_any_tag: Any,
) -> Any:
    if not is_real:
        return None, after_bar, None, None
    x_bar, old_bar, then = exchange_back(place, after_bar, y_bar, tag if is_any_tag else 0, x, y)
    return None, then, x_bar, old_bar


@call_rule("message_send")
def _send(place: Any, before: Any, x: Any, after: Any, after_bar: Any, is_real: Any) -> Any:
    if not is_real:
        return None, after_bar, None
    x_bar, then = send_back(place, after_bar, x)
    return None, then, x_bar


@call_rule("message_receive")
def _receive(
    place: Any,
    before: Any,
    old: Any,
    y: Any,
    tag: Any,
    after: Any,
    y_bar: Any,
    tag_bar: Any,
    after_bar: Any,
    is_real: Any,
    is_any_tag: Any,
) -> Any:
    if not is_real:
        return None, after_bar, None
    old_bar, then = receive_back(place, after_bar, y_bar, tag if is_any_tag else 0, y)
    return None, then, old_bar


@call_rule("message_signal")
def _signal(place: Any, before: Any, after: Any, after_bar: Any, is_real: Any) -> Any:
    return None, signal_back(place, after_bar) if is_real else after_bar

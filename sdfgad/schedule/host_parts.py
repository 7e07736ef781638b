"""What the host does in the program of a device but launches: loops, library functions and boxes between copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Statement, blocks_of
from sdfgad.schedule.kernels import Form, form_of
from sdfgad.schedule.launches import is_transfer, launches


def host_parts(block: Block, buffers: Mapping[str, Buffer]) -> Iterator[Statement]:
    """The outermost statements over arrays that run on the host as a whole, of a program whose buffers are placed."""
    for launch in launches(block, buffers):
        (first, *_) = launch.statements
        if launch.form is not Form.HOST or form_of(first, buffers) in (Form.LIBRARY, Form.PRODUCT):
            continue
        if isinstance(first, Loop | Branch) and _uses_device(first, buffers):
            for inner in blocks_of(first):
                yield from host_parts(inner, buffers)
        elif isinstance(first, Loop | Call) or (isinstance(first, Compute) and _is_box(first, buffers)):
            yield first


def _uses_device(statement: Loop | Branch, buffers: Mapping[str, Buffer]) -> bool:
    return any(buffers[name].is_on_device for name in statement.mentioned)


def _is_box(statement: Compute, buffers: Mapping[str, Buffer]) -> bool:
    return bool(statement.params) and not is_transfer(statement, buffers)

"""CUDA graphs: which loops of launches enqueue the same whenever their arrays, integers and numbers are the same.

The host takes some microseconds for each launch of such a loop. The runtime records what a loop enqueues and replays it
as one graph (`runtime/gpu/graphs.h`), without running the loop: so that must neither wait for the device nor leave
anything on the host. Tables of the host are compared by their elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sdfgad.ir.program import Block, Buffer, Call, Loop, Statement, blocks_of, buffers_of, walk, written
from sdfgad.schedule.kernels import Form
from sdfgad.schedule.launches import is_transfer, launches

# Functions of libraries that enqueue the same in each call. Those of linear algebra may wait for the device.
TRANSFORMS = {"fourier", "real_fourier", "half_fourier"}


def is_replayable(block: Block, buffers: Mapping[str, Buffer], outside: Collection[str]) -> bool:
    """Whether a block has loops of launches, and all that it enqueues can be replayed.

    Args:
        outside: the buffers that other statements use, too.
    """
    on_host = list(_on_host(block, buffers))
    found, changed = {name for one in walk(block) for name in buffers_of(one)}, written(block)
    of_host = {name for name in found if not buffers[name].is_on_device}
    return (
        any(isinstance(one, Loop) for one in on_host)
        and of_host < found
        and all(_is_same(one, buffers) for one in on_host)
        and of_host.isdisjoint(changed & set(outside))
        and all(buffers[name].is_single for name in of_host & changed)
    )


def _on_host(block: Block, buffers: Mapping[str, Buffer]) -> Iterator[Statement]:
    """The statements that the host runs, and those in them."""
    for launch in launches(block, buffers):
        for statement in launch.statements if launch.form is Form.HOST else ():
            yield statement
            for inner in blocks_of(statement):
                yield from _on_host(inner, buffers)


def _is_same(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement, without those in it, enqueues the same whenever the host's numbers are the same."""
    if isinstance(statement, Call):
        return statement.name in TRANSFORMS
    return not is_transfer(statement, buffers) and not (isinstance(statement, Loop) and statement.is_open)

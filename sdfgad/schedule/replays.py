"""CUDA graphs: which loops of launches enqueue the same whenever their arrays, integers and numbers are the same.

The host takes some microseconds for each launch of such a loop. The runtime records what a loop enqueues and replays it
as one graph (`runtime/gpu/graphs.h`), without running the loop: so that must neither wait for the device nor leave
anything on the host.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.ir.program import Block, Buffer, Call, Loop, Statement, buffers_of, walk, written
from sdfgad.schedule.kernels import Form
from sdfgad.schedule.launches import is_transfer, launches

# Functions of libraries that enqueue the same in each call. Those of linear algebra may wait for the device.
TRANSFORMS = {"fourier", "real_fourier", "half_fourier"}


def is_replayable(block: Block, buffers: Mapping[str, Buffer], outside: Collection[str]) -> bool:
    """Whether a block has loops of launches, and all that it enqueues can be replayed.

    Args:
        outside: the buffers that other statements use, too.
    """
    by_the_host = [s for launch in launches(block, buffers) if launch.form is Form.HOST for s in launch.statements]
    has_loops = any(isinstance(one, Loop) for one in walk(tuple(by_the_host)))
    found, changed = {name for one in walk(block) for name in buffers_of(one)}, written(block)
    on_host = {name for name in found if not buffers[name].is_on_device}
    return (
        has_loops
        and on_host < found
        and all(_is_same(one, buffers) for one in walk(block))
        and all(buffers[name].is_single for name in on_host)
        and on_host.isdisjoint(changed & set(outside))
    )


def _is_same(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement, without those in it, enqueues the same whenever the host's numbers are the same."""
    if isinstance(statement, Call):
        return statement.name in TRANSFORMS
    return not is_transfer(statement, buffers) and not (isinstance(statement, Loop) and statement.is_open)

"""Kernel forms: how the points of one statement are mapped to the threads of a GPU.

Nothing here depends on a device but on numbers of points alone, so that sums do not change from device to device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Params, Statement, blocks_of, computes, walk
from sdfgad.schedule.device_library import has_device_form
from sdfgad.schedule.device_sums import RESIDENT, SHORT, Sum, is_order_free, points
from sdfgad.schedule.products import matrix_product_of
from sdfgad.schedule.stores import is_sometimes

# A statement of at most so many points, whose points must run in order, is left to one thread of the device.
SERIAL = 1 << 8
# Contributions that one block of threads sorts out: places and values of all of them fill its shared memory.
FEWEST_ORDERED, ORDERED = 4, 1 << 11


class Form(Enum):
    """The kernel form of a statement.

    Attributes:
        POINTS: a thread for each element of the target; it adds up what is summed. Or a thread for each point, which
            combines its value with the element by an atomic operation, where the order of these does not matter.
        BLOCK: a block of threads for each element, whose sum is a tree in shared memory: reads run along what is
            summed, so that the threads of a block read neighbours.
        ORDERED: a scatter of few contributions to elements that data chooses. In one block of threads, that of the
            first contribution to an element adds up all of them, in order.
        SERIAL: one thread, in order.
        SEQUENCE: a sequential loop in one block of threads, with barriers between its steps.
        PRODUCT: a product of matrices (GEMM) by a library.
        LIBRARY: another function of a library.
        HOST: none; the statement runs on the host.
    """

    POINTS = auto()
    BLOCK = auto()
    ORDERED = auto()
    SERIAL = auto()
    SEQUENCE = auto()
    PRODUCT = auto()
    LIBRARY = auto()
    HOST = auto()


@dataclass(frozen=True)
class PointLoop:
    """A nest of parallel loops around statements for one point.

    Attributes:
        own: the counters and their extents, outermost first; the last one runs along memory.
        body: what a thread does, in order.
        guards: counters whose extents depend on those before them, with these; `own` has the largest ones.
        shared: the buffers that threads combine their values with by atomic operations.
    """

    own: Params
    body: Block
    guards: Params = ()
    shared: frozenset[str] = frozenset()


@lru_cache(maxsize=10_000)
def point_loop(loop: Loop, private: frozenset[str]) -> PointLoop | None:
    """The nest of a loop if each of its points can be a thread: no two touch what one of them changes.

    Args:
        private: numbers of which each point has its own.
    """
    own: list[tuple[str, Lin]] = []
    block: Block = (loop,)
    while len(block) == 1 and isinstance(block[0], Loop) and block[0].is_parallel:
        one = block[0]
        if one.is_open or one.backward or one.start != Lin(0):
            return None
        own.append((one.var, one.trips))
        block = one.body
    if not own or not all(map(is_for_one_thread, block)):
        return None
    names = {name for name, _ in own}
    guards = tuple((name, extent) for name, extent in own if not names.isdisjoint(extent.symbols))
    ranges = {name: (Lin(0), extent) for name, extent in own}
    largest = {name: longest_extent(extent, ranges) for name, extent in guards}
    if None in largest.values():
        return None
    shared = frozenset[str]()
    if not can_be_threads(loop, own, private):
        shared = _combined(block) - private
        if not shared or not can_be_threads(loop, own, private | shared):
            return None
    box = tuple((name, largest.get(name) or extent) for name, extent in own)
    return PointLoop(box, block, guards, shared)


def can_be_threads(loop: Loop, counters: Iterable[tuple[str, Lin]], apart: frozenset[str] = frozenset()) -> bool:
    """Whether no two points of some counters in a nest meet in an element that one of them changes, but `apart`."""
    uses = [use.as_write for use in uses_of(loop) if use.buffer not in apart]
    return all(are_independent(uses, name) for name, _ in counters)


def _combined(body: Block) -> frozenset[str]:
    """The buffers that statements only combine values with, in one way, and in any order."""
    kinds: dict[str, set[str | None]] = {}
    for one in computes(body):
        kinds.setdefault(one.target.buffer, set()).add(one.accumulate if is_order_free(one) else None)
    read = {r.buffer for one in walk(body) for r in one.read}
    return frozenset(name for name, kind in kinds.items() if len(kind) == 1 and None not in kind and name not in read)


def is_for_one_thread(statement: Statement) -> bool:
    """Whether a statement is for one element, or for elements whose number is data, or in order, or contains such."""
    if isinstance(statement, Loop | Branch):
        is_sequential = isinstance(statement, Branch) or not statement.is_parallel
        return is_sequential and all(all(map(is_for_one_thread, block)) for block in blocks_of(statement))
    if not isinstance(statement, Compute):
        return False
    box = Sum(statement)
    is_ragged = not all(extent.is_affine for extent in box.extents.values())
    return not box.own or is_ragged or (not box.order.is_injective and not statement.fresh)


def longest_extent(extent: Lin, ranges: Mapping[str, tuple[Lin, Lin]]) -> Lin | None:
    """The largest value of an extent that is affine in counters with a start and a number of trips; None if unknown."""
    for _ in range(len(ranges) + 1):
        found = next((name for name in sorted(extent.symbols) if name in ranges), None)
        if found is None:
            return extent if extent.is_const else None
        start, trips = ranges[found]
        if not extent.is_affine or not extent.coefficient(found):
            return None
        extent = extent.substitute({found: start + trips - 1 if extent.coefficient(found) > 0 else start})
    return None


def points_of(statement: Statement, private: frozenset[str]) -> PointLoop:
    """The points of a statement of that form, a loop or not."""
    if isinstance(statement, Loop):
        found = point_loop(statement, private)
        assert found is not None
        return found
    assert isinstance(statement, Compute)
    box = Sum(statement)
    rest = tuple((name, extent) for name, extent in statement.params if name not in box.own)
    shared = frozenset((statement.target.buffer,)) if box.is_atomic else frozenset[str]()
    one = replace(statement, params=rest)
    return PointLoop(tuple((name, box.extents[name]) for name in box.own), (one,), shared=shared)


def private_of(statement: Statement, buffers: Mapping[str, Buffer]) -> frozenset[str]:
    """The numbers of which each point of a kernel has its own, in a program whose buffers are placed."""
    numbers = (buffers[name] for name in statement.written) if isinstance(statement, Loop) else ()
    return frozenset(b.name for b in numbers if b.is_single and not b.is_on_device)


def form_of(statement: Statement, buffers: Mapping[str, Buffer], private: frozenset[str] = frozenset()) -> Form:
    """The form of the kernel that runs a statement; `private`: numbers of which each point of a loop has its own."""
    if isinstance(statement, Loop) and statement.is_in_block:
        return Form.SEQUENCE
    if isinstance(statement, Loop):
        return Form.POINTS if point_loop(statement, private) is not None else Form.HOST
    if isinstance(statement, Call):
        return Form.LIBRARY if has_device_form(statement) else Form.HOST
    if not isinstance(statement, Compute):
        return Form.HOST
    if not statement.params:
        return Form.SERIAL
    if is_product(statement, buffers):
        return Form.PRODUCT
    box = Sum(statement)
    if box.is_atomic:
        return Form.POINTS
    is_read = any(read.buffer == statement.target.buffer for read in statement.read)
    if not box.order.is_injective or (box.summed and (is_read or statement.accumulate is None)):
        total = points(list(box.extents.values()))
        if total is not None and FEWEST_ORDERED <= total <= ORDERED and _is_scatter(statement, buffers):
            return Form.ORDERED
        return Form.SERIAL if total is not None and total <= SERIAL else Form.HOST
    if box.summed and box.is_along and (box.terms is None or box.terms >= SHORT):
        return Form.BLOCK
    return Form.POINTS


def _is_scatter(statement: Compute, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement only combines values, which do not depend on each other, with elements of an array."""
    is_read = any(read.buffer == statement.target.buffer for read in statement.read)
    is_always = not is_sometimes(statement, buffers[statement.target.buffer].dtype)
    return statement.accumulate is not None and not statement.fresh and not is_read and is_always


def is_product(statement: Compute, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a library multiplies matrices that are worth a launch each."""
    product = matrix_product_of(statement, buffers)
    if product is None:
        return False
    # cuBLAS has no flag that conjugates a matrix that is not transposed.
    layouts = (product.layout(product.a, product.m, product.k), product.layout(product.b, product.k, product.n))
    is_supported = all(layout is not None and layout[1] != "ConjNoTrans" for layout in layouts)
    return is_supported and (not product.batch or product.work >= RESIDENT)

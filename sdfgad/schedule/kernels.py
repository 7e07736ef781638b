"""Kernel forms: how the points of one statement are mapped to the threads of a GPU.

Nothing here depends on a device but on numbers of points alone, so that sums do not change from device to device.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum, auto
from functools import cached_property

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Buffer, Compute
from sdfgad.schedule.loop_order import Order, order_of
from sdfgad.schedule.products import matrix_product_of

# The threads of a block.
BLOCK = 256
# The threads that run at the same time on a large device, as a power of two.
RESIDENT = 1 << 17
# A sum of fewer terms is left to one thread, even where it reads across the threads.
SHORT = 32
# A statement of at most so many points, whose points must run in order, is left to one thread of the device.
SERIAL = 1 << 12


class Form(Enum):
    """The kernel form of a statement.

    Attributes:
        POINTS: a thread for each element of the target; it adds up what is summed.
        BLOCK: a block of threads for each element, whose sum is a tree in shared memory: reads run along what is
            summed, so that the threads of a block read neighbours.
        SERIAL: one thread, in order.
        PRODUCT: a product of matrices (GEMM) by a library.
        HOST: none; the statement runs on the host.
    """

    POINTS = auto()
    BLOCK = auto()
    SERIAL = auto()
    PRODUCT = auto()
    HOST = auto()


class Sum:
    """The parameters of a statement on a device.

    Attributes:
        order: the loop order on a CPU, whose innermost parameter runs along memory.
        own: those that select the target, of which the last runs along memory.
        summed: the others.
    """

    def __init__(self, statement: Compute) -> None:
        self.order: Order = order_of(statement)
        self.extents = dict(statement.params)
        is_sum = statement.accumulate is not None
        self.own = self.order.own if is_sum else (*(n for n in self.extents if n not in self.order.own), *self.order.own)
        self.summed = tuple(n for n in (*self.order.outer, *self.order.inner) if n not in self.own)

    @cached_property
    def elements(self) -> int | None:
        """The number of elements of the target; None if it is not known."""
        return points([self.extents[name] for name in self.own])

    @cached_property
    def terms(self) -> int | None:
        """The number of terms of each sum; None if it is not known."""
        return points([self.extents[name] for name in self.summed])

    @property
    def is_along(self) -> bool:
        """Whether reads run along memory with what is summed."""
        return bool(self.order.inner)


def points(extents: list[Lin]) -> int | None:
    """The number of points of a box; None if it is not known."""
    return math.prod(max(extent.const, 0) for extent in extents) if all(e.is_const for e in extents) else None


def form_of(statement: Compute, buffers: Mapping[str, Buffer]) -> Form:
    """The form of the kernel that runs a statement."""
    if not statement.params:
        return Form.SERIAL
    if is_product(statement, buffers):
        return Form.PRODUCT
    box = Sum(statement)
    is_read = any(read.buffer == statement.target.buffer for read in statement.read)
    if not box.order.is_injective or (box.summed and (is_read or statement.accumulate is None)):
        total = points(list(box.extents.values()))
        return Form.SERIAL if total is not None and total <= SERIAL else Form.HOST
    if box.summed and box.is_along and (box.terms is None or box.terms >= SHORT):
        return Form.BLOCK
    return Form.POINTS


def is_product(statement: Compute, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a library multiplies matrices that are worth a launch each."""
    product = matrix_product_of(statement, buffers)
    if product is None:
        return False
    # cuBLAS has no flag that conjugates a matrix that is not transposed.
    layouts = (product.layout(product.a, product.m, product.k), product.layout(product.b, product.k, product.n))
    is_supported = all(layout is not None and layout[1] != "ConjNoTrans" for layout in layouts)
    return is_supported and (not product.batch or product.work >= RESIDENT)

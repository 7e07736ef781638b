"""How one `Compute` runs: which parameters become a map, which become loops inside the tasklet, and its C++ code.

Each element of the target is written by one point of the map where that is provable, and then the map may be
parallel. Parameters that are summed over are loops inside the tasklet, with the total in a register, unless the
target's own parameters run along memory: then the summed ones go outside, and the map is sequential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdfgad.ir.expr import Lin, Read, postorder
from sdfgad.ir.program import Access, Buffer, Compute
from sdfgad.schedule.loop_order import is_single, order_of
from sdfgad.schedule.products import Product, product_of
from sdfgad.schedule.work import PARALLEL_WORK
from sdfgad.targets.cpu.blas import call_text, environment_name
from sdfgad.targets.cpu.cpp import COMBINE, Writer, converted, cpp_type


@dataclass(frozen=True)
class Kernel:
    """A tasklet and the map around it.

    Attributes:
        outer: the map's parameters, outermost first.
        inner: the parameters of loops inside the tasklet; `code` has ``{name}`` for their extents.
        parallel: whether the map's points may run at the same time, and are worth it.
        inputs: connector -> whether it sees the whole buffer (True) or one element (False).
        output: the output connector, likewise.
        code: the tasklet's C++.
        accesses: connector -> what it reads.
        environments: libraries that the code calls.
    """

    outer: tuple[str, ...]
    inner: tuple[str, ...]
    parallel: bool
    inputs: Mapping[str, bool]
    output: tuple[str, bool]
    code: str
    accesses: Mapping[str, Access]
    environments: tuple[str, ...] = ()


def kernel_of(statement: Compute, buffers: Mapping[str, Buffer]) -> Kernel:
    """The kernel of a statement."""
    product = product_of(statement, buffers)
    if product is not None:
        return _product_kernel(statement, product, buffers)
    order = order_of(statement)
    is_parallel = order.is_injective and set(order.outer) <= set(order.own)
    return _Code(statement, buffers, order.outer, order.inner, is_parallel).kernel()


def _product_kernel(statement: Compute, product: Product, buffers: Mapping[str, Buffer]) -> Kernel:
    """Calls of BLAS on whole buffers."""
    names = tuple(name for name, _ in statement.params)
    code = _Code(statement, buffers, (), names, True)
    scalar = cpp_type(statement.value.dtype)
    alpha = " * ".join([*(code.writer.value(factor) for factor in product.alpha), f"{scalar}(1)"])
    connectors = [code.connector(Access(o.access.buffer), True) for o in (product.a, product.b)] + ["out_"]
    operands = (product.a, product.b, product.c)
    pointers = [f"sdfgad::own({c}) + ({code.writer.form(o.offset)})" for c, o in zip(connectors, operands, strict=True)]
    texts = {name: f"{{{name}}}" for name in names}
    call = call_text(product, scalar, f"({alpha})", texts, (pointers[0], pointers[1], pointers[2]))
    return code.finish([call], ("out_", True), (environment_name(),))


def only_element(buffer: Buffer) -> Access:
    return Access(buffer.name, tuple(Lin(0) for _ in buffer.shape))


class _Code:
    """Builds the tasklet of one statement."""

    def __init__(
        self,
        statement: Compute,
        buffers: Mapping[str, Buffer],
        outer: tuple[str, ...],
        inner: tuple[str, ...],
        injective: bool,
    ) -> None:
        self.statement, self.buffers = statement, buffers
        self.outer, self.inner, self.injective = outer, inner, injective
        self.connectors: dict[tuple[Access, bool], str] = {}
        self.writer = Writer(self._read)

    def kernel(self) -> Kernel:
        statement = self.statement
        value = self.writer.value(statement.value)
        lines = self._assigned(value) if not self.inner else self._summed(value)
        return self.finish(lines, ("out_", not self._is_point(statement.target)))

    def finish(self, lines: list[str], output: tuple[str, bool], environments: tuple[str, ...] = ()) -> Kernel:
        accesses = {name: access for (access, _), name in self.connectors.items()}
        inputs = {name: whole for (_, whole), name in self.connectors.items()}
        parallel = self._is_worth()
        return Kernel(self.outer, self.inner, parallel, inputs, output, "\n".join(lines), accesses, environments)

    def _assigned(self, value: str) -> list[str]:
        target = self._out()
        if self.statement.accumulate:
            old = self._old(target)
            value = COMBINE[self.statement.accumulate].format(old, value)
        return [*self.writer.lines, f"{target} = {value};"]

    def _summed(self, value: str) -> list[str]:
        """Loops with the total in a register; sums may be reordered to use vector instructions."""
        kind, target = self.statement.accumulate, self._out()
        statement_dtype = self.buffers[self.statement.target.buffer].dtype
        total = cpp_type(statement_dtype)
        lines = [f"{total} total_ = {self._old(target)};"]
        for name in self.inner:
            if name == self.inner[-1] and kind == "add" and statement_dtype.kind != "c":
                lines.append("#pragma omp simd reduction(+ : total_)")
            lines.append(f"for (int64_t {name} = 0; {name} < {{{name}}}; ++{name}) {{{{")
        body = [line.replace("{", "{{").replace("}", "}}") for line in self.writer.lines]
        step = COMBINE[kind].format("total_", value)
        return [*lines, *body, f"total_ = {step};", "}} " * len(self.inner), f"{target} = total_;"]

    def _out(self) -> str:
        return "out_" if self._is_point(self.statement.target) else f"out_[{self._offset(self.statement.target)}]"

    def _old(self, target: str) -> str:
        if target != "out_":
            return target
        return self.connector(self.statement.target, False)

    def _is_worth(self) -> bool:
        if not self.injective or not self.outer:
            return False
        work = sum(1 for _ in postorder(self.statement.value))
        for _name, extent in self.statement.params:
            work *= extent.const if extent.is_const else 1
        return work >= PARALLEL_WORK

    def _read(self, node: Read) -> str:
        """A complex number comes as DaCe's type and is used as ours."""
        text = self._element(node)
        return converted(text, node.dtype) if node.dtype.kind == "c" else text

    def _element(self, node: Read) -> str:
        access = Access(node.buffer, node.index)
        if self._is_point(access):
            return self.connector(access, False)
        return f"{self.connector(Access(node.buffer), True)}[{self._offset(access)}]"

    def connector(self, access: Access, whole: bool) -> str:
        if is_single(self.buffers[access.buffer]):
            access, whole = only_element(self.buffers[access.buffer]), False
        key = (access, whole)
        if key not in self.connectors:
            self.connectors[key] = f"in{len(self.connectors)}_"
        return self.connectors[key]

    def _is_point(self, access: Access) -> bool:
        """Whether the element is the same for all of the tasklet and its index is linear in symbols.

        DaCe passes the only element of a buffer by value, whatever its index.
        """
        return is_single(self.buffers[access.buffer]) or all(
            isinstance(a, str) and a not in self.inner for lin in access.index for a, _ in lin.terms
        )

    def _offset(self, access: Access) -> str:
        """The element's position in memory, row by row."""
        shape = self.buffers[access.buffer].shape
        parts: list[str] = []
        stride = "1"
        for lin, extent in reversed(list(zip(access.index, shape, strict=True))):
            text = self.writer.form(lin)
            parts.append(f"({text})" if stride == "1" else f"({text}) * {stride}")
            stride = f"({extent})" if stride == "1" else f"{stride} * ({extent})"
        return " + ".join(reversed(parts)) or "0"

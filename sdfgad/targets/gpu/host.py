"""Host code of a GPU program: the function of an outermost statement, which launches kernels and copies.

Loops over time and branches run on the host. Arrays of the device are pointers that the host passes on and never
follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sdfgad.emulated import is_emulated
from sdfgad.ir.expr import Read
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Loop, Statement, buffers_of, walk, written
from sdfgad.schedule.kernels import Form
from sdfgad.schedule.launches import Launch, is_transfer, launches
from sdfgad.schedule.products import Operand, Product, product_of
from sdfgad.schedule.replays import is_replayable
from sdfgad.schedule.stores import is_sometimes
from sdfgad.targets.cpu.cpp import Writer, cpp_type
from sdfgad.targets.cpu.nests import Nest, NestWriter
from sdfgad.targets.cpu.slot_checks import SlotChecks
from sdfgad.targets.gpu.guarded import GuardedWriter, predicated
from sdfgad.targets.gpu.kernels import Kernel, kernel_of
from sdfgad.targets.gpu.threads import head, product_text

FLAGS = {"NoTrans": 0, "Trans": 1, "ConjTrans": 2}


def device_nest_of(
    block: Block,
    name: str,
    buffers: Mapping[str, Buffer],
    outside: Iterable[str],
    bounds: Iterable[str],
    kernels: list[Kernel],
) -> Nest:
    """The function of a block, as `nest_of` has it for a CPU.

    Args:
        kernels: those of the program so far, whose positions are their numbers; those of the block are appended.
    """
    checks = SlotChecks(block, buffers, frozenset(bounds))
    return _HostNest(buffers, name, frozenset(outside), checks, kernels=kernels).made(block)


@dataclass
class _HostNest(NestWriter):
    kernels: list[Kernel] = field(default_factory=list, kw_only=True)

    def made(self, block: Block) -> Nest:
        found = sorted({name for s in walk(block) for name in buffers_of(s)})
        changed = written(block)
        passed = [name for name in found if name in self.outside]
        integers = self.integers(block, found)
        start = [line for name in found if name not in self.outside for line in self.variable(name)]
        lines = self.block(block, [])
        if is_replayable(block, self.buffers, self.outside):
            lines = self.replayed(lines, [*map(self.key, passed), *integers])
        text = self.function(self.name, passed, changed, integers, [*start, *lines])
        code = "\n".join([*self.functions, text])
        writes, headers = frozenset(changed.intersection(passed)), ("device.h", *self.headers)
        return Nest(self.name, code, tuple(passed), writes, tuple(integers), headers, self.uses_blas)

    @staticmethod
    def replayed(lines: list[str], key: list[str]) -> list[str]:
        """The launches of a loop as a CUDA graph, for each value of all that it is passed."""
        return ["sdfgad::device::replayed([&] {", *lines, f"}}, {', '.join(key)});"]

    def key(self, name: str) -> str:
        """What a replay depends on: a number, where an array of the device is, or the elements of one of the host."""
        buffer = self.buffers[name]
        if buffer.is_single or buffer.is_on_device:
            return f"b_{name}_"
        return f"sdfgad::device::elements(b_{name}_, {product_text(self.writer(), buffer.shape)})"

    def variable(self, name: str) -> list[str]:
        """The declaration of what only this function uses; a number is 0 before it is assigned."""
        assert not self.buffers[name].is_on_device, name
        is_single = self.buffers[name].is_single
        return [f"{self.type(name)} b_{name}_{{}};"] if is_single else [self.declared(name)]

    def parameter(self, name: str, is_changed: bool) -> tuple[str, list[str], list[str]]:
        if self.buffers[name].is_on_device:
            return f"{self.type(name)}* b_{name}_", [], []
        return super().parameter(name, is_changed)

    def writer(self) -> Writer:
        """Of a side of a choice that is not chosen nothing is read: passes for devices rely on that."""
        writer = GuardedWriter(lambda node: self.read(node, writer), self.writer)
        return writer

    # --- statements

    def block(self, block: Block, scalars: list[str]) -> list[str]:
        lines: list[str] = []
        for launch in launches(block, self.buffers):
            for statement in launch.statements:
                lines += self.checked(statement)
            lines += self.launch(launch) if launch.form is not Form.HOST else self.statement(launch.statements[0], [])
        return lines

    def checked(self, statement: Statement) -> list[str]:
        writer = self.writer()
        with self.slot_checks.of(statement) as needed:
            checks = [f"sdfgad::memory::need({writer.form(slot)}, {extent});" for slot, extent in needed]
        return [*writer.lines, *checks]

    def compute(self, statement: Compute) -> list[str]:
        if is_transfer(statement, self.buffers):
            return self.transfer(statement)
        if not self.buffers[statement.target.buffer].is_on_device:
            return super().compute(statement)
        product = product_of(statement, self.buffers)
        assert product is not None
        return self.device_product(statement, product)

    def point(self, statement: Compute) -> list[str]:
        dtype = self.buffers[statement.target.buffer].dtype
        if is_sometimes(statement, dtype):
            return predicated(statement, dtype, self.writer(), self.point)
        return super().point(statement)

    def call(self, call: Call) -> str:
        if not any(self.buffers[whole.buffer].is_on_device for whole in call.outputs):
            return super().call(call)
        if is_emulated():
            # The emulation calls the host's functions.
            self.headers |= dict.fromkeys(("fourier.h", "emulated_library.h"))
            self.uses_blas = True
        arrays = ", ".join(f"b_{whole.buffer}_" for whole in (*call.inputs, *call.outputs))
        type_, function = cpp_type(call.inputs[0].dtype), f"sdfgad::device::Function::{call.name}"
        return f"sdfgad::device::call<{type_}>({function}, {{{arrays}}}, {{{', '.join(map(str, call.sizes))}}});"

    def loop(self, loop: Loop, scalars: list[str]) -> list[str]:
        return ["{", *head(loop, self.writer()), *self.block(loop.body, []), "}", "}"]

    # --- the device

    def launch(self, launch: Launch) -> list[str]:
        number = len(self.kernels)
        kernel = kernel_of(f"k{number}", launch.form, launch.statements, self.buffers)
        self.kernels.append(kernel)
        writer = self.writer()
        sizes = [product_text(writer, box) for box in kernel.boxes]
        total = " + ".join(sizes)
        blocks = f"sdfgad::device::blocks_of({total})" if launch.form is Form.POINTS else total
        values = [f"static_cast<{cpp_type(read.dtype)}>({writer.value(read)})" for read in kernel.values]
        arguments = [f"b_{name}_" for name in kernel.buffers] + values + [f"int64_t({n})" for n in kernel.integers]
        call = ", ".join([str(number), blocks, str(kernel.threads), *arguments])
        return ["{", *writer.lines, f"sdfgad::device::launch({call});", "}"]

    def transfer(self, statement: Compute) -> list[str]:
        """A copy of an element, or of a whole array, between the memories."""
        assert isinstance(statement.value, Read)
        source = Access(statement.value.buffer, statement.value.index)
        writer = self.writer()
        is_to_device = self.buffers[statement.target.buffer].is_on_device
        size = product_text(writer, tuple(extent for _, extent in statement.params))
        to, of = (self.address(a, bool(statement.params), writer) for a in (statement.target, source))
        return [
            "{",
            *writer.lines,
            f"sdfgad::device::to_{'device' if is_to_device else 'host'}({to}, {of}, {size});",
            "}",
        ]

    def address(self, access: Access, is_whole: bool, writer: Writer) -> str:
        name = f"b_{access.buffer}_"
        if self.buffers[access.buffer].is_single:
            return name if self.buffers[access.buffer].is_on_device else f"&{name}"
        return name if is_whole else f"{name} + ({self.offset(access, writer)})"

    def device_product(self, statement: Compute, product: Product) -> list[str]:
        """Products of matrices in loops over the batch."""
        writer, type_ = self.writer(), cpp_type(statement.value.dtype)
        alpha = " * ".join([*(writer.value(factor) for factor in product.alpha), f"{type_}(1)"])
        texts = {name: f"({writer.form(extent)})" for name, extent in statement.params}
        m, n, k = (" * ".join(texts[name] for name in group) for group in (product.m, product.n, product.k))
        heads = [f"for (int64_t {name} = 0; {name} < {texts[name]}; ++{name}) {{" for name in product.batch]
        (lead_a, flag_a), (lead_b, flag_b) = (
            product.layout(product.a, product.m, product.k) or (0, ""),
            product.layout(product.b, product.k, product.n) or (0, ""),
        )
        a, b, c = (self.operand(o, product.batch, writer) for o in (product.a, product.b, product.c))
        again = [f"{name} == 0" for name in product.batch if name not in product.c.strides]
        fresh = (" && ".join(again) or "true") if product.fresh else "false"
        beta = f"{type_}(({fresh}) ? 0 : 1)"
        sizes = f"{FLAGS[flag_a]}, {FLAGS[flag_b]}, {m}, {n}, {k}, {type_}({alpha})"
        call = f"sdfgad::device::gemm<{type_}>({sizes}, {a}, {lead_a}, {b}, {lead_b}, {beta}, {c}, "
        call += f"{product.c.strides[product.m[-1]]});"
        return ["{", *writer.lines, *heads, call, *["}"] * len(heads), "}"]

    def operand(self, operand: Operand, batch: tuple[str, ...], writer: Writer) -> str:
        steps = [f"{name} * {operand.strides[name]}" for name in batch if name in operand.strides]
        return " + ".join([f"b_{operand.access.buffer}_ + ({writer.form(operand.offset)})", *steps])

"""Our target for DaCe's code generator, on a CPU, which may launch kernels on a GPU: generates the nodes that carry our
schedule or mark, from the graph itself.

Each marked node of an outermost state becomes a function (`nests`) and its call. Arrays in our storage are allocated
before the first state that mentions them, and released after the last one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import dace
from dace import registry
from dace.codegen.codeobject import CodeObject
from dace.codegen.dispatcher import DefinedType
from dace.codegen.target import TargetCodeGenerator
from dace.codegen.targets import cpp

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Read
from sdfgad.ir.program import Block, Buffer, Loop, computes, walk
from sdfgad.memory.basic_blocks import mentioned_in
from sdfgad.sdfg.marks import is_marked, schedule, storage
from sdfgad.sdfg.outline import Outline
from sdfgad.sdfg.sealed import SealedOutline, sealed_in
from sdfgad.targets.cpu.cpp import Writer
from sdfgad.targets.cpu.environment import environments
from sdfgad.targets.cpu.folding import Folding
from sdfgad.targets.cpu.functions import PARAMETERS
from sdfgad.targets.cpu.nests import Nest, nest_of
from sdfgad.targets.cpu.nontemporal import Nontemporal
from sdfgad.targets.entry import DeviceCode, entry_point
from sdfgad.targets.gpu.environment import environments as device_environments
from sdfgad.targets.gpu.host import device_nest_of
from sdfgad.targets.gpu.kernels import Kernel

HEADERS = ("sdfgad.h", "memory.h", "stream.h")
Streams = tuple[Any, Any]


@registry.autoregister_params(name="sdfgad_cpu")
class CPU(TargetCodeGenerator):
    """Generates marked nodes, and allocates arrays in our storage."""

    title = "sdfgad CPU"
    target_name = "sdfgad_cpu"
    language = "cpp"

    def __init__(self, frame: Any, sdfg: Any) -> None:
        self._frame, self._root = frame, sdfg
        self._dispatcher = frame.dispatcher
        self._known: dict[tuple[str, Any], Any] = {}
        self._headers: dict[str, None] = {}
        self._kernels: list[Kernel] = []
        self._names: set[str] = set()
        self._folding = Folding()
        self._dispatcher.register_map_dispatcher(schedule, self)
        self._dispatcher.register_array_dispatcher(storage, self)
        self._dispatcher.register_node_dispatcher(self, lambda _sdfg, _state, node: is_marked(node))
        self._dispatcher.register_state_dispatcher(self, has_ours)
        for other in (dace.StorageType.Register, dace.StorageType.CPU_Heap, storage):
            for pair in {(storage, other), (other, storage)}:
                self._dispatcher.register_copy_dispatcher(*pair, None, self)

    def get_includes(self) -> dict[str, list[str]]:
        return {"frame": [*HEADERS, *self._headers]}

    def preprocess(self, sdfg: Any) -> None:
        """Marks all targets of the frame as used; nodes inside of ours are generated with these."""
        self._dispatcher.used_targets.update(self._frame.targets - {self._frame})

    # --- states

    def generate_state(
        self, sdfg: Any, cfg: Any, state: Any, function: Any, callsite: Any, footer: bool = True
    ) -> None:
        outline = self._outline(sdfg)
        if isinstance(outline, SealedOutline):
            self._frame.allocate_arrays_in_scope(sdfg, cfg, state, function, callsite)
            outside = frozenset(sdfg.arrays)
            for piece in outline.pieces:
                callsite.write("{")
                self._allocations(sdfg, piece.begins, piece.ends, callsite)
                self._function(sdfg, piece.positions, outside, (function, callsite), piece.alone)
                callsite.write("}")
            return
        self._allocations(sdfg, outline.begins(state), outline.ends(state), callsite)
        if not outline.is_absorbed(state):
            self._frame.generate_state(sdfg, cfg, state, function, callsite, footer)

    def _allocations(self, sdfg: Any, begins: Iterable[str], ends: Iterable[str], callsite: Any) -> None:
        for name in ends:
            blocks = _blocks(sdfg, self._buffer(sdfg, name).is_on_device)
            callsite.write(f"{blocks}.release({self._outline(sdfg).number(name)});")
        for name in begins:
            callsite.write(self._allocation(sdfg, name))

    def _outline(self, sdfg: Any) -> Outline | SealedOutline:
        return self._once("outline", sdfg, lambda: outline_of(sdfg))

    def _once(self, what: str, sdfg: Any, found: Callable[[], Any]) -> Any:
        if (what, sdfg) not in self._known:
            self._known[what, sdfg] = found()
        return self._known[what, sdfg]

    # --- nodes

    def generate_scope(self, sdfg: Any, cfg: Any, scope: Any, state_id: int, function: Any, callsite: Any) -> None:
        entry = scope.source_nodes()[0]
        timer = self._dispatcher.instrumentation[entry.map.instrument]
        state = cfg.node(state_id)
        if timer is not None:
            timer.on_scope_entry(sdfg, cfg, state, entry, callsite, callsite, function)
        self._node(sdfg, entry, (function, callsite))
        if timer is not None:
            timer.on_scope_exit(sdfg, cfg, state, state.exit_node(entry), callsite, callsite, function)

    def generate_node(
        self, sdfg: Any, cfg: Any, scope: Any, state_id: int, node: Any, function: Any, callsite: Any
    ) -> None:
        timer = self._dispatcher.instrumentation[node.instrument]
        state = cfg.node(state_id)
        if timer is not None:
            timer.on_node_begin(sdfg, cfg, state, node, callsite, callsite, function)
        self._node(sdfg, node, (function, callsite))
        if timer is not None:
            timer.on_node_end(sdfg, cfg, state, node, callsite, callsite, function)

    def _node(self, sdfg: Any, node: Any, streams: Streams) -> None:
        """The function of a node, and its call."""
        outline = self._outline(sdfg)
        assert isinstance(outline, Outline)
        self._function(sdfg, outline.positions(node), frozenset(sdfg.arrays) - outline.local_to(node), streams)

    def _function(
        self,
        sdfg: Any,
        positions: range,
        outside: frozenset[str],
        streams: Streams,
        alone: frozenset[str] = frozenset(),
    ) -> None:
        """The function of statements, or an earlier one with the same text, and its call."""
        if not positions:
            return
        outline = self._outline(sdfg)
        block, program = outline.program.body[positions.start : positions.stop], outline.program
        name, folded = f"nest_{sdfg.cfg_id}_{positions.start}_", None
        if outline.device != "cpu":
            # Not folded: a kernel tells the lines of its own statements.
            nest = device_nest_of(block, name, program.buffers, outside, program.bounds, self._kernels)
        else:
            nest = nest_of(block, name, program.buffers, outside, program.bounds, self._filled(sdfg, positions), alone)
            folded = self._folding.known(nest.name, nest.code, variables_of(block, nest))
        self._dispatcher.used_environments.update(environments(nest.uses_blas, nest.headers))
        if "device.h" in nest.headers:
            self._dispatcher.used_environments.update(device_environments(nest.headers))
        self._headers.update(dict.fromkeys(nest.headers))
        if folded is None:
            self._names |= names_of(block)
            streams[0].write(nest.code)
        streams[1].write(f"{folded or nest.name}({', '.join(self._arguments(sdfg, nest))});")

    def _filled(self, sdfg: Any, positions: range) -> frozenset[str]:
        """The arrays for which a single statement uses non-temporal stores."""
        if len(positions) > 1 or not self._outline(sdfg).is_straight:
            return frozenset()
        nontemporal = self._once("nontemporal", sdfg, lambda: Nontemporal(self._outline(sdfg).program))
        return frozenset(nontemporal.at(positions[0]))

    def _arguments(self, sdfg: Any, nest: Nest) -> Iterator[str]:
        """Single elements come by value and are returned by address."""
        for name in nest.passed:
            descriptor = sdfg.arrays[name]
            pointer = cpp.ptr(name, descriptor, sdfg, self._frame)
            pointer = f"&{pointer}" if isinstance(descriptor, dace.data.Scalar) else pointer
            if self._buffer(sdfg, name).dtype.kind == "c":
                # A std::complex to DaCe.
                pointer = f"sdfgad::own({pointer})"
            is_number = self._buffer(sdfg, name).is_single and not self._buffer(sdfg, name).is_on_device
            if is_number:
                yield f"*{pointer}"
            if not is_number or name in nest.writes:
                yield pointer
        yield from nest.integers

    def _buffer(self, sdfg: Any, name: str) -> Buffer:
        buffer: Buffer = self._outline(sdfg).program.buffers[name]
        return buffer

    # --- arrays

    def allocate_array(
        self, sdfg: Any, cfg: Any, state: Any, state_id: int, node: Any, descriptor: Any, _: Any, place: Any, __: Any
    ) -> None:
        """Declares an array; the first one also declares the `Blocks`, which release all if the program ends early."""
        outline = self._outline(sdfg)
        if outline.number(node.data) == 0:
            place.write(f"sdfgad::Blocks<{len(outline.arrays)}> {_blocks(sdfg)};")
            if any(self._buffer(sdfg, name).is_on_device for name in outline.arrays):
                place.write(f"sdfgad::device::Blocks<{len(outline.arrays)}> {_blocks(sdfg, True)};")
        self.declare_array(sdfg, cfg, state, state_id, node, descriptor, _, place)
        if outline.is_throughout(node.data):
            place.write(self._allocation(sdfg, node.data))

    def declare_array(
        self, sdfg: Any, cfg: Any, state: Any, state_id: int, node: Any, descriptor: Any, _: Any, place: Any
    ) -> None:
        type_ = dace.dtypes.pointer(descriptor.dtype).ctype
        place.write(f"{type_} {node.data} = nullptr;")
        self._dispatcher.defined_vars.add(node.data, DefinedType.Pointer, type_)

    def deallocate_array(self, *_: Any) -> None:
        """Does nothing: the `Blocks` release the arrays."""

    def _allocation(self, sdfg: Any, name: str) -> str:
        buffer, type_ = self._buffer(sdfg, name), sdfg.arrays[name].dtype.ctype
        number, blocks = self._outline(sdfg).number(name), _blocks(sdfg, buffer.is_on_device)
        return f"{name} = {blocks}.allocate<{type_}>({number}, {elements_text(buffer)});"

    def copy_memory(self, *arguments: Any) -> None:
        """Copies between our arrays and others as DaCe's own target does, for the nodes that it generates."""
        self._dispatcher.get_generic_node_dispatcher().copy_memory(*arguments)

    def define_out_memlet(self, *arguments: Any) -> None:
        """Declares what a node of DaCe's own target writes into one of our arrays."""
        self._dispatcher.get_generic_node_dispatcher().define_out_memlet(*arguments)

    # --- the entry point

    def get_generated_codeobjects(self) -> list[CodeObject]:
        buffers = self._outline(self._root).program.buffers
        on_device = {name for name in self._frame.arglist if name in buffers and buffers[name].is_on_device}
        uses_device = any(buffer.is_on_device for buffer in buffers.values())
        device = DeviceCode(frozenset(on_device), tuple(self._kernels)) if uses_device else None
        return [entry_point(self._root, self._frame.arglist, type(self), self._names, device)]


def outline_of(sdfg: Any) -> Outline | SealedOutline:
    """The statements of an SDFG, and the live range of each array."""
    sealed = sealed_in(sdfg.start_block) if isinstance(sdfg.start_block, dace.SDFGState) else None
    return SealedOutline(sdfg, sealed) if sealed is not None else Outline(sdfg)


def names_of(block: Block) -> set[str]:
    """The counters of a block, which its code declares by their names."""
    loops = {statement.var for statement in walk(block) if isinstance(statement, Loop)}
    return loops | {name for statement in computes(block) for name, _ in statement.params}


def variables_of(block: Block, nest: Nest) -> set[str]:
    """The parameters and local variables of a function."""
    buffers = {f"{kind}_{name}_" for name in mentioned_in(block) for kind in PARAMETERS}
    return {*buffers, *names_of(block), *nest.integers}


def has_ours(sdfg: Any, state: Any) -> bool:
    """Whether a state has nodes that we generate, or arrays that we allocate."""
    arrays = (sdfg.arrays[node.data] for node in state.data_nodes())
    return any(map(is_marked, state.nodes())) or any(d.transient and d.storage == storage for d in arrays)


def elements_text(buffer: Buffer) -> str:
    """The number of elements of an array as C++; a product that overflows 64 bits is the largest number."""

    def read(node: Read) -> str:
        raise UnsupportedGraph(f"the size of `{buffer.name}` depends on `{node}`")

    known = math.prod(max(extent.const, 1) for extent in buffer.shape if extent.is_const)
    writer = Writer(read)
    others = [f"sdfgad::memory::largest(1, {writer.form(extent)})" for extent in buffer.shape if not extent.is_const]
    text = " * ".join([*others, str(known)])
    # What occurs more than once is computed before, which needs a scope in the middle of an expression.
    return f"[&] {{ {' '.join(writer.lines)} return {text}; }}()" if writer.lines else text


def _blocks(sdfg: Any, is_on_device: bool = False) -> str:
    return f"__{'device_' if is_on_device else ''}blocks_{sdfg.cfg_id}"

"""Value numbering: ``a = f(x); b = f(x)`` becomes ``a = f(x)``, and uses of ``b`` become uses of ``a``.

Two calls of a function with the same arguments, such as those of np.histogram in a weighted mean, compute much twice. A
library's results may be free in part, as the phases of singular vectors: of one call, they fit each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Lin, Rewriter
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Access, Buffer, Call, Compute, Program, Statement, reads_of, walk, written
from sdfgad.ir.rename import renamed


def merge_equal(program: Program) -> Program:
    """The program without the buffers that equal statements of its body compute from equal, final operands."""
    names = _equal_buffers(program)
    if not names:
        return program
    body = renamed(tuple(s for s in program.body if names.keys().isdisjoint(s.written)), names)
    used = {name: buffer for name, buffer in program.buffers.items() if name not in names}
    return replace(program, body=body, buffers=used)


def _equal_buffers(program: Program) -> dict[str, str]:
    """Buffer -> an earlier one with the same value."""
    uses, outputs = _uses_by_buffer(program), {*program.outputs.values()}
    known: dict[Hashable, str] = {}
    names: dict[str, str] = {}
    for position, statement in enumerate(program.body):
        found: dict[str, str] = {}
        if isinstance(statement, Call) and not LIBRARY[statement.name].has_linear_pullback:
            # The cotangent of one would be the sum of those of both, which a rule of the user's may treat otherwise.
            continue
        for name in sorted(written((statement,)) - {*program.inputs}):
            use = uses[name]
            if use.last_write != position or not use.is_final(uses):
                continue
            writers = renamed(tuple(program.body[k] for k in use.writes), names)
            equal = known.setdefault(_key(writers, program.buffers[name], _place(statement, name)), name)
            if equal != name and name not in outputs and use.first_read > position:
                found[name] = equal
        # A call computes all of its results, or none.
        if not isinstance(statement, Call) or found.keys() == written((statement,)):
            names |= found
    return names


def _place(statement: Statement, name: str) -> int:
    """Which one of the results of a statement a buffer is."""
    results = statement.outputs if isinstance(statement, Call) else ()
    return next((k for k, whole in enumerate(results) if whole.buffer == name), 0)


@dataclass
class _Uses:
    """The positions in the body at which a buffer is used.

    Attributes:
        writes, reads: positions of the statements that, or a nested statement of which, write or read the buffer.
        sources: pairs (position, buffer) of the reads of the statements in `writes`.
        is_plain: whether all statements in `writes` are assignments or calls, without nested statements.
    """

    writes: list[int]
    reads: list[int]
    sources: list[tuple[int, str]]
    is_plain: bool = True

    @property
    def last_write(self) -> int:
        return self.writes[-1] if self.writes else -1

    @property
    def first_read(self) -> int:
        return self.reads[0] if self.reads else self.last_write + 1

    def is_final(self, uses: Mapping[str, _Uses]) -> bool:
        """Whether no operand of its writes is written later."""
        return self.is_plain and all(uses[name].last_write < position for position, name in self.sources)


def _uses_by_buffer(program: Program) -> dict[str, _Uses]:
    found: dict[str, _Uses] = defaultdict(lambda: _Uses([], [], []))
    for position, statement in enumerate(program.body):
        nested = list(walk((statement,)))
        read = {node.buffer for s in nested for node in reads_of(s)}
        read |= {whole.buffer for s in nested if isinstance(s, Call) for whole in s.inputs}
        for name in sorted(read):
            found[name].reads.append(position)
        for name in written((statement,)):
            use = found[name]
            use.writes.append(position)
            use.sources += [(position, source) for source in read]
            use.is_plain &= isinstance(statement, (Compute, Call))
    return found


def _key(writers: tuple[Statement, ...], buffer: Buffer, place: int) -> Hashable:
    """The value number of a buffer: the statements that write it, without the names of buffer and parameters."""
    return (buffer.shape, buffer.dtype, place, *(_anonymous(statement) for statement in writers))


def _anonymous(statement: Statement) -> Statement:
    if isinstance(statement, Call):
        outputs = tuple(replace(whole, buffer="") for whole in statement.outputs)
        return replace(statement, outputs=outputs, where=None)
    assert isinstance(statement, Compute)
    names = {name: f"{k}" for k, (name, _) in enumerate(statement.params)}
    params = tuple((names[name], extent) for name, extent in statement.params)
    rewriter = Rewriter({old: Lin.symbol(new) for old, new in names.items()})
    target = Access("", rewriter.index(statement.target.index))
    return replace(statement, params=params, target=target, value=rewriter(statement.value), where=None)

"""Liveness of buffers: when the storage of a program is held, and how many bytes are held at each of its statements.

A buffer is held from the first to the last statement of the program's body that mentions it; a statement of the body
counts as one, with all that is nested in it. The numbers are upper bounds of what `memory.h` counts; of a program that
runs on a device they are those of its memory, which `device.h` counts, and what is on the host does not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

from sdfgad.dependence.private import carries_no_value
from sdfgad.ir.expr import Atom, Const, Expr, Int, Lin, Op
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Buffer, Call, Loop, Program, Statement, walk
from sdfgad.memory.allocation import DEVICE_UNIT, LINE, array
from sdfgad.memory.basic_blocks import basic_blocks, mentioned_in
from sdfgad.memory.transforms import plan_bytes
from sdfgad.memory.workspaces import workspace
from sdfgad.schedule.target import cpu
from sdfgad.schedule.thread_independence import has_calls, is_independent, private_arrays
from sdfgad.schedule.work import is_worth_threads

# --- lifetimes


def lifetimes(program: Program) -> dict[str, tuple[int, int]]:
    """The live range, first and last mention in the body, of each array that the program itself allocates."""
    outside = arguments(program)
    found: dict[str, tuple[int, int]] = {}
    for position, statement in enumerate(program.body):
        for name in statement.mentioned - outside:
            if program.buffers[name].shape or program.buffers[name].is_on_device:
                found[name] = (found.get(name, (position,))[0], position)
    return {name: found[name] for name in program.buffers if name in found}


def local_variables(program: Program) -> set[str]:
    """The small temporaries that only one basic block uses: local variables of its function, not counted as memory.

    Of a loop around library calls that threads share, these are all arrays that must be private to each thread.
    """
    outside, blocks = arguments(program), list(basic_blocks(program, lifetimes(program)))
    mentioned = [mentioned_in(block) for block in blocks]
    users = Counter(name for names in mentioned for name in names)
    found = set[str]()
    for block, names in zip(blocks, mentioned, strict=True):
        alone = (n for n in names if users[n] == 1 and n not in outside)
        own = {n: _bytes(program.buffers[n]) for n in alone if not program.buffers[n].is_on_device}
        large = _private(block[0], program, own) if len(block) == 1 else set()
        small = sorted((size, name) for name, size in own.items() if size <= cpu().local_bytes or name in large)
        held = accumulate(size for size, _ in small)
        found |= {name for (_, name), total in zip(small, held, strict=True) if total <= cpu().stack_bytes}
    return found


def _private(statement: Statement, program: Program, own: Mapping[str, int]) -> set[str]:
    """The arrays that must be private to each thread, if they are small enough for its stack."""
    shared = private_arrays(statement, program.buffers, own)
    is_large = sum(own[name] for name in shared) > cpu().stack_bytes
    return set() if is_large or not has_small_calls(statement) else shared


def _bytes(buffer: Buffer) -> int:
    """The bytes of a buffer; too many for a local variable where an extent is not known."""
    size = math.prod(extent.const if extent.is_const else cpu().local_bytes + 1 for extent in buffer.shape)
    return max(size, 1) * buffer.dtype.itemsize


def arguments(program: Program) -> set[str]:
    """The buffers that the caller passes."""
    return {*program.inputs, *program.outputs.values(), *(("status",) if program.checks else ())}


# --- bytes


def footprint(program: Program, integers: Mapping[str, int]) -> tuple[int, ...]:
    """The bytes that are held at each statement of the body: arguments, live arrays, and workspace of calls.

    Raises:
        KeyError: the value of a run-time integer is missing.
        ValueError: a run-time extent is of a form that no tape has.
    """
    steps, uncounted = [0] * (len(program.body) + 1), local_variables(program)
    for name, (first, last) in lifetimes(program).items():
        if name in uncounted or not is_counted(program, name):
            continue
        size = buffer_bytes(program.buffers[name], integers)
        steps[first] += size
        steps[last + 1] -= size
    always = always_held(program, integers)
    live = list(accumulate(steps))[:-1]
    return tuple(always + held + _beside(program, s) for held, s in zip(live, program.body, strict=True))


def is_counted(program: Program, name: str) -> bool:
    """Whether a buffer is in the memory that a program's peak is of: that of its device, once it is placed."""
    return program.device == "cpu" or program.buffers[name].is_on_device or not is_placed(program)


def is_placed(program: Program) -> bool:
    """Whether it is decided what is in the memory of the device."""
    return any(buffer.is_on_device for buffer in program.buffers.values())


def _beside(program: Program, statement: Statement) -> int:
    """The workspaces of a statement in that memory."""
    return workspaces(statement, program.buffers) if program.device == "cpu" else 0


def peak_bytes(program: Program, integers: Mapping[str, int]) -> int:
    """The memory peak: the most bytes that are held at once.

    Raises:
        KeyError: the value of a run-time integer is missing.
        ValueError: a run-time extent is of a form that no tape has.
    """
    return max(footprint(program, integers), default=always_held(program, integers))


def buffer_bytes(buffer: Buffer, integers: Mapping[str, int]) -> int:
    """The bytes that a buffer takes.

    Raises:
        KeyError: the value of a run-time integer is missing.
        ValueError: a run-time extent is of a form that no tape has.
    """
    # An extent below 1 is lowered as 1.
    size = math.prod(max(evaluate(extent, integers), 1) for extent in buffer.shape)
    return array(size, buffer.dtype.itemsize, DEVICE_UNIT if buffer.is_on_device else LINE)


def always_held(program: Program, integers: Mapping[str, int]) -> int:
    """The bytes of arguments, and of what a library keeps from one call to the next."""
    passed = (name for name in arguments(program) if is_counted(program, name))
    kept = plan_bytes(_calls(program.body)) if program.device == "cpu" else 0
    return kept + sum(buffer_bytes(program.buffers[name], integers) for name in passed)


def _calls(block: tuple[Statement, ...]) -> list[Call]:
    return [s for s in walk(block) if isinstance(s, Call)]


def workspaces(statement: Statement, buffers: Mapping[str, Buffer]) -> int:
    """The most bytes that the library calls of a statement allocate at once, in all threads that share a loop."""
    size = max((workspace(call) for call in _calls((statement,))), default=0)
    if not size:
        return 0
    shared = (s for s in walk((statement,)) if isinstance(s, Loop) and may_be_shared(s, buffers))
    together = (cpu().few_parts * workspace(call) for loop in shared for call in _calls((loop,)))
    return max(size, max(together, default=0))


def may_be_shared(loop: Loop, buffers: Mapping[str, Buffer]) -> bool:
    """Whether threads may share a loop around calls: one whose trips need what earlier ones made they cannot."""
    if not (has_calls(loop) and has_small_calls(loop) and is_worth_threads((loop,))):
        return False
    return is_independent(loop, {name for name in loop.written if carries_no_value(loop.body, buffers[name])})


def has_small_calls(statement: Statement) -> bool:
    """Whether the workspaces of a loop's calls are small enough for each thread to have one."""
    return cpu().few_parts * max((workspace(call) for call in _calls((statement,))), default=0) <= cpu().stack_bytes


def evaluate(form: Lin, integers: Mapping[str, int]) -> int:
    """The value of an extent.

    Raises:
        KeyError: the value of a run-time integer is missing.
        ValueError: the extent is of a form that no tape has.
    """
    return form.const + sum(c * _atom(atom, integers) for atom, c in form.terms)


def _atom(atom: Atom, integers: Mapping[str, int]) -> int:
    return integers[atom] if isinstance(atom, str) else _integer(atom, integers)


def _integer(value: Expr, integers: Mapping[str, int]) -> int:
    if isinstance(value, Int):
        return evaluate(value.value, integers)
    if isinstance(value, Const):
        return int(value.value)
    function = OPERATIONS[value.name].on_integers if isinstance(value, Op) else None
    if isinstance(value, Op) and function is not None:
        return function(*(_integer(arg, integers) for arg in value.args))
    raise ValueError(f"the extent {value} is no form of the program's integers")

"""Front end: parses a function, for the signature of one call, to a `Primal`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sdfgad.errors import OutputError, UnsupportedProgram
from sdfgad.ir.expr import INT, Const, Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import MESSAGES, Access, Block, Buffer, Compute, Program, written
from sdfgad.parse import adoption, masked_dicts
from sdfgad.parse import functions as _functions
from sdfgad.parse import library as _library
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.assumptions import FAILURES, Assumptions
from sdfgad.parse.builder import Builder
from sdfgad.parse.closure_conversion import lexical_frame
from sdfgad.parse.closures import Closure
from sdfgad.parse.contents import ChangesOutside
from sdfgad.parse.copy_elimination import coalesce
from sdfgad.parse.copy_propagation import propagate_copies
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.exception_lowering import with_exceptions_as_values
from sdfgad.parse.frame import Frame
from sdfgad.parse.interpreter import Interpreter
from sdfgad.parse.inverted_loops import with_inverted_loops
from sdfgad.parse.namespaces import AssignsGlobals, opened
from sdfgad.parse.objects import make, present
from sdfgad.parse.optional_values import required_parts
from sdfgad.parse.primal import Guard, Measure, Primal
from sdfgad.parse.program_source import ProgramSource
from sdfgad.parse.returned import Returned, is_numeric, named_leaves, returned
from sdfgad.parse.roots import lengths_of_vectors
from sdfgad.parse.source import own_signature, read_source
from sdfgad.parse.structure import Structure, build, identifier, names
from sdfgad.parse.throwing import require_tested
from sdfgad.parse.value_numbering import merge_equal
from sdfgad.parse.value_specialisation import Mispredicted, Place, Values, leaving
from sdfgad.parse.values import Record, Tensor, as_tensor, kind_of, view_of
from sdfgad.progress import stage

assert _functions
assert _library  # importing them registers the functions that the interpreter knows

Array = np.ndarray[Any, Any]
# What follows a branch is parsed within it (`control.branch`): Python's own limit of 1000 calls is 130 branches in a
# function.
DEEPEST = 6000
RETURN = "Return numbers and arrays, or tuples, lists, dicts and objects of them."


# Whether another program is being parsed, of which this one is part.
_IS_PARSING = ContextVar("_IS_PARSING", default=False)


def parse(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    constant: Iterable[str] = (),
    arrays: Mapping[str, Any] | None = None,
    structures: Mapping[str, Structure] | None = None,
    are_enclosed_constant: bool = False,
    measure: Measure | None = None,
) -> Primal:
    """Parse `function` for one call.

    Args:
        function: the user's function, or another source of programs.
        arguments: for each parameter, or leaf of one, an `ArrayArgument`, an int (a run-time integer where possible),
            or any other object, which is a constant of the program.
        constant: integer arguments that must become constants.
        arrays: what is passed for the array arguments; elements of integer arrays become constants where they must.
        structures: parameters that are containers of several arguments.
        are_enclosed_constant: whether integers that programs read of enclosing ones must become constants.
        measure: of parts of the program, for this call; without it no integer that data decides may be a constant.

    Raises:
        UnsupportedProgram: a statement or function is not supported.
        ShapeMismatch, InvalidIndex, UnboundVariable: where NumPy or Python would raise for certain.
    """
    if isinstance(function, ProgramSource):
        return function.primal(arguments, constant)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
    source = read_source(function)
    passed = {n: v for n, v in (arrays or {}).items() if isinstance(arguments[n], ArrayArgument)}
    enclosed = {n: v.numbers for n, v in arguments.items() if isinstance(v, ArrayArgument) and v.numbers is not None}
    passed = {name: numbers.array for name, numbers in enclosed.items()} | passed
    values = {n: v for n, v in arguments.items() if type(v) is int}
    symbols = dict(zip(values, map(Names().fresh, map(identifier, values)), strict=True))
    fixed = {name: values[name] for name in constant}
    assumed = Assumptions(fixed, are_enclosed_constant=are_enclosed_constant, can_measure=measure is not None)
    predicted, may_predict = dict[Place, int](), True
    while True:
        free = {n: s for n, s in symbols.items() if n not in assumed.fixed}
        builder = assumed.builder({s: values[n] for n, s in free.items()})
        bound = {**arguments, **assumed.fixed, **{n: Lin.symbol(s) for n, s in free.items()}}
        attempt = _Attempt(builder, function, bound, passed, structures or {}, assumed, free)
        if assumed.by_value and measure is not None:
            predict = measure.predict if may_predict else None
            builder.values = Values(attempt.part, partial(attempt.run, measure), predict, predicted)
        is_nested, outer = _IS_PARSING.get(), _IS_PARSING.set(True)
        try:
            with stage(f"parsing {getattr(source.node, 'name', 'a lambda')}"):
                found = attempt.primal()
        except Mispredicted:
            predicted, may_predict = {}, False
            continue
        except FAILURES as failure:
            if is_nested and isinstance(failure, AssignsGlobals):
                raise failure.refused() from None
            if is_nested and isinstance(failure, ChangesOutside):
                raise failure.refusal from None
            if builder.logs.lacking or builder.is_as_predicted():
                assumed = assumed.after(failure, builder, free)
            predicted = dict(builder.predictions())
            continue
        except RecursionError as error:
            what = "statements are nested too deeply, or too many branches on data follow each other in a function"
            todo = "Move some of them to functions of their own."
            raise UnsupportedProgram(what, builder.where, todo) from error
        finally:
            _IS_PARSING.reset(outer)
        if not builder.is_as_predicted(is_last=True):
            predicted, may_predict = {}, False
            continue
        if builder.references.are_rows_updated(tuple(builder.blocks[0])):
            assumed = assumed.after_update(builder, free)
            continue
        for name, numbers in enclosed.items():
            if any(passed[name] is one for one in assumed.decisive):
                numbers.use()
        return found


@dataclass(frozen=True)
class _Attempt:
    """One attempt to parse a function: what it is called with, and what is assumed.

    Attributes:
        arguments: with the constants and symbols that stand for integers.
        passed: the arrays.
        free: the integer arguments that are not constants, with their symbols.
    """

    b: Builder
    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    passed: Mapping[str, Any]
    structures: Mapping[str, Structure]
    assumed: Assumptions
    free: Mapping[str, str]

    @cached_property
    def views(self) -> dict[str, Tensor]:
        """The array arguments."""
        arrays = {n: v for n, v in self.arguments.items() if isinstance(v, ArrayArgument)}
        return {name: _argument(self.b, name, one, self.passed.get(name)) for name, one in arrays.items()}

    @cached_property
    def buffers(self) -> dict[str, str]:
        """Their input buffers."""
        return {name: _buffer_of(view) for name, view in self.views.items()}

    def primal(self) -> Primal:
        """The whole program."""
        b, arguments = self.b, self.arguments
        scalars = {n: view.as_value(settled=True) for n, view in self.views.items() if arguments[n].is_scalar}
        leaves = {**arguments, **self.views, **scalars}
        locals_ = _in_containers(b, dict(leaves), self.structures)
        containers = b.contents.followed
        frame = _frame_of(b, self.function, _own_parameters(self.function, dict(locals_)))
        frame.env |= adoption.opened(b, self.assumed.adopted) | opened(b, self.assumed.globals)
        result = required_parts(b, frame.run(), "the value that is returned")
        require_tested(b)
        masked_dicts.require_none(b, result)
        b.logs.require_followed()
        b.logs.require_kept()
        _require_finished(b)
        outputs = dict(_returned(b, result))
        if result is None:
            outputs |= _rebound(b, leaves, {n: (structure, locals_[n]) for n, structure in self.structures.items()})
        changed = written(tuple(b.blocks[0]))
        outputs |= {name: buffer for name, buffer in self.buffers.items() if buffer in changed and name not in outputs}
        name = b.fresh(read_source(self.function).name)
        program = coalesce(self._program(name, outputs, tuple(b.blocks[0])))
        program = lengths_of_vectors(merge_equal(coalesce(propagate_copies(program))))
        return self._primal(program, returned(result), b.contents.are_changed(containers))

    def part(self, names: tuple[str, ...]) -> Primal:
        """The statements so far, which leave integers in some buffers; raises as `Logs.require_followed`."""
        b, before = self.b, self.b.names.snapshot()
        require_tested(b)
        b.logs.require_followed()
        body = leaving(tuple(b.blocks[0]), {} if b.values is None else b.values.found)
        program = self._program(b.fresh("guard"), {name: name for name in names}, body)
        b.names.restore(before)
        return self._primal(program, returned(None), changes_containers=False)

    def run(self, measure: Measure, part: Primal) -> Mapping[str, int]:
        """The integers that such a part leaves in the call at hand; raises Reaches if it reads items that it lacks."""
        self.b.logs.require_kept()
        return measure.run(part)

    def _program(self, name: str, outputs: dict[str, str], body: Block) -> Program:
        b = self.b
        captured = tuple(name for name in b.captured if name in b.buffers)
        inputs = *self.buffers.values(), *captured
        program = Program(name, dict(b.buffers), inputs, tuple(b.integers), outputs, body, tuple(b.checks))
        return _separate_inputs(_with_messages(_with_status(program)), b)

    def _primal(self, program: Program, result: Returned, changes_containers: bool) -> Primal:
        b, decisive = self.b, self.assumed.decisive
        constants, draws = b.drawn(program.inputs)
        updated = (written(tuple(b.blocks[0])) & b.reshaped) | b.sent
        return Primal(
            program,
            b.context,
            self.assumed.fixed,
            {name: value.copy() for name, value in self.passed.items() if any(value is one for one in decisive)},
            self.free,
            dict(zip(self.buffers, program.inputs, strict=False)),
            {name: array for name, array in b.captured.items() if name in program.inputs} | constants,
            draws,
            tuple(b.lookups),
            tuple((one, one.copy()) for one in decisive if not any(one is v for v in self.passed.values())),
            frozenset(name for name, buffer in self.buffers.items() if buffer in updated),
            changes_containers,
            result,
            b.has_enclosed_integers,
            read_source(self.function),
            frozenset(b.ranks),
            None if b.values is None or b.values.part is None else Guard(b.values.part, b.values.found),
            self.assumed.adopted,
        )


def _require_finished(b: Builder) -> None:
    for request in b.requests:
        b.where = request.where
        raise b.unsupported(
            "this message is never waited for", "Keep the request that is returned, and call its Wait()."
        )


def _frame_of(b: Builder, function: Callable[..., Any], env: dict[str, Any]) -> Frame:
    """The frame of the outermost call."""
    source = with_exceptions_as_values(read_source(function), b.throws, ())
    frame = Interpreter(b, with_inverted_loops(source, b.inverted), env)
    if isinstance(function, Closure):
        frame.lexical, frame.is_definition = lexical_frame(b, function), function.frame.is_definition
        # What errors in a definition name.
        b.where = function.frame.b.where
    return frame


def _own_parameters(function: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    """The values of the parameters; a decorator's function, which has others than the decorated one, is called."""
    if not hasattr(function, "__wrapped__"):
        return values
    shown = inspect.signature(function).parameters
    named = {n: v for n, v in values.items() if shown[n].kind is inspect.Parameter.KEYWORD_ONLY}
    # Containers come last in `values`.
    given: list[Any] = []
    for name in (n for n in shown if n in values and n not in named):
        given += values[name] if shown[name].kind is inspect.Parameter.VAR_POSITIONAL else [values[name]]
    bound = own_signature(function).bind(*given, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def _buffer_of(view: Tensor) -> str:
    assert view.buffer is not None
    return view.buffer


def _argument(b: Builder, name: str, value: ArrayArgument, passed: Any) -> Tensor:
    buffer = Buffer(b.fresh(identifier(name)), tuple(Lin(n) for n in value.shape), value.dtype, name)
    b.buffers[buffer.name] = buffer
    # At other sizes than those of the call there are no values.
    if isinstance(passed, np.ndarray) and passed.shape == value.shape:
        b.constants.enter(buffer, passed, b.start)
    return view_of(buffer, value.weak)


def _in_containers(b: Builder, values: dict[str, Any], structures: Mapping[str, Structure]) -> dict[str, Any]:
    """The values of parameters, from those of leaves."""
    for name, structure in structures.items():
        parts = iter([values.pop(leaf) for leaf in names(structure, name)])
        values[name] = build(structure, parts, partial(make, b))
    return values


def _rebound(b: Builder, leaves: Mapping[str, Any], containers: Mapping[str, tuple[Structure, Any]]) -> dict[str, str]:
    """Leaves of containers that the program has bound to other values, which its caller sees, with buffers of these."""
    found = {}
    for name, (structure, container) in containers.items():
        for leaf, value in zip(names(structure, name), present(structure, container), strict=False):
            if value is not leaves[leaf] and is_numeric(value):
                found[leaf] = _stored(b, leaf, value)
    return found


def _returned(b: Builder, result: Any) -> list[tuple[str, str]]:
    if not isinstance(result, (tuple, list, dict, Record)):
        return [] if result is None else [("return", _stored(b, "return", result))]
    return [(name, _stored(b, name, leaf)) for name, leaf in named_leaves("return", result) if is_numeric(leaf)]


def _stored(b: Builder, name: str, value: Any) -> str:
    """A new buffer that holds a returned value."""
    if not is_numeric(value):
        raise OutputError(f"{name} is {kind_of(value)}, not an array or number", b.where, RETURN)
    tensor = as_tensor(value)
    if not all(extent.is_const for extent in tensor.shape):
        b.lacks_constant = True
        what = f"the size of {name} depends on data: it is known only at run time"
        raise OutputError(
            what,
            b.where,
            "Return a number, np.sum(x[x > 0]), say, or an array of a fixed size: np.where(x > 0, x, 0.0).",
        )
    return _buffer_of(b.stored(tensor, "result"))


def _with_status(program: Program) -> Program:
    if not program.checks:
        return program
    clear = Compute((), Access(STATUS), Const(0, INT))
    return program.with_body((clear, *program.body))


def _with_messages(program: Program) -> Program:
    if MESSAGES not in program.buffers:
        return program
    first = Compute((), Access(MESSAGES), Const(0, program.buffers[MESSAGES].dtype))
    return program.with_body((first, *program.body))


def _separate_inputs(program: Program, b: Builder) -> Program:
    """Copy the arguments that the program writes to working copies, so that inputs are never overwritten."""
    changed = written(program.body)
    copies: list[Any] = []
    buffers, inputs = dict(program.buffers), list(program.inputs)
    for position, name in enumerate(program.inputs):
        if name not in changed:
            continue
        original = replace(buffers[name], name=b.fresh(f"{name}_in"))
        buffers[original.name] = original
        inputs[position] = original.name
        params = tuple((b.fresh("p"), extent) for extent in original.shape)
        index = tuple(Lin.symbol(p) for p, _ in params)
        copies.append(Compute(params, Access(name, index), Access(original.name, index).read(original.dtype)))
    return replace(program, buffers=buffers, inputs=tuple(inputs), body=(*copies, *program.body))

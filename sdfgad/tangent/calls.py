"""Tangents of library calls, by transposition of their rules for the reverse mode.

A rule maps cotangents c of a call's outputs to cotangents J^T c of its inputs. The derivative of <J^T c, t> by c is
J t, the tangent of the outputs, whatever c is.

The phases of singular vectors of complex matrices are free: their tangents are those of one choice of them, and right
in functions that do not depend on it. The reverse mode knows the function, and gives NaN where it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from sdfgad.errors import MissingRule
from sdfgad.gradient.assemble import assemble
from sdfgad.ir.expr import Const, Expr
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Program, Whole
from sdfgad.parse.builder import Builder
from sdfgad.parse.inlining import Inlining, inline
from sdfgad.parse.values import Tensor, view_of
from sdfgad.reverse.adjoint import differentiate_program
from sdfgad.reverse.calls import live_statements, pullback_of_call
from sdfgad.rules.algebra import cast, conjugate, mul, part_dtype, real


def pushforward_of_call(
    call: Call, primal: Mapping[str, Buffer], dots: Mapping[str, str], buffers: dict[str, Buffer], names: Names
) -> Block:
    """The statements, to run after a call, that compute the tangents of its outputs.

    Raises:
        MissingRule: its rule, of a `custom_vjp`, is for the reverse sweep alone.

    Args:
        dots: active buffers of the program -> their tangents, which are in `buffers`; new storage is added there.
    """
    b = Builder({})
    b.names, b.where = names, call.where
    b.buffers = dict(primal) | buffers
    kept = {dots[whole.buffer] for whole in call.outputs if whole.buffer in dots}
    if LIBRARY[call.name].pullback:
        _by_procedure(b, call, dots)
    elif LIBRARY[call.name].is_ordered:
        _by_message(b, call, dots)
        kept.add(call.outputs[-1].buffer)
    else:
        _by_transposition(b, call, primal, dots)
    buffers.update({name: buffer for name, buffer in b.buffers.items() if name not in primal})
    return live_statements(b.blocks[0], kept)


def _by_procedure(b: Builder, call: Call, dots: Mapping[str, str]) -> None:
    """Emits the call of the procedure that computes the tangents of a value with a rule of the user's own.

    What it checks, it checks in the value's own computation or in the reverse sweep.
    """
    function, (first, count), number = LIBRARY[call.name], call.sizes, len(call.outputs)
    if not function.pushforward:
        raise MissingRule([(function.title, call.where)])
    program = LIBRARY[function.pushforward].procedure
    assert program is not None
    given = [view_of(b.buffers[one.buffer]) for one in call.inputs[number : number + count]]
    arguments = [b.buffers[one.buffer] for one in call.inputs[number + count :]]
    tangents = [view_of(b.buffers[dots[one.name]]) if one.name in dots else _filled(one, 0) for one in arguments]
    buffers = [program.buffers[buffer] for buffer in program.outputs.values()]
    found = b.call(function.pushforward, [*given, *tangents], [(one.shape, one.dtype) for one in buffers], (first,))
    for output, tangent in zip(call.outputs, found[:number], strict=True):
        if output.buffer in dots:
            b.assign(view_of(b.buffers[dots[output.buffer]]), tangent)


def _by_message(b: Builder, call: Call, dots: Mapping[str, str]) -> None:
    """Emits the message of the tangents, which is linear in them, after that of the values."""
    (place, _, *inputs), (*outputs, after) = call.inputs, call.outputs
    last, is_real = view_of(b.buffers[after.buffer]), bool(call.sizes[0])
    found = [_filled(b.buffers[one.buffer], 0) for one in outputs]
    if is_real:
        given = [_tangent_or_value(b, one, dots) for one in inputs]
        shapes = [(one.shape, one.dtype) for one in (*outputs, after)]
        *found, then = b.call(call.name, [view_of(b.buffers[place.buffer]), last, *given], shapes, call.sizes)
        b.assign(last, then)
    for output, tangent in zip((*outputs, after), (*found, _filled(b.buffers[after.buffer], 0)), strict=True):
        if output.buffer in dots:
            b.assign(view_of(b.buffers[dots[output.buffer]]), tangent)


def _tangent_or_value(b: Builder, one: Whole, dots: Mapping[str, str]) -> Tensor:
    """The tangent of an input of a message, zeros where it has none; integers have themselves."""
    buffer = b.buffers[one.buffer]
    if not buffer.is_floating:
        return view_of(buffer)
    return view_of(b.buffers[dots[one.buffer]]) if one.buffer in dots else _filled(buffer, 0)


def _by_transposition(b: Builder, call: Call, primal: Mapping[str, Buffer], dots: Mapping[str, str]) -> None:
    """Emits the derivative of <J^T c, t> by c, which is J t."""
    paired = _paired(call, primal, dots)
    targets = {cotangent: dots[output] for output, cotangent in paired.cotangents.items()}
    adjoint = differentiate_program(paired.program, isl.Set("{ : }"), targets, paired.result)
    gradient = assemble(adjoint, tuple(targets), "paired")
    given = {name: view_of(b.buffers[dots.get(source, "")]) for source, name in paired.tangents.items()}
    given |= {name: view_of(b.buffers[name]) for name in paired.program.inputs if name in primal}
    given |= {bar: _filled(b.buffers[dot], 0) for bar, dot in targets.items()}
    given[gradient.cotangent] = _filled(gradient.program.buffers[gradient.cotangent], 1)
    found = inline(b, Inlining(gradient.program, {}, ()), given)
    for bar, dot in targets.items():
        # An output that the rule ignores, such as the sign of a real determinant, is constant between jumps.
        made = gradient.gradients.get(bar)
        b.assign(view_of(b.buffers[dot]), 0 if made is None else view_of(b.buffers[found[made]]))


@dataclass(frozen=True)
class _Paired:
    """<J^T c, t> as a program.

    Attributes:
        result: the buffer of its output.
        cotangents: outputs of the call -> the inputs for c.
        tangents: inputs of the call -> the inputs for t.
    """

    program: Program
    result: str
    cotangents: Mapping[str, str]
    tangents: Mapping[str, str]


def _paired(call: Call, primal: Mapping[str, Buffer], dots: Mapping[str, str]) -> _Paired:
    inputs = tuple(dict.fromkeys(whole.buffer for whole in call.inputs))
    outputs = tuple(dict.fromkeys(whole.buffer for whole in call.outputs))
    known = {name: primal[name] for name in (*inputs, *outputs)}
    names = Names((*known, *dots.values()))

    def named(suffix: str, of: tuple[str, ...]) -> dict[str, Buffer]:
        return {name: replace(primal[name], name=names.fresh(f"{name}_{suffix}")) for name in of if name in dots}

    bars, tangents, cotangents = named("bar", (*inputs, *outputs)), named("dot", inputs), named("cotangent", outputs)
    own = {bar.name: bar for bar in bars.values()}
    pullback = pullback_of_call(call, known, {name: bar.name for name, bar in bars.items()}, own, names)
    result = Buffer(names.fresh("paired"), (), part_dtype(next(iter(bars.values())).dtype))
    passed = [*known.values(), *tangents.values(), *cotangents.values()]
    body = (
        *(assigned(bars[name], Const(0, bars[name].dtype)) for name in tangents),
        *(assigned(bars[name], whole(cotangent)) for name, cotangent in cotangents.items()),
        *pullback,
        assigned(result, Const(0, result.dtype)),
        *(added_product(result, bars[name], tangent) for name, tangent in tangents.items()),
    )
    buffers = own | {buffer.name: buffer for buffer in (*passed, result)}
    program = Program("paired", buffers, tuple(b.name for b in passed), (), {"paired": result.name}, body)
    return _Paired(
        program,
        result.name,
        {name: cotangent.name for name, cotangent in cotangents.items()},
        {name: tangent.name for name, tangent in tangents.items()},
    )


def assigned(target: Buffer, value: Expr) -> Compute:
    """``target[...] = value``, of an expression by `whole`, or a constant."""
    place = Whole(target.name, target.shape, target.dtype)
    return Compute(place.params, place.access, value)


def whole(buffer: Buffer) -> Expr:
    """The element of a buffer that a statement over all of it is at."""
    return Whole(buffer.name, buffer.shape, buffer.dtype).access.read(buffer.dtype)


def added_product(result: Buffer, x: Buffer, y: Buffer) -> Compute:
    """``result += sum(real(conj(x) * y))``."""
    product = cast(real(mul(conjugate(whole(x)), whole(y))), result.dtype)
    return Compute(Whole(x.name, x.shape, x.dtype).params, Access(result.name), product, "add")


def _filled(like: Buffer, value: float) -> Tensor:
    return Tensor(like.shape, like.dtype, lambda index: Const(value, like.dtype))

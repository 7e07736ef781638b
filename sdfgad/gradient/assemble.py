"""Assembly of the gradient program: the forward sweep, which stores residuals, followed by the reverse sweep."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sdfgad.gradient.checkpoints import Checkpoint, checkpoints_for
from sdfgad.gradient.counting import TRIPS, cleared, counting_program
from sdfgad.gradient.sweeps import Copies, Sweeps
from sdfgad.gradient.tape_slots import slots_for
from sdfgad.gradient.tapes import Counter, tapes_for
from sdfgad.gradient.trip_ends import trip_ends
from sdfgad.ir.expr import INT, Const, Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import MESSAGES, Access, Block, Buffer, Compute, Program, Statement, buffers_of, walk, written
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.save_points import Key
from sdfgad.rules.algebra import cast


@dataclass(frozen=True)
class GradientProgram:
    """The program that computes values and gradients.

    Attributes:
        program: its inputs are the primal's, then the cotangent of the output, then the tables of `checkpoints`.
        cotangent: the input buffer that holds the output's cotangent.
        value: the buffer that holds the output at the end.
        others: the other outputs that the program gives -> the buffers that hold them at the end.
        gradients: input buffer of the primal -> buffer of its gradient.
        counting: a program that counts the trips of loops whose trip count depends on data, if there are any.
        totals: run-time integers of `program`, total trip counts that may be guesses -> what counts these trips. The
            program stops if one is too small; its outputs of the same names as those of `counting` give the values
            needed.
        checkpoints: the loops that are checkpointed, by number.
        tapes: residual key -> the buffer of its tape.
        copies: for each recomputed value, the buffers that it is recomputed into: old name -> new name.
        points: for each statement of the body, the number of the primal's statement, of the outermost block, that it
            belongs to; in the reverse sweep its complement (``~number``).
    """

    program: Program
    cotangent: str
    value: str
    gradients: Mapping[str, str]
    counting: Program | None
    totals: Mapping[str, Counter]
    checkpoints: Mapping[int, Checkpoint]
    tapes: Mapping[Key, str]
    copies: tuple[Mapping[str, str], ...]
    points: tuple[int, ...]
    others: Mapping[str, str] = field(default_factory=dict)

    def slots(self, integers: Mapping[str, int], counts: Mapping[str, int]) -> dict[str, int]:
        """The integers in `totals` for given counts of trips; `integers` has the lengths of segments."""
        return {total: counter.slots(integers, counts) for total, counter in self.totals.items()}


def assemble(
    adjoint: Adjoint,
    wrt: tuple[str, ...],
    output: str,
    checkpointed: Collection[int] = (),
    use_slots: bool = True,
    others: Collection[str] = (),
) -> GradientProgram:
    """The gradient program, which stores the adjoint's residuals and recomputes the values in `adjoint.recomputes`.

    Args:
        wrt: buffers whose gradients are outputs.
        output: the name of the differentiated output.
        checkpointed: the numbers of the loops that are checkpointed.
        use_slots: whether arrays may be stored in tape slots from the start, instead of being copied there.
        others: the names of further outputs that the program is to give.
    """
    names, primal = adjoint.fresh_names(), adjoint.primal
    checkpoints = checkpoints_for(adjoint, checkpointed, names)
    tapes, counters = tapes_for(adjoint, checkpoints, names)
    slots, tapes = slots_for(adjoint, tapes) if use_slots else ({}, tapes)
    ends = trip_ends(adjoint, tapes, slots, names) if use_slots else {}
    copies = _copies(adjoint, names)
    buffers = dict(primal.buffers) | dict(adjoint.buffers) | {t.buffer.name: t.buffer for t in tapes.values()}
    buffers |= {counter.buffer.name: counter.buffer for counter in counters}
    buffers |= {buffer.name: buffer for checkpoint in checkpoints.values() for buffer in checkpoint.buffers}
    for renames in (*copies.names, *({key[1]: new for key, new in one.items()} for one in ends.values())):
        buffers |= {new: replace(primal.buffers[old], name=new) for old, new in renames.items()}
    cotangent = replace(primal.buffers[adjoint.output], name=names.fresh("cotangent"))
    buffers[cotangent.name] = cotangent
    sweeps = Sweeps(adjoint, tapes, counters, checkpoints, copies, names, slots, ends)
    gradients = {name: adjoint.bars[name] for name in wrt if name in adjoint.bars}
    results, narrowing = _narrowed(gradients, buffers, names)
    reverse = sweeps.reverse(primal.body, 0)
    changed = {name for _, block in reverse for name in written(block)}
    value, safe = _safe_value(adjoint.output, changed, buffers, names)
    kept: dict[str, str] = {}
    for name in others:
        kept[name], block = _safe_value(primal.outputs[name], changed, buffers, names)
        safe = (*safe, *block)
    reverse = _seeded(adjoint, buffers, cotangent, names, [(number, block) for number, block in reverse], gradients)
    reverse = [*reverse, (0, (*narrowing, *_last_message(adjoint, buffers, names)))]
    trip_outputs, trip_stores = _trip_outputs(counters, checkpoints, buffers, names)
    forward = list(_forward(sweeps, primal.body, counters, (*safe, *trip_stores)))
    parts = [*forward, *((~number, block) for number, block in reverse)]
    integers = [*(c.total for c in counters), *(i for checkpoint in checkpoints.values() for i in checkpoint.integers)]
    tables = [table.name for checkpoint in checkpoints.values() for table in (checkpoint.forward, checkpoint.reverse)]
    program = replace(
        primal,
        name=names.fresh(f"{primal.name}_gradient"),
        buffers=buffers,
        inputs=(*primal.inputs, cotangent.name, *tables),
        integers=(*primal.integers, *integers),
        outputs={output: value, **kept} | {f"gradient of {name}": b for name, b in results.items()} | trip_outputs,
        bounds=tuple(counter.total for counter in counters),
        body=tuple(statement for _, block in parts for statement in block),
    )
    return GradientProgram(
        program,
        cotangent.name,
        value,
        results,
        counting_program(adjoint, [one.loop for one in checkpoints.values() if one.made is not None]),
        {counter.total: counter for counter in counters},
        checkpoints,
        {key: tape.buffer.name for key, tape in tapes.items()},
        tuple(copies.names),
        tuple(point for point, block in parts for _ in block),
        kept,
    )


def _copies(adjoint: Adjoint, names: Names) -> Copies:
    renames = [{name: names.fresh(f"{name}_again") for name in sorted(one.buffers)} for one in adjoint.recomputes]
    return Copies(adjoint.recomputes, renames)


def _trip_outputs(
    counters: tuple[Counter, ...], checkpoints: Mapping[int, Checkpoint], buffers: dict[str, Buffer], names: Names
) -> tuple[dict[str, str], Block]:
    """Outputs for the numbers of trips that the forward sweep makes, and the statements that write them."""
    made = [(one.loop.var, one.made) for one in checkpoints.values() if one.made is not None]
    made += [(counter.loop, counter.buffer) for counter in counters if counter.segment is None]
    outputs: dict[str, str] = {}
    block: list[Statement] = []
    for loop, scalar in made:
        total = replace(scalar, name=names.fresh(f"{loop}_made"))
        buffers[total.name] = total
        outputs[f"{TRIPS}{loop}"] = total.name
        block.append(Compute((), Access(total.name), Access(scalar.name).read(INT)))
    return outputs, tuple(block)


def _forward(sweeps: Sweeps, body: Block, counters: tuple[Counter, ...], safe: Block) -> Iterator[tuple[int, Block]]:
    """The forward sweep by statements of the body; what keeps its results belongs to the last."""
    number = last = 0
    yield 0, tuple(cleared(counter.buffer) for counter in counters)
    for statement in body:
        yield number, sweeps.forward_of(statement, number)
        last, number = number, number + statement.size + 1
    yield last, safe


def _seeded(
    adjoint: Adjoint,
    buffers: Mapping[str, Buffer],
    cotangent: Buffer,
    names: Names,
    reverse: list[tuple[int, Block]],
    gradients: Mapping[str, str],
) -> list[tuple[int, Block]]:
    """The reverse sweep with each adjoint cleared before it is first used, and the output's set to the cotangent.

    Where the output depends on nothing in `wrt`, no adjoint has been made, and all gradients are zero.
    """
    waiting = {bar: position for position, bar in enumerate(adjoint.bars.values())}
    result: list[tuple[int, Block]] = []
    # Messages of the reverse sweep follow those of the forward sweep.
    seeds = ((adjoint.output, cotangent), (MESSAGES, buffers.get(MESSAGES, cotangent)))
    bars = [(adjoint.bars[name], source) for name, source in seeds if name in adjoint.bars]
    seed: Block = tuple(_whole(names, buffers[bar], source, "add") for bar, source in bars)
    last = reverse[0][0] if reverse else 0
    for number, block in [(last, seed), *reverse]:
        statements: list[Statement] = []
        for statement in block:
            used = {name for s in walk((statement,)) for name in buffers_of(s)}
            for bar in sorted(used & waiting.keys(), key=waiting.__getitem__):
                del waiting[bar]
                statements.append(_cleared(names, buffers[bar]))
            statements.append(statement)
        result.append((number, tuple(statements)))
    unused = tuple(_cleared(names, buffers[bar]) for bar in waiting if bar in gradients.values())
    return [*result, (0, unused)]


def _last_message(adjoint: Adjoint, buffers: Mapping[str, Buffer], names: Names) -> Block:
    """What the messages of the reverse sweep leave, on which all of them depend, where those of a program leave it."""
    bar = adjoint.bars.get(MESSAGES)
    return () if bar is None else (_whole(names, buffers[MESSAGES], buffers[bar], None),)


def _narrowed(gradients: Mapping[str, str], buffers: dict[str, Buffer], names: Names) -> tuple[dict[str, str], Block]:
    """The gradients in their arguments' dtypes, and the statements that convert those that are in another one."""
    results, block = dict(gradients), []
    for name, bar in gradients.items():
        if buffers[bar].dtype != buffers[name].dtype:
            results[name] = names.fresh(f"{name}_gradient")
            buffers[results[name]] = replace(buffers[bar], name=results[name], dtype=buffers[name].dtype)
            block.append(_whole(names, buffers[results[name]], buffers[bar], None))
    return results, tuple(block)


def _safe_value(output: str, changed: Collection[str], buffers: dict[str, Buffer], names: Names) -> tuple[str, Block]:
    """The buffer that holds an output at the end: a copy, where the reverse sweep would change it."""
    if output not in changed:
        return output, ()
    copy = replace(buffers[output], name=names.fresh(f"{output}_out"))
    buffers[copy.name] = copy
    return copy.name, (_whole(names, copy, buffers[output], None),)


def _whole(names: Names, target: Buffer, source: Buffer, accumulate: str | None) -> Compute:
    params = tuple((names.fresh("p"), extent) for extent in source.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    value = cast(Access(source.name, index).read(source.dtype), target.dtype)
    return Compute(params, Access(target.name, index), value, accumulate)  # type: ignore[arg-type]


def _cleared(names: Names, buffer: Buffer) -> Compute:
    params = tuple((names.fresh("p"), extent) for extent in buffer.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    return Compute(params, Access(buffer.name, index), Const(0, buffer.dtype))

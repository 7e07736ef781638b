"""`explain`: the window into the compiler."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sdfgad.api.chosen import Wrt
from sdfgad.api.differentiate import differentiate, specialised
from sdfgad.errors import ArgumentError
from sdfgad.options import Strategy

if TYPE_CHECKING:
    from sdfgad.explain.stages import Step

CONTEXT = 2


@dataclass(frozen=True)
class Explanation:
    """What `explain` found; ``print`` it.

    Attributes:
        stage: the name of the stage, or "bisect".
        record: what the stage makes: a `Program` ("parsed", "gradient" and "optimised"), an `Adjoint`, a `Plan`, a
            `dace.SDFG`, the C++ as text, or with ``bisect=True`` a `Bisection`.
        text: that for people.
        passes: the passes that have run by then, in order: each with `name`, `motive`, `before`, `after` and `seconds`.
    """

    stage: str
    record: Any
    text: str
    passes: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return self.text


def explain(
    program: Callable[..., Any],
    *args: Any,
    stage: str | None = None,
    without: str | Sequence[str] = (),
    diff: bool = False,
    bisect: bool = False,
    wrt: Wrt = None,
    output: str | None = None,
    reduce: Literal["sum"] | None = None,
    memory_limit: int | str | None = None,
    strategy: Strategy = "ilp",
    overrides: Mapping[str, str] | None = None,
    allow_unused: bool = False,
    **kwargs: Any,
) -> Explanation:
    """Show what becomes of a program for given arguments: after a stage, after each pass, or where it goes wrong.

    The gradient program is the one that computes the output's value, too. Nothing is run unless `bisect` asks for it.

    Args:
        program, wrt, output, reduce, memory_limit, strategy, overrides, allow_unused: as in `differentiate`.
        args, kwargs: the program's arguments.
        stage: "parsed", "adjoint", "plan", "gradient" (the default), "optimised" (the default with `diff`), "sdfg" or
            "code".
        without: names of passes to leave out.
        diff: show what each pass up to the stage changed, rather than the stage.
        bisect: run the program after each stage and pass in an interpreter, which takes small arguments, and name the
            first one after which it computes otherwise.

    Returns:
        An `Explanation`: ``str`` of it is the text, ``record`` what the stage made.

    Raises:
        ArgumentError: there is no such stage or pass; the error lists those that there are.
        SdfgadError: whatever ``differentiate(program)(*args)`` raises.

    Example:
        >>> def energy(x):
        ...     return np.sum(x * x)
        >>> print(explain(energy, np.ones(3), stage="parsed"))  # doctest: +SKIP
        input x: float64[3]
        output result: float64, return
        <BLANKLINE>
        result = 0.0
        for p < 3: result += (x[p] * x[p])
    """
    of = partial(differentiate, program, wrt=wrt, output=output, reduce=reduce, memory_limit=memory_limit)
    # What is parsed does not depend on what is differentiated.
    g = of(strategy=strategy, overrides=overrides, allow_unused=allow_unused or stage == "parsed")
    # These import all passes, which takes a while.
    from sdfgad.explain.bisect import bisected
    from sdfgad.explain.stages import STAGES, Stages

    left = _known_passes((without,) if isinstance(without, str) else tuple(without))
    if bisect and (stage is not None or diff):
        raise ArgumentError("a bisection goes through all stages and passes", todo="Leave out `stage` and `diff`.")
    stage = stage or ("optimised" if diff else "gradient")
    if stage not in STAGES:
        raise ArgumentError(f"there is no stage {stage!r}", todo=f"It is one of {', '.join(STAGES)}.")
    call, specialisation = specialised(g, args, kwargs, left)
    stages = Stages(specialisation, call)
    if bisect:
        found = bisected(stages)
        return Explanation("bisect", found, str(found), found.passes)
    chosen = STAGES[stage]
    passes, record = chosen.passes(stages), chosen.record(stages)
    return Explanation(stage, record, _diffs(passes) if diff else chosen.text(record), passes)


def _known_passes(names: tuple[str, ...]) -> tuple[str, ...]:
    from sdfgad.optimise.passes import TABLE

    known = dict.fromkeys(one.name for one in TABLE)
    if unknown := [name for name in names if name not in known]:
        listed = ", ".join(map(repr, unknown))
        raise ArgumentError(f"there is no pass {listed}", todo=f"The passes are: {', '.join(known)}.")
    return tuple(sorted(set(names)))


def _diffs(passes: tuple[Step, ...]) -> str:
    """What each pass changed, and the names of those that changed nothing."""
    parts = ["\n".join(_diff(number, step)) for number, step in enumerate(passes, 1) if step.is_change]
    changing = {step.name for step in passes if step.is_change}
    idle = dict.fromkeys(step.name for step in passes if step.name not in changing)
    parts += [f"# no change by {', '.join(idle)}"] if idle else []
    return "\n\n".join(parts)


def _diff(number: int, step: Step) -> Iterator[str]:
    from sdfgad.explain.listing import program_listing

    yield f"# {number} {step.name}, {1e3 * step.seconds:.1f} ms: {step.motive}"
    before, after = (program_listing(one).splitlines() for one in (step.before, step.after))
    # Without the names of files, of which there are none.
    yield from list(difflib.unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]

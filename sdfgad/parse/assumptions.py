"""What an attempt to parse a program assumes; where that fails, the next attempt assumes less."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import AmbiguousArray, Blame, Location, ProgramRaises, Rebound, SdfgadError, UnsupportedProgram
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import adoption, counter_conditions
from sdfgad.parse.builder import Builder
from sdfgad.parse.constants import Constants, Decides, Guessed
from sdfgad.parse.contents import ChangesOutside, Rolling, Taken, Texts
from sdfgad.parse.eigenvalue_uses import DtypeByValue
from sdfgad.parse.emitter import exception_of
from sdfgad.parse.exception_values import Throw, Throws
from sdfgad.parse.internal_iteration import Inverted, Inverts
from sdfgad.parse.inverted_loops import LoopPlace
from sdfgad.parse.logs import Kept, Logs, Reaches, Site
from sdfgad.parse.magnitudes import Outgrown
from sdfgad.parse.namespaces import Assigned, AssignsGlobals
from sdfgad.parse.operands import UpdatedOperand
from sdfgad.parse.recursion import Place, Recursive
from sdfgad.parse.value_specialisation import TooManyBranches, TooManyValues

FAILURES = (
    AssignsGlobals,
    ChangesOutside,
    NeedsConstant,
    Decides,
    Guessed,
    Outgrown,
    Reaches,
    Inverted,
    Recursive,
    Taken,
    Throws,
    SdfgadError,
)


@dataclass(frozen=True)
class Assumptions:
    """The assumptions of one attempt.

    Attributes:
        fixed: the integer arguments that are constants.
        rolling: which loops over lists stay loops.
        texts: how strings that data decides are followed.
        refused_text: why strings that data decides could not be numbers.
        by_place: whether one of several objects is told by its place where paths meet.
        refused_object: why it could not be told by its attributes.
        may_count: whether integers, truth values and strings of objects may be columns.
        has_counted: whether some have been in this attempt or an earlier one.
        refused_count: why they could not.
        written_out: the lines of loops that are written out, as integers of more than 64 bits follow from theirs.
        updated: the lines in which operands are computed before what follows them, as that updates what they read.
        untaken: the places that must not rely on a list that stays as it is, as it is changed later.
        decisive: the user's integer arrays whose elements are constants.
        are_enclosed_constant: whether integers of enclosing programs are constants rather than data.
        logs: the places where lists are made whose changes cannot be followed.
        refused: what was refused before lists were assumed to be logs, if it was none of their changes.
        copies_returned: whether arrays that are returned out of loops and branches are copied.
        globals: the global names that functions of the program assign to.
        adopted: the arrays, lists, dicts and objects from outside that it changes.
        looped: the functions that call themselves, and are loops instead.
        inverted: the loops over generator functions that are inverted; `inverts`: whether there may be any.
        refused_inverted: why there is no program without them.
        throws: the ``raise`` statements that are values; `may_throw`: whether there may be any.
        refused_throws: why there is no program with them.
        lacks: whether an attempt has lacked a constant that data decides.
        by_value: whether such an integer is a constant: that of the call at hand; `can_measure`: whether it may be.
        decided: the lines of branches on data that the call at hand decides.
        before: what was refused before they were.
        may_guess: whether integer arrays that are known are used as constants where they need not be.
        raises_instead: whether compiled code raises where a handler of a `try` would run.
        decides: whether conditions on such arrays are decided while parsing, which lengths may depend on.
    """

    fixed: Mapping[str, int]
    rolling: Rolling = Rolling.ALL
    texts: Texts = Texts.BY_PATHS
    refused_text: Exception | None = None
    written_out: frozenset[Location] = frozenset()
    updated: frozenset[Location | None] = frozenset()
    untaken: frozenset[Location | None] = frozenset()
    decisive: tuple[np.ndarray[Any, Any], ...] = ()
    may_guess: bool = True
    decides: bool = False
    are_enclosed_constant: bool = False
    logs: Mapping[Site, Kept] = field(default_factory=dict)
    refused: Exception | None = None
    copies_returned: bool = False
    globals: tuple[Assigned, ...] = ()
    adopted: tuple[Any, ...] = ()
    looped: frozenset[Place] = frozenset()
    inverted: frozenset[LoopPlace] = frozenset()
    inverts: Inverts = Inverts.FIRST
    refused_inverted: Exception | None = None
    throws: frozenset[Throw] = frozenset()
    may_throw: bool = True
    refused_throws: Exception | None = None
    lacks: bool = False
    by_value: bool = False
    can_measure: bool = False
    decided: frozenset[Location] = frozenset()
    before: Exception | None = None
    raises_instead: bool = False
    by_place: bool = False
    refused_object: Exception | None = None
    may_count: bool = True
    has_counted: bool = False
    refused_count: Exception | None = None

    def builder(self, integers: dict[str, int]) -> Builder:
        b = Builder(integers, self.rolling, Constants(self.decisive, self.may_guess))
        b.logs, b.copies_returned = Logs(dict(self.logs)), self.copies_returned
        b.are_enclosed_constant, b.decides, b.decided = self.are_enclosed_constant, self.decides, self.decided
        b.raises_instead, b.untaken, b.looped = self.raises_instead, self.untaken, self.looped
        b.numbers_texts, b.objects.by_place = self.texts is Texts.BY_NUMBERS, self.by_place
        b.objects.may_count, b.magnitudes.written_out = self.may_count, self.written_out
        b.objects.may_number_texts = self.texts is not Texts.ONLY_BY_PATHS
        b.updated_operands, b.inverted, b.inverts = self.updated, self.inverted, self.inverts is not Inverts.NEVER
        b.throws, b.may_throw = self.throws, self.may_throw
        b.may_have_values = self.can_measure and not self.by_value
        b.by_counters = partial(counter_conditions.known_or_kept, b)
        return b

    def after(self, failure: Exception, b: Builder, symbols: Mapping[str, str]) -> Assumptions:
        """The assumptions of the next attempt.

        Args:
            failure: what the attempt has raised.
            symbols: integer arguments that are not fixed -> their symbols.

        Raises:
            SdfgadError: no other assumptions would help.
        """
        if b.objects.has_counted and not self.has_counted:
            return replace(self, has_counted=True).after(failure, b, symbols)
        if b.untested:
            return replace(self, throws=self.throws | b.untested)
        if b.logs.lacking:
            return replace(self, logs={**b.logs.known, **b.logs.lacking})
        if isinstance(failure, TooManyValues) and self.may_count and self.has_counted:
            return replace(self._anew(), may_count=False, refused_count=failure)
        if isinstance(failure, TooManyValues):
            before = self.refused_text or self.before
            raise _refusal(before if isinstance(failure, TooManyBranches) and before else failure)
        if isinstance(failure, ChangesOutside):
            return replace(self, adopted=adoption.more(b, self.adopted, failure))
        if (asked := self._as_asked(failure)) is not None:
            return asked
        if (b.lacks_constant or isinstance(failure, NeedsConstant)) and not self.lacks:
            return replace(self, lacks=True).after(failure, b, symbols)
        needed = failure.symbols if isinstance(failure, NeedsConstant) else set()
        if (fixed := self._fixing(needed, b, symbols) or self._fixing(b.to_unroll, b, symbols)) is not None:
            return fixed
        if b.has_enclosed_integers and not self.are_enclosed_constant:
            return replace(self, are_enclosed_constant=True)
        more = self._with_copies_or_logs(failure, b)
        if more is not None:
            return more
        if b.logs.by_place:
            return replace(self, logs=b.logs.as_stacks)
        if b.lacks_constant and b.constants.knows_a_condition and not self.decides:
            return replace(self, decides=True)
        if (fixed := self._fixing(_blame(failure, b).integers, b, symbols)) is not None:
            return replace(fixed, copies_returned=False)
        if self.inverted and self.inverts is Inverts.FIRST:
            return replace(self._anew(), inverts=Inverts.NEVER)
        if b.has_rolled and self.rolling is not Rolling.NONE:
            # In unrolled loops more lists can be followed, and more arrays told apart.
            return replace(self, rolling=Rolling.NONE, logs={}, refused=None, copies_returned=False)
        found, failure = failure, self.refused or failure
        is_raised = isinstance(failure, SdfgadError) and exception_of(failure) is not None
        if self.before is not None and (isinstance(failure, NeedsConstant) or (self.decided and not is_raised)):
            # Where constants that data decides did not help, they are not what to write about.
            failure = self.before
        if (decided := self._with_inputs_that_decide(b)) is not None:
            return replace(decided, before=failure)
        if (again := self._by_value(found, b)) is not None:
            return replace(again, before=failure)
        if self.decided and isinstance(found, ProgramRaises):
            # With the branches decided as for the call at hand, Python raises it for certain.
            raise found
        if b.needs_handler and not self.raises_instead:
            return replace(self._anew(), raises_instead=True)
        if self.texts is Texts.BY_NUMBERS:
            anew = replace(self._anew(), raises_instead=self.raises_instead)
            return replace(anew, texts=Texts.ONLY_BY_PATHS, refused_text=failure)
        if self.by_place:
            # Of loops that are written out it may be known which object it is.
            return replace(self._anew(), rolling=Rolling.NONE, by_place=False)
        if self.may_count and self.has_counted:
            # Where they are known, more may be.
            return replace(self._anew(), may_count=False, refused_count=failure)
        failure = self.refused_text or self.refused_object or self.refused_count or failure
        if self.inverts is Inverts.NEVER:
            return replace(self._anew(), inverts=Inverts.LAST, refused_inverted=failure)
        failure = self.refused_inverted or failure
        if self.throws:
            # Of loops that are written out it may be certain what raises.
            return replace(self._anew(), may_throw=False, refused_throws=failure)
        raise _refusal(self.refused_throws or failure)

    def after_update(self, b: Builder, symbols: Mapping[str, str]) -> Assumptions:
        """The assumptions of the next attempt where a row stands for an array that is updated by another name.

        Raises:
            SdfgadError: no other assumptions would help.
        """
        if self.rolling is Rolling.ALL:
            return replace(self, rolling=Rolling.VALUES)
        what = "an array that is an attribute of one of several objects has another name, and is updated by either"
        todo = "Copy the array where it gets the other name: p.x = x.copy()."
        return self.after(AmbiguousArray(what, b.where, todo, ""), b, symbols)

    def _as_asked(self, failure: Exception) -> Assumptions | None:
        """Where the failure itself says what to assume."""
        if isinstance(failure, DtypeByValue):
            return replace(self, by_value=True)
        if isinstance(failure, Decides):
            return replace(self, decisive=(*self.decisive, *failure.arrays))
        if isinstance(failure, AssignsGlobals):
            return replace(self, globals=(*self.globals, failure.assigned))
        if isinstance(failure, Recursive):
            return replace(self, looped=self.looped | {failure.place}, refused=self.refused or failure.refused())
        if isinstance(failure, Inverted):
            return replace(self, inverted=self.inverted | {failure.place})
        if isinstance(failure, Throws):
            return replace(self, throws=self.throws | failure.throws)
        if isinstance(failure, Outgrown):
            return replace(self, written_out=self.written_out | failure.lines)
        if isinstance(failure, UpdatedOperand) and failure.where not in self.updated:
            return replace(self, updated=self.updated | {failure.where})
        if isinstance(failure, Taken) and failure.where not in self.untaken:
            return replace(self, untaken=self.untaken | {failure.where})
        if isinstance(failure, (AmbiguousArray, Rebound)) and failure.is_of_object and self.refused_object is None:
            return replace(self, by_place=True, refused_object=failure)
        if isinstance(failure, Rebound) and failure.is_of_text and self.texts is not Texts.ONLY_BY_PATHS:
            if self.texts is Texts.BY_PATHS:
                return replace(self, texts=Texts.BY_NUMBERS)
            return replace(self, texts=Texts.ONLY_BY_PATHS, refused_text=failure)
        return replace(self, may_guess=False) if isinstance(failure, Guessed) else None

    def _anew(self) -> Assumptions:
        anew = Assumptions(self.fixed, are_enclosed_constant=self.are_enclosed_constant, can_measure=self.can_measure)
        anew = replace(anew, may_count=self.may_count, has_counted=self.has_counted, refused_count=self.refused_count)
        anew = replace(anew, written_out=self.written_out, updated=self.updated, adopted=self.adopted)
        anew = replace(anew, inverts=self.inverts, refused_inverted=self.refused_inverted)
        anew = replace(anew, may_throw=self.may_throw, refused_throws=self.refused_throws)
        return replace(anew, by_place=self.by_place, refused_object=self.refused_object)

    def _fixing(self, needed: Container[str], b: Builder, symbols: Mapping[str, str]) -> Assumptions | None:
        """With those integer arguments as constants that are among some run-time integers."""
        wanted = {name: b.integers[s] for name, s in symbols.items() if s in needed}
        return replace(self, fixed={**self.fixed, **wanted}) if wanted else None

    def _with_inputs_that_decide(self, b: Builder) -> Assumptions | None:
        """With the user's arrays of integers and booleans as constants that decide branches, which are many, say."""
        if not b.deciding_inputs or self.decides or self.by_value:
            return None
        more = [one for one in b.deciding_inputs.values() if not any(one is known for known in self.decisive)]
        return replace(self._anew(), fixed=self.fixed, decisive=(*self.decisive, *more), decides=True)

    def _by_value(self, failure: Exception, b: Builder) -> Assumptions | None:
        """The last resort: lengths that data decides as they are in the call at hand, and then branches, too."""
        if not self.can_measure:
            return None
        causes = [kept.cause for kept in self.logs.values()]
        # Branches that change a list are to blame, too, for what is refused of the items that are kept of it instead.
        blamed = [_blame(one, b).lines for one in (failure, self.refused, *causes)]
        lines = frozenset[Location]().union(*blamed) - self.decided
        if not (lines or (self.lacks and not self.by_value)):
            return None
        decided = self.decided | (lines if self.by_value or not self.lacks else frozenset())
        again = replace(self, by_value=True, decided=decided, rolling=Rolling.ALL, decides=False, logs={})
        return replace(again, copies_returned=False, refused=None)

    def _with_copies_or_logs(self, failure: Exception, b: Builder) -> Assumptions | None:
        """What costs less than unrolled loops: copies of returned arrays, and lists of which few items are kept."""
        if isinstance(failure, (AmbiguousArray, Rebound)) and b.returns_arrays and not self.copies_returned:
            return replace(self, copies_returned=True)
        more = {site: kept for site, kept in b.logs.found.items() if site not in self.logs}
        if not more:
            return None
        # Only the refusal of a change of a list says why there is no program; that of something else does so itself.
        is_change = any(str(kept.failure.where) == str(getattr(failure, "where", None)) for kept in more.values())
        refused = self.refused if self.logs or is_change else failure
        return replace(self, logs={**b.logs.known, **more}, refused=refused)


def _refusal(failure: Exception) -> Exception:
    """What the user sees."""
    if not isinstance(failure, NeedsConstant):
        return failure
    refused = UnsupportedProgram(failure.what, failure.where, failure.todo)
    refused.__cause__ = failure
    return refused


def _blame(failure: Exception | None, b: Builder) -> Blame:
    chosen = b.choices.get(failure.buffer, Blame()) if isinstance(failure, AmbiguousArray) else Blame()
    return chosen | failure.blame if isinstance(failure, (SdfgadError, NeedsConstant)) else chosen

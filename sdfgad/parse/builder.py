"""Program builder: allocates buffers, emits assignments and library calls, and evaluates abstract values."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from sdfgad.dependence.hazards import is_hazard
from sdfgad.dependence.sets import Domain
from sdfgad.errors import Blame, Location, PythonRaises, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, IntLike, Lin, Op, Read, as_linear, reads
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Accumulate,
    Buffer,
    Call,
    Compute,
    Params,
    Whole,
)
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.broadcasting import broadcast_to
from sdfgad.parse.constants import Constants, Here, Varies
from sdfgad.parse.contents import Body, Contents, Filling, Layout, Rolling, Storing
from sdfgad.parse.derived_types import computes_otherwise, instead_of_it, what_it_is
from sdfgad.parse.draws import Draw, Draws, Maker
from sdfgad.parse.dtypes import DTYPES, instead_of, require_supported
from sdfgad.parse.emitter import STATUS, Emitter
from sdfgad.parse.exception_values import Throw
from sdfgad.parse.inverted_loops import LoopPlace
from sdfgad.parse.logs import Logs
from sdfgad.parse.magnitudes import Magnitudes
from sdfgad.parse.object_columns import ObjectColumns
from sdfgad.parse.overlap import may_overlap
from sdfgad.parse.references import References
from sdfgad.parse.texts import RUN_TIME_TEXT, USE_NUMBERS
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.value_specialisation import VARIES, Place, Values
from sdfgad.parse.values import (
    ITERATORS,
    ChosenText,
    Holder,
    Index,
    MaybeNone,
    Selection,
    Tensor,
    as_tensor,
    cast,
    described,
    is_real,
    scalar,
    view_of,
    with_part,
)
from sdfgad.parse.versions import Versions

Shaped = tuple[Iterable[IntLike], Any]


# A short loop has at most so many trips: nests of such are counted together.
MOST_OF_SHORT = 4
# What the parser has for a value, and its class in Python.
PYTHON_NAMES = {
    "Tensor": "ndarray",
    "Selection": "ndarray",
    "Lin": "int",
    "Closure": "function",
    "Range": "range",
    "Iteration": "iterator",
}
IN_PYTHON = "Run the program without sdfgad, with the same arguments, to see it in Python."
IS_DATA = "a length, shape, axis or other integer here is computed from the values of arrays or floats"
FROM_DATA = (
    "Pass it as an integer argument; if it is the length of x[mask], keep all elements: "
    "np.where(mask, x, 0.0) instead of x[mask]."
)


def _strings(lookup: Callable[[], Any]) -> tuple[Any, ...]:
    """The shape and the elements of an array of strings."""
    array = np.asarray(lookup())
    return array.shape, array.dtype, tuple(array.ravel().tolist())


def _protected(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that a program cannot change."""
    copied = array.copy()
    copied.flags.writeable = False
    return copied


class Builder(Emitter):
    """The program under construction: its buffers, and the statements that fill them."""

    def __init__(
        self, integers: dict[str, int], rolling: Rolling = Rolling.ALL, constants: Constants | None = None
    ) -> None:
        super().__init__(integers)
        self.constants = constants or Constants()
        self.contents = Contents()
        self.objects = ObjectColumns()
        self.logs = Logs({})
        # Whether arrays are returned out of loops and branches, and whether these are copied.
        self.returns_arrays, self.copies_returned = False, False
        # How many calls around keep no intermediate values for the reverse sweep.
        self.pinning = 0
        # The lists and dicts that the loops around fill, by id; those that each loop will, by the id of its node; and
        # the loops around that may fill some, from the outermost on (see `appending`).
        self.filling: dict[int, Filling] = {}
        self.to_fill: dict[int, list[Any]] = {}
        # By the ids of both: how the items of several appends are laid out, how items are replaced, and those of these
        # lists that the loop reads, too.
        self.layouts: dict[tuple[int, int], Layout] = {}
        self.storing: dict[tuple[int, int], Storing] = {}
        self.to_read: dict[tuple[int, int], list[Any]] = {}
        # By the same: what the first trip appends, where it may be unlike the others.
        self.first_items: dict[tuple[int, int], list[Any]] = {}
        # Those of which such a loop turned out to append nothing to the list.
        self.only_read: dict[tuple[int, int], list[Any]] = {}
        # The buffers in which the loops around hand values from trip to trip.
        self.carried: frozenset[str] = frozenset()
        # The loops, by id, in which integers of Python may take more than 64 bits; and whether they are checked here.
        self.checked, self.checks_integers = set[int](), False
        self.magnitudes = Magnitudes()
        # The same as `carried` for each loop, with the depth of its body.
        self.carriers: tuple[tuple[int, frozenset[str]], ...] = ()
        # Whether loops over lists of alike items are tried as loops, and the arrays of known numbers, by their bytes
        # (`sdfgad.parse.item_tables`).
        self.rolls_tables = False
        # The bodies of loops by whose counters items of such lists are looked up are less deep than this; the counters
        # by which some have been.
        self.copies = 1
        self.table_depth, self.table_symbols = sys.maxsize, frozenset[str]()
        self.tables: dict[tuple[str, bytes], np.ndarray[Any, Any]] = {}
        self.fillers: tuple[Body, ...] = ()
        # The dtypes that arrays may have in Python instead of that of their buffers (`mixed_dtypes`).
        self.mixed: dict[str, np.dtype[Any]] = {}
        # Whether linear forms may be integers of NumPy, whose comparisons are booleans of NumPy's (`truth_values`).
        self.has_numpy_integers = False
        # Whether strings that data decides are numbers at run time, and these numbers (`chosen_texts`).
        self.numbers_texts, self.texts = False, dict[Any, int]()
        self.rolling = rolling
        # The lists of which loops or lookups have the items as the rows of an array, or as one object, by id, each with
        # the place that does so; and the places that must not, as the list is changed later.
        self.taken: dict[int, tuple[Any, Location | None]] = {}
        self.untaken: frozenset[Location | None] = frozenset()
        # The functions that call themselves, and are loops instead, by their files and lines.
        self.looped: frozenset[tuple[str, int]] = frozenset()
        # The places of loops over generator functions that are inverted, and whether others may be.
        self.inverted: frozenset[LoopPlace] = frozenset()
        self.inverts = True
        # The ``raise`` statements on data that are values, and whether others may be.
        self.throws: frozenset[Throw] = frozenset()
        self.may_throw = True
        # The operations that must be tested for whether they raise, and were not.
        self.untested: set[Throw] = set()
        # The iterators that have been gone over, by id, each with how many items `next` has taken; None for all.
        self.exhausted: dict[int, tuple[Any, int | None]] = {}
        # Those whose items are made one by one, by id, as Python's iterators, with how many `next` has taken: also in
        # attempts that have been given up.
        self.running: dict[int, tuple[Any, Any, int]] = {}
        # The arrays, lists, dicts and sets from outside the program that it has read, by id.
        self.outside: dict[int, Any] = {}
        # What the values from outside are in the program, by the id of each, with it.
        self.of_outside: dict[int, tuple[Any, Any]] = {}
        # What they are the copies of, by the id of each; of objects by that of their attributes.
        self.originals: dict[int, Any] = {}
        # What holds the parts of values from outside, by the id of each.
        self.holders: dict[int, Any] = {}
        # Lists and dicts from outside with the arrays of the program, by the id of each (see `outside`).
        self.wholes: dict[int, Any] = {}
        # The arrays from outside that the program updates (see `adoption`).
        self.adopted: list[np.ndarray[Any, Any]] = []
        # The objects that are keys of dicts or elements of sets, by their fields.
        self.keys: dict[tuple[Any, ...], Any] = {}
        # The values of the global names that the program assigns to, by the id of their module's (see `namespaces`).
        self.namespaces: dict[int, dict[str, Any]] = {}
        self.has_rolled = False
        # What conditions on the counter of a loop alone are at each trip, by the counter and their bytes; and whether a
        # part of a loop that was split by them is parsed (`sdfgad.parse.index_set_splitting`).
        self.by_trip, self.is_in_part = dict[str, dict[bytes, np.ndarray[Any, Any]]](), False
        # What an integer is that must be known, where the counters of the loops around tell (`counter_conditions`).
        self.by_counters: Callable[[Expr], int | None] = lambda expr: None
        # How many loops around are tried behind their first trips (`sdfgad.parse.warm_up`).
        self.warm_ups = 0
        # The lines in which operands are computed before what follows them, as that updates what they read.
        self.updated_operands = frozenset[Location | None]()
        # Whether ``with`` enters a generator, which then certainly runs to its end (`sdfgad.parse.context_managers`).
        self.is_entering = False
        # The comprehensions that are known to be no loops that fill a list, by id (`sdfgad.parse.comprehensions`).
        self.written_out = set[int]()
        # The run-time integers that, as constants, would let loops be unrolled that cannot be parsed as loops.
        self.to_unroll: set[str] = set()
        # The closures for which the stubs of methods stand, in classes that functions define (see `local_classes`).
        self.methods: dict[Any, Any] = {}
        # The items of containers that loops and branches carry, by id and key: the depth of the block that changes it.
        self.items: dict[tuple[int, Any], int] = {}
        # Those of the loop or branch that is parsed, and of the ones within it (`items.Nest`).
        self.nest: Any = None
        # Arrays from outside the function, also those of enclosing programs: buffer -> array; and for each of the
        # former what looks it up.
        self.captured: dict[str, Any] = {}
        # Whether integers of enclosing programs are constants, and whether there are some that are not.
        self.are_enclosed_constant, self.has_enclosed_integers = False, False
        # The exceptions that are objects of the program, each with what Python would raise in its place.
        self.thrown: list[tuple[BaseException, Any]] = []
        # Whether conditions on known arrays are decided while parsing, and whether a constant was missing.
        self.decides, self.lacks_constant = False, False
        # The user's arrays that decide branches, and may become constants.
        self.deciding_inputs: dict[str, Any] = {}
        # The integers that data decides and that are constants nevertheless, if there may be some; and the lines of
        # the branches on data that are decided in that way.
        self.values: Values | None = None
        # Whether there may be some in a later attempt.
        self.may_have_values = False
        self.decided: frozenset[Location] = frozenset()
        # The branches that choose one of several arrays, by the buffer that holds a copy of it.
        self.choices: dict[str, Blame] = {}
        self.lookups: list[tuple[Callable[[], Any], Any]] = []
        self._looked_up: set[Hashable] = set()
        # The random numbers that it draws, and the generators that it makes: by id, and the objects that have the ids.
        self.draws: list[Draw] = []
        self.makers: dict[int, Maker] = {}
        self.kept: list[Any] = []
        # What functions with a cache have returned, by the function and the arguments (`memoised_calls`).
        self.remembered: dict[Any, Any] = {}
        # Those that are being called, by id.
        self.remembering: list[int] = []
        self._memo: dict[Any, list[tuple[list[Any], list[Any] | None, Any]]] = {}
        self.versions = Versions(lambda: self.where, lambda held: self.objects.outdated(held, self.where))
        self.references = References(lambda: tuple(var for _, var, _ in self.loops))
        # The arrays in whose order NumPy stores the elements of a new one, by its buffer; None stands for an order that
        # is not row-major. Without an entry the new array is row-major.
        self.like: dict[str, tuple[Tensor | None, ...]] = {}
        # The buffers of which the program has asked whether NumPy reshapes them without a copy.
        self.reshaped: set[str] = set()
        # Those of arrays that may not be updated any more.
        self.protected: frozenset[str] = frozenset()
        # The buffers that are made without values.
        self.unset: set[str] = set()
        # The buffers that messages are sent of or received into, and the requests that have not been waited for.
        self.sent: set[str] = set()
        # The numbers of elements that masks select: extents that are data.
        self.counts: set[Lin] = set()
        self.requests: list[Any] = []
        # The sizes of the communicators on all of whose ranks floating values are shared.
        self.ranks: set[int] = set()
        self.names = Names((*integers, STATUS))
        # How often the statements after a branch or loop have been parsed once for each path.
        self.tail_duplications = 0

    # --- names and storage

    def fresh(self, base: str) -> str:
        return self.names.fresh(base)

    def new_buffer(self, base: str, shape: Index, dtype: np.dtype[Any]) -> Buffer:
        """A new buffer whose extents are the maxima of `shape` over all values of the loop counters."""
        if dtype.kind not in "biufc":
            raise self.unsupported(
                f"arrays of {dtype} are not supported", "Use a list of arrays, or numbers such as float64 or int64."
            )
        require_supported(dtype)
        sizes = tuple(Lin(self.largest(extent)) for extent in shape)
        self.check_size(sizes, dtype.itemsize)
        buffer = Buffer(self.fresh(base or "t"), sizes, dtype, base, self.where, bool(self.pinning))
        self.buffers[buffer.name] = buffer
        self.references.create(buffer.name)
        self.constants.create(buffer, self.here)
        self.like.pop(buffer.name, None)
        self.mixed.pop(buffer.name, None)
        return buffer

    def capture(self, name: str, array: np.ndarray[Any, Any], lookup: Callable[[], Any]) -> Any:
        """An array from outside the function, as a value of the present call; its own copy of one that it updates."""
        if id(array) in self.of_outside:
            self.looked_up(array, name, array, lookup)
            return self.of_outside[id(array)][1]
        if type(array) is np.ndarray and array.dtype.kind == "U":
            return self._texts(array, lookup)
        self.require_apart(name, array)
        self.outside[id(array)] = array
        return self._input(name, array, lookup)

    def _texts(self, array: np.ndarray[Any, Any], lookup: Callable[[], Any]) -> Any:
        """An array of strings from outside, which are constants; a later call compares them."""
        self.lookups.append((functools.partial(_strings, lookup), _strings(lambda: array)))
        return self.of_outside.setdefault(id(array), (array, _protected(array)))[1]

    def require_apart(self, name: str, array: np.ndarray[Any, Any]) -> None:
        """Refuse an array from outside that shares memory with one that the program updates, and so has a copy of."""
        if any(may_overlap(array, one) for one in self.adopted):
            what = f"`{name}` from outside the function shares memory with another array from there that it updates"
            raise self.unsupported(what, "Pass the arrays as arguments, or let one name have the whole of it.")

    def _input(self, name: str, array: np.ndarray[Any, Any], lookup: Callable[[], Any]) -> Tensor:
        known = next((buffer for buffer, other in self.captured.items() if other is array), None)
        if known is None or known not in self.buffers:
            self.require_plain(array, name)
            if array.dtype.name not in DTYPES:
                raise self.unsupported(
                    f"`{name}` is an array of {array.dtype}, which is not supported", instead_of(array.dtype, name)
                )
            shape = tuple(Lin(extent) for extent in array.shape)
            buffer = Buffer(self.fresh(name), shape, array.dtype, name, self.where)
            self.buffers[buffer.name] = buffer
            self.captured[buffer.name] = array
            self.lookups.append((lookup, array))
            self.constants.enter(buffer, array, self.start)
            known = buffer.name
        return view_of(self.buffers[known]).as_value(settled=True)

    def require_plain(self, value: Any, name: str = "this") -> None:
        """Refuse an array or number from outside whose class may compute otherwise, such as a masked array."""
        if computes_otherwise(value):
            raise self.unsupported(what_it_is(f"`{name}`", value), instead_of_it(name, value))

    def looked_up(self, owner: Any, name: Hashable, value: Any, lookup: Callable[[], Any]) -> Any:
        """A value from outside the function that the program takes for a constant, which `owner` has by a name."""
        key = id(owner), name
        if key not in self._looked_up:
            self._looked_up.add(key)
            self.lookups.append((lookup, value))
        return value

    def constant_array(self, array: np.ndarray[Any, Any]) -> Any:
        """An array that is known while parsing, as a captured constant; one of strings itself."""
        if array.dtype.kind == "U":
            return _protected(array)
        copied = array.copy()
        tensor = self._input("constant", copied, lambda: copied)
        name = next(name for name, other in self.captured.items() if other is copied)
        self.constants.set(self.buffers[name], copied, self.start)
        return tensor

    def draw_input(self, shape: Index, dtype: np.dtype[Any]) -> str:
        """A hidden input that gets random numbers at each call."""
        self.check_size(shape, dtype.itemsize)
        buffer = Buffer(self.fresh("drawn"), shape, dtype, "drawn", self.where)
        self.buffers[buffer.name] = buffer
        self.captured[buffer.name] = np.zeros(tuple(extent.const for extent in shape), dtype)
        return buffer.name

    def drawn(self, inputs: Iterable[str]) -> tuple[dict[str, np.ndarray[Any, Any]], Draws]:
        """The hidden inputs that are the same at each call, and what is to be drawn for the others."""
        names = {draw.buffer for draw in self.draws} & {*inputs}
        held = {name: array for name, array in self.captured.items() if name in names}
        return Draws(tuple(self.draws), self.makers, tuple(self.kept), held).constants()

    @property
    def draws_anew(self) -> bool:
        """Whether it has drawn random numbers that are others in each call."""
        return not all(draw.is_seeded(self.makers) for draw in self.draws)

    def adopt(self, buffer: Buffer, inputs: Iterable[str]) -> str:
        """The name of a buffer of an inlined program, which computes it of the buffers `inputs`."""
        new = replace(buffer, name=self.fresh(buffer.name))
        self.buffers[new.name] = new
        self.references.create(new.name)
        self.constants.create(new, self.here)
        self.constants.derive(new, inputs)
        return new.name

    def new_view(self, base: str, shape: Index, dtype: np.dtype[Any], weak: bool = False) -> Tensor:
        return view_of(self.new_buffer(base, shape, dtype), weak, shape)

    def snapshot(self) -> tuple[Any, ...]:
        """The builder's state for `restore`, to parse statements a second time under other assumptions."""
        lengths = [len(block) for block in self.blocks]
        names = self.names.snapshot()
        iterators = dict(self.exhausted), next(ITERATORS)
        versions = self.versions.snapshot(), self.references.snapshot(), list(self.loops), iterators
        contents = self.contents.snapshot(), self.constants.snapshot(), self.objects.snapshot()
        counts = len(self.checks), len(self.hazards), len(self.draws)
        buffers = dict(self.buffers), dict(self.captured)
        where = self.where, list(self.requests)
        values = None if self.values is None else self.values.snapshot()
        lists = self.filling, values, self.logs.snapshot(), self.protected, dict(self.remembered)
        return buffers, names, lengths, counts, self.domain, where, versions, contents, *lists

    def is_unchanged_since(self, state: tuple[Any, ...]) -> bool:
        """Whether no statement and no check has been emitted, no list, dict or iterator changed, since a snapshot."""
        is_silent = [len(block) for block in self.blocks] == state[2] and len(self.checks) == state[3][0]
        is_silent = is_silent and len(self.draws) == state[3][2] and self.filling is state[8]
        return is_silent and not self._have_gone_on(*state[6][3]) and self.contents.is_unchanged_since(state[7][0])

    def _have_gone_on(self, before: dict[int, tuple[Any, int | None]], number: int) -> bool:
        """Whether an iterator that was there before has given items since."""
        return any(one[0].number < number and one != before.get(key) for key, one in self.exhausted.items())

    def has_changed_since(self, state: tuple[Any, ...]) -> bool:
        """Whether anything has been changed that was there at a snapshot, or random numbers drawn."""
        if self._have_gone_on(*state[6][3]):
            return True
        is_written = not self.versions.written_since(state[6][0][1]).isdisjoint(state[0][0])
        return is_written or len(self.draws) != state[3][2] or self.contents.are_changed_since(state[7][0])

    def restore(self, state: tuple[Any, ...]) -> None:
        # Else another buffer may get the name of one that was captured since.
        self.buffers, self.captured = dict(state[0][0]), dict(state[0][1])
        self._memo.clear()
        self.names.restore(state[1])
        del self.blocks[len(state[2]) :], self.checks[state[3][0] :], self.hazards[state[3][1] :]
        del self.draws[state[3][2] :]
        for block, length in zip(self.blocks, state[2], strict=True):
            del block[length:]
        self.domain, (self.where, self.requests) = state[4], (state[5][0], list(state[5][1]))
        self.versions.restore(state[6][0])
        self.references.restore(state[6][1])
        self.loops, self.exhausted = list(state[6][2]), dict(state[6][3][0])
        self.contents.restore(state[7][0])
        self.constants.restore(state[7][1])
        self.objects.restore(state[7][2])
        self.logs.restore(state[10])
        self.filling, self.protected, self.remembered = state[8], state[11], dict(state[12])
        if self.values is not None:
            self.values.restore(state[9])

    @property
    def here(self) -> Here:
        return Here(self.blocks[-1], frozenset(var for _, var, _ in self.loops))

    @property
    def start(self) -> Here:
        """Before the first statement."""
        return Here(self.blocks[0], frozenset())

    @contextmanager
    def rolling_tables(self) -> Iterator[None]:
        """Within it, lists of alike items are gone over as arrays are (`item_tables`)."""
        before, self.rolls_tables = self.rolls_tables, True
        try:
            yield
        finally:
            self.rolls_tables = before

    @contextmanager
    def unrolling(self, trips: int) -> Iterator[None]:
        """Within it, a trip is parsed of a loop that is unrolled, which `copies` counts where it is short."""
        before, self.copies = self.copies, self.copies * (trips if trips <= MOST_OF_SHORT else 1)
        try:
            yield
        finally:
            self.copies = before

    @contextmanager
    def carrying(self, buffers: Iterable[str], node: Any) -> Iterator[None]:
        """The body of a loop that hands on values in these buffers."""
        before, own = (self.carried, self.carriers, self.checks_integers), frozenset(buffers)
        self.checks_integers |= id(node) in self.checked
        self.carried, self.carriers = self.carried | own, (*self.carriers, (len(self.blocks) + 1, own))
        try:
            yield
        finally:
            self.carried, self.carriers, self.checks_integers = before

    # --- statements

    def assign(self, target: Tensor, value: Any, accumulate: Accumulate | None = None) -> None:
        """``target[...] = value`` with broadcasting; `target` is a view.

        Raises:
            ShapeMismatch: the value does not broadcast to the target's shape.
        """
        value = broadcast_to(self, as_tensor(value), target.shape)
        self.compute(target.shape, target, lambda p: p, value, accumulate)

    def refer(self, target: Tensor, value: Tensor, is_row: bool = False) -> None:
        """Make `target` a reference of an array as far as that can be: a copy of it."""
        self.references.copy(target, value, is_row)
        self.assign(target, value)

    def compute(self, box: Index, target: Tensor, target_index: Any, value: Tensor, accumulate: Any = None) -> None:
        """``target[target_index(p)] = value[p]`` for every p in `box`, reading everything before writing."""
        assert target.place is not None
        symbols = tuple(self.fresh("p") for _ in box)
        index = tuple(Lin.symbol(s) for s in symbols)
        place = target.place(target_index(index))
        expr = cast(value.element(index), target.dtype)
        if target.part:
            expr = with_part(place.read(self.buffers[place.buffer].dtype), target.part, expr, accumulate)
        params = tuple(zip(symbols, box, strict=True))
        if is_hazard(self.domain, params, place, expr, self._is_empty):
            copy = self.new_view("", box, target.dtype)
            self.compute(box, copy, lambda p: p, value)
            self.compute(box, target, target_index, copy, accumulate)
        else:
            self.emit(Compute(params, place, expr, accumulate, self.where))
            if expr.dtype == INT and not params:
                self.magnitudes.assign(place, expr, accumulate is not None, self.carried)
            if self.values is not None:
                self.values.require_same(self, place.buffer)
            self.versions.count(place.buffer)
            self._follow(params, place, expr, accumulate)

    def _follow(self, params: Params, place: Access, value: Expr, accumulate: str | None) -> None:
        """Constant propagation of a statement; ``k[0] += 1`` in a loop that needs ``k[0]`` asks for unrolling it."""
        try:
            self.constants.write(self.buffers[place.buffer], params, place, value, self.here, accumulate)
        except Varies as varies:
            raise NeedsConstant(set(varies.loops), self.where, varies.what) from varies

    def call(self, name: str, inputs: Iterable[Tensor], shapes: Iterable[Shaped], sizes: Iterable[int]) -> list[Tensor]:
        """Call a library function: its outputs, in new buffers with the given shapes and dtypes.

        A failure of the function at run time raises its error, mostly `SingularMatrix`.
        """
        known = LIBRARY[name]
        wholes = [self.as_whole(tensor) for tensor in inputs]
        outputs = [self.new_buffer(name, tuple(map(Lin.of, shape)), np.dtype(dtype)) for shape, dtype in shapes]
        extra = [self.new_buffer("failed", (), INT)] if known.failure else []
        results = tuple(Whole(buffer.name, buffer.shape, buffer.dtype) for buffer in (*outputs, *extra))
        self.emit(Call(name, tuple(wholes), results, tuple(sizes), self.where))
        for buffer in outputs:
            self.constants.derive(buffer, [whole.buffer for whole in wholes])
        self.versions.count(*(whole.buffer for whole in results))
        for failed in extra:
            is_fine = Op("equal", (Access(failed.name).read(INT), Const(0, INT)), BOOL)
            self.check(is_fine, (), known.failure, known.raises, known.todo)
        return [view_of(buffer) for buffer in outputs]

    def as_whole(self, tensor: Tensor) -> Whole:
        """A tensor as a whole buffer: the one that it is a view of all of, or a new one."""
        shape = tuple(Lin(self.constant(extent)) for extent in tensor.shape)
        symbols = tuple(Lin.symbol(self.fresh("p")) for _ in shape)
        place = None if tensor.place is None or tensor.part else tensor.place(symbols)
        if place is None or place.index != symbols or self.buffers[place.buffer].shape != shape:
            place = self.stored(tensor).place(symbols)  # type: ignore[misc]
        return Whole(place.buffer, shape, tensor.dtype)

    def _is_empty(self, domain: Domain) -> bool:
        if domain.is_empty:
            return True
        return bool((domain.parameters(tuple(self.integers)) & self.context).is_empty())

    def stored(self, tensor: Tensor, base: str = "", weak: bool | None = None) -> Tensor:
        """Materialise a tensor's present value in a new array."""
        view = self.new_view(base, tensor.shape, tensor.dtype, tensor.weak if weak is None else weak)
        view = replace(view, types=tensor.types) if tensor.types else view
        self.assign(view, tensor)
        return self.ordered(view, tensor)

    def ordered(self, new: Tensor, *like: Tensor | None) -> Tensor:
        """A new array, which NumPy stores in the order of others, or (None) in one that is not row-major."""
        self.like[str(new.buffer)] = like
        return new

    def materialise(self, tensor: Tensor, base: str = "") -> Tensor:
        """Materialise a tensor's present value: a new array, or a scalar that no later write changes."""
        view = self.stored(tensor, base)
        if tensor.copy is not None:
            return self.versions.stored_copy(view, tensor.copy)
        return view.as_value(settled=True) if tensor.ndim == 0 else view

    def fixed(self, value: Expr) -> Lin:
        """Materialise an integer's present value, which later writes to its operands do not change."""
        form: Lin = self.memoised("integer", value, lambda: as_linear(self.materialise(scalar(value)).at()))
        return form

    def fixed_mask(self, mask: Tensor) -> Tensor:
        """Materialise a mask's present value; the same tensor for an equal mask until an operand is written."""
        index = tuple(Lin.symbol(f"m{axis}_") for axis in range(mask.ndim))

        def snapshot() -> Tensor:
            copy = self.stored(mask, "mask").as_value(settled=True)
            # The copy as an argument of this method gives the copy itself.
            self.memoised(("mask", mask.shape), copy.element(index), lambda: copy)
            return copy

        found: Tensor = self.memoised(("mask", mask.shape), mask.element(index), snapshot)
        return found

    def memoised(
        self, what: Hashable, value: Expr | tuple[Expr, ...], evaluate: Callable[[], Any], depth: int | None = None
    ) -> Any:
        """Available expressions: the result of `evaluate` for a value, cached until an operand of it is written.

        A result is available in the block that computed it and in blocks within it, but not in loops within it: their
        later trips may follow later writes of an operand. One that is computed at a `depth` of the blocks around, in
        which no operand is written, is available in loops, too.
        """
        parts = value if isinstance(value, tuple) else (value,)
        versions = tuple((read.buffer, self.versions[read.buffer]) for part in parts for read in reads(part))
        key, loops = (what, value, versions), list(self.loops) if depth is None else None
        for blocks, around, known in self._memo.get(key, ()):
            is_inside = len(blocks) <= len(self.blocks) and all(map(operator.is_, blocks, self.blocks))
            if is_inside and around == loops:
                return known
        result = evaluate()
        self._memo.setdefault(key, []).append((self.blocks[:depth], loops, result))
        return result

    def named(self, value: Any, name: str) -> Any:
        """A value that is bound to a name: its buffer gets that source name unless it has one."""
        if isinstance(value, Tensor) and value.buffer in self.buffers and not self.buffers[value.buffer].source:
            self.buffers[value.buffer] = replace(self.buffers[value.buffer], source=name)
        return value

    def settle(self, value: Any, base: str = "") -> Any:
        """A value as Python binds it to a name: arrays by reference, anything else materialised now."""
        if isinstance(value, tuple):
            parts = [self.settle(part, base) for part in value]
            return value if all(map(operator.is_, parts, value)) else rebuilt_tuple(value, parts)
        if isinstance(value, Holder):
            return value.settled(self.settle)
        if isinstance(value, MaybeNone):
            return MaybeNone(self.settle(value.value, base), self.settle(value.there))
        if isinstance(value, ChosenText):
            return ChosenText(self.settle(value.code, base))
        if isinstance(value, Selection) and value.dense.place is None:
            return replace(value, dense=self.stored(_masked(value), base))
        if not isinstance(value, Tensor) or value.settled or value.place is not None:
            return value
        new = self.materialise(value, base)
        return replace(self.ordered(new, None), read_only=True) if value.read_only and new.place else new

    def guessed(self, value: Any) -> int | None:
        """An integer that is known while parsing, but need not be."""
        form = value if isinstance(value, Lin) else self._integer(value)
        return form.const if form.is_const else self.constants.integer(form, self.here, is_needed=False)

    def constant(self, value: Any, what: str = IS_DATA, todo: str = FROM_DATA) -> int:
        """An integer that must be known while parsing.

        Args:
            what: the message where it is data; `todo`: the advice.

        Raises:
            NeedsConstant: it is not; the caller that introduced its symbols can fix them.
            Decides: it is an element of an input that is not a constant yet.
            UnsupportedProgram: it is data, or no integer.
        """
        if not isinstance(value, Lin):
            value = self._integer(value)
        known = value.const if value.is_const else self.constants.integer(value, self.here)
        if known is not None:
            return known
        found = self.by_counters(Int(value))
        found = self.by_value(value) if found is None else found
        if found is not None:
            return found
        symbols = self.symbols_behind(self.constants.require(value) - {*self.buffers})
        loops = set() if self.values is None else {var for _, var, _ in self.loops}
        # What a loop before has computed is known where those around are unrolled.
        if symbols:
            is_of_earlier_loop = bool(symbols - loops - {*self.integers})
            raise NeedsConstant(symbols | (loops if is_of_earlier_loop else set()), self.where)
        self.lacks_constant = True
        if loops:
            raise NeedsConstant(loops, self.where, VARIES)
        raise self.unsupported(what, todo)

    def by_value(self, form: Lin) -> int | None:
        """An integer that data decides, as it is in the call at hand, where that may be a constant of the program."""
        if self.values is None or self.draws_anew or form.is_affine:
            return None
        return self.values.integer(self, form, self.carried, self.fresh("decided"))

    def is_as_predicted(self, is_last: bool = False) -> bool:
        """As `Values.are_as_predicted`."""
        return self.values is None or self.values.are_as_predicted(is_last)

    def predictions(self) -> Mapping[Place, int]:
        """The integers that the next attempt may predict: none where those of this one are in doubt."""
        if self.values is None:
            return {}
        is_run = not (self.values.is_predicted or self.values.is_interpreted)
        is_certain = is_run or (not self.logs.lacking and self.is_as_predicted())
        return self.values.by_place if is_certain else {}

    def truth_by_value(self, condition: Tensor) -> bool | None:
        """A condition on data, as it is in the call at hand, where that may decide the present branch."""
        holds = condition.at()
        if self.where not in self.decided or not reads(holds) or self.values is None or self.draws_anew:
            return None
        return self.values.truth(self, holds, self.carried, self.fresh("side"))

    @contextmanager
    def as_data(self) -> Iterator[None]:
        """Within it an integer that data decides is none that must be known."""
        before, self.values = (self.values, self.lacks_constant), None
        try:
            yield
        finally:
            self.values, self.lacks_constant = before

    def known(self, values: Any) -> list[int]:
        """The integers of a sequence or of an array with one axis, or one integer; raises as `constant` does."""
        if isinstance(values, Tensor) and values.ndim == 1:
            values = [scalar(values.at(k)) for k in range(self.constant(values.shape[0]))]
        return [self.constant(value) for value in (values if isinstance(values, (tuple, list, range)) else (values,))]

    def _integer(self, value: Any) -> Lin:
        if isinstance(value, Tensor) and not value.ndim and value.dtype.kind in "iub":
            return as_linear(cast(value.at(), INT))
        if isinstance(value, SupportsIndex):
            return Lin(operator.index(value))
        what = repr(value)
        if isinstance(value, Tensor):
            what = described(value)
        raise self.unsupported(
            f"{what} stands where an integer must be known before the run", "Write an integer, or convert it: int(n)."
        )

    # --- Python

    def python(self, function: Callable[..., Any], *positional: Any, **keywords: Any) -> Any:
        """Constant folding: the result of a Python call on values that are known while parsing.

        Raises:
            PythonRaises: Python certainly raises an exception.
            UnsupportedProgram: it raises one for what stands for a value that it would have.
        """
        try:
            return function(*positional, **keywords)
        except Exception as error:
            text = str(error)
            for kind, name in PYTHON_NAMES.items():
                text = text.replace(f"'{kind}'", f"'{name}'")
            what = f"Python raises {type(error).__name__} here: {text}"
            if is_real((function, positional, keywords)) or _looks_up(function, positional):
                raise PythonRaises(what, self.where, IN_PYTHON, error) from error
            if RUN_TIME_TEXT in str(error):
                raise self.unsupported(str(error), USE_NUMBERS) from error
            todo = "Use values that do not depend on arrays, or do it outside of the function."
            raise self.unsupported(what, todo) from error

    def unsupported(self, what: str, todo: str) -> UnsupportedProgram:
        return UnsupportedProgram(what, self.where, todo)


def _looks_up(function: Any, positional: tuple[Any, ...]) -> bool:
    """Whether a function looks up an item by a key, and at no items besides."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (list, dict)) and function.__name__ in ("pop", "popitem"):
        return is_real(positional)
    by_key = (operator.getitem, operator.setitem, operator.delitem)
    return function in by_key and isinstance(positional[0], (tuple, list, dict)) and is_real(positional[1:2])


def _masked(chosen: Selection) -> Tensor:
    """A selection's values to store: 0 where nothing is selected, as those elements may have invalid values."""
    dense, mask = chosen.dense, chosen.mask

    def element(p: Index) -> Expr:
        value = dense.element(p)
        # A plain copy needs no mask: copy propagation may then remove it.
        if isinstance(value, Read) and reads(value) == [value]:
            return value
        return Op("select", (mask.element(p[: mask.ndim]), value, Const(0, dense.dtype)), dense.dtype)

    return Tensor(dense.shape, dense.dtype, element)

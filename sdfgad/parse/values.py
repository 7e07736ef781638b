"""Abstract values: what a name can hold while a program is parsed.

Python objects that are known while parsing (numbers, strings, tuples, modules, functions) are their own abstract
values. An integer that is known only at run time is a `Lin`. Any other number or array is a `Tensor`: a shape, a dtype
and a function from an index to the expression of that element, evaluated only where the value is needed.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import count
from typing import Any, ClassVar

import numpy as np

from sdfgad.errors import Location, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, IntLike, Lin, Op, Read, rewrite
from sdfgad.ir.program import Access, Accumulate, Buffer
from sdfgad.parse.dtypes import require_supported
from sdfgad.parse.structure import Indivisible

Index = tuple[Lin, ...]


@dataclass(frozen=True)
class Copy:
    """What a copy stands for: an array of which Python holds a reference (an alias), and which may be one of several.

    Attributes:
        of: the buffers that it may alias, each with the number of writes to it at the time of the copy: after another
            write the copy is stale.
        storage: the buffer that stores the copy; "" if there is none.
        is_chosen: whether it stands for one of several arrays; else, for what may be a view or a copy in NumPy.
        number: how many copies were made before.
    """

    of: tuple[tuple[str, int], ...]
    storage: str
    is_chosen: bool
    number: int


@dataclass(frozen=True)
class Held:
    """What a value is that an attribute of an object in a list was: the attribute's column is written in its place.

    Attributes:
        of: what `Versions` counts where the attribute is assigned to, with the count when it was read.
        number: how many copies, and of these, were made before.
        depth: that of the block in which the attribute is a column.
        where: the line that has read it.
    """

    of: tuple[tuple[str, int], ...]
    number: int
    depth: int
    where: Location | None


@dataclass(frozen=True, eq=False)
class Tensor:
    """An array or scalar that is known at run time.

    Attributes:
        shape: extents.
        dtype: of the elements.
        element: index -> expression of the element.
        place: index -> the element's storage (an lvalue), for arrays that Python has a reference of; None for values.
        part: "real" or "imag" for an array of that part of the complex numbers at its elements' places, else "".
        read_only: whether its elements cannot be updated, as those of a broadcast view.
        weak: whether it is a Python number, which does not take part in NumPy's dtype promotion.
        settled: whether later statements cannot change the value, as they can that of a view or of an expression
            that is not evaluated yet.
        copy: for a copy of an array of which Python holds a reference, what it stands for.
        types: what a number may be in Python, where that is known only at run time (`truth_values`).
        held: for what an attribute was when it was read, until when it may be read.
        unmoved: for a copy of an attribute of one of several objects, what to raise where it is updated in place.
    """

    shape: Index
    dtype: np.dtype[Any]
    element: Callable[[Index], Expr]
    place: Callable[[Index], Access] | None = None
    part: str = ""
    read_only: bool = False
    weak: bool = False
    settled: bool = False
    copy: Copy | None = None
    types: frozenset[str] = frozenset()
    held: Held | None = None
    unmoved: Callable[[], Exception] | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def at(self, *index: IntLike) -> Expr:
        return self.element(tuple(Lin.of(i) for i in index))

    @property
    def buffer(self) -> str | None:
        """The buffer of an array that may be updated in place."""
        return None if self.place is None else self.place(tuple(Lin(0) for _ in self.shape)).buffer

    @property
    def is_shared(self) -> bool:
        """Whether it is an array of which Python holds a reference, so that other names may share its memory."""
        return self.place is not None or self.copy is not None

    @property
    def is_stored(self) -> bool:
        """Whether each element is a plain read of a buffer."""
        return isinstance(self.element(tuple(Lin(0) for _ in self.shape)), Read)

    def as_value(self, settled: bool) -> Tensor:
        """The same elements as a value, which shares no memory with an array."""
        return replace(self, place=None, part="", read_only=False, settled=settled, copy=None)

    @property
    def result(self) -> Tensor:
        """What a function of NumPy's returns of it: an array, or a number where it has no axes."""
        return self if self.ndim else self.as_value(settled=True)

    def reindexed(self, shape: Index, old_index: Callable[[Index], Index]) -> Tensor:
        """A view with another shape; `old_index` maps its indices to this tensor's."""
        element, place = self.element, self.place
        return replace(
            self,
            shape=shape,
            element=lambda index: element(old_index(index)),
            place=None if place is None else lambda index: place(old_index(index)),
        )

    def substituted(self, symbols: Mapping[str, IntLike]) -> Tensor:
        """This tensor with symbols replaced, such as a loop counter by its last value."""
        element, place = self.element, self.place

        def moved(index: Index) -> Access:
            assert place is not None
            access = place(index)
            lins = tuple(lin.substitute(symbols, lambda e: rewrite(e, symbols)) for lin in access.index)
            return Access(access.buffer, lins)

        return replace(
            self,
            shape=tuple(extent.substitute(symbols, lambda e: rewrite(e, symbols)) for extent in self.shape),
            element=lambda index: rewrite(element(index), symbols),
            place=None if place is None else moved,
        )


@dataclass(frozen=True, eq=False)
class Record:
    """An object of a class that is written in Python: its attributes, which statements may bind anew."""

    cls: type
    fields: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.fields is other.fields

    def __hash__(self) -> int:
        return id(self.fields)


@dataclass(frozen=True)
class Unbound:
    """The abstract value of a name that has no value, or may have none, in Python."""

    reason: str
    error: Exception | None = None


ABSENT = Unbound("one branch does not assign it")


@dataclass(frozen=True, eq=False)
class MaybeBound:
    """The abstract value of a name that only some paths bind; `bound` is the run-time condition that it is bound."""

    value: Any
    bound: Any


@dataclass(frozen=True, eq=False)
class MaybeNone:
    """The abstract value of what is None on some paths; `there` is the run-time condition that it is not."""

    value: Any
    there: Any
    noun: ClassVar[str] = "a value that may be None"


@dataclass(frozen=True)
class Text:
    """A string or member of an enumeration, as what a `ChosenText` is on one path."""

    value: Any
    noun: ClassVar[str] = "a string"


@dataclass(frozen=True, eq=False)
class ChosenText:
    """The abstract value of what is one of several strings, or members of an enumeration, that data decides.

    Attributes:
        code: its number among those of the program (see `chosen_texts`), or the one `Text` that it is.
    """

    code: Any
    noun: ClassVar[str] = "a string that data decides"


@dataclass(frozen=True, eq=False)
class ChosenObject:
    """The abstract value of what is one of several objects of a class, where paths or trips meet.

    Attributes:
        place: that of the object among them.
    """

    objects: tuple[Record, ...]
    place: Any
    noun: ClassVar[str] = "an object that data decides"


class Undefined:
    """The value of a function's result before a ``return`` is reached, where it is never read."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()


class Holder(Indivisible):
    """An object of the parser that refers to values, such as a function with its defaults."""

    @property
    def held(self) -> Iterable[Any]:
        raise NotImplementedError

    def settled(self, settle: Callable[[Any], Any]) -> Any:
        """The object as Python binds it to a name; `settle` does that for a value."""
        return self


@dataclass(frozen=True, eq=False)
class Polymorphic(Holder):
    """An object of one of several classes, which data decides.

    Attributes:
        objects: those of which it is one, and `place`: its place among them.
    """

    objects: tuple[Record, ...]
    place: Lin
    noun: ClassVar[str] = "an object of one of several classes, of which data decides one,"

    @property
    def held(self) -> Iterable[Any]:
        return self.objects

    # Python would take it for an object of its own, which is no key of any dict.
    def __bool__(self) -> bool:
        raise NotNumeric(self)

    def __hash__(self) -> int:
        raise NotNumeric(self)


# The numbers of iterators.
ITERATORS = count()


@dataclass(frozen=True, eq=False)
class Iteration(Holder):
    """An iterator, as `zip` and generator expressions make them: evaluated, once, by what goes over it.

    Attributes:
        sources: what it goes over.
        evaluate: its items as they are now: a Python iterator, or what a loop that runs at run time goes over.
        blocks: the blocks of the program in which it is made, from the outermost on.
        is_generator: whether a generator expression makes it.
        at_once: its items, of which a loop computes all: a list, or what follows one whose length is data; None where
            it cannot, or need not.
        axes: the ranges of a product of ranges.
        function: what has made it of its sources alone, such as `zip`, of which one may be whether it is strict.
        number: later ones have greater numbers.
    """

    noun = "an iterator"
    instead = "Make a list of its items, and an array of that: np.array(list(items))."

    sources: tuple[Any, ...]
    evaluate: Callable[[], Any]
    blocks: tuple[Any, ...]
    is_generator: bool = False
    at_once: Callable[[], Any] = lambda: None
    axes: tuple[Any, ...] = ()
    function: Any = None
    number: int = field(default_factory=lambda: next(ITERATORS))

    @property
    def held(self) -> Iterable[Any]:
        return self.sources


@dataclass(frozen=True)
class AfterLoop(Holder):
    """The value, after a loop, of a name that is first bound in it: `value` if `trips` > 0, else unbound."""

    value: Any
    trips: Lin

    @property
    def held(self) -> Iterable[Any]:
        return (self.value,)


@dataclass(frozen=True, eq=False)
class Selection:
    """A masked array for ``x[mask]``: the elements of `dense`, at their indices in `x`, where `mask` is true.

    Attributes:
        dense: an array whose leading axes are the mask's.
        mask: booleans.
        compact: computes the array of the selected elements alone, whose first extent is known only at run time.
    """

    dense: Tensor
    mask: Tensor
    compact: Callable[[Selection], Tensor]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.dense.dtype

    def all_of(self, whole: Tensor) -> Selection:
        """All elements of an array as a selection."""
        yes = Tensor(whole.shape[: self.mask.ndim], BOOL, lambda _: Const(True, BOOL))
        return replace(self, dense=whole, mask=yes)


def view_of(buffer: Buffer, weak: bool = False, shape: Index | None = None) -> Tensor:
    """The whole of a buffer, or its leading part of the given shape."""
    return Tensor(
        buffer.shape if shape is None else shape,
        buffer.dtype,
        lambda index: Access(buffer.name, index).read(buffer.dtype),
        lambda index: Access(buffer.name, index),
        weak=weak,
    )


def scalar(expr: Expr, weak: bool = False) -> Tensor:
    return Tensor((), expr.dtype, lambda _: expr, weak=weak)


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic))


def is_member(value: Any) -> bool:
    """Whether a value is a number that is a member of an enumeration, which no number of compiled code is."""
    return isinstance(value, Enum) and is_number(value)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer with a linear form: a Python or NumPy integer, or a `Lin`."""
    return isinstance(value, (Lin, int, np.integer)) and not isinstance(value, (bool, np.bool_))


def is_whole(value: Any) -> bool:
    """Whether a value is an integer of any kind: one with a linear form, or a number that data decides."""
    return is_integer(value) or (isinstance(value, Tensor) and not value.ndim and value.dtype.kind in "iu")


# What `keys`, `values` and `items` of a dict return.
DICT_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def is_real(value: Any) -> bool:
    """Whether a value is the very object that Python would have, down to its parts, and none of the parser's own."""
    if isinstance(value, (DICT_VIEWS, tuple, list, set, frozenset)):
        return all(is_real(part) for part in value)
    if isinstance(value, dict):
        return all(is_real(part) for pair in value.items() for part in pair)
    if isinstance(value, (partial, types.MethodType, types.BuiltinMethodType)):
        return is_real([getattr(value, name, None) for name in ("__self__", "func", "args", "keywords")])
    return not type(value).__module__.startswith("sdfgad.")


def is_static(value: Any) -> bool:
    """Whether a value is known while parsing."""
    if isinstance(value, (DICT_VIEWS, tuple, list)):
        return all(is_static(v) for v in value)
    if isinstance(value, dict):
        return all(is_static(v) for v in value.values())
    if isinstance(value, slice):
        return all(is_static(v) for v in (value.start, value.stop, value.step))
    if isinstance(value, Record):
        return False
    return not isinstance(value, (Tensor, Lin, Selection, Iteration, MaybeNone, ChosenText, Polymorphic))


NAMES = {type(None): "None", str: "a string", type: "a class"}
INSTEAD = {
    type(None): "Set it to a number or an array on all paths, or test it by `is None` before.",
    dict: "Take the items that are meant: d[key], or d.values().",
    list: "Make an array of it: np.array(values).",
    tuple: "Make an array of it: np.array(values).",
}


def kind_of(value: Any) -> str:
    """The kind of a value in the words of an error message, with its article: "an array" or "a list", say."""
    if isinstance(value, Selection) or (isinstance(value, Tensor) and value.ndim):
        return "an array"
    if isinstance(value, (Tensor, Lin)):
        return "a number"
    cls = value.cls if isinstance(value, Record) else type(value)
    name = cls.__name__
    known = NAMES.get(cls, name if isinstance(value, Record) else f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}")
    return str(getattr(cls, "noun", known))


def shape_text(shape: Index) -> str:
    """A shape as users know it; extents that only a run computes have no numbers yet."""
    return f"({', '.join(str(extent) if extent.is_affine else 'as many as data decides' for extent in shape)})"


def described(value: Any) -> str:
    """A value in the words of an error message: what is known of it, or its kind."""
    if isinstance(value, Tensor):
        return f"an array of {value.dtype}" if value.ndim else f"a number of type {value.dtype}"
    return kind_of(value) if isinstance(value, Record) or type(value).__module__.startswith("sdfgad.") else repr(value)


class NotNumeric(TypeError):
    """A value that must be a number or an array is neither; `todo` says what to write instead."""

    def __init__(self, value: Any) -> None:
        cls = value.cls if isinstance(value, Record) else type(value)
        super().__init__(f"{kind_of(value)} is not a number or an array")
        self.todo = getattr(cls, "instead", INSTEAD.get(cls, "Pass the numbers or arrays that it holds, one by one."))
        # The integers that, as constants, would tell which one of several values this is.
        self.symbols = set[str]()


WEAK_DTYPES: dict[type[Any], np.dtype[Any]] = {
    int: INT,
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def as_tensor(value: Any) -> Tensor:
    """A number, `Lin` or tensor as a tensor.

    Raises:
        NotNumeric: the value is none of these.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Selection):
        return value.compact(value)
    if isinstance(value, Lin):
        return scalar(Int(value), weak=True)
    if isinstance(value, np.generic):
        return scalar(Const(value, value.dtype))
    if isinstance(value, bool):
        return scalar(Const(value, BOOL), weak=True)
    if is_number(value):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            value = float(value)  # As NumPy does beside floats.
        # Also of subclasses, such as members of an `IntEnum`.
        cls, dtype = next((cls, dtype) for cls, dtype in WEAK_DTYPES.items() if isinstance(value, cls))
        return scalar(Const(cls(value), dtype), weak=True)
    raise NotNumeric(value)


def cast(expr: Expr, dtype: np.dtype[Any]) -> Expr:
    """`expr` converted to a dtype, as NumPy's `astype` does.

    Raises:
        UnsupportedProgram: the dtype is not supported.
    """
    if expr.dtype == dtype:
        return expr
    require_supported(dtype)
    if isinstance(expr, Const) and not (expr.dtype.kind == "f" and dtype.kind in "iu"):
        return _const(expr.value, dtype)
    if isinstance(expr, Int) and expr.value.is_const:
        return _const(expr.value.const, dtype)
    return Op("cast", (expr,), dtype)


def _const(value: Any, dtype: np.dtype[Any]) -> Const:
    try:
        return Const(value, dtype)
    except OverflowError as error:
        what = f"the integer {value} is out of bounds for {dtype}"
        todo = "NumPy raises an error, too, but in comparisons. Convert the array first, as in `x.astype(np.int64)`."
        raise UnsupportedProgram(what, None, todo) from error


def astype(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    if tensor.dtype == dtype:
        return tensor
    require_supported(dtype)
    element = tensor.element
    return Tensor(tensor.shape, dtype, lambda index: cast(element(index), dtype))


def with_part(old: Expr, part: str, value: Expr, accumulate: Accumulate | None) -> Expr:
    """A complex number with one part replaced by `value`, or what is added to it to add `value` to that part."""
    other = "imag" if part == "real" else "real"
    kept = Const(0, value.dtype) if accumulate == "add" else Op(other, (old,), value.dtype)
    return Op("complex", (value, kept) if part == "real" else (kept, value), old.dtype)

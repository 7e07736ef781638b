"""Pytree of what a program returns: its leaves are outputs of the compiled program, or constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse.logs import is_log
from sdfgad.parse.structure import Structure, build, container
from sdfgad.parse.texts import is_plain
from sdfgad.parse.values import Record, Selection, Tensor, is_number, kind_of


@dataclass(frozen=True)
class Output:
    """Stands for the output of the program with this name."""

    name: str


@dataclass(frozen=True)
class Hidden:
    """Stands for what exists while parsing only, such as an iterator; `kind` describes it."""

    kind: str


@dataclass(frozen=True)
class Returned:
    """What a program returns: a container (None: a single leaf), and its leaves in order.

    A leaf is an `Output`, a `Hidden`, or a constant itself.
    """

    structure: Structure | None
    leaves: tuple[Any, ...]

    @property
    def parts(self) -> tuple[Returned, ...]:
        """The parts of a tuple; none of anything else."""
        if self.structure is None or not issubclass(self.structure.cls, tuple):
            return ()
        left = iter(self.leaves)
        counts = map(_count, self.structure.parts)
        leaves = [tuple(next(left) for _ in range(count)) for count in counts]
        return tuple(map(Returned, self.structure.parts, leaves))

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs among the leaves."""
        return [leaf.name for leaf in self.leaves if isinstance(leaf, Output)]

    @property
    def hidden(self) -> str | None:
        """The kind of the first leaf or container that exists while parsing only; None if there is none."""
        kinds = [leaf.kind for leaf in self.leaves if isinstance(leaf, Hidden)]
        classes = [cls for cls in _classes(self.structure) if cls.__module__.startswith("sdfgad.")]
        return next(iter([*kinds, *(getattr(cls, "noun", f"a {cls.__name__}") for cls in classes)]), None)

    def filled(self, output: Callable[[str], Any], make: Callable[..., Any] = container) -> Any:
        """The container itself, with the values of outputs by name; `make` makes a container of a class."""
        values = [output(leaf.name) if isinstance(leaf, Output) else leaf for leaf in self.leaves]
        return build(self.structure, iter(values), make)


def is_numeric(value: Any) -> bool:
    """Whether a returned value is an output of the compiled program."""
    return is_number(value) or isinstance(value, (Tensor, Lin, Selection))


def named_leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a returned value, each with the expression that selects it, such as ``return[0]['a']``."""
    items = _items(value)
    if items is None:
        yield name, value
        return
    for key, part in items.items():
        yield from named_leaves(f"{name}.{key}" if isinstance(value, Record) else f"{name}[{key!r}]", part)


def returned(value: Any) -> Returned:
    """The pytree of the value that a program returns."""
    leaves = [_leaf(name, leaf) for name, leaf in named_leaves("return", value)]
    return Returned(_structure(value), tuple(leaves))


def _leaf(name: str, value: Any) -> Any:
    if is_numeric(value):
        return Output(name)
    return value if is_plain(value) else Hidden(kind_of(value))


def _structure(value: Any) -> Structure | None:
    items = _items(value)
    if items is None:
        return None
    cls = value.cls if isinstance(value, Record) else type(value)
    return Structure(cls, getattr(cls, "_fields", tuple(items)), tuple(map(_structure, items.values())))


def _items(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, Record):
        return None if is_log(value) else value.fields
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, (tuple, list)) else None


def _classes(structure: Structure | None) -> list[type]:
    """The classes of a container and of those within it."""
    return [] if structure is None else [structure.cls, *(cls for part in structure.parts for cls in _classes(part))]


def _count(structure: Structure | None) -> int:
    return 1 if structure is None else sum(map(_count, structure.parts))

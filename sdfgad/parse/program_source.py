"""Other front ends: programs that are no Python text, such as SDFGs, and make their own `Primal` for a call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from inspect import Signature
from typing import TYPE_CHECKING, Any, NoReturn

from sdfgad.errors import UnsupportedProgram

if TYPE_CHECKING:
    from sdfgad.parse.source import Source


class ProgramSource(ABC):
    """Stands where the pipeline has a function: it shows parameters and a source, and is parsed by itself.

    Attributes:
        source: what errors name where no line of the program is to blame.
        has_names: whether its arguments have names rather than places, by which gradients are returned, too.
    """

    source: Source
    has_names: bool = False
    __name__: str
    __qualname__: str
    __signature__: Signature

    @abstractmethod
    def primal(self, arguments: Mapping[str, Any], constant: Iterable[str]) -> Any:
        """The `Primal` of one call; arguments as those of `sdfgad.parse.parse.parse`.

        Raises:
            SdfgadError: it has something that no statement can express, or the arguments do not fit.
        """

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """What is to be run is the compiled program.

        Raises:
            UnsupportedProgram: always.
        """
        what = f"`{self.__name__}` is a graph, which runs only as a compiled program"
        raise UnsupportedProgram(what, self.source.where(self.source.node), "Call its gradient, or `g.value(...)`.")

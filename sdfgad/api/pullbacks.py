"""A program with its pullback and pushforward as programs: what frameworks with a tape of their own call.

The pullback of a program is a NumPy program itself, of the arguments and the cotangent, so that it has a pullback, too,
and derivatives of any order follow.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdfgad.api.callables import callee_of, with_parameters
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.api.higher import jvp
from sdfgad.api.joint import joint, paired
from sdfgad.api.products import pulled_by
from sdfgad.errors import ArgumentError
from sdfgad.parse.source import add_text
from sdfgad.parse.structure import flattened, names
from sdfgad.specialise.forward import Forward
from sdfgad.specialise.signature import Call, definition

Args = tuple[Any, ...]


class Differentiable:
    """A program of positional arguments, arrays and containers of them, with derivatives that are programs like it.

    Args:
        options: of `differentiate`, for the gradients.
        value: computes the program's value, where it need not be compiled for that.
    """

    def __init__(
        self, program: Callable[..., Any], options: Mapping[str, Any], value: Callable[..., Any] | None = None
    ) -> None:
        self.callee = callee_of(program)
        self._program, self._options, self._value = program, {"device": "cpu", **options}, value
        if options.get("source") is not None:
            add_text(self.callee.function, options["source"])
        self._joint = joint(program, None)
        self._gradients: dict[tuple[str, ...], DifferentiatedProgram] = {}
        self._pullbacks: dict[tuple[tuple[str, ...], bool], Differentiable] = {}
        self._valued: dict[tuple[str, ...], Differentiable] = {}
        self._pushforward: Differentiable | None = None

    @property
    def name(self) -> str:
        return self.callee.function.__name__

    def positional(self, args: Args, kwargs: Mapping[str, Any]) -> Args:
        """All arguments of a call by position.

        Raises:
            ArgumentError: they do not fit, or one can be passed by name only.
        """
        if not kwargs:
            return args
        where = definition(self.callee.function)
        try:
            bound = inspect.Signature(self.callee.parameters).bind(*args, **kwargs)
        except TypeError as error:
            what = f"the call does not fit `{self.name}`: {error}"
            raise ArgumentError(what, where, "Pass its arguments by position.") from None
        bound.apply_defaults()
        if bound.kwargs:
            what = f"the argument `{next(iter(bound.kwargs))}` can be passed by name only"
            raise ArgumentError(what, where, "Wrap the function in one that takes it by position.")
        return bound.args

    def leaves(self, args: Args) -> list[str]:
        """The names of the leaves of the arguments, in order."""
        return [
            leaf
            for position, value in enumerate(args)
            for leaf in names(flattened(value, "argument")[0], str(self.callee.name_of(position)))
        ]

    def forward(self, args: Args) -> tuple[Call, Forward]:
        """The bound arguments, and the program specialised to them, which knows what it returns."""
        return self._joint.forward(args)

    def value(self, args: Args) -> Any:
        """What the program returns."""
        if self._value is not None:
            return self._value(*args)
        call, forward = self.forward(args)
        return forward.value(call)

    def returns_one_number(self, args: Args) -> bool:
        """Whether what it returns is one real number, whose gradients need no cotangent."""
        forward = self.forward(args)[1]
        program = forward.primal.program
        outputs = [program.buffers[buffer] for buffer in program.outputs.values()]
        return forward.is_single and all(one.shape == () and one.dtype.kind == "f" for one in outputs)

    def value_and_gradients(self, args: Args, leaves: Sequence[str]) -> tuple[Any, tuple[Any, ...]]:
        """The value of a program that returns one real number, and its gradients by leaves of the arguments."""
        value, gradients = self._gradient(tuple(leaves)).value_and_grad(*args)
        return value, gradients

    def with_gradients(self, leaves: Sequence[str]) -> Differentiable:
        """The value of a program that returns one real number, and the tuple of its gradients, as a program."""
        wanted = tuple(leaves)
        if wanted not in self._valued:
            valued = with_parameters(_valued(self._gradient(wanted)), self.callee.parameters, self.name)
            self._valued[wanted] = Differentiable(valued, self._options, valued)
        return self._valued[wanted]

    def pullback(self, leaves: Sequence[str], is_single: bool) -> Differentiable:
        """The cotangents of leaves of the arguments, a tuple, as a program of ``(args, cotangent)``.

        Args:
            is_single: the program returns one array or number, not a container.
        """
        key = (tuple(leaves), is_single)
        if key not in self._pullbacks:
            pulled = pulled_by(self._gradient(key[0])) if is_single else self._pulled_of_several(key[0])
            self._pullbacks[key] = Differentiable(pulled, self._options, pulled)
        return self._pullbacks[key]

    def pushforward(self) -> Differentiable:
        """The tangent of what is returned, as a program of ``(args, tangents)``; None is the tangent of a constant."""
        if self._pushforward is None:
            pushed = _pushed(self._program)
            self._pushforward = Differentiable(pushed, self._options, pushed)
        return self._pushforward

    def _gradient(self, leaves: tuple[str, ...]) -> DifferentiatedProgram:
        if leaves not in self._gradients:
            self._gradients[leaves] = differentiate(self._program, wrt=leaves, allow_unused=True, **self._options)
        return self._gradients[leaves]

    def _pulled_of_several(self, leaves: tuple[str, ...]) -> Callable[..., Any]:
        """The pullback of a container: the gradient of its inner product with the cotangents."""
        places = tuple(self._place(leaf) for leaf in leaves)
        g = differentiate(paired(self._program), wrt=places, allow_unused=True, **self._options)

        def pulled(primals, cotangent):  # type: ignore[no-untyped-def]
            return g(primals, cotangent)

        return pulled

    def _place(self, leaf: str) -> str:
        """A leaf, such as ``p.w``, as a part of the tuple of all arguments: ``primals[0].w``."""
        for position in itertools.count():
            root = str(self.callee.name_of(position))
            rest = leaf.removeprefix(root)
            if leaf.startswith(root) and rest[:1] in ("", "[", "."):
                return f"primals[{position}]{rest}"
        raise AssertionError("unreachable")


def _valued(g: DifferentiatedProgram) -> Callable[..., Any]:
    def valued(*primals):  # type: ignore[no-untyped-def]
        return g.value_and_grad(*primals)

    return valued


def _pushed(program: Callable[..., Any]) -> Callable[..., Any]:
    def pushed(primals, tangents):  # type: ignore[no-untyped-def]
        return jvp(program, primals, tangents)[1]

    return pushed

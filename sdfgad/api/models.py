"""The gradient of a model: that of its program, called by the names that the model has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, Measurement, differentiate
from sdfgad.errors import ArgumentError, OutputError, WrtError
from sdfgad.models.program import ModelProgram, Parameter
from sdfgad.plan import Plan

Arrays = Mapping[str, Any]


class DifferentiatedModel:
    """The gradient of a model, as `sdfgad.onnx.differentiate` and `sdfgad.torch.differentiate` return it.

    Inputs are passed by position or name. Weights are arguments, too: they are those of the model unless they are
    passed by name, of which many are no identifiers of Python: ``g(x, **{"fc1.weight": w})``.

    Attributes:
        source: the NumPy program as text, one statement for each node.
        program: that program, a NumPy function whose arguments have Python's names and whose defaults are the weights.
        gradient: its gradient by the arguments in `wrt`, with all that gradients have here, by the program's names.
        inputs, weights, outputs: the model's names.
        operators: the operators of the model that occur in it.
    """

    def __init__(self, model: ModelProgram, wrt: Any, output: str | None, options: Mapping[str, Any]) -> None:
        self._model, self._wrt, self._output, self._options = model, wrt, output, dict(options)
        self._named = {one.name: one for one in model.parameters}
        self.source, self.program = model.text, model.function
        self.inputs = tuple(one.name for one in model.parameters if one.default is None)
        self.weights = tuple(one.name for one in model.parameters if one.default is not None)
        self.outputs, self.operators = model.outputs, model.operators
        self.gradient: DifferentiatedProgram = differentiate(
            self.program, wrt=self._identifiers(wrt), output=self._returned(output), **options
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient: one array if `wrt` is a name, else a dict by name.

        Raises:
            ArgumentError: an argument is unknown, missing, or not of the shape that the model has; else as the gradient
                of a NumPy program does.
        """
        return self._by_name(self.gradient(**self._arguments(args, kwargs)))

    def value(self, *args: Any, **kwargs: Any) -> Any:
        """The output alone."""
        return self.gradient.value(**self._arguments(args, kwargs))

    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output (its sum with ``reduce="sum"``) and the gradient."""
        value, gradient = self.gradient.value_and_grad(**self._arguments(args, kwargs))
        return value, self._by_name(gradient)

    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Any:
        """The gradient of ``np.sum(output * cotangent)``."""
        return self._by_name(self.gradient.vjp(**self._arguments(args, kwargs), cotangent=cotangent))

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """What is stored and what is recomputed, for arguments like these."""
        return self.gradient.plan(**self._arguments(args, kwargs))

    def measure(self, *args: Any, repeats: int = 3, **kwargs: Any) -> Measurement:
        """The measured memory and time of a call."""
        return self.gradient.measure(**self._arguments(args, kwargs), repeats=repeats)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """All the work of a first call, except running it."""
        self.gradient.compile(**self._arguments(args, kwargs))

    def sdfg(self, *args: Any, **kwargs: Any) -> Any:
        """The `dace.SDFG` of the output and the gradient."""
        return self.gradient.sdfg(**self._arguments(args, kwargs))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._model, self._wrt, self._output, self._options)

    # --- names

    def _arguments(self, args: Sequence[Any], kwargs: Arrays) -> dict[str, Any]:
        """The arguments of the program."""
        if len(args) > len(self.inputs):
            what = (
                f"{len(args)} arguments are passed by position, and `{self._model.name}` has {len(self.inputs)} inputs"
            )
            raise ArgumentError(what, todo=f"Its inputs are {', '.join(self.inputs)}; pass weights by name.")
        given = {**self._weights(), **dict(zip(self.inputs, args, strict=False)), **kwargs}
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise ArgumentError(f"`{self._model.name}` lacks the inputs {', '.join(missing)}", todo="Pass them.")
        return {self._parameter(name).identifier: self._checked(name, value) for name, value in given.items()}

    def _weights(self) -> dict[str, Any]:
        """What weights are where they are not passed, if they are others than the program's defaults."""
        return {}

    def _parameter(self, name: str) -> Parameter:
        if name not in self._named:
            what = f"`{self._model.name}` has no argument {name!r}"
            raise ArgumentError(what, todo=f"Its arguments are: {', '.join(self._named)}.")
        return self._named[name]

    def _checked(self, name: str, value: Any) -> Any:
        """An argument whose shape and kind are those of the model."""
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
        parameter, shape, kind = self._named[name], array.shape, array.dtype.kind
        expected = parameter.shape
        fits = expected is None or (
            len(expected) == len(shape) and all(e in (None, n) for e, n in zip(expected, shape, strict=True))
        )
        if not fits or kind != parameter.kind:
            wanted = "any" if expected is None else f"({', '.join('any' if e is None else str(e) for e in expected)})"
            kinds = {"f": "floats", "i": "integers", "u": "unsigned integers", "b": "booleans"}
            what = f"`{name}` has the shape {shape} and the dtype {array.dtype}"
            raise ArgumentError(what, todo=f"The model takes {kinds[parameter.kind]} of shape {wanted}.")
        return value

    def _identifiers(self, wrt: Any) -> Any:
        """`wrt` by the program's names."""
        if wrt is None:
            return None
        if isinstance(wrt, (str, int)):
            return self._identifier(wrt)
        return tuple(map(self._identifier, wrt))

    def _identifier(self, entry: str | int) -> str:
        names = list(self._named)
        name = names[entry] if isinstance(entry, int) and -len(names) <= entry < len(names) else entry
        if name not in self._named:
            raise WrtError(
                f"`{self._model.name}` has no argument {entry!r}", todo=f"Its arguments are: {', '.join(names)}."
            )
        return self._named[name].identifier

    def _returned(self, output: str | None) -> str | None:
        """`output` as the program names it."""
        if output is None or output == "return":
            return output
        if output not in self.outputs:
            listed = ", ".join(self.outputs)
            raise OutputError(f"`{self._model.name}` has no output {output!r}", todo=f"Its outputs are: {listed}.")
        return "return" if len(self.outputs) == 1 else f"return[{self.outputs.index(output)}]"

    def _by_name(self, gradient: Any) -> Any:
        """A gradient of the program by the model's names."""
        if isinstance(gradient, dict):
            names = {one.identifier: one.name for one in self._model.parameters}
            return {names[identifier]: one for identifier, one in gradient.items()}
        if isinstance(self._wrt, (str, int)):
            return gradient
        names_asked = [one if isinstance(one, str) else list(self._named)[one] for one in self._wrt]
        return dict(zip(names_asked, gradient, strict=True))

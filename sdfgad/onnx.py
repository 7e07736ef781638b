"""ONNX models as differentiable programs.

>>> import sdfgad.onnx
>>> g = sdfgad.onnx.differentiate("model.onnx", output="loss")  # doctest: +SKIP
>>> gradients = g(x)  # by the names of inputs and weights  # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import Any

from sdfgad.api.models import DifferentiatedModel
from sdfgad.errors import ArgumentError, MissingPackage

try:
    import onnx
    import scipy.special as _  # noqa: F401 - the operators need it

    from sdfgad.models.onnx.reader import read
except ModuleNotFoundError as error:
    raise MissingPackage("ONNX", "onnx", "onnx") from error

Wrt = str | int | list[str | int] | tuple[str | int, ...] | None


def differentiate(
    model: str | os.PathLike[str] | onnx.ModelProto, *, wrt: Wrt = None, output: str | None = None, **options: Any
) -> DifferentiatedModel:
    """The gradient of an ONNX model by its inputs and weights.

    The graph is read as a NumPy program with one statement for each node, which is differentiated as any program.

    Args:
        model: the path of a file, or a model; of opset 13 or later.
        wrt: names of inputs or initialisers, as they are in the model: one, whose gradient is returned, or several,
            whose gradients come as a dict by name. None: all floating ones.
        output: the name of the output that is differentiated, if there are several.
        options: `memory_limit`, `reduce`, `strategy` and the others of `sdfgad.differentiate`.

    Returns:
        A `DifferentiatedModel` ``g``: ``g(x)`` takes inputs by position or name, as NumPy arrays of the shapes that the
        model declares, in single or double precision. Weights are those of the model, unless they are passed by name:
        ``g(x, **{"fc1.weight": w})``. ``g.source`` is the NumPy program.

    Raises:
        UnsupportedGraph: the model has an operator, an attribute or a type that is not understood; it names the node.
        WrtError, OutputError: `wrt` or `output` name what the model has not.
        ArgumentError: the file is no ONNX model; else as `sdfgad.differentiate` does.

    Example:
        >>> g = sdfgad.onnx.differentiate("lenet.onnx", wrt="conv1.weight", reduce="sum")  # doctest: +SKIP
        >>> g(images).shape  # doctest: +SKIP
        (6, 1, 5, 5)
    """
    found = _loaded(model)
    name = os.path.basename(model) if isinstance(model, (str, os.PathLike)) else found.graph.name
    return DifferentiatedModel(read(found, name or "model"), wrt, output, options)


def _loaded(model: Any) -> onnx.ModelProto:
    """A model that ONNX's own checks have passed."""
    try:
        found = model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model))
        onnx.checker.check_model(found)
    except OSError as error:
        raise ArgumentError(f"the model cannot be read: {error}", todo="Pass the path of an ONNX file.") from error
    except Exception as error:
        raise ArgumentError(f"this is no valid ONNX model: {error}", todo="Export it anew.") from error
    return found

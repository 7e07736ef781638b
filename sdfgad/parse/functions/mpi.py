"""Programs that use mpi4py: attributes of communicators and requests. Their methods are read as library calls."""

from __future__ import annotations

from functools import partial
from typing import Any

from sdfgad.errors import UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.communicators import Communicator, Method, Request, is_communicator
from sdfgad.parse.functions import mpi_collective, mpi_point_to_point
from sdfgad.parse.functions.mpi_point_to_point import REQUESTS

METHODS = mpi_collective.METHODS | mpi_point_to_point.METHODS
# Methods without messages, whose results are numbers that each rank knows while parsing.
STATIC = ("Get_rank", "Get_size", "Shift", "Get_coords", "Get_cart_rank")
PROPERTIES = ("rank", "size")


def is_theirs(value: Any) -> bool:
    """Whether a value is an object of mpi4py's whose methods communicate."""
    return isinstance(value, (Communicator, Request)) or is_communicator(value)


def attribute(b: Builder, value: Any, name: str) -> Any:
    """An attribute of a communicator or request."""
    handler: Any
    if isinstance(value, Request):
        handler = REQUESTS.get(name)
    else:
        value = value.comm if isinstance(value, Communicator) else value
        if name in PROPERTIES:
            return getattr(value, name)
        handler = partial(_static, name) if name in STATIC else METHODS.get(name)
    if handler is None:
        raise _not_supported(b, name)
    return Method(value, handler)


def _not_supported(b: Builder, name: str) -> UnsupportedProgram:
    what = f"`{name}` of mpi4py is not supported in programs"
    if name in ("send", "recv", "isend", "irecv", "sendrecv", "ssend", "gather", "scatter", "alltoall"):
        return b.unsupported(what, "It sends objects whose size is not known: send arrays, by Send, Recv or Sendrecv.")
    if name.endswith("_init") or name == "Start":
        return b.unsupported(what, "Persistent requests are not supported: use Isend, Irecv and Wait.")
    if name in ("Split", "Dup", "Create_cart", "Create", "Clone"):
        return b.unsupported(what, "Make the communicator outside of the program, and pass it as an argument.")
    return b.unsupported(what, f"Use one of {', '.join(METHODS)}, Wait or Waitall.")


def _static(name: str, b: Builder, comm: Any, *positional: Any, **keywords: Any) -> Any:
    return b.python(
        getattr(comm, name), *map(b.constant, positional), **{n: b.constant(v) for n, v in keywords.items()}
    )

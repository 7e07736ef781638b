"""What is differentiated where several ranks run a program, and what such programs cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.library import require_silent
from sdfgad.options import Device, Options
from sdfgad.parse.primal import Primal

Array = np.ndarray[Any, Any]


def check_device(primal: Primal, device: Device) -> None:
    """Refuse a program that communicates and runs on a device. Raises: UnsupportedProgram."""
    if device != "cpu":
        require_silent(primal.program.body, "a program on a device")


def check_ranks(primal: Primal, options: Options) -> None:
    """Refuse the gradient of a program for which it is not said whether outputs of ranks are added up, or are the same.

    All ranks share values at the same statements, so that all of them refuse or none does.

    Raises: UnsupportedProgram.
    """
    if not primal.ranks and options.ranks != "same":
        return
    where = primal.source.where(primal.source.node)
    if options.ranks is None:
        raise UnsupportedProgram(
            f"all ranks share values in `{primal.source.name}`: it has to be said what is differentiated",
            where,
            'Pass differentiate(..., ranks="same") if all ranks return the same number, such as a loss by allreduce, '
            'or ranks="sum" if the outputs of all ranks are added up.',
        )
    if options.ranks == "same" and len(primal.ranks) != 1:
        what = "no values are shared by all ranks" if not primal.ranks else "there are communicators of several sizes"
        raise UnsupportedProgram(
            f'in `{primal.source.name}` {what}, so that ranks="same" has no meaning',
            where,
            'Pass ranks="sum", and divide the output by the number of ranks that return the same.',
        )


def seed_of(primal: Primal, options: Options, cotangent: Array) -> Array:
    """The cotangent on one rank: where all return the same number, it counts once in the sum over ranks."""
    if options.ranks != "same":
        return cotangent
    (size,) = primal.ranks
    return np.asarray(cotangent / size, cotangent.dtype)

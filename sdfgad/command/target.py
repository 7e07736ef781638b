"""The program that a command is about, and its arguments: a function of a file, or a program of the suite."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError

PROGRAM = "FILE:FUNCTION, or the name of a program of npbench_suite, from within a checkout of sdfgad"


@dataclass(frozen=True)
class Target:
    """A program, the arguments of a call, and what to differentiate: settings of `differentiate`."""

    program: Callable[..., Any]
    args: tuple[Any, ...]
    settings: dict[str, Any]


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of all commands that are about a program."""
    command.add_argument("program", metavar="PROGRAM", help=PROGRAM)
    command.add_argument("--args", default="", help='the arguments, such as "4, np.linspace(0, 1, 9)"')
    command.add_argument("--preset", default="test", help="sizes of a program of npbench_suite (test)")
    command.add_argument("--wrt", help="names of arguments, with commas between them")
    command.add_argument("--output", help='such as "return[1]"')


def target_of(options: argparse.Namespace) -> Target:
    """What the options name.

    Raises:
        ArgumentError: there is no such file, function, program or preset, or the arguments cannot be evaluated.
    """
    return _of_suite(options) if ":" not in options.program else _of_file(options)


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    wrt = None if options.wrt is None else [name.strip() for name in options.wrt.split(",")]
    return {"wrt": wrt, "output": options.output}


def _of_file(options: argparse.Namespace) -> Target:
    """The function of a file, with the arguments that the command line gives."""
    path, _, name = options.program.rpartition(":")
    module = _module(Path(path))
    try:
        program = reduce(getattr, name.split("."), module)
    except AttributeError:
        names = [n for n, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        raise ArgumentError(f"{path} has no {name!r}", todo=f"It has {', '.join(names) or 'none'}.") from None
    try:
        args = eval(f"({options.args},)" if options.args.strip() else "()", {"np": np, **vars(module)})
    except Exception as error:
        raise ArgumentError(
            f'--args "{options.args}" cannot be evaluated: {type(error).__name__}: {error}',
            todo='Pass Python expressions, such as --args "4, np.linspace(0, 1, 9)".',
        ) from None
    return Target(program, args, _asked(options))  # type: ignore[arg-type]  # What is no function is refused later.


def _module(path: Path) -> ModuleType:
    """A file as a module, whose neighbours can be imported."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ArgumentError(f"there is no Python file {path}", todo="Pass FILE.py:FUNCTION.")
    sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _of_suite(options: argparse.Namespace) -> Target:
    """A program of the suite at the sizes of a preset, differentiated as the suite says."""
    try:
        npbench_suite = importlib.import_module("npbench_suite")
    except ImportError:
        what = f"{options.program!r} is no FILE:FUNCTION, and there is no npbench_suite here"
        raise ArgumentError(what, todo="Pass FILE:FUNCTION, or run this in a checkout of sdfgad.") from None
    known = [name for suite in npbench_suite.SUITES for name in npbench_suite.names(suite)]
    if options.program not in known:
        raise ArgumentError(
            f"there is no program {options.program!r}",
            todo=f"Pass FILE:FUNCTION, or one of {', '.join(known)}.",
        )
    entry = npbench_suite.load(options.program)
    if options.preset not in entry.presets:
        raise ArgumentError(f"there is no preset {options.preset!r}", todo=f"There are {', '.join(entry.presets)}.")
    asked = {name: value for name, value in _asked(options).items() if value is not None}
    settings = {"wrt": list(entry.arrays), "output": entry.output, "allow_unused": True, **asked}
    return Target(entry.program, entry.arguments_for(options.preset), settings)

"""Command line of `explain`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, SdfgadError
from sdfgad.explain.explain import explain

DESCRIPTION = "Show what becomes of a program: after a stage, after each pass, or where it goes wrong."
TARGET = "FILE:FUNCTION, or the name of a program of npbench_suite, from within a checkout of sdfgad"
# What the shell gets where a program differs, and where it cannot be explained.
DIFFERS, REFUSED = 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status: 1 where `--bisect` finds a difference, 2 on an error."""
    options = _parser().parse_args(argv)
    try:
        program, args, settings = _suite(options) if ":" not in options.program else _file(options)
        chosen = {name: getattr(options, name) for name in ("stage", "without", "diff", "bisect", "reduce")}
        explanation = explain(program, *args, memory_limit=options.memory_limit, **chosen, **settings)
    except SdfgadError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return REFUSED
    print(explanation)
    return DIFFERS if options.bisect and explanation.record.wrong is not None else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sdfgad", description="Gradients of NumPy programs.")
    command = parser.add_subparsers(dest="command", required=True).add_parser(
        "explain", help=DESCRIPTION, description=DESCRIPTION
    )
    command.add_argument("program", metavar="PROGRAM", help=TARGET)
    command.add_argument("--args", default="", help='the arguments, such as "4, np.linspace(0, 1, 9)"')
    command.add_argument("--preset", default="test", help="sizes of a program of npbench_suite (test)")
    command.add_argument("--stage", help="parsed, adjoint, plan, gradient (the default), optimised, sdfg or code")
    command.add_argument("--diff", action="store_true", help="show what each pass changes")
    command.add_argument(
        "--bisect", action="store_true", help="name the first stage or pass after which results differ"
    )
    command.add_argument("--without", metavar="PASS", action="append", default=[], help="leave a pass out")
    command.add_argument("--wrt", help="names of arguments, with commas between them")
    command.add_argument("--output", help='such as "return[1]"')
    command.add_argument("--reduce", choices=["sum"])
    command.add_argument("--memory-limit", help='such as "512 MiB"')
    return parser


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    wrt = None if options.wrt is None else [name.strip() for name in options.wrt.split(",")]
    return {"wrt": wrt, "output": options.output}


def _file(options: argparse.Namespace) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
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
    return program, args, _asked(options)  # type: ignore[return-value]  # What is no function is refused later.


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


def _suite(options: argparse.Namespace) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
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
    return entry.program, entry.arguments_for(options.preset), settings

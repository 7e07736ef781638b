"""Benchmark programs, one folder an entry: those of NPBench here, and others of the sciences in ``benchmarks``.

A folder holds ``entry.toml`` (what the program is, its sizes, arguments and outputs), ``program.py`` (the
NumPy program and its ``initialize``) and ``reference.py`` (the same function in JAX). Adding a folder adds
the entry. Where there is a ``jax_forms.py``, it has the program as people write it for JAX, to compare speed with.
"""

import functools
import importlib.util
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SUITES", "Entry", "load", "names"]

# The programs of "science" are not in NPBench: no pass was written for them.
SUITES = {"npbench": Path(__file__).parent, "science": Path(__file__).parent.parent / "benchmarks"}
FORMS = ("port", "expert", "library")


@functools.cache
def _module(source: Path):
    """The module in the file ``source``, loaded once."""
    name = f"{__name__}.{source.parent.name}.{source.stem}"
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Entry:
    """One program of the suite.

    Attributes:
        name: the name of the entry and of its folder.
        title: what the program computes, in a few words.
        domain: NPBench's domain of the program, or its science.
        presets: the sizes of each preset, by parameter name; some are physical parameters, and floating.
        exempt: the sizes that the program does not leave free to be small and distinct in tests.
        arguments: the program's arguments, in order.
        arrays: those of the arguments that are floating or complex and can be differentiated.
        output: the main one of the outputs.
        outputs: what the program computes: "return", "return[k]" or an argument it updates in place.
        function: the name of the program's function.
        source: the file of the NumPy program.
    """

    name: str
    title: str
    domain: str
    presets: Mapping[str, Mapping[str, int | float]]
    exempt: tuple[str, ...]
    arguments: tuple[str, ...]
    arrays: tuple[str, ...]
    output: str
    outputs: tuple[str, ...]
    function: str
    source: Path

    @property
    def program(self) -> Callable:
        """The NumPy program."""
        return getattr(_module(self.source), self.function)

    @property
    def reference(self) -> Callable[..., dict[str, Any]]:
        """The same function in JAX: it takes the program's arguments and returns its outputs by name."""
        return _module(self.source.with_name("reference.py")).reference

    @property
    def jax_forms(self) -> dict[str, Callable]:
        """The program as it is written for JAX, by the name of the form; each takes the program's arguments.

        "port" follows the program line by line, "expert" is restructured to be fast, "library" calls what JAX has for
        it. They return the main output alone. Empty where nobody wrote them.
        """
        source = self.source.with_name("jax_forms.py")
        module = _module(source) if source.exists() else None
        return {form: getattr(module, form) for form in FORMS if hasattr(module, form)}

    def arguments_for(self, preset: str, seed: int = 0) -> tuple:
        """New arguments of the program, in order, at the sizes of ``preset``."""
        return self.arguments_with(self.presets[preset], seed)

    def arguments_with(self, parameters: Mapping[str, int | float], seed: int = 0) -> tuple:
        """The same at other sizes."""
        values = _module(self.source).initialize(**parameters, rng=np.random.default_rng(seed))
        return tuple(values[name] for name in self.arguments)

    def outputs_from(self, arguments: tuple, returned: Any) -> dict[str, Any]:
        """The outputs by name, given the arguments of a finished call and what the call returned."""
        values = dict(zip(self.arguments, arguments, strict=True)) | {"return": returned}
        if isinstance(returned, tuple):
            values |= {f"return[{k}]": value for k, value in enumerate(returned)}
        return {name: values[name] for name in self.outputs}


def names(suite: str = "npbench") -> list[str]:
    """The names of all entries of a suite, sorted."""
    return sorted(path.parent.name for path in SUITES[suite].glob("*/entry.toml"))


def load(name: str) -> Entry:
    """The entry called ``name``, of any suite.

    Raises:
        FileNotFoundError: there is none.
    """
    folder = next((root / name for root in SUITES.values() if (root / name).is_dir()), SUITES["npbench"] / name)
    with open(folder / "entry.toml", "rb") as file:
        table = tomllib.load(file)
    return Entry(
        name=name,
        title=table["title"],
        domain=table["domain"],
        presets=table["presets"],
        exempt=tuple(table.get("exempt", [])),
        arguments=tuple(table["arguments"]),
        arrays=tuple(table["arrays"]),
        output=table["output"],
        outputs=tuple(table.get("outputs", [table["output"]])),
        function=table["program"],
        source=folder / "program.py",
    )

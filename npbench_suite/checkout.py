"""The benchmarks of a checkout of NPBench itself, used like the entries of our suite.

A checkout holds ``bench_info/<name>.json`` (sizes, arguments and outputs) and, in ``npbench/benchmarks/<path>``, the
files ``<module>.py`` (the initialiser, if there is one) and ``<module>_numpy.py`` (the program). They run as they are,
in double precision wherever the initialiser lets its caller choose.
"""

import copy
import functools
import importlib.util
import inspect
import json
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Benchmark", "load", "names"]

# Small sizes are a preset's, divided by the first of these with which the benchmark runs; none goes below SMALLEST.
DIVISORS = (8, 4, 2, 1)
SMALLEST = 4


def names(root: Path) -> list[str]:
    """The names of all benchmarks of the checkout in ``root``, sorted."""
    return sorted(path.stem for path in (Path(root) / "bench_info").glob("*.json"))


def load(root: Path, name: str, is_small: bool = False) -> "Benchmark":
    """The benchmark called ``name`` of the checkout in ``root``."""
    with open(Path(root) / "bench_info" / f"{name}.json", encoding="utf-8") as file:
        return Benchmark(name, Path(root), json.load(file)["benchmark"], is_small)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """One benchmark of a checkout, with what `npbench_suite.Entry` has and a demonstration needs.

    Attributes:
        name: of the benchmark's description in ``bench_info``.
        root: the checkout.
        info: the description.
        is_small: whether to divide the sizes of the presets, for a quick check.
    """

    name: str
    root: Path
    info: Mapping[str, Any]
    is_small: bool
    _small: dict[str, Mapping[str, int | float]] = field(default_factory=dict, init=False, repr=False)

    @property
    def presets(self) -> Mapping[str, Mapping[str, int | float]]:
        return self.info["parameters"]

    @functools.cached_property
    def program(self) -> Callable:
        """The NumPy program."""
        return getattr(self._module("_numpy"), self.info["func_name"])

    @functools.cached_property
    def arguments(self) -> tuple[str, ...]:
        """The program's own names of its arguments; those that NPBench leaves out have defaults."""
        return tuple(inspect.signature(self.program).parameters)[: len(self.info["input_args"])]

    @property
    def arrays(self) -> tuple[str, ...]:
        """The floating and complex arguments: none for a program on integers."""
        return self._outline[0]

    @property
    def output(self) -> str | None:
        """What to differentiate: what is returned, else the first argument that is updated; only if it is floating."""
        return self._outline[1]

    def arguments_for(self, preset: str) -> tuple:
        """New arguments of the program, in order, at the sizes of ``preset``."""
        return self._initialise(self._sizes(preset))

    def outputs_from(self, arguments: tuple, returned: Any) -> dict[str, Any]:
        """All that may be an output, by name, given the arguments of a finished call and what the call returned."""
        parts = {f"return[{k}]": part for k, part in enumerate(returned)} if isinstance(returned, tuple) else {}
        return dict(zip(self.arguments, arguments, strict=True)) | {"return": returned} | parts

    # --- inside

    @functools.cached_property
    def _outline(self) -> tuple[tuple[str, ...], str | None]:
        """The names of the arrays and of the output, which a run at small sizes tells."""
        before = self._initialise(self._small_sizes("S" if "S" in self.presets else next(iter(self.presets))))
        after = copy.deepcopy(before)
        with _silence():
            returned = self.program(*after)
        arrays = tuple(name for name, value in zip(self.arguments, before, strict=True) if _is_inexact(value))
        if isinstance(returned, tuple):
            candidates = [f"return[{k}]" for k, value in enumerate(returned) if _is_inexact(value)]
        else:
            candidates = ["return"] if _is_inexact(returned) else []
        # NPBench does not list all that is updated, and lists what is not; and an update need not change anything.
        listed = [name for name in self._listed_outputs() if name in arrays]
        for name in (*listed, *arrays):
            old, new = (values[self.arguments.index(name)] for values in (before, after))
            if not np.array_equal(old, new, equal_nan=True):
                candidates.append(name)
        return arrays, next(iter([*candidates, *listed]), None)

    def _listed_outputs(self) -> list[str]:
        """What NPBench calls output arguments, by the program's own names."""
        own_names = dict(zip(self.info["input_args"], self.arguments, strict=True))
        return [own_names[name] for name in self.info["output_args"] if name in own_names]

    def _sizes(self, preset: str) -> Mapping[str, int | float]:
        return self._small_sizes(preset) if self.is_small else self.presets[preset]

    def _small_sizes(self, preset: str) -> Mapping[str, int | float]:
        if preset not in self._small:
            self._small[preset] = self._find_small_sizes(preset)
        return self._small[preset]

    def _find_small_sizes(self, preset: str) -> Mapping[str, int | float]:
        """The smallest divided sizes with which the benchmark runs; if possible, arrays are finite and not empty."""
        found = []
        for divisor in DIVISORS:
            sizes = divided(self.presets[preset], divisor)
            try:
                with _silence():
                    arguments = self._initialise(sizes)
                    results = (self.program(*arguments), *arguments)
            except Exception:  # Whatever the program raises for sizes that it was not made for.
                if divisor == DIVISORS[-1] and not found:
                    raise
                continue
            if all(map(_is_sound, results)):
                return sizes
            found.append(sizes)
        return found[-1]

    def _initialise(self, sizes: Mapping[str, int | float]) -> tuple:
        """What NPBench hands to the program: parameters, and what its initialiser makes of them."""
        values = dict(sizes)
        if init := self.info.get("init"):
            function = getattr(self._module(""), init["func_name"])
            chosen = {"datatype": np.float64} if "datatype" in inspect.signature(function).parameters else {}
            made = function(*(values[name] for name in init["input_args"]), **chosen)
            values |= zip(init["output_args"], made if len(init["output_args"]) > 1 else (made,), strict=True)
        return tuple(values[name] for name in self.info["input_args"])

    def _module(self, suffix: str) -> types.ModuleType:
        folder = self.root / "npbench" / "benchmarks" / self.info["relative_path"]
        return _module(self.root.resolve(), (folder / f"{self.info['module_name']}{suffix}.py").resolve())


def divided(sizes: Mapping[str, int | float], divisor: int) -> dict[str, int | float]:
    """Sizes divided, as far as they are integers; those that are small stay, and those that differ stay different."""
    small: dict[int, int] = {}
    least = SMALLEST
    for size in sorted({size for size in sizes.values() if isinstance(size, int)}):
        small[size] = min(size, max(least, size // divisor))
        least = max(least, small[size] + 1)
    return {name: small[size] if isinstance(size, int) else size for name, size in sizes.items()}


@functools.cache
def _module(root: Path, source: Path) -> types.ModuleType:
    """The module in the file ``source``, loaded once."""
    name = f"{__name__}.{source.stem}_{abs(hash(source)):x}"
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _stand_in_for_npbench(root):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _stand_in_for_npbench(root: Path) -> Iterator[None]:
    """Lets a program import from NPBench's framework the types that it sets at run time, as for double precision.

    The framework itself needs packages that the programs do not.
    """
    stand_ins = {name: types.ModuleType(name) for name in ("npbench", "npbench.infrastructure")}
    for name, module in stand_ins.items():
        module.__path__ = [str(root.joinpath(*name.split(".")))]
    framework = types.ModuleType("npbench.infrastructure.framework")
    framework.np_float, framework.np_complex = np.float64, np.complex128
    stand_ins[framework.__name__] = framework
    before = {name: sys.modules.get(name) for name in stand_ins}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing is said about numbers that are none: the sizes may be too small for a program."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _is_inexact(value: Any) -> bool:
    return isinstance(value, float | complex | np.ndarray | np.generic) and np.asarray(value).dtype.kind in "fc"


def _is_sound(value: Any) -> bool:
    """Whether arrays are not empty, and floating values finite."""
    parts = value if isinstance(value, tuple) else (value,)
    return all(np.size(part) and (not _is_inexact(part) or bool(np.isfinite(part).all())) for part in parts)

"""Reproducers of miscompilations: a folder with all that is needed to reproduce how optimised and plain code differ.

``python -m sdfgad.runtime.report FOLDER`` compiles the program of a report at both levels, runs both on the stored
inputs, and prints the largest difference of each output.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sdfgad.cache import cache_folder
from sdfgad.ir.program import Program
from sdfgad.runtime.build import Library, Source, compile_source
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import source_of
from sdfgad.runtime.compiler import Level, compiler, version

Array = np.ndarray[Any, Any]
# Larger inputs are not stored, only their shapes and dtypes; random numbers take their place.
MOST_BYTES = 1 << 28


def write_report(
    program: Program, library: Library, inputs: Mapping[str, Array], integers: Mapping[str, int], what: str
) -> Path:
    """Write a report and return its folder."""
    key = hashlib.sha256(library.key.encode()).hexdigest()[:16]
    folder = cache_folder() / "reports" / f"{program.name}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    source = source_of(program)
    outputs = {
        n: _kind(program, n) for n in dict.fromkeys([*program.outputs.values(), "status"]) if n in program.buffers
    }
    small = sum(array.nbytes for array in inputs.values()) <= MOST_BYTES
    facts = {
        "what": what,
        "compiler": [*compiler(), version(), *Level.OPTIMISED.flags],
        "source": asdict(source),
        "integers": dict(integers),
        "outputs": outputs,
        "inputs": {name: (list(array.shape), array.dtype.str) for name, array in inputs.items()},
    }
    (folder / "program.cpp").write_text(source.code)
    (folder / "report.json").write_text(json.dumps(facts, indent=1))
    if small:
        np.savez(folder / "inputs.npz", **inputs)  # type: ignore[arg-type]  # The stub takes names for options.
    return folder


def _kind(program: Program, name: str) -> tuple[list[int], str]:
    buffer = program.buffers[name]
    return [extent.const for extent in buffer.shape], buffer.dtype.str


def reproduce(folder: Path) -> dict[str, float]:
    """Run the program of a report at both levels: output -> the largest absolute difference of an element."""
    facts = json.loads((folder / "report.json").read_text())
    source = Source(**{name: _tuples(value) for name, value in facts["source"].items()})
    library = compile_source(source, with_plain=True)
    assert library.plain is not None
    inputs = _inputs(folder, facts["inputs"])
    results = [_outputs(Executable(one), inputs, facts) for one in (library, replace(library, path=library.plain))]
    with np.errstate(all="ignore"):
        return {n: float(np.max(np.abs(results[0][n] - a), initial=0.0)) for n, a in results[1].items()}


def _inputs(folder: Path, kinds: Mapping[str, Any]) -> dict[str, Array]:
    file = folder / "inputs.npz"
    if file.exists():
        with np.load(file, allow_pickle=False) as found:
            return dict(found)
    rng = np.random.default_rng(0)
    return {name: rng.random(shape).astype(dtype) for name, (shape, dtype) in kinds.items()}


def _outputs(run: Executable, inputs: Mapping[str, Array], facts: Mapping[str, Any]) -> dict[str, Array]:
    outputs = {name: np.zeros(shape, dtype) for name, (shape, dtype) in facts["outputs"].items()}
    run({**inputs, **outputs}, facts["integers"])
    return outputs


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


if __name__ == "__main__":
    for name, most in reproduce(Path(sys.argv[1])).items():
        print(f"{name}: optimised and plain code differ by at most {most:.3e}")

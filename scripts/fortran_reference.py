"""Writes tests/fortran/gfortran.json: what gfortran computes of the routines and constructs that the tests read.

It needs gfortran, which the tests do not: ``python scripts/fortran_reference.py [--compiler gfortran]``.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.fortran.cases import CASES, PROGRAMS, Case
from tests.fortran.constructs import ALL, AT, constructs_of
from tests.fortran.models import MODELS

TARGET = ROOT / "tests" / "fortran" / "gfortran.json"
WRAPPERS = ROOT / "tests" / "fortran" / "reference" / "wrappers.f90"
# Routines that are called through wrappers, with the sizes that these take first.
WRAPPED: dict[str, Any] = {
    "thomas": lambda a: [len(a["diag"])],
    "run": lambda a: [],
    "implicit_diffusion": lambda a: [],
    "diffuse_column": lambda a: [],
    "quadratic": lambda a: [*a["a"].shape],
    **dict.fromkeys(("simulate", "integrate", "forecast", "cost"), lambda a: []),
}
# What routines write: name -> its size, 0 for a number.
RESULTS: dict[str, Any] = {
    "heat_1d": lambda a: {"cost": 0},
    "thomas": lambda a: {"x": len(a["diag"])},
    "run": lambda a: {"energy": 0},
    "radiation": lambda a: {"heating": a["nlev"], "olr": 0},
    "quadratic": lambda a: {"value": 0},
    "cholesky": lambda a: {"logdet": 0},
    "advect": lambda a: {"total": 0},
    "saturate": lambda a: {"precip": a["nx"]},
    "kepler": lambda a: {"anomaly": a["n"]},
    "series": lambda a: {"s": 0, "terms": 0},
    "folded": lambda a: {"y": a["n"]},
    "forecast": lambda a: {"energy": 0},
    "cg_solve": lambda a: {"niter": 0},
    "simulate": lambda a: {"e": 0},
    "transport": lambda a: {"total": 0},
    "lake": lambda a: {"tout": 0},
    "bucket": lambda a: {"w": a["ndays"] + 1, "runoff": 0, "drainage": 0},
    "microphysics": lambda a: {"rain": 0},
    "cost": lambda a: {"return": 0},
    "column_model": lambda a: {"olr": 0},
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="gfortran", help="the command that compiles Fortran")
    compiler = parser.parse_args(arguments).compiler
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reference.so"
        files = [*sorted(PROGRAMS.glob("*.f*")), WRAPPERS]
        flags = ["-shared", "-fPIC", "-O1", "-fcheck=all", "-J", folder, "-o", str(path)]
        subprocess.run([compiler, *flags, *map(str, files)], check=True)
        library = ctypes.CDLL(str(path))
        found = {case.name: of_case(library, case) for case in (*CASES, *MODELS)}
        found["constructs"] = of_constructs(library)
    TARGET.write_text(json.dumps(found, indent=1) + "\n")


def of_case(library: Any, case: Case) -> Any:
    """The output of a routine, column by column."""
    name = f"call_{case.routine}_" if case.routine in WRAPPED else f"{case.routine}_"
    single = any(getattr(v, "dtype", None) == np.float32 for v in case.arguments.values())
    real = np.dtype(np.float32 if single else np.float64)
    values = {k: _held(v, real) for k, v in case.arguments.items()}
    for key, size in RESULTS.get(case.routine, lambda _: {})(case.arguments).items():
        values[key] = np.zeros(size or 1, np.int32 if key in ("terms", "niter") else real)
    sizes = [np.array([n], np.int32) for n in WRAPPED.get(case.routine, lambda _: [])(case.arguments)]
    getattr(library, name)(*[array.ctypes.data_as(ctypes.c_void_p) for array in (*sizes, *values.values())])
    found = values[case.output].ravel(order="F").astype(float).tolist()
    return found


def of_constructs(library: Any) -> Any:
    """What each construct makes of the numbers, by name."""
    found = {}
    for path, function in zip(ALL, (library.call_everything_, library.call_everything_shared_), strict=True):
        constructs = constructs_of(path)
        y = np.zeros((6, len(constructs)), order="F")
        function(*[array.ctypes.data_as(ctypes.c_void_p) for array in (AT.copy(), y)])
        found |= {one.routine: y[:, k].tolist() for k, one in enumerate(constructs)}
    return found


def _held(value: Any, real: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value.copy(order="F")
    return np.array([value], np.int32 if isinstance(value, int) else real)


if __name__ == "__main__":
    main()

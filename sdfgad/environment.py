"""What a measurement, or the report of an error, has to say of the machine and of versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine() -> dict[str, str]:
    """The processor, its cores, the threads that programs use, and Python's version, by name."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count() or 1),
        "threads": os.environ.get("OMP_NUM_THREADS") or str(os.cpu_count() or 1),
        "python": platform.python_version(),
    }


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """The versions of the packages that are installed, by name."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    linux = Path("/proc/cpuinfo")
    lines = linux.read_text().splitlines() if linux.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()

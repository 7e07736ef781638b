"""CUDA's libraries that programs call: where each may be, and what to do where it is not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class CudaLibrary:
    """A library of CUDA.

    Attributes:
        title: its name.
        missing: the code that says that it cannot be loaded, as in driver_api.h.
        codes: what is added to the codes that it returns.
        full: of these, the one that says that there is not enough memory.
        versions: that of its file -> the version of CUDA that it needs.
    """

    title: str
    missing: int
    codes: int
    full: int
    versions: dict[int, int]

    @property
    def plain(self) -> str:
        return self.title.lower()

    @property
    def variable(self) -> str:
        """The environment variable with its path, where it is not where it is looked for."""
        return f"SDFGAD_{self.title.upper()}"

    @property
    def todo(self) -> str:
        wheels = f'pip install "nvidia-{self.plain}" for CUDA 13, "nvidia-{self.plain}-cu12" for CUDA 12'
        return f"Install {self.title}: {wheels}; or set {self.variable} to the path of its library."

    def paths(self, version: int) -> list[str]:
        """Where one for a driver of this version (13000: CUDA 13.0) may be, most wanted first.

        That is the variable's, those of NVIDIA's wheels, the toolkit's, and the system's.
        """
        known = [file for file, cuda in self.versions.items() if cuda <= version // 1000]
        names = [f"lib{self.plain}.so.{file}" for file in known]
        spec = find_spec("nvidia")
        wheels = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec is not None else []
        folders = [folder / part / "lib" for folder in wheels for part in ("cu13", self.plain)]
        folders += [Path(os.environ[name]) / "lib64" for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
        wanted = [os.environ[self.variable]] if os.environ.get(self.variable) else []
        there = [str(folder / name) for name in names for folder in folders if (folder / name).exists()]
        return [*wanted, *there, *names]


CUBLAS = CudaLibrary("cuBLAS", 10004, 20000, 3, {13: 13, 12: 12})
CUFFT = CudaLibrary("cuFFT", 10005, 21000, 2, {12: 13, 11: 12})
CUSOLVER = CudaLibrary("cuSOLVER", 10006, 22000, 2, {12: 13, 11: 12})
LIBRARIES = (CUBLAS, CUFFT, CUSOLVER)

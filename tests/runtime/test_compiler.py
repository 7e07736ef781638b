"""Which compiler is used, and with which options."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sdfgad
from sdfgad.runtime.compiler import Level

ROOT = Path(sdfgad.__file__).parent.parent
PROGRAM = """
import numpy as np, sdfgad
def f(x):
    for i in range(3):
        x = np.exp(-x * x) + 0.1 * i
    return np.sum(x * x)
x = np.linspace(0.1, 1.0, 37)
dx = sdfgad.differentiate(f, wrt="x")(x)
h = 1e-6
print(max(abs(dx[k] - (f(x + h * (np.arange(37) == k)) - f(x - h * (np.arange(37) == k))) / (2 * h)) for k in (0, 20)))
"""
OTHERS = [name for name in ("g++-11", "g++-13", "g++-14", "clang++", "clang++-19") if shutil.which(name)]


def run(tmp_path, wanted):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    cache = str(tmp_path / "cache")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CXX": wanted, "SDFGAD_CACHE_DIR": cache, "SDFGAD_CHECK": "on"}
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script)], capture_output=True, text=True, env=env
    )


def test_cxx_names_the_compiler(tmp_path):
    folder = tmp_path / "a folder; with $odd 'letters'"
    folder.mkdir()
    log, wrapper = tmp_path / "log", folder / "my compiler"
    wrapper.write_text(f'#!/bin/sh\necho called >> "{log}"\nexec g++ "$@"\n')
    wrapper.chmod(0o755)
    done = run(tmp_path, str(wrapper))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-7
    assert log.read_text().count("called") >= 2


@pytest.mark.long
@pytest.mark.parametrize("wanted", OTHERS)
def test_other_compilers_that_are_installed_are_right(tmp_path, wanted):
    done = run(tmp_path, wanted)
    if "-lomp" in done.stderr or "omp.h" in done.stderr:
        pytest.skip(f"{wanted} has no OpenMP here")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-7


def test_plain_code_has_no_vectors():
    code = "for (;;) {\n        #pragma omp simd reduction(+ : a)\n    for (;;) {}\n}\n#pragma omp parallel for\n"
    assert Level.OPTIMISED.text(code) == code
    plain = Level.PLAIN.text(code)
    assert "simd" not in plain
    assert "#pragma omp parallel for" in plain
    assert "-O1" in Level.PLAIN.flags
    assert "-O1" not in Level.OPTIMISED.flags


@pytest.mark.parametrize("level", Level)
def test_no_automatic_vectors_and_no_fused_products(level):
    assert not {"-ffast-math", "-ftree-vectorize", "-Ofast"} & {*level.flags}
    assert "-ffp-contract=off" in level.flags
    assert {"-fno-tree-vectorize", "-fno-vectorize"} & {*level.flags}

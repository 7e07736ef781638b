"""Which compiler is used, and with which options."""

import functools
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sdfgad
from sdfgad.runtime import wheels as wheels_of_compiler
from sdfgad.runtime.compiler import GOLD, Level, compiler, linker, toolchain
from sdfgad.targets.cpu.cpp import simd

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


def run(tmp_path, wanted, **variables):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    cache = str(tmp_path / "cache")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CXX": wanted, "SDFGAD_CACHE_DIR": cache, "SDFGAD_CHECK": "on"}
    env |= variables
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


@pytest.fixture
def wheels(tmp_path):
    """A folder with what looks like the wheels of the extra `compiler`; their compiler is g++, and keeps a log."""
    site, log = tmp_path / "site", tmp_path / "log"
    program = f'#!/bin/sh\necho "$1" >> "{log}"\nshift\nexec "{shutil.which("g++")}" "$@"\n'
    for name, files in (("ziglang", ["ziglang/zig"]), ("intel_openmp", ["a b/omp.h", "lib/libiomp5.so"])):
        for file in map(site.joinpath, files):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(program if file.name == "zig" else "#include_next <omp.h>\n")
            file.chmod(0o755)
        folder = site / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    library = site / "lib" / "libiomp5.so"
    subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", str(library)], check=True)
    return site


@pytest.fixture
def path_without_gcc(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("as", "ld"):
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_wheels_are_the_compiler_where_there_is_no_other(tmp_path, wheels, path_without_gcc):
    found = {"PYTHONPATH": f"{ROOT}{os.pathsep}{wheels}", "PATH": path_without_gcc}
    done = run(tmp_path, "", **found, SDFGAD_CHECK="off")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-7
    assert set((tmp_path / "log").read_text().split()) == {"c++"}


def test_half_of_the_wheels_is_no_compiler(tmp_path, wheels, path_without_gcc):
    shutil.rmtree(wheels / "intel_openmp-1.0.dist-info")
    done = run(tmp_path, "", PATH=path_without_gcc, PYTHONPATH=f"{ROOT}{os.pathsep}{wheels}")
    assert "no C++ compiler: `g++` is not on the PATH" in done.stderr
    assert 'pip install "sdfgad[compiler]"' in done.stderr


@pytest.fixture
def installed(monkeypatch, wheels):
    """The function that finds the wheels, in this process, where nothing has been looked for yet."""
    monkeypatch.syspath_prepend(str(wheels))
    monkeypatch.setattr(wheels_of_compiler, "_file", functools.cache(wheels_of_compiler._file.__wrapped__))
    return wheels_of_compiler.installed


@pytest.mark.parametrize("name", ["ziglang/zig", "a b/omp.h", "lib/libiomp5.so"])
def test_wheels_without_a_file_that_is_needed_are_none(wheels, installed, name):
    file, aside = wheels / name, wheels / "aside"
    file.rename(aside)
    assert installed() is None
    aside.rename(file)
    assert str(wheels / "lib") in installed().openmp[0]


def test_the_files_of_the_wheels_are_listed_once(monkeypatch, installed):
    listed, files = [], importlib.metadata.files
    monkeypatch.setattr(importlib.metadata, "files", lambda name: (listed.append(name), files(name))[1])
    assert installed() == installed()
    assert listed == ["ziglang", "intel-openmp", "intel-openmp"]


def test_a_compiler_on_the_path_comes_first(monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(wheels_of_compiler, "installed", lambda: wheels_of_compiler.Wheels(("zig", "c++"), ()))
    assert compiler.__wrapped__() == (shutil.which("g++"),)


def test_cxx_may_have_options(monkeypatch):
    monkeypatch.setenv("CXX", "g++ '-DA=a b' -O0")
    assert compiler.__wrapped__() == (shutil.which("g++"), "-DA=a b", "-O0")


def test_cxx_that_is_no_command(monkeypatch):
    monkeypatch.setenv("CXX", "g++ 'open")
    with pytest.raises(sdfgad.CompilerError, match=r"`g\+\+ 'open` is not on the PATH"):
        compiler.__wrapped__()


@pytest.mark.long
@pytest.mark.parametrize("wanted", OTHERS)
def test_other_compilers_that_are_installed_are_right(tmp_path, wanted):
    done = run(tmp_path, wanted)
    if "-lomp" in done.stderr or "omp.h" in done.stderr:
        pytest.skip(f"{wanted} has no OpenMP here")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-7


def test_plain_code_has_no_vectors(tmp_path):
    file = tmp_path / "loops.cpp"
    loop = "for (int i = 0; i < 9; ++i) {}"
    lines = [*simd(["total"]), loop, *simd(), loop, "#pragma omp parallel for", loop]
    file.write_text("\n".join(["void loops(double total) {", *lines, "}", ""]))

    def pragmas(level):
        command = [*compiler(), *level.flags, "-E", str(file)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [line.strip() for line in text.splitlines() if line.startswith("#pragma")]

    optimised = ["#pragma omp simd reduction(+ : total)", "#pragma omp simd", "#pragma omp parallel for"]
    assert pragmas(Level.OPTIMISED) == optimised
    assert pragmas(Level.PLAIN) == optimised[-1:]
    assert "-O1" in Level.PLAIN.flags
    assert "-O1" not in Level.OPTIMISED.flags


@pytest.mark.parametrize("level", Level)
def test_no_automatic_vectors_and_no_fused_products(level):
    assert not {"-ffast-math", "-ftree-vectorize", "-Ofast"} & {*level.flags}
    assert "-ffp-contract=off" in level.flags
    assert {"-fno-tree-vectorize", "-fno-vectorize"} & {*level.flags}


@pytest.fixture
def linkers(monkeypatch, tmp_path):
    """What `linker` returns with a g++ of this shell script, for a cache of its own."""
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    toolchain()  # It is kept for the process, and must be that of its own compiler.

    def chosen(script):
        wrapper = tmp_path / "compiler"
        wrapper.write_text(f"#!/bin/sh\n{script}\n")
        wrapper.chmod(0o755)
        monkeypatch.setattr("sdfgad.runtime.compiler.compiler", lambda: (str(wrapper),))
        return linker.__wrapped__()

    return chosen


def test_gold_links_where_it_can(linkers, tmp_path):
    log = tmp_path / "log"
    works = f'echo "$@" >> {log}; exec g++ $(echo "$@" | sed s/-fuse-ld=gold//)'
    assert linkers(works) == linkers(works) == GOLD
    assert log.read_text().count("\n") == 1


def test_another_linker_links_where_gold_cannot(linkers):
    # A g++ that was moved: gold does not find its libstdc++, and g++ reports that.
    assert linkers('case "$@" in *=gold*) exit 1;; esac; exec g++ "$@"') == ()

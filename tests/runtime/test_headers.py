"""What is left out of the precompiled headers, and comes back where a program needs it."""

import re
import uuid
from pathlib import Path

import dace
import pytest

from sdfgad.errors import CompilerError
from sdfgad.runtime.build import Source, compile_source
from sdfgad.runtime.compiler import INCLUDE, Level
from sdfgad.runtime.headers import LEFT_OUT, Headers, headers_of, left_out, precompiled
from sdfgad.runtime.real_numbers import OTHERS

USES = {
    "perf/reporting": "dace::perf::Report report; void f() { report.reset(); }",
    "serialization": "dace::DataSerializer* serializer; void f() { serializer = nullptr; }",
    "stream": "dace::Stream<double> numbers; void f() { numbers.push(1.0); }",
}
PROGRAM = """
/* DaCe AUTO-GENERATED FILE (as it says). */
#include <dace/dace.h>
#include "../../include/hash.h"
#include "sdfgad.h"
#include "products.h"
struct f_state_t {};
[[gnu::noinline]] static void nest_0_0_(const double* __restrict__ b_x_, double* __restrict__ b_y_) {
    for (int64_t i = 0; i < 3; ++i) b_y_[i] = sdfgad::math::sin(b_x_[i]) + std::sqrt(sdfgad::gammaln(b_x_[i]));
}
DACE_EXPORTED void __program_f(f_state_t* __state, double* x, double* y) {
    sdfgad::Blocks<1> blocks;
    nest_0_0_(x, blocks.allocate<double>(0, 3));
    SPECIAL
}
"""
NEED_ALL = {
    "complex numbers": "sdfgad::complex<double> z(1.0);",
    "complex numbers of DaCe": "dace::complex128 z(1.0);",
    "a function of DaCe": "*y = int_ceil(3, 2);",
    "a macro of DaCe": 'DACE_PRAGMA("omp simd") for (int i = 0; i < 2; i++) y[i] = 0;',
    "strings": "std::string name;",
    "Bessel functions": "*y = sdfgad::bessel_jv(*x, 1.5);",
    "zeta functions": "*y = sdfgad::hurwitz_zeta(*x, 2.0);",
    "functions of C": "*y = ::j0(*x);",
}


@pytest.mark.parametrize("header", LEFT_OUT)
def test_it_has_a_guard_of_this_name(header):
    text = (Path(dace.__file__).parent / "runtime" / "include" / "dace" / f"{header}.h").read_text()
    (options,) = set(precompiled([Level.OPTIMISED]).values())
    guard = f"__DACE_{header.replace('/', '_').upper()}_H"
    assert f"#ifndef {guard}\n#define {guard}\n" in text
    assert f"#define {guard}\n" in Path(options[1]).read_text()


@pytest.mark.parametrize("header", USES)
def test_programs_that_need_it_have_it(header):
    code = f'#include <dace/dace.h>\n#include "sdfgad.h"\n{USES[header]}\n'
    assert left_out(code) == ("-include", f"dace/{header}.h")
    assert compile_source(Source("uses", code, (), ())).path.exists()


def test_others_do_not():
    assert left_out("#include <dace/dace.h>\nvoid f() {}\n") == ()


def test_functions_of_lapack_are_declared_as_in_its_header():
    """g++ takes no second declaration of a C function unless it is the same."""
    code = "#include <lapacke.h>\nstatic_assert(sdfgad::lapack::COLUMN_MAJOR == LAPACK_COL_MAJOR);\n"
    assert compile_source(Source("lapack", code, (), ())).path.exists()
    for wrong in ("void scipy_LAPACKE_dgetrf_work(int);", "void scipy_LAPACKE_zgttrs_work(int);"):
        with pytest.raises(CompilerError, match="conflicting declaration"):
            compile_source(Source("lapack", f'extern "C" {wrong}\n', (), ()))


def test_large_headers_of_which_little_is_needed_are_not_there():
    guards = ("_IMMINTRIN_H_INCLUDED", "_LAPACKE_H_", "LAPACK_H")
    code = "".join(f"#ifdef {guard}\n#error {guard}\n#endif\n" for guard in guards)
    assert compile_source(Source("small", code, (), ())).path.exists()


def test_real_numbers_need_few_headers():
    code = PROGRAM.replace("SPECIAL", "#ifdef _GLIBCXX_STRING\n#error strings\n#endif")
    assert headers_of(code) is Headers.REAL
    assert compile_source(Source("real", code, (), ())).path.exists()


@pytest.mark.parametrize("what", NEED_ALL)
def test_others_need_all(what):
    code = PROGRAM.replace("SPECIAL", NEED_ALL[what])
    assert headers_of(code) is Headers.ALL
    assert compile_source(Source("all", code, (), ())).path.exists()


@pytest.mark.parametrize("header", sorted(OTHERS))
def test_headers_with_complex_numbers_are_not_there(header):
    code = PROGRAM.replace('"products.h"', f'"{header}"')
    assert headers_of(code) is Headers.ALL
    assert headers_of(code.replace(f'"{header}"', "<string>")) is Headers.ALL


def test_what_no_rule_foresees_is_compiled_with_all_headers(monkeypatch):
    # The code differs in each run, lest the cache have it from an earlier one.
    source = Source("unforeseen", PROGRAM.replace("SPECIAL", f"*y = _GLIBCXX_COMPLEX; // {uuid.uuid4()}"), (), ())
    assert headers_of(source.code) is Headers.REAL
    with pytest.raises(CompilerError, match="_GLIBCXX_COMPLEX"):
        compile_source(source)
    monkeypatch.delenv("SDFGAD_VERIFY")
    assert compile_source(source).path.exists()


def test_errors_are_those_of_all_headers(monkeypatch):
    monkeypatch.delenv("SDFGAD_VERIFY")
    with pytest.raises(CompilerError, match="nowhere"):
        compile_source(Source("wrong", PROGRAM.replace("SPECIAL", "*y = nowhere;"), (), ()))


def test_no_function_is_in_both_sets_of_headers():
    """A program of real numbers would call another one."""
    definition = re.compile(r"^(?:template <.*?> *)?inline [\w:]+ (\w+)\(", re.MULTILINE)
    found = {path.name: set(definition.findall(path.read_text())) for path in INCLUDE.glob("*.h")}
    assert {"bessel_i", "i0"} <= found["bessel.h"] | found["special.h"]
    others = set[str]().union(*(found[name] for name in OTHERS))
    here = set[str]().union(*(names for name, names in found.items() if name not in OTHERS))
    # Of lines of a Fourier transform, in a namespace of their own.
    assert others & here <= {"load", "store", "unpack", "value"}

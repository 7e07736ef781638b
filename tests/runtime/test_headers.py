"""What is left out of the precompiled headers, and comes back where a program needs it."""

from pathlib import Path

import dace
import pytest

from sdfgad.errors import CompilerError
from sdfgad.runtime.build import Source, compile_source
from sdfgad.runtime.compiler import Level
from sdfgad.runtime.headers import LEFT_OUT, left_out, precompiled

USES = {
    "perf/reporting": "dace::perf::Report report; void f() { report.reset(); }",
    "serialization": "dace::DataSerializer* serializer; void f() { serializer = nullptr; }",
    "stream": "dace::Stream<double> numbers; void f() { numbers.push(1.0); }",
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

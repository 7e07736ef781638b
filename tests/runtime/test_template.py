"""Templates: texts that differ in numbers alone, as one text; and the constants in the table of a library."""

import ctypes
import struct

import pytest

from sdfgad.runtime.build import Source, compile_source
from sdfgad.runtime.template import MARK, Template, bound, split

LOOP = "for (int64_t i = 0; i < {n}; ++i) b_x_[(i) * {n} + {m}] = (b_y_[i] * 0.2) / {n}.0;"


def samples(text, *values):
    found = [split(text.format(**value)) for value in values]
    (skeleton,) = {one for one, _ in found}
    return skeleton, [numbers for _, numbers in found]


def test_numbers_that_change_together_share_a_constant():
    skeleton, numbers = samples(LOOP, {"n": 40, "m": 39}, {"n": 50, "m": 49})
    template = Template.of(skeleton, numbers)
    assert template.groups == ((1, 2), (3,), (5,))
    assert template.match(split(LOOP.format(n=7, m=6))[1]) == ("7", "6", "7.0")
    assert "i < sdfgad_constant_0; ++i) b_x_[(i) * sdfgad_constant_0 + sdfgad_constant_1]" in template.code
    assert "(b_y_[i] * 0.2) / sdfgad_constant_2;" in template.code
    assert "extern const double sdfgad_constant_2;" in template.code


@pytest.mark.parametrize(
    "other",
    [
        LOOP.format(n=7, m=6).replace("0.2", "0.3"),
        LOOP.format(n=7, m=6).replace("i < 7", "i < 8"),
        LOOP.format(n=7, m=6).replace("= 0;", "= 1;"),
        LOOP.format(n=7, m=6).replace("+ 6", "+ 6.5"),
    ],
    ids=["another fixed number", "no longer equal", "another start", "another kind"],
)
def test_other_numbers_are_no_instances(other):
    template = Template.of(*samples(LOOP, {"n": 40, "m": 39}, {"n": 50, "m": 49}))
    skeleton, numbers = split(other)
    assert skeleton == template.skeleton
    assert template.match(numbers) is None


@pytest.mark.parametrize(
    "text",
    [
        "#pragma omp parallel for num_threads({n}) schedule(static, {n})",
        'puts("line {n}");',
        "sdfgad::Blocks<{n}> blocks;",
        "double parts_[{n}];",
        "decltype(total_) lanes_[{n}][{n}];",
        "alignas({n}) double x;",
        "case {n}: return;",
        "static const double t[] = {{{n}, {n}}};",
        "constexpr int width = {n};",
        "x = 0{n};  // {n}",
        "b_{n}_ = v{n}; 1{n}u;",
    ],
)
def test_what_the_compiler_must_know_is_part_of_the_skeleton(text):
    assert split(text.format(n=5))[0] != split(text.format(n=6))[0]


def test_local_arrays_are_as_long_as_the_next_power_of_two():
    text = "alignas(64) double b_t_[{n}]; for (int64_t i = 0; i < {n}; ++i) b_t_[i] = 0.0;"
    template = Template.of(*samples(text, {"n": 9}, {"n": 12}))
    assert "alignas(64) double b_t_[16];" in template.code
    assert template.match(split(text.format(n=16))[1]) is not None
    assert template.match(split(text.format(n=17))[1]) is None


def test_an_expression_in_brackets_is_no_extent():
    skeleton, numbers = split("return b_x_[10];")
    assert (skeleton.extents, numbers) == (frozenset(), ())


def test_the_table_of_a_library_holds_the_constants():
    kinds = [("int64_t", "{a}"), ("double", "{b}"), ("float", "{c}f"), ("int64_t", "-{a}LL")]
    lines = [f'extern "C" {kind} number_{k}() {{{{ return {value}; }}}}' for k, (kind, value) in enumerate(kinds)]
    text = "\n".join(lines)
    skeleton, numbers = samples(text, {"a": 1, "b": "1.5", "c": "2.5"}, {"a": 2, "b": "3e-05", "c": "0.1"})
    template = Template.of(skeleton, numbers)
    library = compile_source(Source("numbers", template.code, (), ()))
    constants = ("9223372036854775807", "1e-300", "0.3f", "5LL")
    file = library.path.with_name("bound.so")
    file.write_bytes(bound(library.path.read_bytes(), constants))
    loaded = ctypes.CDLL(str(file))
    for k, kind in enumerate((ctypes.c_int64, ctypes.c_double, ctypes.c_float, ctypes.c_int64)):
        getattr(loaded, f"number_{k}").restype = kind
    assert [loaded.number_0(), loaded.number_1(), loaded.number_3()] == [2**63 - 1, 1e-300, -5]
    assert loaded.number_2() == struct.unpack("<f", struct.pack("<f", 0.3))[0]


@pytest.mark.parametrize("data", [b"no table", MARK + b"12345678" + MARK])
def test_a_library_without_one_table_is_refused(data):
    with pytest.raises(ValueError, match="no table of constants, or more than one"):
        bound(data, ("1",))

"""The generated text: every array is allocated and released once, around the statements that mention it."""

import re

import numpy as np
import pytest

from sdfgad.errors import CompilerError
from sdfgad.memory.lifetimes import lifetimes
from sdfgad.runtime.compile import generate
from sdfgad.sdfg.lower import lower
from sdfgad.targets.cpu.allocation import MARK, TABLE, Schedule, manage
from tests.helpers_ir import gradient_of, parsed


def chain(x, n):
    y = np.sin(x)
    for i in range(n):
        t = y * x
        if t[0] > 0:
            y = t + np.cos(t)
    z = y * y
    return np.sum(z)


@pytest.fixture(scope="module")
def program():
    return gradient_of(parsed(chain, np.ones(9), 3)).program


@pytest.fixture(scope="module")
def text(program):
    return generate(lower(program)).code


def test_each_array_once(program, text):
    live = lifetimes(program)
    made = re.findall(r"^    (\w+) = __blocks\.allocate<\w+>\((\d+), ", text, re.MULTILINE)
    assert sorted(name for name, _ in made) == sorted(live)
    released = re.findall(r"__blocks\.release\((\d+)\)", text)
    assert len(set(released)) == len(released)
    kept = {number for _, number in made} - set(released)
    last = len(program.body) - 1
    assert {name for name, number in made if number in kept} == {name for name, ends in live.items() if ends[1] == last}
    assert MARK not in text
    assert "dace::aligned" not in text


def test_allocated_before_and_released_after_use(program, text):
    body = text[text.index("__blocks;") :]
    for name, number in re.findall(r"(\w+) = __blocks\.allocate<\w+>\((\d+), ", body):
        uses = [use.start() for use in re.finditer(rf"\b{name}(\[|;|\b \+)", body)]
        start = body.index(f"{name} = __blocks")
        declared = body.index(f"*{name};")
        release = body.find(f"__blocks.release({number});")
        assert all(start < use and (release < 0 or use < release) for use in uses if use != declared + 1), name


def test_loops_allocate_nothing(text):
    assert not re.search(r"^     +.*__blocks", text, re.MULTILINE)


def dace_text(*, mark=f"        {MARK}0", made="a = dace::aligned_new_array<double>(4, 64);", released="a"):
    return "\n".join(
        [
            f'{TABLE}[[[], ["a"]]]',
            "void __program_p_internal(p_state_t*__state)",
            "{",
            "    double *a;",
            f"    {made}",
            "    {",
            mark,
            "        a[0] = 1;",
            "    }",
            f"    dace::aligned_delete_array({released}, 64);",
            "}",
            "DACE_EXPORTED void __program_p(p_state_t *__state)",
            "{",
            "    __program_p_internal(__state);",
            "}",
            "",
        ]
    )


def test_text_by_hand():
    lines = manage(dace_text(), "p").splitlines()
    start = lines.index("{")
    assert lines[start + 1 : start + 8] == [
        "    sdfgad::Blocks<1> __blocks;",
        "    double *a;",
        "    a = __blocks.allocate<double>(0, 4);",
        "    {",
        "        a[0] = 1;",
        "    }",
        "}",
    ]
    assert "DACE_EXPORTED int __program_p(p_state_t *__state)" in lines


@pytest.mark.parametrize(
    "text",
    [
        dace_text(mark=""),
        dace_text(mark=f"        {MARK}0\n        {MARK}0"),
        dace_text(mark=f"        {MARK}7"),
        dace_text(mark="").replace("    {", f"    {MARK}0\n    {{"),
        dace_text(made="a = new double[4];"),
        dace_text(released="a, 64);\n    dace::aligned_delete_array(a"),
        dace_text(released="b"),
        dace_text(made="a = dace::aligned_new_array<double>(4, 64);\n    b = dace::aligned_new_array<double>(4, 64);"),
        dace_text().replace(TABLE, "// "),
        dace_text().replace("DACE_EXPORTED void", "void"),
        dace_text().replace("    __program_p_internal(__state);", ""),
    ],
    ids=[
        "no mark",
        "two marks",
        "an unknown mark",
        "a mark outside",
        "no allocation",
        "two releases",
        "no release",
        "an array too many",
        "no table",
        "no entry point",
        "no call",
    ],
)
def test_text_of_another_form_is_refused(text):
    with pytest.raises(CompilerError, match="unknown form"):
        manage(text, "p")


def test_statements_without_tasklets_leave_releases_to_later_ones():
    schedule = Schedule({"a": (0, 0), "b": (2, 2), "c": (2, 5)})
    codes = []
    for position, has_tasklet in enumerate([True, False, True, True]):
        schedule.enter(position)
        codes.append(schedule.mark("code") if has_tasklet else None)
    assert codes == [f"{MARK}0\ncode", None, f"{MARK}1\ncode", f"{MARK}2\ncode"]
    assert schedule.table() == f'{TABLE}[[[], ["a"]], [["a"], ["b", "c"]], [["b"], []]]\n'

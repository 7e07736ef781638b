"""The verifier accepts what passes make, and names what is wrong with other programs."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.errors import InvalidProgram, Location
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read
from sdfgad.ir.program import Access, Branch, Call, Compute, Loop, Whole
from sdfgad.ir.verify import verify
from tests.helpers_text import F64, sample

HERE = Location("user.py", 12, "z[:] = x")
P = Lin.symbol("p")
PROGRAM, _, _ = sample("""
    k = 3
    loop j < 5:
        for p < 20: z[p] = x[p] * 2.0
        for p < 20, c < 6: Z[p, c] += X[p, c]
    """)
ONE = Read("x", (P,), F64)
BOX = Compute((("p", Lin(20)),), Access("z", (P,)), ONE, where=HERE)
INNER = Loop("j", Lin(5), (BOX,), ())


def whole(name):
    return Whole(name, PROGRAM.buffers[name].shape, PROGRAM.buffers[name].dtype)


WRONG = {
    "there is no buffer `gone`": replace(BOX, target=Access("gone", (P,))),
    "there is no buffer `lost`": replace(BOX, value=Read("lost", (P,), F64)),
    "`z` has 1 axes and 2 indices": replace(BOX, target=Access("z", (P, P))),
    "`x` has 1 axes and 0 indices": replace(BOX, value=Read("x", (), F64)),
    "`q` is not known": replace(BOX, value=Read("x", (P + Lin.symbol("q"),), F64)),
    "`i`, `q` are not known": replace(BOX, params=(("p", Lin.symbol("q") + Lin.symbol("i")),)),
    "a parameter stands twice": replace(BOX, params=(*BOX.params, *BOX.params)),
    "the input `x` is written": replace(BOX, target=Access("x", (P,))),
    "a value of int64 goes to float64": replace(BOX, value=Int(P)),
    "`x`, of float64, is read as int64": replace(BOX, value=Read("x", (P,), INT)),
    "an index is of float64": replace(BOX, target=Access("z", (Lin.symbol(Read("x", (P,), F64)),))),
    "an assignment is fresh": replace(BOX, fresh=True),
    "there is no accumulation by 'multiply'": replace(BOX, accumulate="multiply"),
    "there is no operation `nothing`": replace(BOX, value=Op("nothing", (ONE,), F64)),
    "`j` stands for something else around it": Loop("j", Lin(5), (INNER,), ()),
    "what ends the loop is set in it": replace(
        INNER, trips=Lin.symbol(Read("k", (), INT)), is_open=True, backward=True
    ),
    "a condition is of float64": Branch(Const(1.0, F64), (BOX,), ()),
    "`t` is not known, in: if": Branch(Op("less", (Int(0), Int(1)), np.dtype(bool)), (), (), (Lin.symbol("t"),)),
    "there is no library function `none`": Call("none", (whole("x"),), (whole("z"),), ()),
    "`X` is of another shape or type": Call("solve", (replace(whole("X"), shape=(Lin(3),)),), (whole("z"),), ()),
    "the outputs are no buffers of their own": Call("solve", (whole("z"),), (whole("z"),), ()),
}


def test_a_program_that_is_well_formed():
    verify(PROGRAM)


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(what):
    with pytest.raises(InvalidProgram) as caught:
        verify(PROGRAM.with_body((WRONG[what],)), "after the pass `some`")
    assert what in caught.value.what
    assert "`program` is not well-formed after the pass `some`" in caught.value.what


def test_the_line_of_the_innermost_statement_is_told():
    wrong = replace(BOX, target=Access("gone", (P,)))
    with pytest.raises(InvalidProgram) as caught:
        verify(PROGRAM.with_body((Loop("j", Lin(5), (wrong,), (), where=Location("user.py", 11, "for")),)))
    assert caught.value.where == HERE


def test_arguments():
    with pytest.raises(InvalidProgram, match="an argument is passed twice"):
        verify(replace(PROGRAM, inputs=("x", "x")))
    with pytest.raises(InvalidProgram, match="there is no buffer `gone`, in: the arguments"):
        verify(replace(PROGRAM, outputs={"return": "gone"}))
    with pytest.raises(InvalidProgram, match="`z` is the buffer `x`"):
        verify(replace(PROGRAM, buffers={**PROGRAM.buffers, "z": PROGRAM.buffers["x"]}))


def test_expressions_as_deep_as_one_likes():
    value = ONE
    for _ in range(5000):
        value = Op("negative", (value,), F64)
    verify(PROGRAM.with_body((replace(BOX, value=value),)))

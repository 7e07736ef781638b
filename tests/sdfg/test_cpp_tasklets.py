"""What C++ of tasklets is as Python."""

import ast

import pytest

from sdfgad.errors import UnsupportedGraph
from sdfgad.sdfg.cpp_tasklets import statements_of_cpp

READ = {
    "o = a - b - c;": "o = a - b - c",
    "o = a - (b - c);": "o = a - (b - c)",
    "o = -a * b / c % 2;": "o = -a * b / c % 2",
    "o = !a && b || c;": "o = not a and b or c",
    "o = a < b == c;": "o = (a < b) == c",
    "o = a ? b : c ? d : e;": "o = b if a else d if c else e",
    "o = a + b ? c : d;": "o = c if a + b else d",
    "o = std::pow(a, 2.f);": "o = a ** dace.float32(2.0)",
    "o = float(a) + (int64_t)b * 2;": "o = dace.float32(a) + dace.int64(b) * 2",
    "o = (a) * b;": "o = a * b",
    "o = true ? 1e-3 : .5 ;": "o = 0.001 if True else 0.5",
    "o += a; o /= b;": "o = o + a\no = o / b",
    "float t = a; t *= b;": "t = dace.float32(a)\nt = dace.float32(t * b)",
    "auto t = a; const int n = 3;;": "t = a\nn = dace.int32(3)",
    "if (a > b) o = 1; else if (c) { o = 2; } else o = 3;": (
        "if a > b:\n    o = 1\nelif c:\n    o = 2\nelse:\n    o = 3"
    ),
    "if (a) if (b) o = 1; else o = 2;": "if a:\n    if b:\n        o = 1\n    else:\n        o = 2",
    "// nothing\no = a; /* of\n this */": "o = a",
    "": "",
}


@pytest.mark.parametrize("text", READ)
def test_read(text):
    found = ast.Module(statements_of_cpp(text, "t"), [])
    assert ast.unparse(found) == READ[text]


REFUSED = [
    *("o = a", "o = a b;", "o[0] = a;", "*o = a;", "o = a & b;", "o = a << 2;", "o = 017;", "o = 0x1f;", "o = 'c';"),
    *(
        "o++;",
        "double o, u;",
        "unsigned n = 3;",
        "while (a) o = 1;",
        "return;",
        "o = std::remainder(a, b);",
    ),
    *("o = (unsigned)a;", "auto t;", "o = ::sin(a);", "o = a ? b;", "{ o = a;", 'o = "a";', "o = a->b;", "o = a.b;"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(UnsupportedGraph, match=r"the (C\+\+ of|function `remainder` in the C\+\+ of) the tasklet `t`"):
        statements_of_cpp(text, "t")

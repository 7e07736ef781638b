"""Records become text and come back equal, shared and however deep; nothing else can come of a text."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

from sdfgad.errors import InvalidIndex, Location
from sdfgad.ir.codec import Codec
from sdfgad.ir.expr import Const, Int, Lin, Op, Read

F64, C128 = np.dtype(np.float64), np.dtype(np.complex128)


@dataclass(frozen=True)
class Pair:
    one: object
    other: object = None
    more: object = field(default_factory=dict)

    @cached_property
    def found_later(self):
        return object()


CODEC = Codec((Pair, Location))


def there_and_back(value):
    return CODEC.decode(CODEC.encode(value))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        -(1 << 80),
        'text with "quotes", \\ and ümlaut, \0 and \ud800',
        1.5,
        float("inf"),
        0.1 + 0.2j,
        (),
        ((1,), (1,), ((),)),
        {},
        {"a": (1, 2), 3: {"b": None}},
        frozenset({3, 1, 2}),
        {"b", "a"},
        F64,
        np.dtype(">i4"),
        InvalidIndex,
        Location("file.py", 3, "x = 1"),
        Pair(1, Pair("two", (3,)), {"k": Location("f", 1, "")}),
        Lin(3, (("i", 2), ("j", -1))),
    ],
)
def test_values_come_back_equal_and_of_the_same_type(value):
    found = there_and_back(value)
    assert found == value
    assert type(found) is type(value)


def test_equal_values_of_different_types_stay_apart():
    value = (1, True, 1.0, 0, False, 0.0, -0.0, "1", float("nan"), 1 + 0j, None, "None")
    assert repr(there_and_back(value)) == repr(value)


def test_integers_of_numpy_become_plain_ones():
    assert there_and_back((np.int64(3), 3)) == (3, 3)
    assert type(there_and_back(np.int64(3))) is int


def test_what_is_found_later_is_left_out():
    pair = Pair(1)
    _ = pair.found_later
    assert "found_later" not in vars(there_and_back(pair))


def test_expressions_come_back_as_the_very_ones():
    i = Lin.symbol("i")
    x = Read("x", (i + 1, Lin.symbol(Read("k", (i,), np.dtype(np.int64))).scaled(3)), F64)
    for constant in (0.0, -0.0, float("nan"), float("inf"), 1e-300):
        value = Op("add", (x, Const(constant, F64)), F64)
        assert there_and_back(value) is value
    for value in (Const(True, np.dtype(bool)), Const(1 - 0.0j, C128), Int(i + 3), Op("cast", (x,), C128)):
        assert there_and_back((value, value)) == (value, value)
        assert there_and_back((value,))[0] is value


def test_what_is_shared_is_written_once_and_stays_shared():
    inner = Pair("inner")
    text = CODEC.encode((inner, Pair(inner), inner))
    assert text.count(b'"Pair"') == 2
    first, outer, last = CODEC.decode(text)
    assert first is last is outer.one


def test_depth_is_no_matter():
    value = Read("x", (), F64)
    for k in range(50_000):
        value = Op("add", (value, Const(float(k % 7), F64)), F64)
    index = Lin.symbol("i")
    for k in range(5_000):
        index = Lin.symbol(Read("k", (index,), np.dtype(np.int64)))
    nested = Pair(value, Read("x", (index,), F64))
    found = there_and_back(nested)
    # Asserted without the expressions, whose texts would be deep, too.
    is_same = found.one is value, found.other is nested.other
    assert is_same == (True, True)


def test_time_is_linear():
    """An expression that is shared in two places at each of 200 levels takes two rows a level."""
    value = Read("x", (), F64)
    for _ in range(200):
        value = Op("multiply", (value, value), F64)
    rows, is_same = len(json.loads(CODEC.encode(value))), there_and_back(value) is value
    assert rows < 420
    assert is_same


@pytest.mark.parametrize("value", [object, [1], np.zeros(2), len, int, ValueError, np.bool_(True)], ids=repr)
def test_what_is_not_known_is_refused(value):
    with pytest.raises(TypeError, match="has no text"):
        CODEC.encode(Pair(value))


@pytest.mark.parametrize(
    "rows",
    [
        ["os.system", ["Pair", 0]],
        ["SystemExit", ["error", 0]],
        ["annotations", ["error", 0]],
        ["Sequence", ["error", 0]],
        [["object"]],
        [["Pair", 3]],
        [1, ["Pair", 0, 0, 0, 0]],
        [[["Pair"], 0]],
        [],
    ],
    ids=str,
)
def test_nothing_else_comes_of_a_text(rows):
    text = json.dumps(rows).encode()
    try:
        found = CODEC.decode(text)
    except (ValueError, LookupError, TypeError, AttributeError):
        return
    assert found == Pair("os.system", None) or vars(found) == {"one": "os.system"}


def test_the_text_is_the_same_for_every_hash_seed():
    code = """
from tests.ir.test_codec import *
print(CODEC.encode(Pair(frozenset("abcdefgh"), {"x", "y", "z"}, {"k": (F64, InvalidIndex, 1.5)})).hex())
"""
    texts = set()
    for seed in "012":
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."}
        texts.add(subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout)
    assert len(texts) == 1

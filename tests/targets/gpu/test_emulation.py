"""The emulation of a device finds faults of the code that is generated for it: here each of them is planted."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.errors import DeviceError
from sdfgad.ir.expr import Lin
from sdfgad.optimise.device import side, split_sums
from sdfgad.schedule import launches
from tests.helpers_emulation import Variants, replaced

RACE = "a race"
UNSET = "nothing has written"
OUTSIDE = "an array with fewer"


def total(x):
    return np.sum(x * x)


def table(x):
    return np.sin(x[:, None]) * x[:25]


def shifted(x):
    y = np.sin(x)
    for _ in range(40):
        y[1:] = y[:-1] + 0.1 * y[1:]
    return y


def halved(x):
    for _ in range(9):
        if np.sum(x * x) > 1.0:
            x = 0.5 * x
    return x


def ordered(x):
    return np.sort(x) * 2.0


def inverted(x):
    return np.sum(np.linalg.inv(x.reshape(8, 8) + 9.0 * np.eye(8)))


def scattered(x):
    h = np.zeros(7)
    np.add.at(h, np.floor(3.0 * np.abs(x)).astype(int) % 7, x)
    return h


# Fewer contributions are one block's.
SIZES = {scattered: 2100}


def without(statement):
    return replaced(statement, f"if (false) {statement}")


# What is planted in a program's code, and what the emulation says; "" where only the value is another one.
PLANTED = {
    "barrier_not_reached": (
        total,
        replaced("total_ = sdfgad::block_total", "if (sdfgad::lane() > 3) return;\ntotal_ = sdfgad::block_total"),
        "a barrier that not all threads",
    ),
    "total_stored_twice": (total, replaced("sdfgad::lane() == 0", "sdfgad::lane() < 2"), f"{RACE}: two threads write"),
    "narrow_numbers": (table, replaced("uint32_t", "uint8_t"), f"{RACE}: two threads write"),
    "block_less": (table, replaced("sdfgad::device::blocks_of(", "-1 + sdfgad::device::blocks_of("), ""),
    "maximum_not_atomic": (
        scattered,
        replaced("sdfgad::atomic_maximum(", "sdfgad::store<double>("),
        f"{RACE}: two threads write",
    ),
    "point_too_many": (table, replaced("if (point_ < int64_t(1600))", "if (true)"), OUTSIDE),
    "no_copy_of_a_condition": (halved, without("sdfgad::device::to_host("), ""),
    "no_copy_to_the_host": (ordered, without("sdfgad::device::to_host("), ""),
    "no_copy_to_the_device": (ordered, without("sdfgad::device::to_device("), UNSET),
    "address_of_the_host": (
        table,
        replaced("sdfgad::device::launch(0, ", "b_x_ = new double[99]; sdfgad::device::launch(0, "),
        "not of the device's memory",
    ),
    "matrix_that_a_library_reads": (
        inverted,
        without("sdfgad::device::launch(1, "),
        f"a library reads an element that {UNSET}",
    ),
    "solution_without_factors": (
        inverted,
        without("sdfgad::device::call<double>(sdfgad::device::Function::lu_columns"),
        f"a library reads an element that {UNSET}",
    ),
}
BARRIERS = {"barrier_of_warps": "value);\n    barrier();"}


def one_part_more(split):
    def wrong(self, *arguments):
        first, last = split(self, *arguments)
        (name, extent), *rest = last.params
        return first, replace(last, params=((name, extent + Lin(1)), *rest))

    return wrong


def all_in_the_first(found, *_):
    return found[0] if found else None


@pytest.fixture(scope="module")
def variants():
    """All programs of this file, in one library."""
    made = Variants()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDFGAD_EMULATE", "1")
        # Loops of so little work would run on the host.
        patch.setattr(side.Side, "is_host", lambda *_: False)
        patch.setattr(side.Side, "can_be_in_block", lambda *_: False)
        for function in (total, table, shifted, halved, ordered, inverted, scattered):
            made.add(function.__name__, function, size=SIZES.get(function, 64))
        made.add("long_total", total, size=20001)
        for name, (function, change, _) in PLANTED.items():
            made.add(name, function, change, size=SIZES.get(function, 64))
        for name, old in BARRIERS.items():
            made.add_other_total(name, total, old, old.replace("barrier();", ""))
        with patch.context() as inner:
            inner.setattr(split_sums._Splitter, "split", one_part_more(split_sums._Splitter.split))
            made.add("part_too_many", total, size=20000)
        with patch.context() as inner:
            inner.setattr(split_sums, "where_below", lambda place, extent, value, accumulate: value)
            made.add("last_part_too_long", total, size=20001)
        with patch.context() as inner:
            inner.setattr(launches, "_home", all_in_the_first)
            made.add("dependent_statements", shifted)
        made.compile()
    return made


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")


@pytest.mark.parametrize(
    "name", ["total", "long_total", "table", "shifted", "halved", "ordered", "inverted", "scattered"]
)
def test_nothing_is_found_where_there_is_no_fault(variants, monkeypatch, name):
    assert variants.run(name, monkeypatch)


@pytest.mark.parametrize("name", PLANTED)
def test_faults_in_code(variants, monkeypatch, name):
    expected = PLANTED[name][2]
    if expected:
        with pytest.raises(DeviceError, match=expected):
            variants.run(name, monkeypatch)
    else:
        assert not variants.run(name, monkeypatch)


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_left_out(variants, monkeypatch, name):
    with pytest.raises(DeviceError, match=f"{RACE}|{UNSET}"):
        variants.run(name, monkeypatch)


@pytest.mark.parametrize("name", ["part_too_many", "last_part_too_long"])
def test_sums_of_parts_that_are_not_there(variants, monkeypatch, name):
    with pytest.raises(DeviceError, match=f"{UNSET}|{OUTSIDE}"):
        variants.run(name, monkeypatch)


def test_statements_of_one_launch_that_depend_on_each_other(variants, monkeypatch):
    with pytest.raises(DeviceError, match=f"{RACE}|{UNSET}"):
        variants.run("dependent_statements", monkeypatch)


def test_it_goes_on_after_a_fault(variants, monkeypatch):
    with pytest.raises(DeviceError):
        variants.run("total_stored_twice", monkeypatch)
    assert variants.run("total", monkeypatch)

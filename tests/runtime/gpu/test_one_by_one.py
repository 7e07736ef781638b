"""Launches that are waited for."""

import ctypes

from sdfgad.runtime.gpu import one_by_one
from sdfgad.runtime.gpu.binding import Functions
from sdfgad.runtime.gpu.one_by_one import GRAPHS, VARIABLE, Watched, are_replayed, are_watched, without_graphs

KERNELS = (ctypes.c_void_p * 4)(0x1000, 0x2000, 0x3000)


def test_a_failure_is_that_of_the_kernel_before_it():
    launched, codes = [], iter([0, 700])
    functions = Functions()
    functions.launch = dict(Functions._fields_)["launch"](
        lambda kernel, *rest: launched.append((kernel, *rest[:2])) or 0
    )
    watched = Watched(functions, KERNELS, lambda: next(codes))
    assert watched.table.launch(0x2000, 7, 256, None) == 0
    assert watched.failed() is None
    assert watched.table.launch(0x3000, 1, 32, None) == 700
    assert launched == [(0x2000, 7, 256), (0x3000, 1, 32)]
    assert watched.failed() == 2
    assert watched.failed() is None


def test_launches_that_fail_are_not_waited_for():
    functions = Functions()
    functions.launch = dict(Functions._fields_)["launch"](lambda *_: 1)
    watched = Watched(functions, KERNELS, lambda: 1 / 0)
    assert watched.table.launch(0x1000, 1, 1, None) == 1
    assert watched.failed() == 0


def test_the_variable_decides(monkeypatch):
    monkeypatch.setattr(one_by_one, "is_emulated", lambda: False)
    for value, expected in (("0", False), ("1", True)):
        monkeypatch.setenv(VARIABLE, value)
        assert are_watched() is expected


def test_there_are_no_graphs_of_launches_that_are_waited_for(monkeypatch):
    monkeypatch.setattr(one_by_one, "is_emulated", lambda: False)
    for sync, graphs, expected in (("0", "1", True), ("1", "1", False), ("0", "0", False)):
        monkeypatch.setenv(VARIABLE, sync)
        monkeypatch.setenv(GRAPHS, graphs)
        assert are_replayed() is expected
    functions = Functions()
    functions.replay = dict(Functions._fields_)["replay"](lambda *_: 0)
    assert not without_graphs(functions).replay
    assert functions.replay

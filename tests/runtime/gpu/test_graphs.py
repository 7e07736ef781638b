"""CUDA graphs of loops of launches, with a driver that has no device."""

import ctypes

import numpy as np
import pytest


@pytest.fixture
def run(device, program, fake):
    """Calls `repeated` on an array of ones; returns its first element, and what the driver was asked for."""
    held = []

    def run(factor=2.0, times=10, hidden=1.0, product=False, again=True):
        if not again or not held:
            held[:] = [device.array(np.ones(4)), device.array(np.eye(2) * 3), device.empty((2, 2), float)]
        x, a, c = held
        x.set(np.ones(4))
        before = len(fake.log())
        places = [at(a), at(c)] if product else [None, None]
        numbers = ctypes.c_int64(4), ctypes.c_double(factor), ctypes.c_int64(times), *places, ctypes.c_double(hidden)
        assert program.repeated(at(x), *numbers) == 0
        if product:
            np.testing.assert_array_equal(c.to_numpy(), 9 * np.eye(2))
        return x.to_numpy()[0], fake.log()[before:]

    yield run
    held.clear()


def at(array):
    return ctypes.c_void_p(array.pointer)


def count(log, word):
    return sum(line.startswith(word) for line in log)


def test_a_loop_is_counted_then_recorded_then_replayed(run):
    for launches, graphs in ((10, 0), (0, 1), (0, 1)):
        value, log = run()
        assert value == 2.0**10
        assert (count(log, "launch"), count(log, "graph of 10 on 0")) == (launches, graphs)


@pytest.mark.parametrize("change", [{"factor": 3.0}, {"times": 11}, {"again": False}])
def test_other_keys_have_other_graphs(run, change):
    for _ in range(3):
        run()
    expected = change.get("factor", 2.0) ** change.get("times", 10)
    value, log = run(**change)
    assert (value, count(log, "graph")) == (expected, 0)
    assert run()[0] == 2.0**10


def test_what_the_key_does_not_have_is_not_seen(run):
    # So a replay is one: the loop is not called.
    for _ in range(2):
        run()
    assert run(hidden=5.0)[0] == 2.0**10


def test_few_launches_have_no_graph(run):
    for _ in range(4):
        value, log = run(times=7)
        assert (value, count(log, "launch"), count(log, "graph")) == (2.0**7, 7, 0)


def test_graphs_of_products_take_turns_with_the_workspace(device, run):
    for _ in range(3):
        run(product=True)
    value, log = run(product=True)
    assert (value, count(log, "graph of 11 on 0")) == (2.0**10, 1)
    with device.stream(9):
        _, log = run(product=True)
    assert log.index("9 waits for 0") < log.index("graph of 11 on 9")


def test_graphs_run_on_the_caller_s_stream(device, run):
    for _ in range(2):
        run()
    with device.stream(9):
        assert count(run()[1], "graph of 10 on 9") == 1


@pytest.mark.parametrize(
    "name", ["cuStreamCreate", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"]
)
def test_what_cannot_be_recorded_is_launched(run, fake, name):
    run()
    fake.fail(name, 900)
    for _ in range(2):
        value, log = run()
        assert (value, count(log, "launch"), count(log, "graph")) == (2.0**10, 10, 0)


def test_faults_of_the_loop_are_its_own(device, program, fake):
    x = device.array(np.ones(4))
    for _ in range(3):
        assert program.failing(at(x), ctypes.c_int64(4), ctypes.c_int64(9)) == 2
    assert count(fake.log(), "graph") == 0


def test_graphs_go_with_their_kernels(device, run, fake):
    for _ in range(3):
        run()
    assert fake.library.fake_graphs() == 1
    other = device.load(b"cubin")
    del other
    assert fake.library.fake_graphs() == 0
    assert run()[0] == 2.0**10


def test_old_graphs_go(run, fake):
    for factor in range(2, 302):
        run(factor=float(factor))
    assert fake.library.fake_graphs() == 0
    for _ in range(2):
        run(times=60000, factor=1.0)
        run(times=60001, factor=1.0)
        run(times=60002, factor=1.0)
    # Those of 2**17 launches together are kept.
    assert fake.library.fake_graphs() == 2

"""Garbage is collected at longer intervals while programs are analysed, and at the user's before and after."""

import gc
import threading

import numpy as np
import pytest

import sdfgad
from sdfgad.collector import INTERVAL, collected_rarely


@pytest.fixture(autouse=True)
def threshold():
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_the_interval_is_longer_only_inside():
    gc.set_threshold(500, 7, 8)
    with collected_rarely():
        assert gc.get_threshold() == (INTERVAL, 7, 8)
        with collected_rarely():
            pass
        assert gc.get_threshold() == (INTERVAL, 7, 8)
    assert gc.get_threshold() == (500, 7, 8)


def test_the_interval_is_that_of_before_after_an_error():
    gc.set_threshold(500, 7, 8)
    with pytest.raises(ValueError, match="inside"), collected_rarely():
        raise ValueError("inside")
    assert gc.get_threshold() == (500, 7, 8)


@pytest.mark.parametrize("chosen", [(0, 7, 8), (2 * INTERVAL, 7, 8)])
def test_who_collects_less_often_still_does(chosen):
    gc.set_threshold(*chosen)
    with collected_rarely():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_what_is_set_inside_stays():
    with collected_rarely():
        gc.set_threshold(900, 7, 8)
    assert gc.get_threshold() == (900, 7, 8)


def test_threads_that_overlap_leave_the_interval_as_it_was():
    gc.set_threshold(500, 7, 8)
    inside, ended = threading.Event(), threading.Event()

    def other():
        with collected_rarely():
            inside.set()
            ended.wait()

    thread = threading.Thread(target=other)
    with collected_rarely():
        thread.start()
        inside.wait()
    assert gc.get_threshold() == (INTERVAL, 7, 8)
    ended.set()
    thread.join()
    assert gc.get_threshold() == (500, 7, 8)


def parabola(x):
    return np.sum(x * x)


def test_a_gradient_leaves_the_interval_as_it_was():
    gc.set_threshold(500, 7, 8)
    assert sdfgad.grad(parabola)(np.array([3.0]))[0] == 6.0
    assert gc.get_threshold() == (500, 7, 8)

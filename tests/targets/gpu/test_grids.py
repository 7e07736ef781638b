"""Kernels of sequences, a block of threads for each: the CPU's results, in the emulation without a race."""

import numpy as np
import pytest

import sdfgad
from sdfgad.api.compile_together import compile_together
from sdfgad.emulated import VARIABLE
from sdfgad.optimise.device import grid_loops, side
from tests.helpers_sequences import CASES, args_of, made, markov


@pytest.fixture(scope="module")
def on_cpu():
    """The values and gradients on the CPU."""
    some = [made(function, "cpu") for function in CASES]
    assert compile_together([(one, args_of(f)) for one, f in zip(some, CASES, strict=True)]) == [None] * len(some)
    return {f: one.value_and_grad(*args_of(f)) for one, f in zip(some, CASES, strict=True)}


@pytest.fixture(scope="module", params=["a block for each trip", "some trips for each block"])
def found(request, tmp_path_factory):
    """The gradients on the emulated device, also where its blocks are fewer than trips: four of 32 threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.GRIDS_ONLY)
        if request.param == "some trips for each block":
            # What is in the cache has been made by other constants.
            patch.setenv("SDFGAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
            patch.setattr(grid_loops, "RESIDENT", 4 * 32)
        some = {function: made(function, "gpu") for function in CASES}
        assert compile_together([(one, args_of(f)) for f, one in some.items()]) == [None] * len(some)
        yield some


@pytest.mark.parametrize("function", CASES)
def test_value_and_gradient(found, on_cpu, function):
    value, gradients = found[function].value_and_grad(*args_of(function))
    expected, wanted = on_cpu[function]
    np.testing.assert_allclose(value, function(*args_of(function)), rtol=1e-12)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    again = found[function](*args_of(function))
    for one, same, right in zip(gradients, again, wanted, strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("function", CASES)
def test_bytes_are_those_predicted(found, function):
    args = args_of(function)
    assert found[function].measure(*args, repeats=1).peak_bytes == found[function].plan(*args).peak_bytes


def test_limits_of_memory_hold(found):
    args = args_of(markov)
    # Of what is stored without a limit more or less is recomputed, by the rates of the machine at hand.
    stored = sdfgad.differentiate(markov, wrt=CASES[markov][1], device="gpu", strategy="store_all")
    limit = stored.plan(*args).peak_bytes * 2 // 3
    limited = sdfgad.differentiate(markov, wrt=CASES[markov][1], device="gpu", memory_limit=limit)
    measured = limited.measure(*args, repeats=1)
    assert measured.peak_bytes == measured.predicted_bytes <= limit
    for one, right in zip(limited(*args), found[markov](*args), strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-10, atol=1e-12)


def test_an_index_out_of_bounds_is_the_cpu_s_error(found):
    args = args_of(markov)
    args[0][4, 3] = 5
    with pytest.raises(IndexError) as on_device:
        found[markov](*args)
    with pytest.raises(IndexError) as on_host:
        made(markov, "cpu")(*args)
    assert str(on_device.value) == str(on_host.value)
    assert "emission[:, symbols[s, t]]" in str(on_device.value)

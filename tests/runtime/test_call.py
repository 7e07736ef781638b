"""A compiled library, called with NumPy arrays by name."""

import threading

import numpy as np
import pytest

from sdfgad.errors import CompilerError
from sdfgad.runtime.call import Executable, _address
from sdfgad.runtime.compile import compile_sdfg
from sdfgad.sdfg.writer import write
from tests.helpers_ir import parsed


def program(x, n, s, m):
    y = x * s
    for i in range(n):
        y[i] = y[i] + m[i, 0]
    x[0] = n
    return y, np.sum(m)


M = np.arange(8.0, dtype=np.float32).reshape(4, 2)


@pytest.fixture(scope="module")
def primal():
    return parsed(program, np.ones(4), 2, 0.5, M)


@pytest.fixture(scope="module")
def executable(primal):
    return Executable(compile_sdfg(write(primal.program)))


def called(primal, executable, x, n, s, m):
    values = {"x": np.array(x), "s": np.array(s), "m": m}
    arrays = {buffer: values[name] for name, buffer in primal.inputs.items()}
    for buffer in primal.program.outputs.values():
        kind = primal.program.buffers[buffer]
        arrays[buffer] = np.full([extent.const for extent in kind.shape], 99, kind.dtype)
    executable(arrays, dict.fromkeys(primal.integers.values(), n))
    return [arrays[primal.program.outputs[name]] for name in ("return[0]", "return[1]", "x")], values


@pytest.mark.parametrize("n", [0, 1, 4])
def test_outputs_are_written_and_inputs_are_not(primal, executable, n):
    x = np.linspace(1.0, 2.0, 4)
    (y, total, updated), values = called(primal, executable, x, n, 0.5, M)
    expected = x * 0.5
    expected[:n] += M[:n, 0]
    np.testing.assert_array_equal(y, expected)
    assert total == M.sum()
    assert total.dtype == np.float32
    np.testing.assert_array_equal(updated, [n, *x[1:]])
    np.testing.assert_array_equal(values["x"], x)
    np.testing.assert_array_equal(values["m"], M)


def test_arguments_are_known_by_name_and_kind(primal, executable):
    kinds = dict(executable.library.arguments)
    arrays = {*primal.inputs.values(), *primal.program.outputs.values()}
    assert {name for name, kind in kinds.items() if kind == "array"} == arrays
    assert {name for name, kind in kinds.items() if kind == "integer"} == set(primal.integers.values())


def test_calls_keep_nothing_between_them(primal, executable):
    first, _ = called(primal, executable, np.ones(4), 4, 0.5, M)
    called(primal, executable, np.full(4, 7.0), 2, 3.0, M + 1)
    again, _ = called(primal, executable, np.ones(4), 4, 0.5, M)
    for x, y in zip(first, again, strict=True):
        np.testing.assert_array_equal(x, y)


def test_large_integers_pass_unchanged(primal):
    plain = parsed(lambda x, n: x * 0.0 + n, np.ones(1), 5)
    made = Executable(compile_sdfg(write(plain.program)))
    out = np.empty(1)
    made({plain.inputs["x"]: np.ones(1), plain.program.outputs["return"]: out}, {plain.integers["n"]: 2**52 + 1})
    assert out[0] == 2**52 + 1


def test_a_missing_argument_is_an_error(executable):
    with pytest.raises(KeyError):
        executable({}, {})


def test_a_library_that_does_not_start(monkeypatch, primal, executable):
    monkeypatch.setattr(executable, "_initialise", lambda *_: None)
    with pytest.raises(CompilerError, match="could not be initialised"):
        called(primal, executable, np.ones(4), 1, 0.5, M)


def test_calls_beside_each_other(primal, executable):
    expected = [called(primal, executable, np.full(4, float(k)), k, 0.5, M)[0][0] for k in range(5)]
    wrong = []

    def work(k):
        for _ in range(50):
            found = called(primal, executable, np.full(4, float(k)), k, 0.5, M)[0][0]
            if not np.array_equal(found, expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.bool_, np.int32])
@pytest.mark.parametrize("shape", [(), (3,), (2, 1), (0, 3)])
@pytest.mark.parametrize("writeable", [True, False])
def test_addresses(dtype, shape, writeable):
    x = np.zeros(shape, dtype)
    x.flags.writeable = writeable
    assert _address(x) == x.ctypes.data

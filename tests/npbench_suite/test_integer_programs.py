"""NPBench's programs on integers have no gradient. Whoever asks for one is told so, with the line to look at.

The programs compute what NPBench's crc16 and nussinov do, and are written anew.
"""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import OutputError, WrtError
from tests.helpers import line_of


def checksum(message, polynomial=0x8408):
    """The CCITT checksum of bytes: 16 bits, no table, the lowest bit of each byte first."""
    register = 0xFFFF
    for byte in message:
        register ^= int(byte)
        bits = 8
        while bits > 0:
            lowest = register & 1
            register >>= 1
            if lowest:
                register ^= polynomial
            bits -= 1
    register = ~register & 0xFFFF
    return ((register & 0xFF) << 8) | (register >> 8)


def pairs(left, right):
    return 1 if left + right == 3 else 0


def folding(bases):
    """Nussinov's table: the most pairs of bases that can be bound in each stretch of a strand without crossing."""
    count = bases.shape[0]
    best = np.zeros((count, count), dtype=np.int32)
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            score = max(best[first, last - 1], best[first + 1, last])
            inner = best[first + 1, last - 1] if length > 1 else 0
            score = max(score, inner + (pairs(bases[first], bases[last]) if length > 1 else 0))
            for middle in range(first + 1, last):
                score = max(score, best[first, middle] + best[middle + 1, last])
            best[first, last] = score
    return best


def folding_in_place(bases, best):
    best[:] = folding(bases)


MESSAGE = np.frombuffer(b"123456789", dtype=np.uint8)
BASES = ((np.arange(12) * 5 + 1) % 4).astype(np.int32)
PROGRAMS = [(checksum, MESSAGE, "message"), (folding, BASES, "bases")]


def test_programs_compute_what_they_should():
    assert checksum(MESSAGE) == 0x6E90
    table = folding(np.array([0, 1, 2, 3], np.int32))  # 0 with 3 around 1 with 2; neighbours do not pair.
    assert table[0, 3] == 1
    assert table[1, 2] == 0
    assert folding(np.array([0, 1, 0, 2, 3], np.int32))[0, 4] == 2


def assert_refused(failure, kind, program, *texts):
    assert type(failure) is kind
    message = str(failure)
    assert line_of(program, "def ") in message
    assert str(failure.where) == line_of(program, "def ")
    for text in texts:
        assert text in message
    assert failure.todo
    assert message.endswith(failure.todo)


@pytest.mark.parametrize(("program", "argument", "name"), PROGRAMS)
@pytest.mark.parametrize("call", ["__call__", "value_and_grad", "compile", "plan"])
def test_there_is_nothing_to_differentiate_by(program, argument, name, call):
    with pytest.raises(WrtError) as failure:
        getattr(sdfgad.differentiate(program, reduce="sum"), call)(argument)
    assert_refused(failure.value, WrtError, program, "there is no floating argument to differentiate by")


@pytest.mark.parametrize(("program", "argument", "name"), PROGRAMS)
@pytest.mark.parametrize("by_position", [False, True])
def test_an_integer_array_has_no_gradient(program, argument, name, by_position):
    g = sdfgad.differentiate(program, wrt=0 if by_position else name, reduce="sum")
    with pytest.raises(WrtError) as failure:
        g(argument)
    assert_refused(
        failure.value,
        WrtError,
        program,
        f"argument `{name}` is",
        "only floating arguments have gradients",
        "Pass it as a float or a floating array",
    )


@pytest.mark.parametrize("polynomial", [0x8408, np.int64(0x8408)])
def test_an_integer_number_has_no_gradient(polynomial):
    with pytest.raises(WrtError) as failure:
        sdfgad.differentiate(checksum, wrt="polynomial")(MESSAGE, polynomial)
    assert_refused(failure.value, WrtError, checksum, "argument `polynomial` is the int 33800")


def test_grad_and_vjp_refuse_too():
    with pytest.raises(WrtError, match="floating"):
        sdfgad.grad(checksum)(MESSAGE)
    with pytest.raises(WrtError, match="floating"):
        sdfgad.differentiate(folding).vjp(BASES, cotangent=np.ones((12, 12)))


def test_an_output_of_integers_has_no_gradient():
    """A floating argument does not help: the scores that it is rounded to are integers."""

    def scores(weights):
        table = np.zeros((3, 3), dtype=np.int32)
        for k in range(3):
            table[k, k] = 2 * k
        return table

    with pytest.raises(OutputError) as failure:
        sdfgad.differentiate(scores, wrt="weights", reduce="sum")(np.ones(3))
    message = str(failure.value)
    assert "the output `return` is of dtype int32 and has no derivative" in message
    assert line_of(scores, "return table") in message
    assert message.endswith("Choose a floating output with `output=`.")


def test_an_updated_array_of_integers_is_no_output():
    """Beside a floating argument."""

    def binned(samples, counts):
        for k in range(samples.shape[0]):
            if samples[k] > 0.0:
                counts[k] += 1

    with pytest.raises(OutputError) as failure:
        sdfgad.differentiate(binned, wrt="samples", reduce="sum")(np.ones(3), np.zeros(3, dtype=np.int64))
    assert "the output `counts` is of dtype int64 and has no derivative" in str(failure.value)
    assert failure.value.where.text == "def binned(samples, counts):"


def test_folding_of_a_table_that_is_passed():
    best = np.zeros((12, 12), dtype=np.int32)
    with pytest.raises(WrtError) as failure:
        sdfgad.differentiate(folding_in_place, reduce="sum")(BASES, best)
    assert_refused(failure.value, WrtError, folding_in_place, "there is no floating argument")
    assert not best.any()

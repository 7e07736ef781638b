"""The demonstration: what is right is shown with its times, and nothing that is wrong looks right."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

import npbench_suite
import sdfgad
from scripts import demo

TWO = ("trisolv", "gemm")
GEMM_ARRAYS = npbench_suite.load("gemm").arrays


def show(*names, is_terminal=False, preset="test"):
    """The exit status, and the text that is printed."""
    console = Console(
        file=io.StringIO(),
        width=demo.PLAIN_WIDTH,
        force_terminal=is_terminal,
        color_system="standard" if is_terminal else None,
    )
    status = demo.main(["-p", preset, "-r", "1", "-b", *names], console)
    return status, console.file.getvalue()


def row_of(text, name):
    return next(line for line in text.splitlines() if line.lstrip().startswith(f"{name} "))


def spoil(monkeypatch, method, change):
    """Let a method of differentiated programs of gemm, and of no other, return what `change` makes of its result."""
    right = getattr(sdfgad.DifferentiatedProgram, method)

    def wrong(self, *args, **kwargs):
        found = right(self, *args, **kwargs)
        return change(found) if "gemm" in self.__name__ else found

    monkeypatch.setattr(sdfgad.DifferentiatedProgram, method, wrong)


def assert_only_gemm_is_wrong(status, text, problem):
    assert status == 1
    assert problem in row_of(text, "gemm")
    assert not re.search(r"\d [mµ]?s\b", row_of(text, "gemm"))
    assert re.search(r"\d [mµ]s .*\d\.\de-\d\d", row_of(text, "trisolv"))
    assert "1 of 2 right" in text


def test_right_programs(capsys):
    status, text = show(*TWO)
    assert status == 0
    # Without a terminal, a line for each says how far it is.
    assert capsys.readouterr().err.splitlines() == [f"{k}/2 {name}" for k, name in enumerate(TWO, 1)]
    assert "WRONG" not in text
    assert "2 of 2 right" in text
    for name in TWO:
        assert re.search(r"\d [mµ]s +[\d.]+ [mµ]s +[\d.]+ [mµ]s +[\d.]+ +\d\.\de-\d\d", row_of(text, name))


def test_plain_output_is_plain_and_narrow():
    _, text = show("gemm")
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= demo.PLAIN_WIDTH


@pytest.mark.parametrize("name", GEMM_ARRAYS)
def test_gradient_that_is_off_by_a_thousandth(monkeypatch, name):
    """In one argument only, be it a number or an array."""
    place = GEMM_ARRAYS.index(name)
    spoil(monkeypatch, "vjp", lambda found: (*found[:place], found[place] * 1.001, *found[place + 1 :]))
    status, text = show(*TWO)
    assert_only_gemm_is_wrong(status, text, f"WRONG: the gradient by {name} is off by")


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_gradient_that_is_zero_or_no_number(monkeypatch, factor):
    with np.errstate(invalid="ignore"):
        spoil(monkeypatch, "vjp", lambda found: tuple(np.asarray(g) * factor for g in found))
        status, text = show(*TWO)
    assert_only_gemm_is_wrong(status, text, "WRONG: the gradient by")


def test_gradient_with_one_wrong_element(monkeypatch):
    def change(found):
        found[-1].flat[0] *= 1.5
        return found

    spoil(monkeypatch, "vjp", change)
    assert_only_gemm_is_wrong(*show(*TWO), f"WRONG: the gradient by {GEMM_ARRAYS[-1]} is off by")


@pytest.mark.parametrize("change", [lambda value: value * (1 + 1e-6), lambda value: value * float("nan")])
def test_value_that_is_not_that_of_numpy(monkeypatch, change):
    spoil(monkeypatch, "value", change)
    assert_only_gemm_is_wrong(*show(*TWO), "WRONG: the value is off by")


def test_arguments_that_are_changed(monkeypatch):
    right = sdfgad.DifferentiatedProgram.vjp

    def wrong(self, *args, cotangent):
        found = right(self, *args, cotangent=cotangent)
        if "gemm" in self.__name__:
            args[-1][0, 0] += 1.0
        return found

    monkeypatch.setattr(sdfgad.DifferentiatedProgram, "vjp", wrong)
    assert_only_gemm_is_wrong(*show(*TWO), "WRONG: the arguments were changed")


def test_program_that_raises(monkeypatch):
    def fail(found):
        raise sdfgad.errors.UnsupportedProgram("[bold]this[/] is unknown", todo="Do without it.")

    spoil(monkeypatch, "vjp", fail)
    status, text = show(*TWO)
    assert_only_gemm_is_wrong(status, text, "UnsupportedProgram: [bold]this[/] is unknown")
    assert "Do without it" not in text


def test_program_that_raises_without_a_message(monkeypatch):
    def fail(found):
        raise ValueError

    spoil(monkeypatch, "vjp", fail)
    assert_only_gemm_is_wrong(*show(*TWO), "ValueError: at test_demo.py:")


def test_terminal_shows_wrong_rows_in_red(monkeypatch):
    spoil(monkeypatch, "vjp", lambda found: tuple(g * 1.001 for g in found))
    status, text = show(*TWO, is_terminal=True)
    assert status == 1
    wrong = next(line for line in text.splitlines() if "WRONG" in line)
    assert "gemm" in wrong
    assert "\x1b[1;31m" in wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stockham_fft", "softmax", "floyd_warshall", "azimint_hist"])
def test_complex_and_single_precision_ties_and_zeros(name):
    status, text = show(name)
    assert status == 0
    assert "1 of 1 right" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.0, "2.00  s"), (0.0345, "34.5 ms"), (0.00078, "780 µs"), (9.999e-3, "10.0 ms"), (3e-8, "0.03 µs")],
)
def test_duration(seconds, text):
    assert demo.duration(seconds) == text


@pytest.mark.parametrize("argv", [["-b", "nothing"], ["-p", "XXL"], ["-r", "0"]])
def test_bad_options(argv, capsys):
    with pytest.raises(SystemExit):
        demo.main(argv)
    assert "error:" in capsys.readouterr().err

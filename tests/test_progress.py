"""Progress of long first calls."""

import io
import logging
import sys
import time

import numpy as np
import pytest

import sdfgad
from sdfgad import progress
from sdfgad.progress import stage


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    time.sleep(2 * progress.PAUSE)


def test_a_short_stage_is_not_mentioned(impatient, caplog):
    with caplog.at_level(logging.INFO, "sdfgad"), stage("parsing"):
        pass
    assert not caplog.records


def test_a_long_stage_is_logged_once_and_those_after_it(impatient, caplog):
    with caplog.at_level(logging.INFO, "sdfgad"):
        with stage("planning"):
            time.sleep(0.2)
        with stage("compiling"), stage("linking"):
            pass
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == ["planning", "compiling", "linking"]


def test_a_terminal_gets_a_spinner_that_goes_away(impatient, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with stage("compiling C++"):
        time.sleep(0.3)
    assert "sdfgad: compiling C++" in terminal.getvalue()
    before = terminal.getvalue()
    time.sleep(0.2)
    assert terminal.getvalue() == before


def test_what_others_print_meanwhile_goes_where_it_went(impatient, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with stage("compiling"):
        time.sleep(0.3)
        print("a result")
    assert capsys.readouterr().out == "a result\n"
    assert "sdfgad: compiling" in terminal.getvalue()
    assert "a result" not in terminal.getvalue()


class OnlyWrites:
    """A stream as some programs put in place of theirs."""

    def write(self, text):
        pass


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("make", [lambda: None, OnlyWrites, closed])
def test_a_stream_that_is_no_terminal_is_left_alone(make, impatient, monkeypatch, caplog):
    monkeypatch.setattr(sys, "stderr", make())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with caplog.at_level(logging.INFO, "sdfgad"), stage("compiling"):
        pass
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == ["compiling"]


def test_it_can_be_switched_off(impatient, monkeypatch, caplog):
    monkeypatch.setenv(progress.VARIABLE, "off")
    with caplog.at_level(logging.INFO, "sdfgad"), stage("compiling"):
        time.sleep(0.1)
    assert not caplog.records


def test_a_stage_that_fails_ends(impatient, caplog):
    with pytest.raises(ValueError, match="no"), stage("compiling"):
        raise ValueError("no")
    time.sleep(0.1)
    assert not caplog.records


def test_a_first_call_names_its_stages(impatient, monkeypatch, caplog, tmp_path):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("SDFGAD_CHECK", "on")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with caplog.at_level(logging.INFO, "sdfgad"):
        sdfgad.differentiate(lambda x: np.sum(np.sin(x) ** 3), wrt="x")(np.ones(3))
    said = [record.getMessage().split(" (")[0] for record in caplog.records]
    wanted = ["parsing", "deriving the adjoint", "planning the memory", "optimising", "generating C++", "compiling C++"]
    places = [next(k for k, one in enumerate(said) if one.startswith(what)) for what in wanted]
    assert places[0] < places[1] < places[-1]
    assert "comparing optimised with plain code" in said

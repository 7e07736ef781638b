"""Other programs run to their end, or end when this one is interrupted."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from sdfgad import processes
from sdfgad.processes import run


def test_arguments_are_taken_as_they_are(tmp_path):
    words = ["a b", "$(touch x)", "`touch x`", ";", "*", "'", '"', "", "ü"]
    done = run(["printf", "%s\n", *words])
    assert done.stdout.splitlines() == words
    assert done.returncode == 0


def test_what_a_program_says(tmp_path):
    done = run(["ls", str(tmp_path / "missing")])
    assert done.returncode != 0
    assert done.stdout == ""
    assert "missing" in done.stderr
    log = tmp_path / "log"
    assert run(["ls", str(tmp_path / "missing")], log).returncode != 0
    assert "missing" in log.read_text()


def test_a_program_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        run(["no-such-program"])


def is_running(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def interrupts():
    """Python's handler: a shell has what it starts by `&` ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_it_and_what_it_started(tmp_path, monkeypatch):
    """Even if it would rather not."""
    monkeypatch.setattr(processes, "SECONDS_TO_END", 0.2)
    numbers = tmp_path / "numbers"
    text = f"trap '' TERM; sh -c 'sleep 60; sleep 60' & echo $$ $! > {numbers}; wait; sleep 60"

    def interrupt():
        while not numbers.exists() or not numbers.read_text().endswith("\n"):
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", text])
    thread.join()
    assert time.perf_counter() - start < 30
    started = [int(number) for number in numbers.read_text().split()]
    assert len(started) == 2
    until = time.monotonic() + 10
    while any(map(is_running, started)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(is_running, started))
    with pytest.raises(ChildProcessError):
        os.waitpid(started[0], 0)  # It has been waited for.

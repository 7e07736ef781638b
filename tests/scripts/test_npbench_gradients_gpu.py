"""The gradient benchmark on a GPU, which is emulated here, with JAX on the CPU beside it."""

import contextlib
import io
import os
import sqlite3
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import npbench_suite
from scripts import npbench_gradients
from scripts.gradients import gpu, runs, together
from scripts.gradients.frameworks import NotAvailable, Task
from scripts.gradients.race import Options
from scripts.gradients.registry import framework_called
from scripts.gradients.results import Record, load, store
from scripts.npbench_gradients import main
from sdfgad.optimise.device import side

MADE = Path(__file__).with_name("made_frameworks.py")
HERE = ("--device", "gpu", "--jax-platform", "cpu", "-p", "test")
NAME = "atax"


@pytest.fixture(scope="module", autouse=True)
def emulation():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDFGAD_EMULATE", "1")
        yield


def show(*argv):
    """The exit status, and the text that is printed."""
    console = Console(file=io.StringIO(), width=npbench_gradients.PLAIN_WIDTH)
    return main([*map(str, argv)], console), console.file.getvalue()


def rows_of(file):
    with contextlib.closing(sqlite3.connect(file)) as base:
        base.row_factory = sqlite3.Row
        return [dict(row) for row in base.execute("select * from results order by id")]


@pytest.fixture(scope="module")
def run(tmp_path_factory, emulation):
    """Two programs made ready together, with frameworks that are right, wrong, or fail."""
    folder = tmp_path_factory.mktemp("gradients")
    mine = ("sdfgad", "jax-expert", "sdfgad-forward", f"{MADE}:off_by_a_hundredth", f"{MADE}:failing")
    status, text = show(*HERE, "-b", NAME, "bicg", "-f", *mine, "-r", 2, "-t", 100, "--results", folder)
    return status, text, rows_of(folder / "results.db"), folder


def test_right_frameworks_have_times(run):
    status, text, rows, _ = run
    assert status == 0
    assert "Arguments and results are on the device" in text
    for benchmark in (NAME, "bicg"):
        for name in ("sdfgad", "jax-expert", "sdfgad-forward"):
            found = [row for row in rows if (row["benchmark"], row["framework"]) == (benchmark, name)]
            assert [row["repeat"] for row in found] == [1, 2], name
            for row in found:
                assert (row["status"], row["validated"], row["device"], row["gpu"]) == ("ok", 1, "gpu", "emulated")
                assert row["seconds"] > 0.0
                assert row["first_call_seconds"] > 0.0
                assert row["peak_bytes"] > 0


def test_what_is_wrong_has_no_time(run):
    *_, rows, folder = run
    for name, status in (("off_by_a_hundredth", "WRONG 1e-02"), ("failing", "ERROR")):
        found = [row for row in rows if row["framework"].endswith(name)]
        assert [(row["benchmark"], row["status"], row["seconds"]) for row in found] == [
            (NAME, status, None),
            ("bicg", status, None),
        ]
    assert "RuntimeError: it fell over\nand more" in (folder / "failures.txt").read_text()


def test_pages_say_where(run):
    page = (run[3] / "results.md").read_text()
    assert "device gpu, gpu emulated" in page
    assert "| jax-expert/sdfgad |" in page


def test_stored_results_are_those_of_the_device(run):
    asked = ("-p", "test", "-b", NAME, "-f", "sdfgad", "--database", run[3] / "results.db", "--no-run")
    assert show(*asked)[0] == 1
    status, text = show(*asked, "--device", "gpu")
    assert status == 0
    assert NAME in text


def test_times_out_and_dies(tmp_path):
    """Neither keeps others from running."""
    frameworks = (f"{MADE}:sleeping", f"{MADE}:dying", "jax-expert")
    show(*HERE, "-b", NAME, "-f", *frameworks, "-r", 1, "-t", 5, "--no-v", "--results", tmp_path)
    sleeping, dying, jax = rows_of(tmp_path / "results.db")
    assert (sleeping["status"], sleeping["message"]) == ("TIMEOUT", "not finished after 5 s")
    assert (dying["status"], dying["message"]) == ("ERROR", "the process ended with status 3")
    assert jax["seconds"] > 0.0


def test_interrupted_runs_leave_what_was_found(tmp_path, monkeypatch):
    def interrupted(names, *_):
        yield [Record(names[0], "sdfgad", "grad", "test", "sdfgad", seconds=[1.0])]
        raise SystemExit(143)

    monkeypatch.setattr(runs, "race_together", interrupted)
    with pytest.raises(SystemExit):
        show(*HERE, "-b", NAME, "bicg", "-f", "sdfgad", "--results", tmp_path)
    assert [row["benchmark"] for row in rows_of(tmp_path / "results.db")] == [NAME]
    assert NAME in (tmp_path / "results.md").read_text()


def test_nothing_is_begun_when_time_is_over(capsys):
    status, text = show(*HERE, "-b", NAME, "bicg", "-f", "sdfgad", "--seconds", 0)
    assert status == 1
    assert "there are no" in text
    assert f"no time for {NAME} bicg" in capsys.readouterr().err


def test_processes_end_with_an_interrupted_race(monkeypatch):
    """Those that are being made ready, too."""
    entered = []

    def interrupt(text):
        raise KeyboardInterrupt

    real = together.enter
    monkeypatch.setattr(together, "enter", lambda *given: entered.append(real(*given)) or entered[-1])
    frameworks = [framework_called(f"{MADE}:{name}", "gpu") for name in ("failing", "sleeping")]
    options = Options("test", timeout=5.0, device="gpu", processes=3)
    with pytest.raises(KeyboardInterrupt):
        list(together.race_together([NAME], frameworks, options, interrupt))
    for child in (entered[0].judge, *(runner.child for runner in entered[0].runners)):
        assert child.process.poll() is not None


@pytest.mark.parametrize("name", ["jacobi_1d", "mandelbrot1"])
def test_calls_repeat(name, tmp_path):
    """Programs that update arguments in place, and those with trips that depend on data, start anew in each call."""
    entry = npbench_suite.load(name)
    arguments = entry.arguments_for("test")
    expected = entry.outputs_from(arguments, entry.program(*entry.arguments_for("test")))[entry.output]
    task = Task(entry, entry.arguments_for("test"), np.ones_like(expected), tmp_path)
    ready = gpu.prepare_sdfgad(task)
    first = ready.named(ready.call(None))
    kept = {key: np.copy(value) for key, value in first.items()}
    ready.call(None)
    again = ready.named(ready.call(None))
    assert all(np.array_equal(again[key], value) for key, value in kept.items())
    assert any(np.any(value) for value in kept.values())


def by_rounds(x, rounds):
    for i in range(2):
        for _ in range(rounds[i]):
            x = np.sin(x) + x[::-1]
    return np.sum(x)


@pytest.mark.parametrize(
    ("program", "arguments", "copied"),
    [
        (by_rounds, (np.linspace(0, 1, 9), np.array([2, 3])), ["rounds"]),
        (lambda x: np.sum(2.0 * x), (np.linspace(0, 1, 9),), []),
    ],
)
def test_what_the_host_reads_is_copied_in_each_call(program, arguments, copied, tmp_path, monkeypatch):
    """Bounds of loops are read by the host; of the arguments of a linear program only the shapes are used."""
    monkeypatch.setattr(side, "SECONDS", side.KERNELS_ONLY)
    entry = SimpleNamespace(program=program, arrays=("x",), output="return", name="rounds")
    resident = gpu.prepare_sdfgad(Task(entry, arguments, np.ones(()), tmp_path)).call
    before = {array: resident.arrays[array].copy() for array in copied}
    assert sorted(resident._copies) == copied
    resident()
    assert all(np.array_equal(resident.arrays[array], value) for array, value in before.items())


def test_calls_with_arrays_of_the_device(tmp_path):
    """The same gradients, from what users call."""
    entry = npbench_suite.load(NAME)
    task = Task(entry, entry.arguments_for("test"), np.ones(entry.arguments_for("test")[0].shape[1]), tmp_path)
    if find_spec("sdfgad.runtime.gpu.caller") is None:
        with pytest.raises(NotAvailable):
            gpu.prepare_sdfgad_call(task)
        return
    ways = gpu.prepare_sdfgad_call(task), gpu.prepare_sdfgad(task)
    found, expected = (ready.named(ready.call(None)) for ready in ways)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


def test_settings_of_the_user_stay(monkeypatch):
    monkeypatch.setenv("JAX_DEFAULT_MATMUL_PRECISION", "default")
    monkeypatch.delenv("SDFGAD_CACHE_DIR", raising=False)
    found = gpu.settings("cuda", "/folder")
    assert found["JAX_DEFAULT_MATMUL_PRECISION"] == "default"
    assert (found["JAX_PLATFORMS"], found["SDFGAD_CACHE_DIR"]) == ("cuda", "/folder")
    assert found["XLA_PYTHON_CLIENT_PREALLOCATE"] == os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def test_old_databases_are_added_to(tmp_path):
    """What they have is of the CPU."""
    file = tmp_path / "old.db"
    store(file, [Record(NAME, "sdfgad", "grad", "S", seconds=[1.0])], {})
    with contextlib.closing(sqlite3.connect(file)) as base, base:
        for name in ("device", "gpu"):
            base.execute(f"alter table results drop column {name}")
    assert len(load(file, "S")[0]) == 1
    store(file, [Record(NAME, "sdfgad", "grad", "S", seconds=[2.0])], {"device": "gpu", "gpu": "H"})
    assert [load(file, "S", device)[0][0].seconds for device in ("cpu", "gpu")] == [[1.0], [2.0]]


BAD = (["--device", "gpu", "--shares"], ["--device", "gpu", "-f", "numpy"], ["--together", "0"], ["--device", "tpu"])


@pytest.mark.parametrize("argv", BAD)
def test_bad_options(argv, capsys):
    with pytest.raises(SystemExit):
        show(*argv)
    assert "error:" in capsys.readouterr().err

"""The machine's constants: measured once, cached, and what they predict."""

import dataclasses
import math

import pytest

from sdfgad.errors import CacheWarning
from sdfgad.plan import machine as module
from sdfgad.plan.machine import LIMITS, Machine, seconds

SOME = Machine(1e10, 5e10, 1e6, 1e-10, 4e9, 2e8, 5e10, 2e-8)


@pytest.fixture
def measurements(tmp_path, monkeypatch):
    """A cache folder of its own and a list that grows with each (pretended) measurement."""
    done = []

    def measure():
        done.append(None)
        return dataclasses.replace(SOME, bytes_per_second=1e10 + len(done))

    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_measure", measure)
    module.machine.cache_clear()
    yield done
    module.machine.cache_clear()


def in_a_new_process():
    module.machine.cache_clear()
    return module.machine()


def test_measured_once_in_a_process_and_once_for_all(measurements):
    first = module.machine()
    assert module.machine() is first
    assert in_a_new_process() == first
    assert len(measurements) == 1


def test_another_processor_is_measured_and_both_are_remembered(measurements, monkeypatch):
    first = module.machine()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_processor", lambda: "another")
        assert in_a_new_process() != first
    assert in_a_new_process() == first
    assert len(measurements) == 2


def cached_file(folder):
    (file,) = (path for path in (folder / "machine").rglob("*") if path.is_file())
    return file


@pytest.mark.parametrize("damaged", [lambda text: text[:-9], lambda text: text.replace(b"1", b"2"), lambda _: b""])
def test_what_is_damaged_is_measured_anew_and_replaced(measurements, tmp_path, damaged):
    first = module.machine()
    file = cached_file(tmp_path / "cache")
    file.write_bytes(damaged(file.read_bytes()))
    second = in_a_new_process()
    assert second != first
    assert in_a_new_process() == second
    assert len(measurements) == 2


def test_a_folder_that_cannot_be_made(measurements, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(CacheWarning, match="file/cache cannot be written"):
        first = module.machine()
    assert module.machine() is first
    assert len(measurements) == 1


def test_measured_constants_are_plausible():
    measured = dataclasses.asdict(module._measure())
    assert measured.keys() == LIMITS.keys()
    for name, (least, most) in LIMITS.items():
        assert 0 < least <= measured[name] <= most


def test_absurd_measurements_are_clamped(monkeypatch):
    monkeypatch.setattr(module, "_typical_seconds", lambda run, repeats: 1e-30)
    assert_rates(1)
    monkeypatch.setattr(module, "_typical_seconds", lambda run, repeats: 1e30)
    assert_rates(0)


def assert_rates(end):
    measured = dataclasses.asdict(module._measure())
    rates = [name for name in LIMITS if name.endswith("_per_second")]
    assert [measured[name] for name in rates] == [LIMITS[name][end] for name in rates]
    assert measured["statement_seconds"] == LIMITS["statement_seconds"][1 - end]


def test_the_slower_of_computing_and_traffic_counts():
    work = {"points": 1000, "operations": 0, "transcendentals": 0, "bytes": 0}
    assert seconds(SOME, **work) == 2e-8
    assert math.isclose(seconds(SOME, **work | {"operations": 4}), 1e-6 + 2e-8)
    assert math.isclose(seconds(SOME, **work | {"operations": 4, "transcendentals": 2}), 11e-6 + 2e-8)
    assert math.isclose(seconds(SOME, **work | {"operations": 4, "bytes": 50_000}), 5e-6 + 2e-8)
    assert math.isclose(seconds(SOME, **work | {"flops": 10**6, "bytes": 50_000}), 2e-5 + 2e-8)


@pytest.mark.parametrize("grown", ["points", "operations", "transcendentals", "bytes", "flops"])
def test_more_work_is_never_faster(grown):
    least = {"points": 100, "operations": 3, "transcendentals": 1, "bytes": 2000, "flops": 50}
    times = [seconds(SOME, **least | {grown: least[grown] * factor}) for factor in (0, 1, 2, 10, 1000, 10**6)]
    assert times == sorted(times)
    assert times[-1] > times[0] > 0

"""The machine's constants: measured once, cached, and what they predict."""

import dataclasses
import json
import math

import pytest

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


GOOD = json.dumps(dataclasses.asdict(SOME))


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "{",
        "7",
        "[" * 100_000,
        '{"KEY": 3}',
        '{"KEY": {}}',
        f'{{"KEY": {GOOD.replace("2e-08", "-1.0")}}}',
        f'{{"KEY": {GOOD.replace("2e-08", "NaN")}}}',
        f'{{"KEY": {GOOD.replace("2e-08", "null")}}}',
    ],
    ids=range(9),
)
def test_a_corrupt_cache_is_measured_anew_and_replaced(measurements, tmp_path, entry):
    file = tmp_path / "cache" / "machine.json"
    file.parent.mkdir()
    file.write_text(entry.replace("KEY", module._key()))
    first = module.machine()
    assert in_a_new_process() == first
    assert len(measurements) == 1


def test_bytes_that_are_no_text(measurements, tmp_path):
    file = tmp_path / "cache" / "machine.json"
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00")
    assert module.machine() == in_a_new_process()
    assert len(measurements) == 1


def test_a_sound_cache_is_read(measurements, tmp_path):
    file = tmp_path / "cache" / "machine.json"
    file.parent.mkdir()
    file.write_text(f'{{"{module._key()}": {GOOD}}}')
    assert module.machine() == SOME
    assert not measurements


def test_a_folder_that_cannot_be_made(measurements, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "file" / "cache"))
    first = module.machine()
    assert module.machine() is first
    assert in_a_new_process() != first


def test_a_file_that_cannot_be_written(measurements, tmp_path):
    (tmp_path / "cache" / "machine.json").mkdir(parents=True)
    assert module.machine().bytes_per_second > 0
    in_a_new_process()
    assert len(measurements) == 2


def test_a_lock_that_is_not_given(measurements, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    (tmp_path / "cache").mkdir()
    with module.FileLock(str(tmp_path / "cache" / "machine.lock")):
        assert module.machine().bytes_per_second > 0
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

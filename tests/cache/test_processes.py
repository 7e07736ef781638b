"""Several processes share a cache; some are killed, and some entries are damaged."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from tests.helpers_cache import cache_with_headers, entries, finished, started

# Two programs of one name, and their gradients.
SCRIPT = """
import sys
import numpy as np
import sdfgad

if sys.argv[1] == "cubes":
    def program(x):
        return np.sum(x * x * x)
else:
    def program(x):
        return np.sum(x * x)

print(sdfgad.differentiate(program, wrt="x")(np.arange(1.0, 4.0)).tolist())
"""
RIGHT = {"cubes": "[3.0, 12.0, 27.0]\n", "squares": "[2.0, 4.0, 6.0]\n"}


@pytest.fixture
def script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path / "script.py"


@pytest.fixture
def cache(tmp_path):
    return cache_with_headers(tmp_path / "cache")


@pytest.mark.long
def test_eight_processes_build_the_same_and_others_at_once(script, cache):
    """Different hash seeds, too: neither results nor what is built may depend on them."""
    wanted = ["cubes", "squares"] * 4
    processes = [started(script, cache, one, PYTHONHASHSEED=str(k)) for k, one in enumerate(wanted)]
    assert [finished(process) for process in processes] == [RIGHT[one] for one in wanted]
    assert {kind: len(entries(cache, kind)) for kind in ("libraries", "programs", "layouts", "partial")} == {
        "libraries": 2,
        "programs": 2,
        "layouts": 4,  # Of each, everything stored and what is chosen.
        "partial": 0,
    }


@pytest.mark.long
def test_a_killed_build_leaves_nothing_that_is_believed(script, cache, tmp_path):
    """Killed at ten moments, of which some are in the middle of building."""
    (tmp_path / "tmp").mkdir()
    whole = 0
    for k in range(10):
        process = started(script, cache, "cubes", TMPDIR=str(tmp_path / "tmp"))
        time.sleep(0.4 * (k + 1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        whole += process.returncode == 0
        for name in entries(cache, "libraries"):
            assert (cache / "libraries" / f"{name}.sha256").exists()
    assert whole < 10, "none was killed"
    assert finished(started(script, cache, "cubes")) == RIGHT["cubes"]
    assert finished(started(script, cache, "cubes")) == RIGHT["cubes"]


def damaged(path, kind):
    content = bytearray(path.read_bytes())
    if kind == "cut short":
        content = content[: len(content) // 2]
    else:
        content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["cut short", "tampered with"])
def test_every_damaged_entry_is_noticed_and_made_again(script, cache, kind):
    assert finished(started(script, cache, "cubes")) == RIGHT["cubes"]
    sound = {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    sound = {path: text for path, text in sound.items() if not {"locks", "partial"} & set(path.parts)}
    kinds = {path.relative_to(cache).parts[0] for path in sound}
    assert kinds == {"headers", "helpers", "layouts", "libraries", "machine", "programs", "skeletons"}
    for path in sound:
        damaged(path, kind)
    broken = {path: path.read_bytes() for path in sound}
    assert finished(started(script, cache, "cubes")) == RIGHT["cubes"]
    for path, content in sound.items():
        if "machine" not in path.parts and "headers" not in path.parts and "layouts" not in path.parts:
            # The names of temporary files are in what linkers write.
            made_again = path.read_bytes()
            is_sound = made_again != broken[path] if ".so" in path.suffixes else made_again == content
            assert is_sound, path
            assert len(made_again) == len(content), path


@pytest.mark.long
def test_eviction_while_others_use_what_goes(script, cache, tmp_path):
    """A bound of nothing: whatever is not in use goes, and all results are right."""
    for _ in range(3):
        for path in cache.rglob("*"):
            if "headers" not in path.parts:  # The stamp of when it was looked at, too.
                os.utime(path, (0, 0))
        processes = [started(script, cache, one, SDFGAD_CACHE_BYTES="1") for one in ("cubes", "squares") * 2]
        found = [finished(process) for process in processes]
        assert found == [RIGHT["cubes"], RIGHT["squares"]] * 2


MOUNTS = {
    "read-only": 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
    "full": 'mount -t tmpfs -o size=1m none "$0" && exec "$@"',
}


def in_a_mount(kind, cache):
    """A command for what sees the cache in another way; skips where the system does not allow that."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNTS[kind], str(cache)]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("no mounts of its own")
    return command


@pytest.mark.long
def test_a_cache_that_may_only_be_read(script, cache):
    """What is in it is used; what is not is built elsewhere, with one warning."""
    assert finished(started(script, cache, "cubes")) == RIGHT["cubes"]
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    for one, warnings in (("cubes", 0), ("squares", 1)):
        process = started(script, cache, one, before=in_a_mount("read-only", cache))
        assert_right_with_warnings(process, one, warnings, "Read-only file system")
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == before


@pytest.mark.long
def test_a_cache_on_a_full_disk(script, cache):
    """Small files find room, the headers do not, and all goes elsewhere from there on."""
    process = started(script, cache, "cubes", before=in_a_mount("full", cache))
    assert_right_with_warnings(process, "cubes", 1, "No space left on device")


def assert_right_with_warnings(process, one, warnings, why):
    said, complaint = process.communicate(timeout=300)
    assert said == RIGHT[one], complaint
    assert process.returncode == 0
    assert complaint.count("CacheWarning") == complaint.count(why) == warnings

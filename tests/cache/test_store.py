"""Files are kept by name, and none is believed that is not as it was published."""

import os
import threading

import pytest

from sdfgad import cache
from sdfgad.cache import store
from sdfgad.errors import CacheError, CacheWarning

NAME = "libraries/ab/abcd/program.so"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def made(tmp_path):
    file = tmp_path / "made"
    file.write_bytes(b"a library" * 100)
    return file


def files(folder):
    """All that is kept."""
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return [name for name in found if name != "partial/looked"]


def test_what_is_published_is_found(folder, made):
    assert cache.find(NAME) is None
    path = cache.publish(NAME, made)
    assert path == folder / NAME == cache.find(NAME)
    assert path.read_bytes() == made.read_bytes()


def test_what_is_written_is_read(folder):
    assert cache.read("layouts/ab/cd") is None
    for content in (b"", b"{}", b"two\nlines\n", bytes(range(256))):
        cache.write("layouts/ab/cd", content)
        assert cache.read("layouts/ab/cd") == content
    assert files(folder) == ["layouts/ab/cd"]


DAMAGES = {
    "cut short": lambda content: content[:-1],
    "empty": lambda content: b"",
    "one bit": lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
    "longer": lambda content: content + b"\n",
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_not_believed(folder, made, damage):
    cache.publish(NAME, made)
    cache.write("layouts/ab/cd", b"plain data")
    whole = {name: (folder / name).read_bytes() for name in files(folder)}
    assert len(whole) == 3
    for name, content in whole.items():
        (folder / name).write_bytes(damage(content))
        assert (cache.find(NAME) is None) == name.startswith(NAME)
        assert (cache.read("layouts/ab/cd") is None) == name.startswith("layouts")
        (folder / name).write_bytes(content)
    assert cache.find(NAME) is not None
    assert cache.read("layouts/ab/cd") == b"plain data"


def test_big_files_are_hashed_once_and_again_when_they_change(monkeypatch, made):
    monkeypatch.setattr(store, "BIG", 10)
    hashed = []
    true = store.hashlib.file_digest
    monkeypatch.setattr(store.hashlib, "file_digest", lambda *args: hashed.append(args) or true(*args))
    path = cache.publish(NAME, made)
    hashed.clear()
    for _ in range(3):
        assert cache.find(NAME) == path
    assert len(hashed) == 1
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert cache.find(NAME) is None


def test_a_seal_without_its_file_and_a_file_without_its_seal(folder, made):
    path = cache.publish(NAME, made)
    path.unlink()
    assert cache.find(NAME) is None
    path = cache.publish(NAME, made)
    path.with_name("program.so.sha256").unlink()
    assert cache.find(NAME) is None


def test_a_write_that_breaks_off_leaves_nothing(monkeypatch, folder, made):
    """At whatever step it is interrupted, the old file or none is found, and nothing partial stays."""
    for old in (None, b"old"):
        for module, step in ((store.shutil, "copyfile"), (store.os, "replace")):
            monkeypatch.setattr(module, step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                cache.publish(NAME, made)
            monkeypatch.undo()
            monkeypatch.setenv("SDFGAD_CACHE_DIR", str(folder))
            assert cache.find(NAME) is None
        monkeypatch.setattr(store.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cache.write("layouts/ab/cd", b"new")
        monkeypatch.undo()
        monkeypatch.setenv("SDFGAD_CACHE_DIR", str(folder))
        assert cache.read("layouts/ab/cd") == old
        cache.write("layouts/ab/cd", b"old")
    assert [name for name in files(folder) if name.startswith("partial")] == []


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_many_threads_write_the_same(made):
    def work(number):
        for _ in range(50):
            cache.write("layouts/ab/cd", b"%d" % number * 1000)
            found = cache.read("layouts/ab/cd")
            if found is None or len(set(found.decode())) != 1:
                wrong.append(found)

    wrong: list[object] = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_builds_at_a_time_and_the_lock_is_released(made):
    order = []

    def work(number):
        with cache.build_lock(NAME):
            order.append(number)
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order[::2] == order[1::2]
    with pytest.raises(ZeroDivisionError), cache.build_lock(NAME):
        raise ZeroDivisionError
    work(9)


def test_a_lock_that_is_not_given_is_done_without(monkeypatch):
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.05)
    with cache.build_lock(NAME), cache.build_lock(NAME):
        pass


# --- a folder that cannot be used


@pytest.fixture
def unusable(monkeypatch, tmp_path):
    """A file is in the way of the folder, which root cannot write to either."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "file" / "cache"))
    return tmp_path / "file" / "cache"


def test_a_temporary_folder_stands_in(unusable, made):
    assert cache.find(NAME) is None
    with cache.build_lock(NAME), pytest.warns(CacheWarning) as caught:
        path = cache.publish(NAME, made)
    (warning,) = caught
    assert str(unusable) in str(warning.message)
    assert "File exists: " in str(warning.message)
    assert "SDFGAD_CACHE_DIR" in str(warning.message)
    # From now on without a warning, which would be an error here.
    cache.write("layouts/ab/cd", b"data")
    assert cache.find(NAME) == path
    assert cache.read("layouts/ab/cd") == b"data"
    assert path.parents[3].stat().st_mode & 0o777 == 0o700


def test_a_full_disk(monkeypatch, folder, made):
    """What was there before is still read, what is new goes elsewhere."""
    cache.write("layouts/ab/old", b"old")
    true = store.shutil.copyfile

    def full(source, target):
        if str(target).startswith(str(folder)):
            raise OSError(28, "No space left on device")
        return true(source, target)

    monkeypatch.setattr(store.shutil, "copyfile", full)
    with pytest.warns(CacheWarning, match="cannot be written .*No space left on device.*lost at the end"):
        path = cache.publish(NAME, made)
    assert not str(path).startswith(str(folder))
    assert cache.find(NAME) == path
    assert cache.read("layouts/ab/old") == b"old"
    assert [name for name in files(folder) if "partial" in name or name.endswith("program.so")] == []


def test_nothing_can_be_written(monkeypatch, folder, made):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.shutil, "copyfile", full)
    with pytest.warns(CacheWarning), pytest.raises(CacheError, match=r"neither the cache folder .*cache nor") as caught:
        cache.publish(NAME, made)
    assert str(folder) in str(caught.value)
    with pytest.raises(CacheError, match="No space left"):
        cache.publish(NAME, made)


def test_the_temporary_folder_is_gone_at_the_end(unusable, tmp_path):
    import subprocess
    import sys

    code = """
import os, warnings
from sdfgad import cache
warnings.simplefilter("ignore")
cache.write("layouts/ab/cd", b"data")
if os.fork() == 0:
    raise SystemExit  # A child does not take it away from its parent.
os.wait()
assert cache.read("layouts/ab/cd") == b"data"
"""
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert list((tmp_path / "tmp").iterdir()) == []

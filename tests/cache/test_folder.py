"""Which folder is the cache, and who may write to it."""

import os
import stat

import platformdirs
import pytest

from sdfgad import cache
from sdfgad.cache import cache_folder, folder
from sdfgad.errors import CacheWarning


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "chosen"))
    return tmp_path / "chosen"


@pytest.fixture(params=[0o000, 0o022, 0o002])
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_folder_is_private(monkeypatch, tmp_path):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "some" / "where"))
    cache.write("layouts/ab/cd", b"data")
    assert cache_folder() == tmp_path / "some" / "where"
    assert mode(cache_folder()) == 0o700


def test_the_default_folder_is_made_private(monkeypatch, tmp_path):
    home = tmp_path / "caches"
    (home / "sdfgad").mkdir(parents=True)
    (home / "sdfgad").chmod(0o755)  # As earlier versions left it.
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(home / name))
    for value in (None, ""):
        monkeypatch.delenv("SDFGAD_CACHE_DIR", raising=False) if value is None else monkeypatch.setenv(
            "SDFGAD_CACHE_DIR", value
        )
        assert cache_folder() == home / "sdfgad"
    assert mode(home / "sdfgad") == 0o700


def test_a_folder_that_others_may_read_is_left_as_it_is(chosen):
    chosen.mkdir()
    chosen.chmod(0o755)
    assert cache_folder() == chosen
    assert mode(chosen) == 0o755


@pytest.mark.parametrize("bits", [0o777, 0o1777, 0o775])
def test_where_others_may_write_it_is_within(chosen, bits):
    chosen.mkdir()
    chosen.chmod(bits)
    cache.write("layouts/ab/cd", b"data")
    assert cache_folder() == chosen / f"private-{os.geteuid()}"
    assert mode(cache_folder()) == 0o700
    assert mode(chosen) == bits
    assert [path.name for path in chosen.iterdir()] == [cache_folder().name]
    folder._private.cache_clear()  # As another process.
    assert cache.read("layouts/ab/cd") == b"data"


def test_what_another_user_made_within_is_not_used(chosen):
    chosen.mkdir()
    chosen.chmod(0o777)
    inner = chosen / f"private-{os.geteuid()}"
    inner.symlink_to(chosen)  # What others can make there.
    with pytest.warns(CacheWarning, match="belongs to another user"):
        cache.write("layouts/ab/cd", b"data")
    assert chosen not in cache_folder().parents
    assert cache.read("layouts/ab/cd") == b"data"
    assert mode(cache_folder()) == 0o700


def test_it_is_where_the_process_was_when_the_name_was_relative(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", "relative")
    assert cache_folder() == tmp_path / "relative"


def test_a_folder_that_is_deleted_meanwhile_is_made_again(chosen):
    import shutil

    cache.write("layouts/ab/cd", b"data")
    shutil.rmtree(chosen)
    assert cache.read("layouts/ab/cd") is None
    cache.write("layouts/ab/cd", b"data")
    assert mode(chosen) == 0o700

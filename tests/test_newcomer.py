"""The path of somebody who installs sdfgad, and that the script which walks it can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import newcomer

SCRIPT = Path(newcomer.__file__)


@pytest.mark.slow
def test_the_path():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all steps passed" in done.stdout


def test_contents():
    files = {str(file.relative_to(newcomer.ROOT)) for file in (newcomer.ROOT / "sdfgad").rglob("*") if file.is_file()}
    files = {file for file in files if "__pycache__" not in file}
    assert "sdfgad/py.typed" in files
    newcomer.check_contents(files | {"LICENSE", "sdfgad.egg-info/PKG-INFO"}, ".egg-info/", {"LICENSE"})
    with pytest.raises(newcomer.Failed, match=r"missing: \['sdfgad/py.typed'\]; not wanted: \['tests/test_a.py'\]"):
        newcomer.check_contents(files - {"sdfgad/py.typed"} | {"tests/test_a.py"}, ".dist-info/", set())


def made(tmp_path):
    return newcomer.Newcomer(Path(sys.executable), tmp_path, newcomer.settings())


def test_warnings_and_failures_are_seen(tmp_path, capsys):
    with pytest.raises(newcomer.Failed, match=r"warns:\n.*twice"):
        made(tmp_path).program("a.py", "import warnings; warnings.warn('twice')")
    with pytest.raises(newcomer.Failed, match=r"a\.py ended with status 3"):
        made(tmp_path).program("a.py", "import sys; sys.exit(3)")
    made(tmp_path).program("a.py", "print('well')")
    assert capsys.readouterr().out == "  | well\n"


def test_messages_are_read(tmp_path):
    (tmp_path / "a.py").write_text("raise ValueError('no list at b.py:3')")
    made(tmp_path).is_told("a.py", "at b.py:3")
    with pytest.raises(newcomer.Failed, match=r"does not say `at b.py:4`"):
        made(tmp_path).is_told("a.py", "at b.py:4")
    (tmp_path / "a.py").write_text("")
    with pytest.raises(newcomer.Failed, match="status 0"):
        made(tmp_path).is_told("a.py")


def test_no_settings_of_ours(monkeypatch):
    for name in ("PYTHONPATH", "SDFGAD_CACHE_DIR", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin")
    env = newcomer.settings()
    assert env["PATH"] == "/usr/bin"
    assert not {"PYTHONPATH", "SDFGAD_CACHE_DIR", "VIRTUAL_ENV"} & set(env)


def test_a_python_that_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(newcomer, "build", lambda folder: folder / "sdfgad.whl")
    assert newcomer.main(["--python", "no-such-python"]) == 1
    assert "FAILED: " in capsys.readouterr().out

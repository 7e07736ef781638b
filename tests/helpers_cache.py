"""Caches for processes of their own, and what they run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import sdfgad
from sdfgad.cache import cache_folder
from sdfgad.plan.machine import machine
from sdfgad.runtime import build as compiling
from sdfgad.runtime.compiler import Level
from sdfgad.runtime.headers import Headers, precompiled

ROOT = Path(sdfgad.__file__).parent.parent


def cache_with_headers(folder):
    """A cache with nothing but what takes long to make and is the same for all programs."""
    for headers in Headers:
        precompiled(tuple(Level), headers)
    machine()
    folder.mkdir(mode=0o700)
    for kind in ("headers", "machine"):
        shutil.copytree(cache_folder() / kind, folder / kind)
    return folder


def keep_headers(monkeypatch):
    """Have other cache folders use the precompiled headers of the present one."""
    found = {headers: precompiled(tuple(Level), headers) for headers in Headers}
    monkeypatch.setattr(compiling, "precompiled", lambda levels, headers: found[headers])


def environment(cache, **variables):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SDFGAD_")}
    return {**kept, "PYTHONPATH": str(ROOT), "SDFGAD_CACHE_DIR": str(cache), "SDFGAD_CHECK": "off", **variables}


def started(script, cache, *arguments, before=(), **variables):
    """A process that runs a script with a cache, as an argument of the command `before`."""
    return subprocess.Popen(
        [*before, sys.executable, str(script), *map(str, arguments)],
        env=environment(cache, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=script.parent,
    )


def finished(process, timeout=300):
    """What it has printed; it must not have failed or complained."""
    said, complaint = process.communicate(timeout=timeout)
    assert (process.returncode, complaint) == (0, ""), complaint
    return said


def entries(cache, kind):
    """The files of one kind in a cache, without seals and stamps."""
    found = (cache / kind).glob("*/**/*")
    files = (path for path in found if path.is_file() and path.suffix != ".sha256")
    return sorted(str(path.relative_to(cache / kind)) for path in files)

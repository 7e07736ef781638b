"""Where files are cached between runs."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """The user's cache folder; the environment variable SDFGAD_CACHE_DIR overrides it."""
    chosen = os.environ.get("SDFGAD_CACHE_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("sdfgad"))

"""Content-addressed cache on disk: files in a folder that only the user can write, shared by all processes.

`folder` determines that folder, `store` writes files and verifies their hashes when it reads them, `evict` bounds the
size (LRU eviction), and `keys` computes keys. Names are paths within the folder, such as
``libraries/3f/3fa1…/program.so``; the first part is one of `folder.KINDS`.
"""

from sdfgad.cache.evict import clear_cache
from sdfgad.cache.folder import cache_folder
from sdfgad.cache.keys import fingerprint, key_of
from sdfgad.cache.store import build_folder, build_lock, find, publish, read, write

__all__ = [
    "build_folder",
    "build_lock",
    "cache_folder",
    "clear_cache",
    "find",
    "fingerprint",
    "key_of",
    "publish",
    "read",
    "write",
]

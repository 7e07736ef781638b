"""Files that are kept between runs, in a folder of the user's that only the user can write.

`folder` finds that folder, `store` keeps files in it by name and believes none whose hash is another, `evict` bounds
what it holds, and `keys` says what everything depends on. Names are paths within the folder, such as
``libraries/3f/3fa1…/program.so``; the first part is one of `folder.KINDS`.
"""

from sdfgad.cache.evict import clear_cache
from sdfgad.cache.folder import cache_folder
from sdfgad.cache.keys import fingerprint, key_of
from sdfgad.cache.store import building, find, publish, read, workshop, write

__all__ = [
    "building",
    "cache_folder",
    "clear_cache",
    "find",
    "fingerprint",
    "key_of",
    "publish",
    "read",
    "workshop",
    "write",
]

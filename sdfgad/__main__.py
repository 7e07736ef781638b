"""``python -m sdfgad explain``: shows what becomes of a program."""

import sys

from sdfgad.explain.command import main

sys.exit(main())

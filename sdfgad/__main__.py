"""``python -m sdfgad``: the command line."""

import sys

from sdfgad.command.main import main

sys.exit(main())

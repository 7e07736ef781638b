"""The command line: ``sdfgad COMMAND``, or ``python -m sdfgad COMMAND``. Each module is a command."""

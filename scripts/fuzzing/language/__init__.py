"""Random programs of Python's own constructs: exceptions, classes, None, dicts, views, sequences, text, names."""

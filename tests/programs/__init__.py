"""Programs as people write them: classes, dataclasses, dicts and lists together. Each has `program` and `arguments`."""

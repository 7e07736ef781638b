"""Bytes and seconds as people read them."""

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Bytes for people: ``3.5 MiB``."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} B" if unit == 0 else f"{value:.1f} {UNITS[unit]}"


def time_text(seconds: float) -> str:
    """Seconds for people: ``3.5 ms``."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}" if seconds else "0"
    raise AssertionError("unreachable")

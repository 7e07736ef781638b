"""What came of each framework on each program, and the database of it."""

import contextlib
import datetime
import os
import platform
import sqlite3
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sdfgad.api.compare import machine_of

COLUMNS = {
    "id": "integer primary key",
    "timestamp": "text",
    "benchmark": "text",
    "framework": "text",
    "mode": "text",
    "preset": "text",
    "repeat": "integer",
    "seconds": "real",
    "first_call_seconds": "real",
    "peak_bytes": "integer",
    "status": "text",
    "validated": "integer",
    "error": "real",
    "message": "text",
    "cpu": "text",
    "cores": "integer",
    "memory_bytes": "integer",
    "threads": "integer",
    "load_average": "real",
    "python": "text",
    "numpy": "text",
    "jax": "text",
    "dace": "text",
    "sdfgad": "text",
    "git_commit": "text",
    "device": "text",
    "gpu": "text",
}


@dataclass
class Record:
    """One framework on one program.

    Attributes:
        mode: "grad" or "forward".
        family: whose implementation it is.
        status: "ok", "n/a", "ERROR", "TIMEOUT", or "WRONG" with the error.
        message: what is wrong, or what to know.
        seconds: of each round.
        first_call: seconds of compiling and of the first call.
        peak_bytes: the most that the first call held after compiling, beyond what was held before.
        validated: whether it is right; None if nobody checked, or nobody knows.
        error: the difference from what it was checked against.
        log: the end of what the process wrote, where it failed.
    """

    benchmark: str
    framework: str
    mode: str
    preset: str
    family: str = ""
    status: str = "ok"
    message: str = ""
    seconds: list[float] = field(default_factory=list)
    first_call: float | None = None
    peak_bytes: int | None = None
    validated: bool | None = None
    error: float | None = None
    log: str = ""

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def is_unsure(self) -> bool:
        """Whether it should have been checked, but nobody knows."""
        return self.status == "ok" and self.validated is None and bool(self.message)


def machine(device: str = "cpu", gpu: str = "") -> dict[str, str | int]:
    """The columns that say on what is measured; `gpu` is the name of the GPU."""
    found = machine_of()
    return {
        "cpu": found["processor"],
        "cores": int(found["cores"]),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "threads": int(found["threads"]),
        "python": platform.python_version(),
        **{name: version_of(name) for name in ("numpy", "jax", "dace", "sdfgad")},
        "git_commit": commit(),
        "device": device,
        "gpu": gpu,
    }


def version_of(package: str) -> str:
    if package == "sdfgad":
        import sdfgad

        return sdfgad.__version__
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def commit() -> str:
    """The commit that is checked out, with a + where files differ from it; empty where there is none."""
    folder = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+"], cwd=folder, capture_output=True, text=True
        )
    except OSError:
        return ""
    return found.stdout.strip()


def store(file: Path, records: Sequence[Record], where: Mapping[str, str | int]) -> None:
    """Add the records to a database: a row for each round, or one for what has no times."""
    now = datetime.datetime.now().isoformat(timespec="seconds")
    with contextlib.closing(sqlite3.connect(file)) as base, base:
        base.execute(f"create table if not exists results ({', '.join(f'{n} {t}' for n, t in COLUMNS.items())})")
        add_columns(base)
        for record in records:
            for repeat, seconds in enumerate(record.seconds, 1) if record.seconds else [(None, None)]:
                row = row_of(record) | dict(where) | {"timestamp": now, "load_average": os.getloadavg()[0]}
                row |= {"repeat": repeat, "seconds": seconds}
                names = ", ".join(row)
                base.execute(f"insert into results ({names}) values ({', '.join('?' * len(row))})", [*row.values()])


def store_logs(file: Path, records: Sequence[Record]) -> None:
    """Add what processes wrote that failed."""
    with file.open("a") as out:
        for record in records:
            if record.log:
                out.write(
                    f"--- {record.benchmark}, {record.framework}: {record.status}: {record.message}\n{record.log}\n"
                )


def add_columns(base: sqlite3.Connection) -> None:
    """Those that a database of before has not."""
    known = {row[1] for row in base.execute("pragma table_info(results)")}
    for name in COLUMNS.keys() - known:
        base.execute(f"alter table results add column {name} {COLUMNS[name]}")


def row_of(record: Record) -> dict[str, object]:
    return {
        "benchmark": record.benchmark,
        "framework": record.framework,
        "mode": record.mode,
        "preset": record.preset,
        "first_call_seconds": record.first_call,
        "peak_bytes": record.peak_bytes,
        "status": record.status,
        "validated": None if record.validated is None else int(record.validated),
        "error": record.error,
        "message": record.message,
    }


def load(file: Path, preset: str, device: str = "cpu") -> tuple[list[Record], dict[str, object]]:
    """The latest records of each program and framework in a database, and on what the last one was measured."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as base:
        base.row_factory = sqlite3.Row
        rows = [dict(row) for row in base.execute("select * from results where preset = ? order by id", [preset])]
    # Those of before are of the CPU.
    rows = [row for row in rows if (row.get("device") or "cpu") == device]
    found: dict[tuple[str, str], tuple[str, Record]] = {}
    for row in rows:
        key = row["benchmark"], row["framework"]
        if key not in found or found[key][0] != row["timestamp"]:
            found[key] = row["timestamp"], record_of(row)
        if row["seconds"] is not None:
            found[key][1].seconds.append(row["seconds"])
    where = {name: rows[-1].get(name) for name in machine()} if rows else {}
    return [record for _, record in found.values()], where


def record_of(row: Mapping[str, Any]) -> Record:
    return Record(
        row["benchmark"],
        row["framework"],
        row["mode"],
        row["preset"],
        status=row["status"],
        message=row["message"],
        first_call=row["first_call_seconds"],
        peak_bytes=row["peak_bytes"],
        validated=None if row["validated"] is None else bool(row["validated"]),
        error=row["error"],
    )

"""Writes the tables of docs/languages.md from the readers' own: operators that are read, differentiated, or refused.

With ``--check`` nothing is written, and the exit status says whether the page is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import table_in_page
from sdfgad.models.aten import table as aten
from sdfgad.models.onnx import table as onnx

PAGE = ROOT / "docs" / "languages.md"
HEAD = "| {} | read | differentiated | refused |\n|---|---|---|---|\n"


def onnx_table() -> str:
    """A row for each operator of ONNX, with the values of attributes that are understood, if not all are."""
    rows = []
    for name, one in sorted(onnx.OPERATORS.items()):
        limits = [f"{key} other than {', '.join(map(str, values))}" for key, values in one.only.items()]
        limits += [f"input {k}" for k in one.inputs]
        rows.append(f"| {name} | yes | {'constant' if one.is_constant else 'yes'} | {'; '.join(limits)} |")
    rows += [f"| {name} | | | {why} |" for name, why in sorted(onnx.REFUSED.items())]
    return HEAD.format("ONNX") + "\n".join(rows) + "\n"


def aten_table() -> str:
    """A row for each operator of ATen, with its overloads."""
    overloads: dict[str, list[str]] = {}
    for name in sorted(aten.OPERATORS):
        base, _, overload = name.partition(".")
        overloads.setdefault(base, []).append(overload)
    rows = [
        f"| {_listed(base, names)} | yes | {'yes' if base not in CONSTANT else 'constant'} | |"
        for base, names in overloads.items()
    ]
    rows += [f"| {name} | | | {why} |" for name, why in sorted(aten.REFUSED.items())]
    return HEAD.format("ATen") + "\n".join(rows) + "\n"


# Those whose results are integers, booleans or steps.
CONSTANT = frozenset(
    {
        "all",
        "any",
        "arange",
        "argmax",
        "argmin",
        "bitwise_and",
        "bitwise_not",
        "bitwise_or",
        "ceil",
        "detach",
        "eq",
        "floor",
        "full",
        "full_like",
        "ge",
        "gt",
        "isinf",
        "isnan",
        "le",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "lt",
        "ne",
        "round",
        "scalar_tensor",
        "sign",
        "sym_size",
        "trunc",
    }
)


def _listed(base: str, overloads: list[str]) -> str:
    return f"{base} ({', '.join(overloads)})" if overloads != ["default"] else base


def main(arguments: list[str] | None = None) -> int:
    return table_in_page.main(PAGE, "\n".join([onnx_table(), aten_table()]), __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""Executes the worked examples of docs/examples and writes their pages, notebooks and pictures.

``docs_examples.py [NAME ...]`` runs each example (all without a name) in a process of its own, cell by cell, and writes
NAME.md, NAME.ipynb and docs/pictures/examples/NAME-K.png, then index.md. With ``--check`` nothing runs and nothing is
written; the exit status says whether code and text of all pages are those of the examples.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
PICTURES = ROOT / "docs" / "pictures" / "examples"
MARK = re.compile(r"^# %%( \[markdown\])?$", re.MULTILINE)
OUTPUT = re.compile(r"\n```text\n.*?\n```\n|\n!\[[^\]]*\]\([^)]*\)\n", re.DOTALL)
PICTURE_BYTES, NOTEBOOK_BYTES, COLOURS = 80_000, 150_000, 96
# In the order in which the index lists them.
NAMES = (
    "heat_inversion",
    "seismic_inversion",
    "choreography",
    "kalman_noise",
    "lattice_boltzmann",
    "radiative_column",
    "swing_up",
    "vorticity",
    "transformer",
    "hmc_laplace",
)
STYLE = {
    "figure.constrained_layout.use": True,
    "savefig.dpi": 100,
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "image.interpolation": "nearest",
}


@dataclass(frozen=True)
class Cell:
    """A cell of an example.

    Attributes:
        line: where its text starts in the file, from 0.
        output: what it printed.
        pictures: its figures, as PNG.
    """

    is_text: bool
    source: str
    line: int
    output: str = ""
    pictures: tuple[bytes, ...] = ()


# --- reading and running


def cells_of(name: str) -> list[Cell]:
    """The cells of an example in percent format."""
    text = (EXAMPLES / f"{name}.py").read_text()
    marks = list(MARK.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    cells = []
    for mark, end in zip(marks, ends, strict=True):
        body, is_text = text[mark.end() + 1 : end].strip("\n"), mark[1] is not None
        source = re.sub(r"^# ?", "", body, flags=re.MULTILINE) if is_text else body
        cells.append(Cell(is_text, source, text.count("\n", 0, mark.end() + 1)))
    return cells


def title_of(cells: Sequence[Cell]) -> str:
    return cells[0].source.partition("\n")[0].removeprefix("# ")


def summary_of(cells: Sequence[Cell]) -> str:
    """The paragraph below the title, in one line."""
    return " ".join(cells[0].source.split("\n\n")[1].split())


def executed(name: str, report: Callable[[str], None]) -> list[Cell]:
    """The cells with what they printed and drew; all share one namespace, as in a notebook."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    plt.show = lambda *_, **__: None
    path, namespace, done = EXAMPLES / f"{name}.py", {"__name__": "__main__"}, []
    for cell in cells_of(name):
        if not cell.is_text:
            start, printed = time.perf_counter(), StringIO()
            # Functions keep the file's line numbers, by which sdfgad finds their source.
            code = compile("\n" * cell.line + cell.source, str(path), "exec")
            with redirect_stdout(printed):
                exec(code, namespace)
            cell = replace(cell, output=printed.getvalue().rstrip(), pictures=tuple(drawn()))
            report(f"{name}, line {cell.line + 1}: {time.perf_counter() - start:.1f} s")
        done.append(cell)
    return done


def drawn() -> Iterable[bytes]:
    """The open figures as PNG with few colours; closes them."""
    import matplotlib.pyplot as plt
    from PIL import Image

    for number in plt.get_fignums():
        whole, small = BytesIO(), BytesIO()
        plt.figure(number).savefig(whole)
        plt.close(number)
        Image.open(whole).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
        yield small.getvalue()


# --- pages and notebooks


def page_of(name: str, cells: Sequence[Cell]) -> str:
    """The page in Markdown; pictures are numbered in order."""
    parts, number = [], 0
    for cell in cells:
        parts.append(cell.source if cell.is_text else f"```python\n{cell.source}\n```")
        if cell.output:
            parts.append(f"```text\n{cell.output}\n```")
        for _ in cell.pictures:
            number += 1
            parts.append(f"![{title_of(cells)}](../pictures/examples/{name}-{number}.png)")
    links = f"*This page as a [program]({name}.py) and as a [notebook]({name}.ipynb).*"
    return "\n\n".join([parts[0], links, *parts[1:]]) + "\n"


def notebook_of(cells: Sequence[Cell]) -> dict[str, Any]:
    """The notebook (format 4.5) with outputs."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [notebook_cell(number, cell) for number, cell in enumerate(cells)],
    }


def notebook_cell(number: int, cell: Cell) -> dict[str, Any]:
    made = {"id": f"cell-{number}", "metadata": {}, "source": cell.source.splitlines(keepends=True)}
    if cell.is_text:
        return {"cell_type": "markdown", **made}
    outputs: list[dict[str, Any]] = []
    if cell.output:
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": (cell.output + "\n").splitlines(keepends=True)}
        )
    for picture in cell.pictures:
        data = {"image/png": base64.b64encode(picture).decode()}
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    return {"cell_type": "code", "execution_count": None, **made, "outputs": outputs}


def index_page() -> str:
    """The table of all examples."""
    rows = []
    for name in NAMES:
        cells = cells_of(name)
        picture = f'<img src="../pictures/examples/{name}-1.png" alt="{title_of(cells)}" width="320">'
        rows.append(f"| [{title_of(cells)}]({name}.md) | {summary_of(cells)} | {picture} |")
    return INDEX + "\n".join(rows) + "\n"


INDEX = """\
# Worked examples

Each is a NumPy program as a scientist writes it, and what he does with its gradient. They need sdfgad, NumPy, SciPy and
matplotlib, and run in some seconds, most of which are spent on compiling once. What they claim they assert at their
ends, and the tests run them. Each is a program, a page and a notebook; `python scripts/docs_examples.py` makes both
from the program.

| example | what it shows | |
|---|---|---|
"""


# --- writing and checking


def write(name: str) -> None:
    """Runs an example in this process and writes its page, notebook and pictures."""
    cells = executed(name, lambda line: print(line, file=sys.stderr, flush=True))
    PICTURES.mkdir(parents=True, exist_ok=True)
    pictures = [picture for cell in cells for picture in cell.pictures]
    notebook = json.dumps(notebook_of(cells), indent=1, ensure_ascii=False) + "\n"
    if max(map(len, pictures)) > PICTURE_BYTES or len(notebook.encode()) > NOTEBOOK_BYTES:
        raise SystemExit(
            f"{name}: a picture has {max(map(len, pictures))} bytes, the notebook {len(notebook)}: too many"
        )
    for old in PICTURES.glob(f"{name}-*.png"):
        old.unlink()
    for number, picture in enumerate(pictures, 1):
        (PICTURES / f"{name}-{number}.png").write_bytes(picture)
    (EXAMPLES / f"{name}.md").write_text(page_of(name, cells))
    (EXAMPLES / f"{name}.ipynb").write_text(notebook)


def outdated() -> list[str]:
    """The files whose code or text is not what the examples have; outputs and pictures are not compared."""
    found = [] if read("index.md") == index_page() else ["index.md"]
    for name in NAMES:
        cells = cells_of(name)
        if OUTPUT.sub("", read(f"{name}.md")) != page_of(name, cells):
            found.append(f"{name}.md")
        if inputs_of(read(f"{name}.ipynb")) != inputs_of(json.dumps(notebook_of(cells))):
            found.append(f"{name}.ipynb")
    return found


def read(file: str) -> str:
    path = EXAMPLES / file
    return path.read_text() if path.exists() else "{}"


def inputs_of(notebook: str) -> Any:
    """The cells of a notebook without outputs."""
    cells = json.loads(notebook).get("cells", [])
    return [{part: value for part, value in cell.items() if part != "outputs"} for cell in cells]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"examples: {', '.join(NAMES)}")
    parser.add_argument("--check", action="store_true", help="only say whether the pages are up to date")
    parser.add_argument("--here", action="store_true", help="run the one example in this process")
    options = parser.parse_args()
    if unknown := set(options.names) - {*NAMES}:
        parser.error(f"no example is called {', '.join(sorted(unknown))}")
    if options.check:
        stale = outdated()
        print("\n".join(f"docs/examples/{file} is not up to date" for file in stale) or "all pages are up to date")
        return bool(stale)
    if options.here:
        write(*options.names)
        return 0
    return run_all(options.names or NAMES)


def run_all(names: Sequence[str]) -> int:
    """Runs examples in turn, each in a process of its own, then writes the index; the number of those that fail."""
    failures = 0
    for number, name in enumerate(names, 1):
        start = time.perf_counter()
        failed = subprocess.run([sys.executable, __file__, "--here", name], check=False).returncode != 0
        failures += failed
        what = "FAILED" if failed else "written"
        print(f"[{number}/{len(names)}] {name}: {what}, {time.perf_counter() - start:.1f} s", flush=True)
    (EXAMPLES / "index.md").write_text(index_page())
    return failures


if __name__ == "__main__":
    raise SystemExit(main())

"""Fills docs/how-it-works.md with what the engine really makes of its example.

Each block of the page after a comment ``<!-- made: name -->`` is replaced by the text of that name. With ``--check``
nothing is written, and the exit status says whether the page is up to date. Pictures need Graphviz (``dot``).
"""

from __future__ import annotations

import argparse
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

import sdfgad
from scripts.draw_sdfg import to_dot
from sdfgad.explain.listing import residuals_text, statement_adjoints_text
from sdfgad.ir.program import Loop
from sdfgad.ir.text import program_text
from sdfgad.optimise.passes import optimise
from sdfgad.sdfg.writer import write

PAGE = ROOT / "docs" / "how-it-works.md"
PICTURES = ROOT / "docs" / "pictures"


def burn(T, u, k):
    for t in range(T):  # noqa: B007 - as a user writes it
        u[1:-1] += k * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def stages() -> tuple[dict[str, str], dict[str, Any]]:
    """The texts and the SDFGs of the example."""
    # Stored whatever the machine predicts, so that the page is the same everywhere.
    g = sdfgad.differentiate(burn, wrt=("u", "k"), strategy="store_all")
    arguments = (20, np.linspace(0.0, 1.0, 10), 0.1)
    call, made = g._bind_and_specialise(arguments, {})
    adjoint, layout = made.pipeline.adjoint, made.layout(call)
    texts = {
        "source": inspect.getsource(burn),
        "parsed": program_text(made.primal.program),
        "adjoints": statement_adjoints_text(adjoint),
        "residuals": residuals_text(adjoint),
        "plan": "\n".join(f"{d.choice}: {d.name}, because {d.reason}" for d in g.plan(*arguments).decisions),
        "kept": _reverse_of_kept_loop(arguments),
        "gradient": program_text(layout.gradient_program.program),
        "optimised": program_text(layout.program),
        "check": str(_rounded(sdfgad.check_grads(burn, *arguments, wrt=("u", "k")))),
    }
    return texts, {"forward": write(optimise(made.pipeline.forward)), "gradient": made.built(layout).sdfg}


def _reverse_of_kept_loop(arguments: tuple[Any, ...]) -> str:
    """The loop that loads states and runs segments again, in the gradient that keeps states of the loop."""
    call, made = sdfgad.differentiate(burn, wrt=("u", "k"), strategy="revolve")._bind_and_specialise(arguments, {})
    program = made.layout(call).gradient_program.program
    last = [statement for statement in program.body if isinstance(statement, Loop)][-1]
    return program_text(program.with_body((last,)))


def _rounded(result: sdfgad.CheckResult) -> str:
    return f"error below 1e-6: {result.error < 1e-6}, Taylor rate: {result.rate:.1f}"


def filled(page: str, texts: dict[str, str]) -> str:
    """The page with its made blocks replaced."""

    def block(match: re.Match[str]) -> str:
        return f"{match[1]}{match[3]}\n{texts[match[2]].rstrip()}\n```"

    return re.sub(r"(<!-- made: (\w+) -->\n)(```\w*)\n.*?\n?```", block, page, flags=re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    arguments = parser.parse_args()
    texts, sdfgs = stages()
    old = PAGE.read_text()
    new = filled(old, texts)
    if arguments.check:
        return int(old != new)
    PAGE.write_text(new)
    for name, sdfg in sdfgs.items():
        path = PICTURES / f"{name}.svg"
        subprocess.run(["dot", "-Tsvg", "-o", str(path)], input=to_dot(sdfg), text=True, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draws the pictures of docs/memory-limits.md from real plans, and from a comparison that is measured here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

import sdfgad

PICTURES = ROOT / "docs" / "pictures"


def burn(u, k, steps):
    for _ in range(steps):
        u[1:-1] += k * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def layers(x, w):
    for k in range(6):
        x = np.sin(w[k] * x) + x
    return np.sum(x * x)


ROD = np.linspace(0.0, 1.0, 20_000), 0.1, 500
SHEET = np.linspace(0.0, 1.0, 1_000_000).reshape(1000, 1000), np.linspace(0.5, 1.0, 6)

# The name of each picture of a plan -> the program, its arguments, and what is asked of the plan.
PLANS = {
    "plan_store_all": (burn, ROD, {"strategy": "store_all"}),
    "plan_no_limit": (burn, ROD, {}),
    "plan_limit": (burn, ROD, {"memory_limit": "4 MiB"}),
    "plan_layers": (layers, SHEET, {"strategy": "store_all"}),
    "plan_pieces": (layers, SHEET, {"memory_limit": "40 MiB"}),
}


def draw_plans(folder: Path) -> None:
    """Writes a picture of each plan; nothing is compiled or run."""
    for name, (program, arguments, options) in PLANS.items():
        sdfgad.differentiate(program, **options).plan(*arguments).plot(folder / f"{name}.png")


def draw_comparison(folder: Path) -> sdfgad.Comparison:
    """Runs the gradient of `burn` under all strategies and several limits, and draws time over memory."""
    compared = sdfgad.compare(burn, *ROD, budgets=(0.5, 0.1, 0.05, 0.02), repeats=25)
    compared.plot(folder / "compare_burn.png")
    return compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--plans", action="store_true", help="only the pictures for which nothing is measured")
    arguments = parser.parse_args()
    draw_plans(PICTURES)
    if not arguments.plans:
        print(draw_comparison(PICTURES))
    return 0


if __name__ == "__main__":
    sys.exit(main())

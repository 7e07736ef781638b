"""Guards ratios of times: those of a run against those that were once reached, kept in a file by preset."""

import json
from pathlib import Path

from scripts.gradients.table import RATIOS, Outcome

# How many times worse a ratio may be: machines are noisy, and not all alike.
TOLERANCE = 1.5
# Of these the smaller is the better.
COSTS = {"gradient/forward"}
Ratios = dict[str, dict[str, float]]


def ratios_of(outcome: Outcome) -> Ratios:
    """Name of a ratio -> program -> value."""
    return {
        name: {b: round(ratio, 3) for b in outcome.benchmarks if (ratio := outcome.ratio(b, name)) is not None}
        for name in RATIOS
        if name in outcome.ratios
    }


def losses(found: Ratios, known: Ratios) -> list[str]:
    """What is worse by more than the tolerance, in words."""
    lines = []
    for name, programs in found.items():
        for program, ratio in programs.items():
            before = known.get(name, {}).get(program)
            if before is not None and _worse(name, ratio, before) > TOLERANCE:
                lines.append(f"{program}: {name} is {ratio:.3g}, and was {before:.3g}")
    return lines


def _worse(name: str, ratio: float, before: float) -> float:
    return ratio / before if name in COSTS else before / ratio


def read(file: Path, preset: str) -> Ratios:
    return json.loads(file.read_text()).get(preset, {}) if file.exists() else {}


def write(file: Path, preset: str, found: Ratios) -> None:
    """Keep these as what is reached, beside those of other programs, ratios and presets."""
    everything = json.loads(file.read_text()) if file.exists() else {}
    kept = everything.setdefault(preset, {})
    for name, programs in found.items():
        kept[name] = dict(sorted((kept.get(name, {}) | programs).items()))
    file.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")

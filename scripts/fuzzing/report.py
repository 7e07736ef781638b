"""A failure as a test that is ready to run."""

from __future__ import annotations

import textwrap
from pathlib import Path

from scripts.fuzzing.case import Case
from scripts.fuzzing.verdict import Verdict

TEXT = '''\
"""Found by the fuzzer, seed {seed}: {kind}.

{detail}
"""

from scripts.fuzzing.case import Argument, Case
from scripts.fuzzing.process import checked_once

CASE = Case(
    seed={seed},
    text="""\\
{text}""",
    arguments={{
{arguments}
    }},
    output={output!r},
    theme={theme!r},
)


def test_seed_{name}(tmp_path):
    verdict = checked_once(CASE, tmp_path)
    assert verdict.status != "failed", f"{{verdict.kind}}: {{verdict.detail}}"
'''


def write_test(case: Case, verdict: Verdict, folder: Path, name: str = "") -> Path:
    """Write a test that fails for as long as the program does; by default it is named by the seed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_seed_{name or case.seed}.py"
    arguments = "\n".join(f"        {name!r}: {argument!r}," for name, argument in case.arguments.items())
    detail = textwrap.shorten(verdict.detail, 1500).replace("\\", "/").replace('"""', "'''")
    path.write_text(
        TEXT.format(
            seed=case.seed,
            kind=verdict.kind.replace("\\", "/").replace('"""', "'''"),
            detail=textwrap.fill(detail, 116),
            text=case.text,
            arguments=arguments,
            output=case.output,
            theme=case.theme,
            name=name or case.seed,
        )
    )
    return path

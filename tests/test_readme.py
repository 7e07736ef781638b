"""The README's example runs as it stands there."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np

import sdfgad
from sdfgad.command.main import main
from tests.helpers import module_from

README = Path(__file__).parent.parent / "README.md"


def test_the_example(tmp_path):
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    made = module_from(code, tmp_path)
    value = made.heat(1000, made.u.copy(), made.a)
    np.testing.assert_allclose(made.value, value)
    assert made.du.shape == made.da.shape == (100,)
    np.testing.assert_array_equal(made.u, np.linspace(0.0, 1.0, 100) ** 2)


def test_the_window(tmp_path, monkeypatch, capsys):
    command, shown = re.search(
        r"```console\n\$ python -m sdfgad (explain .*?)\n(.*?)```", README.read_text(), re.DOTALL
    ).groups()
    example = re.search(r"```python\n.*?(def heat.*?)\n\n\n", README.read_text(), re.DOTALL)[1]
    (tmp_path / "heat.py").write_text(f"import numpy as np\n\n\n{example}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == shown


def test_the_table_has_all_functions():
    table = re.search(r"## What you can ask for\n(.*?)\n## ", README.read_text(), re.DOTALL)[1]
    calls = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    functions = [name for name in sdfgad.__all__ if name.islower() and callable(getattr(sdfgad, name))]
    assert [name for name in functions if f"sdfgad.{name}(" not in calls] == []

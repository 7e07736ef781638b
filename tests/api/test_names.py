"""Names of arguments, locals, helpers, files and folders that mean something to C++, DaCe, a shell or a compiler."""

import os
import subprocess
import sys

import dace
import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from

# C++ keywords, types, macros of C headers, names that generated code uses itself, and names that are not ASCII.
WORDS = (
    *(
        "main",
        "int",
        "double",
        "new",
        "template",
        "operator",
        "this",
        "__a",
        "_Pragma",
        "__LINE__",
        "uint8_t",
        "size_t",
    ),
    *("std", "dace", "sdfgad", "exp", "abs", "sin", "printf", "malloc", "M_PI", "NULL", "NAN", "INFINITY", "CHAR_BIT"),
    *("EOF", "I", "E", "N", "linux", "unix", "errno", "stdout", "DACE_EXPORTED", "SDFGAD_MATH", "status", "result"),
    *("cotangent", "x_bar", "b_x_", "v0_", "out_", "total_", "nest_0_", "p", "α", "größe", "名", "Ⅷ"),
)
ODD = "a b'c\"d;$(touch pwned)`touch pwned`&|größe,@#%s*?[]~{0}\\-o x"


def text():
    """A program with each word as an argument, a helper, an array that is updated, and a loop's variable."""
    lines = ["import numpy as np"]
    for k, word in enumerate(WORDS):
        lines += [f"def {word}(x):", f"    return np.sum(x * np.cos({k} * x))"]
    lines += ["def helpers(x):", "    total = 0.0", *(f"    total = total + {word}(x)" for word in WORDS)]
    lines += ["    return total", "def locals_(x):", "    total = 0.0"]
    for word in WORDS:
        lines += [f"    {word} = np.sin(x)", f"    {word}[0] += {word}[1]", f"    total += np.sum({word})"]
    lines += ["    return total", "def loops(x, n):", "    total = 0.0"]
    for word in WORDS:
        lines += [f"    for {word} in range(1, n):", f"        total += x[{word}] * x[{word} - 1]"]
    lines += ["    return total", f"def program({', '.join(WORDS)}):"]
    lines += [
        f"    x_of_all = {' + '.join(WORDS)}",
        "    return helpers(x_of_all) + locals_(x_of_all) + loops(x_of_all, 3)",
    ]
    return "\n".join(lines)


def test_words_that_mean_something_elsewhere(tmp_path):
    program = module_from(text(), tmp_path).program
    rng = np.random.default_rng(2)
    values = [rng.uniform(0.01, 0.02, 3) for _ in WORDS]
    g = sdfgad.differentiate(program)
    value, gradients = g.value_and_grad(*values)
    np.testing.assert_allclose(value, program(*values), rtol=1e-12)
    # Python itself normalises identifiers: Ⅷ is VIII.
    assert list(gradients) == [word.replace("Ⅷ", "VIII") for word in WORDS]
    move = rng.standard_normal(3)
    ends = [program(values[0] + step * move, *values[1:]) for step in (1e-6, -1e-6)]
    for gradient in gradients.values():
        np.testing.assert_allclose(gradient @ move, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
    g.sdfg(*values).save(str(tmp_path / "graph.sdfg"))
    assert dace.SDFG.from_file(str(tmp_path / "graph.sdfg")).arglist()


PROGRAM = """
import sys
import numpy as np
import sdfgad
from module_named_here import program
x = np.array([0.5, 2.0])
np.testing.assert_allclose(sdfgad.differentiate(program)(x)["x"], x * np.cos(x) + np.sin(x), rtol=1e-14)
"""
MODULE = """
import numpy as np
def program(x):
    return np.sum(x * np.sin(x))
"""


def run(folder, cache):
    """A process in a folder that differentiates a program of a file there; everything is built anew."""
    (folder / "module_named_here.py").write_text(MODULE)
    (folder / f"{ODD}.py").write_text(PROGRAM)
    environment = {**os.environ, "SDFGAD_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join([str(folder), os.getcwd()])}
    command = [sys.executable, str(folder / f"{ODD}.py")]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_folders_and_files_of_odd_names(tmp_path):
    folder = tmp_path / ODD
    folder.mkdir()
    # A relative folder that looks like an option.
    done = run(folder, f"-o {ODD}")
    assert done.returncode == 0, done.stderr
    assert list(folder.joinpath(f"-o {ODD}").rglob("program.so"))
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("name", ["$LIB", "a${ORIGIN}b"])
def test_a_folder_that_the_loader_would_replace_is_refused(name, monkeypatch, tmp_path):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / name))
    with pytest.raises(sdfgad.SdfgadError, match="dynamic loader") as caught:
        sdfgad.cache.cache_folder()
    assert "Set SDFGAD_CACHE_DIR to another folder." in str(caught.value)


def test_lines_of_files_of_odd_names_are_quoted(tmp_path):
    folder = tmp_path / ODD
    folder.mkdir()
    program = module_from("import numpy as np\ndef program(x):\n    return np.sum(x).unknown\n", folder).program
    with pytest.raises(sdfgad.UnsupportedProgram) as caught:
        sdfgad.differentiate(program)(np.ones(2))
    assert f"{folder}/" in str(caught.value)
    assert "np.sum(x).unknown" in str(caught.value)

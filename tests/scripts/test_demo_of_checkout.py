"""The demonstration's switch for a checkout of NPBench, on a made-up one."""

import io

import numpy as np
import pytest
from rich.console import Console

import npbench_suite
import sdfgad
from scripts import demo
from tests.npbench_suite.test_checkout import COUNTING, PLANE, SQUARES, SWEEP, replaced, write

# One that sdfgad refuses, one that is at a tie, and one in single precision throughout.
REFUSED = {
    "bench_info/refused.json": COUNTING["bench_info/counting.json"]
    | {"relative_path": "refused", "module_name": "refused", "func_name": "kernel"},
    "npbench/benchmarks/refused/refused.py": """
        import numpy as np

        def make(N):
            return np.ones(N)
        """,
    "npbench/benchmarks/refused/refused_numpy.py": """
        import numpy as np

        def kernel(seq):
            return np.polynomial.hermite.hermroots(seq)
        """,
}
TIED = {
    "bench_info/tied.json": REFUSED["bench_info/refused.json"] | {"relative_path": "tied", "module_name": "tied"},
    "npbench/benchmarks/tied/tied.py": REFUSED["npbench/benchmarks/refused/refused.py"],
    "npbench/benchmarks/tied/tied_numpy.py": """
        import numpy as np

        def kernel(seq):
            return np.max(seq * seq)
        """,
}
SINGLE = {
    "bench_info/single.json": REFUSED["bench_info/refused.json"] | {"relative_path": "single", "module_name": "single"},
    "npbench/benchmarks/single/single.py": """
        import numpy as np

        def make(N):
            return np.linspace(0.1, 2.0, N, dtype=np.float32)
        """,
    "npbench/benchmarks/single/single_numpy.py": """
        import numpy as np

        def kernel(seq):
            out = np.empty(seq.shape, dtype=np.float32)
            out[:] = np.sin(seq)
            return out
        """,
}


def show(root, *options):
    """The exit status, and the text that is printed."""
    console = Console(file=io.StringIO(), width=demo.PLAIN_WIDTH)
    status = demo.main(["--npbench", str(root), "-r", "1", *options], console)
    return status, console.file.getvalue()


def row_of(text, name):
    """A program's row, the lines joined into which its text is folded."""
    lines = text.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(f" {name} "))
    row = [lines[first]]
    for line in lines[first + 1 :]:
        if not line.startswith("    ") or not line.strip():
            break
        row.append(line)
    return " ".join(" ".join(row).split())


def test_right_programs_and_one_on_integers(tmp_path):
    root = write(tmp_path, SQUARES, PLANE, COUNTING)
    status, text = show(root, "--small")
    assert status == 0
    assert "Gradients of 3 programs of NPBench, small sizes" in text
    assert "WRONG" not in text
    assert "2 of 2 right, 1 on integers" in text
    assert "integer program: there is no floating argument to differentiate by" in row_of(text, "counting")
    for name in ("squares", "plane"):
        assert "s " in row_of(text, name)
        assert "- -" not in row_of(text, name)


def test_other_presets_and_selected_programs(tmp_path):
    status, text = show(write(tmp_path, SWEEP, SQUARES), "-p", "M", "-b", "sweep")
    assert status == 0
    assert "Gradients of 1 programs of NPBench, preset M" in text
    assert "1 of 1 right" in text


def test_refusal_is_shown_with_its_line(tmp_path):
    status, text = show(write(tmp_path, REFUSED))
    assert status == 1
    row = row_of(text, "refused")
    assert "UnsupportedProgram" in row
    assert "hermroots" in row
    assert "refused_numpy.py:5: return np.polynomial.hermite.hermroots(seq)" in row
    assert "0 of 1 right" in text


def test_wrong_gradient(tmp_path, monkeypatch):
    right = sdfgad.DifferentiatedProgram.vjp
    monkeypatch.setattr(
        sdfgad.DifferentiatedProgram, "vjp", lambda *a, **k: tuple(g * (1 + 1e-4) for g in right(*a, **k))
    )
    status, text = show(write(tmp_path, PLANE), "--small")
    assert status == 1
    assert "WRONG: the gradient by" in row_of(text, "plane")


def test_tie_is_checked_aside(tmp_path):
    """At a tie of many, differences are not the gradient: half of the steps' largest and smallest, not their mean."""
    status, text = show(write(tmp_path, TIED))
    assert status == 0
    assert f"({demo.ASIDE})" in row_of(text, "tied")


SATURATED = TIED | {
    "npbench/benchmarks/tied/tied_numpy.py": """
        import numpy as np

        def kernel(seq):
            return np.minimum(seq * seq, 0.5)
        """,
}


def test_zero_gradients_are_checked_elsewhere_too(tmp_path, monkeypatch):
    root = write(tmp_path, SATURATED)
    status, text = show(root)
    assert status == 0
    assert f"({demo.ZERO})" in row_of(text, "tied")
    right = sdfgad.DifferentiatedProgram.vjp
    monkeypatch.setattr(sdfgad.DifferentiatedProgram, "vjp", lambda *a, **k: tuple(1.1 * g for g in right(*a, **k)))
    status, text = show(root)
    assert status == 1
    assert "WRONG: the gradient by seq" in row_of(text, "tied")


def test_wrong_gradient_at_a_tie(tmp_path, monkeypatch):
    right = sdfgad.DifferentiatedProgram.vjp
    monkeypatch.setattr(sdfgad.DifferentiatedProgram, "vjp", lambda *a, **k: tuple(1.1 * g for g in right(*a, **k)))
    status, text = show(write(tmp_path, TIED))
    assert status == 1
    assert "WRONG: the gradient by seq" in row_of(text, "tied")


def test_single_precision_is_differenced_in_double_precision(tmp_path, monkeypatch):
    root = write(tmp_path, SINGLE)
    status, text = show(root)
    assert status == 0
    assert "value only" not in text
    assert demo.checkout.load(root, "single").program.__globals__["np"] is np
    right = sdfgad.DifferentiatedProgram.vjp
    monkeypatch.setattr(
        sdfgad.DifferentiatedProgram, "vjp", lambda *a, **k: tuple(g * np.float32(1.001) for g in right(*a, **k))
    )
    status, text = show(root)
    assert status == 1
    assert "WRONG: the gradient by seq" in row_of(text, "single")


def test_single_precision_that_cannot_be_double(tmp_path):
    """Nothing is claimed about the gradient, and the row says so."""
    stubborn = 'def kernel(seq):\n    return seq.astype("float32")\n'
    status, text = show(write(tmp_path, SINGLE | {"npbench/benchmarks/single/single_numpy.py": stubborn}))
    assert status == 0
    assert f"({demo.VALUE_ONLY})" in row_of(text, "single")


def test_gradient_of_integers_that_is_not_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sdfgad.DifferentiatedProgram, "__call__", lambda *args: {})
    status, text = show(write(tmp_path, COUNTING))
    assert status == 1
    assert "AssertionError: the gradient of a program on integers is not refused" in row_of(text, "counting")


def test_program_that_cannot_be_loaded(tmp_path):
    """The others are shown all the same."""
    broken = replaced(COUNTING, func_name="nothing")
    status, text = show(write(tmp_path, broken))
    assert status == 1
    assert "AttributeError" in row_of(text, "counting")
    root = write(tmp_path / "other", COUNTING)
    (root / "npbench/benchmarks/counting/counting_numpy.py").unlink()
    assert "FileNotFoundError" in row_of(show(root)[1], "counting")


@pytest.mark.parametrize("options", [["-b", "gemm"], ["-p", "M"], ["-p", "test"]])
def test_bad_options(tmp_path, options, capsys):
    with pytest.raises(SystemExit):
        show(write(tmp_path, COUNTING), *options)
    assert "error:" in capsys.readouterr().err


def test_no_checkout(tmp_path, capsys):
    with pytest.raises(SystemExit):
        show(tmp_path)
    assert f"no checkout of NPBench in {tmp_path}" in capsys.readouterr().err


def test_small_is_for_checkouts(capsys):
    assert npbench_suite.names()
    with pytest.raises(SystemExit):
        demo.main(["--small"])
    assert "--small needs --npbench" in capsys.readouterr().err

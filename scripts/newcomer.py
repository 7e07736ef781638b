"""Walks the path of somebody who has just heard of sdfgad: installs the wheel, and runs first programs.

The source distribution and the wheel are built from the checkout, and have what they should have and nothing else. The
wheel is installed into an empty environment, with what it needs from PyPI. Then the README's examples and the programs
in scripts/first_programs run in an empty folder, without any setting and with an empty cache. They must say what they
should, warn of nothing and leave no files there. The exit status is 1 if any step fails.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "scripts" / "first_programs"
README = (ROOT / "README.md").read_text()
# What a checkout, an activated environment or a developer's shell sets and a newcomer's does not.
SETTINGS = ("PYTHON", "VIRTUAL_ENV", "SDFGAD_", "DACE_", "XDG_", "OMP_", "OPENBLAS_NUM_THREADS")
# Of a source distribution, besides the package.
SOURCES = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
# What is appended to the README's example: values are those of NumPy, gradients those of finite differences.
CHECK = """
print(value, du @ u, da @ a)
np.testing.assert_allclose(value, heat(1000, u.copy(), a), rtol=1e-12)
difference = (heat(1000, (1 + 1e-4) * u, a) - heat(1000, (1 - 1e-4) * u, a)) / 2e-4
np.testing.assert_allclose(du @ u, difference, rtol=1e-8)
difference = (heat(1000, u.copy(), (1 + 1e-4) * a) - heat(1000, u.copy(), (1 - 1e-4) * a)) / 2e-4
np.testing.assert_allclose(da @ a, difference, rtol=1e-6)
"""
VERSIONS = """
import sys, sdfgad
from importlib.metadata import version
assert sdfgad.__file__.startswith(sys.prefix), sdfgad.__file__
assert version("sdfgad") == sdfgad.__version__
print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in ("sdfgad", "dace", "numpy", "scipy")))
"""


class Failed(Exception):
    """A step did not do what it should."""


@contextmanager
def step(title: str) -> Iterator[None]:
    """Says what is done, and how long it took."""
    print(title, flush=True)
    start = time.perf_counter()
    yield
    print(f"  done in {time.perf_counter() - start:.1f} s", flush=True)


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)


def settings() -> dict[str, str]:
    """The environment variables that are left of this process's; no program of its Python is on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    own = {Path(sys.executable).parent, Path(sys.prefix, "bin").resolve()}
    folders = [folder for folder in kept.get("PATH", "").split(os.pathsep) if Path(folder).resolve() not in own]
    return kept | {"PATH": os.pathsep.join(folder for folder in folders if Path(folder) not in own)}


def run(command: Sequence[str | Path], folder: Path, env: Mapping[str, str], status: int = 0) -> tuple[str, str]:
    """What a command prints, and what it prints as errors.

    Raises:
        Failed: it cannot be started, or its exit status is another.
    """
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Failed(str(error)) from error
    said = f"{shlex.join(map(str, command))} ended with status {done.returncode}:\n{done.stdout}{done.stderr}"
    require(done.returncode == status, said)
    return done.stdout, done.stderr


# --- what is installed


def build(folder: Path) -> Path:
    """Builds the source distribution, and from it the wheel, whose path is returned."""
    # In a copy, as setuptools remembers in *.egg-info what it packed before.
    left_out = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "build", "dist")
    checkout = shutil.copytree(ROOT, folder / "checkout", ignore=left_out)
    run([sys.executable, "-m", "build", "--outdir", folder, checkout], folder, settings())
    (sources,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(sources) as file:
        check_contents({entry.name.partition("/")[2] for entry in file if entry.isfile()}, ".egg-info/", SOURCES)
    with zipfile.ZipFile(wheel) as file:
        check_contents(set(file.namelist()), ".dist-info/", set())
    return wheel


def check_contents(found: set[str], metadata: str, others: set[str]) -> None:
    """A distribution has the files of the package, those named, and metadata.

    Raises:
        Failed: it has not.
    """
    files = [file for file in (ROOT / "sdfgad").rglob("*") if file.suffix in (".py", ".h", ".cpp", ".typed")]
    # The standard library's headers for kernels have no suffix.
    files += (ROOT / "sdfgad" / "targets" / "gpu" / "include" / "std").iterdir()
    wanted = others | {str(file.relative_to(ROOT)) for file in files}
    found = {name for name in found if metadata not in name}
    require(found == wanted, f"missing: {sorted(wanted - found)}; not wanted: {sorted(found - wanted)}")


def install(python: str, wheel: Path, folder: Path) -> Path:
    """Makes an environment with the wheel and SciPy, and returns its Python."""
    run([python, "-m", "venv", folder / "venv"], folder, settings())
    installed = folder / "venv" / "bin" / "python"
    run([installed, "-m", "pip", "install", "--disable-pip-version-check", f"{wheel}[scipy]"], folder, settings())
    return installed


# --- what is run


@dataclass(frozen=True)
class Newcomer:
    """Somebody with an installed sdfgad.

    Attributes:
        python: the Python of the environment, which is not activated.
        folder: where programs are written and run.
        env: the environment variables.
    """

    python: Path
    folder: Path
    env: dict[str, str]

    def program(self, name: str, text: str) -> None:
        """Writes a program, runs it and shows what it prints; it must have no warnings."""
        (self.folder / name).write_text(text)
        self.runs(name)

    def runs(self, *arguments: str) -> str:
        printed, errors = run([self.python, *arguments], self.folder, self.env)
        require(not errors, f"{shlex.join(arguments)} warns:\n{errors}")
        print("".join(f"  | {line}\n" for line in printed.splitlines()), end="")
        return printed

    def is_told(self, name: str, *wanted: str, **env: str) -> None:
        """A program ends with an error, whose text has what is wanted."""
        _, errors = run([self.python, name], self.folder, self.env | env, status=1)
        message = errors[errors.rindex("\nsdfgad.") + 1 :] if "\nsdfgad." in errors else errors
        print("".join(f"  | {line}\n" for line in message.splitlines()), end="")
        for text in wanted:
            require(text in message, f"{name} does not say `{text}`, but:\n{errors}")


def readme(newcomer: Newcomer) -> None:
    with step("the README's first example, which becomes heat.py"):
        example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
        require(example is not None, "README.md has no example")
        newcomer.program("heat.py", example[1] + CHECK)
    with step("the README's `python -m sdfgad explain`"):
        command = re.search(r"```console\n\$ python (-m sdfgad explain .*?)\n(.*?)```", README, re.DOTALL)
        require(command is not None, "README.md has no command")
        # The example in heat.py prints a line when explain imports it.
        require(newcomer.runs(*shlex.split(command[1])).endswith(command[2]), f"README.md shows:\n{command[2]}")


def programs(newcomer: Newcomer) -> None:
    for title, name in (("a fit with SciPy", "fit.py"), ("a memory limit", "limit.py")):
        with step(title):
            newcomer.program(name, (PROGRAMS / name).read_text())


def commands(newcomer: Newcomer) -> None:
    args = "4, np.linspace(0, 1, 9) ** 2, np.full(9, 0.1)"
    with step("the command line: check and plan"):
        require("Taylor rate 2.0" in newcomer.runs("-m", "sdfgad", "check", "heat.py:heat", "--args", args), "no rate")
        newcomer.runs("-m", "sdfgad", "plan", "heat.py:heat", "--args", args, "--memory-limit", "1 MiB")
    with step("the command `sdfgad`"):
        printed, _ = run([newcomer.python.with_name("sdfgad"), "info"], newcomer.folder, newcomer.env)
        require("compiler" in printed, f"`sdfgad info` shows:\n{printed}")


def refusals(newcomer: Newcomer) -> None:
    with step("a program that is refused"):
        text, line = (PROGRAMS / "refused.py").read_text(), "while np.sum(x) > 1.0:"
        file = newcomer.folder / "refused.py"
        file.write_text(text)
        number = text[: text.index(line)].count("\n") + 1
        newcomer.is_told("refused.py", f"at {file}:{number}: {line}", "Use an array of one size")
    with step("no compiler"):
        nothing = str(newcomer.folder.parent / "nothing")
        advice = ("no C++ compiler: `g++`", "Install g++", 'pip install "sdfgad[compiler]"')
        newcomer.is_told("heat.py", *advice, PATH=nothing, CXX="g++", SDFGAD_CACHE_DIR=nothing)


def walk(python: str, folder: Path) -> None:
    """All steps, in an empty folder.

    Raises:
        Failed: one of them did not do what it should.
    """
    home, empty, packed = (folder / name for name in ("home", "empty", "packed"))
    for made in (home, empty, packed):
        made.mkdir()
    with step("build the source distribution and the wheel"):
        wheel = build(packed)
    with step(f"install {wheel.name} into an empty environment of {python}"):
        newcomer = Newcomer(install(python, wheel, folder), empty, settings() | {"HOME": str(home)})
        newcomer.runs("-c", VERSIONS)
    for part in (readme, programs, commands, refusals):
        part(newcomer)
    left = {file.name for file in empty.iterdir()} - {"heat.py", "fit.py", "limit.py", "refused.py", "__pycache__"}
    require(not left, f"files were left in the folder: {sorted(left)}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter to install for (default: this one)")
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        try:
            walk(chosen.python, Path(folder).resolve())
        except Failed as failure:
            print(f"FAILED: {failure}", flush=True)
            return 1
    print(f"all steps passed in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

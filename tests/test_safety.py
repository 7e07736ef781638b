"""What SECURITY.md promises of the package's own code."""

import ast
from pathlib import Path

import sdfgad

PACKAGE = Path(sdfgad.__file__).parent
# Calls that run text as code, start a shell, or load data that may be code.
FORBIDDEN = {
    *("eval", "exec", "compile", "__import__"),
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "os.execvp", "os.spawnvp"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.loads", "shelve.open"),
}
# The arguments on the command line are Python, as those of ``python -c`` are. A text that is passed as
# `source`, or comes with a pickled function, is compiled, but not run, to tell whether it is that of a function.
# Fortran is read as functions of NumPy that the package writes, from names, numbers and operators.
ALLOWED = {("command/target.py", "eval"), ("parse/sent_source.py", "compile")}
ALLOWED |= {("fortran/written.py", name) for name in ("compile", "eval", "exec")}
# So are models of ONNX and PyTorch.
ALLOWED |= {("models/program.py", name) for name in ("compile", "eval", "exec")}
# Where other programs are started, and how.
STARTS = {("processes.py", "subprocess.Popen")}


def calls():
    """(file, dotted name of what is called, the call) for each call in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield str(path.relative_to(PACKAGE)), ast.unparse(node.func), node


def test_no_text_is_run_as_code_and_no_pickle_is_loaded():
    found = {(file, name) for file, name, _ in calls() if name in FORBIDDEN}
    assert found == ALLOWED
    # np.load reads no pickles unless it is told to.
    told = [keyword for *_, call in calls() for keyword in call.keywords if keyword.arg == "allow_pickle"]
    assert {ast.unparse(keyword.value) for keyword in told} <= {"False"}
    assert sum(1 for _ in calls()) > 5000


def test_other_programs_are_started_in_one_place_without_a_shell():
    starts = {(file, name) for file, name, _ in calls() if name.startswith("subprocess.") and "Completed" not in name}
    assert starts == STARTS
    ((_, _, call),) = [one for one in calls() if one[:2] in STARTS]
    assert "shell" not in {keyword.arg for keyword in call.keywords}
    imports = [path.name for path in PACKAGE.rglob("*.py") if "import subprocess" in path.read_text()]
    assert imports == ["processes.py"]


def test_commands_are_lists():
    commands = [call.args[0] for file, name, call in calls() if name in ("run", "run_program", "_run") and call.args]
    texts = [one for one in commands if isinstance(one, ast.JoinedStr | ast.Constant | ast.BinOp)]
    assert commands
    assert texts == []

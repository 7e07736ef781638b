"""Exceptions that data raises, in functions and loops, with what they hold, and what catches them."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

EXCEPTIONS = Subject(
    before="""\
class Rejected(Exception):
    def __init__(self, size, why="no reason"):
        super().__init__(why)
        self.size = size


class Diverged(Rejected):
    pass


def checked(a, b):
    if <check>:
        raise <raised>
    return <result>


def outer(a, b):
    try:
        <outer>
    except <kinds>:
        <handled>
    return <result>


def several(a):
    total = 0.0
    for j in range(3):
        if a > 0.2 * j + 0.1:
            raise <raised_a>
        total += a * (j + 1)
    return total""",
    body="<block>\n<caught>\n<statement>\n<block>",
    rules={
        "check": ("a > b", "a > 0.4", "abs(a) > 0.6", "a * b > 0.1", "b < -0.3"),
        "raised": (
            "Rejected(a)",
            "Diverged(a * b)",
            "ValueError('large')",
            "Rejected(b, why='b')",
            "ZeroDivisionError",
            "IndexError('far')",
        ),
        "raised_a": ("Rejected(a)", "Diverged(a * j)", "ValueError(f'{j}')", "KeyError(j)"),
        "result": ("a * b", "a + 0.5 * b", "np.sin(a) - b", "0.3 * a"),
        "outer": (
            "return checked(a, b)",
            "a = checked(a, b) + checked(b, a)",
            "b = several(a)\na = checked(b, a)",
            "if a > b:\n    raise <raised>\na = several(b)",
        ),
        "handled": ("return 0.1 * a", "a = 0.2 * b", "raise", "raise Rejected(a) from None", "b = 0.5"),
        "kinds": (
            "Rejected",
            "Diverged",
            "(Diverged, ValueError)",
            "ArithmeticError",
            "(ValueError, OverflowError)",
            "Exception",
            "ValueError",
            "LookupError",
            "KeyError",
        ),
        "call": ("checked(<leaf>, <leaf>)", "outer(<leaf>, <leaf>)", "several(<leaf>)"),
        "risky": (
            "s = <call>",
            "s += <call> + 0.1 * t",
            "t = <call> * <leaf>\ns = 0.5 * t",
            "u[<place>] = <call>",
            "if <test>:\n    raise Rejected(<leaf>)",
            "if <test>:\n    raise ValueError('bad')",
            "assert <leaf> < 0.8, 'too large'",
            "s = math.sqrt(<num>)",
            "t += math.log(<leaf>) * <leaf>",
            "s = math.acos(<leaf>) if <test> else <leaf>",
            "c /= max(c, 0.0)",
            "s = 1.0 / max(c, 0.0) + c % max(c - 0.3, 0.0)",
            "t = 0.1 if math.exp(400.0 * <leaf>) > 2.0 else <leaf>",
            "v = np.linalg.cholesky(np.outer(x, x) + <leaf> * np.eye(6))\ns = v[1, 0]",
            "s = <call>\nif <test>:\n    raise Diverged(s)",
            "<statement>",
        ),
        "caught": (
            "try:\n    <risky>\nexcept <kinds>:\n    <block>",
            "try:\n    <risky>\n    <risky>\nexcept Rejected as error:\n    s = 0.5 * error.size",
            "try:\n    <risky>\nexcept Diverged as error:\n    t += error.size\nexcept <kinds>:\n    <plain>",
            "try:\n    <risky>\nexcept <kinds>:\n    <plain>\nelse:\n    <plain>",
            "try:\n    <risky>\nexcept <kinds>:\n    <block>\nfinally:\n    <plain>",
            "try:\n    try:\n        <risky>\n    except Diverged:\n        <plain>\n        raise"
            "\nexcept Exception:\n    <plain>",
            "try:\n    <risky>\nexcept Exception as error:\n    if isinstance(error, Rejected):\n"
            "        s += error.size\n    else:\n        t = <num>",
            "try:\n    <risky>\nexcept <kinds>:\n    return s * 2.0",
        ),
        "inside": (
            "try:\n    <risky>\nexcept <kinds>:\n    continue\n<plain>",
            "try:\n    <risky>\nexcept <kinds>:\n    break",
            "try:\n    <risky>\n    break\nexcept Rejected as error:\n    t = 0.5 * error.size",
            "<caught>",
            *RULES["inside"],
        ),
        "statement": (*RULES["nested"], "<caught>", "<caught>", "<plain>"),
    },
)

"""What programs of all subjects share: numbers, tests, places, and the statements of any program.

Names: `x` and `y` are vectors of six among the arguments, `c` a number and `n` a small integer; `s` and `t` are numbers
that the program carries, `u` is an array that it updates, `k` an integer that loops count, and `steps`
ends those that have no end of their own.
"""

from __future__ import annotations

from scripts.fuzzing.case import Argument

LENGTH = 6
ARGUMENTS = {
    "x": Argument("float", (LENGTH,)),
    "y": Argument("float", (LENGTH,)),
    "c": Argument("float"),
    "n": Argument("trips", high=4),
}
# `steps` only grows, so that all loops end.
START = """\
s = 0.3 * x[0]
t = c * y[1]
u = x * 0.5
k, steps = 0, 0"""
END = "return s + 0.5 * t + 0.1 * k + np.sum(u * y)"

RULES: dict[str, tuple[str, ...]] = {
    "const": ("0.1", "0.3", "0.5", "-0.4", "0.7", "1.2", "-0.9"),
    "place": ("0", "1", "2", "3", "-1", "k % 4", "k % 3 + 1"),
    "leaf": ("s", "t", "c", "x[0]", "x[2]", "y[1]", "u[3]", "x[k % 5]", "0.4", "y[-1]"),
    "num": (
        "x[<place>]",
        "y[<place>]",
        "u[<place>]",
        "s",
        "t",
        "c",
        "<const>",
        "<const> * <num>",
        "(<num> + <leaf>)",
        "(<num> - <leaf>)",
        "<leaf> * <leaf>",
        "np.sin(<num>)",
        "math.cos(<num>)",
        "(<num> if <test> else <num>)",
        "abs(<num>)",
        "max(<num>, <leaf>)",
        "np.sum(u)",
        "np.tanh(<num>)",
    ),
    "test": (
        "s > 0.1",
        "x[1] > y[2]",
        "<leaf> > <const>",
        "<num> < <num>",
        "k % 2 == 0",
        "n > 1",
        "<leaf> > <const> and <leaf> < <leaf>",
        "(<leaf> < <const> or <leaf> > <leaf>)",
        "not <leaf> > <const>",
        "-0.5 < <leaf> < 0.6",
    ),
    "plain": (
        "s = <num>",
        "t = <num>",
        "s += <num>",
        "t -= 0.3 * <num>",
        "s, t = t, s",
        "u[<place>] = <num>",
        "u[<place>] += 0.5 * <leaf>",
        "u = u * <const>",
        "u[1:4] *= <const>",
        "k += 1",
        "s = np.tanh(s + <leaf>)",
    ),
    "block": ("<statement>", "<statement>\n<statement>", "<plain>", "<plain>\n<statement>"),
    "inside": ("<statement>", "<statement>\n<statement>", "<plain>\n<leave>", "<statement>\n<leave>\n<plain>"),
    "leave": ("if <test>:\n    break", "if <test>:\n    continue", "<plain>", "<statement>"),
    "trips": ("range(3)", "range(n)", "range(4)", "range(1, n + 1)", "range(len(x))"),
    "nested": (
        "<plain>",
        "if <test>:\n    <block>",
        "if <test>:\n    <block>\nelse:\n    <block>",
        "if <test>:\n    <block>\nelif <test>:\n    <block>\nelse:\n    <plain>",
        "for k in <trips>:\n    <inside>",
        "while steps < 12 and <test>:\n    steps += 1\n    <inside>",
    ),
}

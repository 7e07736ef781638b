"""Scopes: names that branches and loops bind, closures, functions that call themselves, and what loops leave behind."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

NAMES = Subject(
    before="""\
FACTOR = 0.7


def power(a, m):
    if m <= 0:
        return 1.0
    return a * power(<inner>, m - 1)


def combined(*args, scale=0.5, **others):
    total = 0.0
    for one in args:
        total += one * scale
    return total + sum(others.values())


def counter(start):
    total = start

    def add(by):
        nonlocal total
        total = total * 0.5 + by
        return total

    return add""",
    body="""\
add = counter(<leaf>)
a = <leaf>


def local(p, q=<const>):
    return p * q + a * <const>


def bump(p):
    nonlocal s
    s += p
    return s


<statement>
<block>
<statement>
<block>
s += a + local(t) + add(0.1)""",
    rules={
        "inner": ("a", "0.5 * a", "a * FACTOR"),
        "value": (
            "power(<leaf>, 3)",
            "power(<leaf>, n)",
            "combined(<leaf>, <leaf>)",
            "combined(<leaf>, scale=<leaf>, extra=<leaf>)",
            "combined(*x[:3], p=<leaf>)",
            "add(<leaf>)",
            "bump(<leaf>)",
            "local(<leaf>)",
            "local(<leaf>, q=<leaf>)",
            "(lambda z: z * a)(<leaf>)",
            "FACTOR",
            "(a := <leaf>) * 0.5",
        ),
        "statement": (
            "a = <num>",
            "b = <num>\na = b * 0.5",
            "s = <const> * <value>",
            "t += 0.3 * <value>",
            "u[<place>] = <value>",
            "if <test>:\n    b = <num>\nelse:\n    b = <leaf>\na = b",
            "if <test>:\n    b = <leaf>\nif <test>:\n    b = <num>\n    a = b",
            "for k in <trips>:\n    b = x[k]\n    <inside>\nelse:\n    <plain>",
            "b = 0.0\nfor k in <trips>:\n    b = y[k] * <leaf>\n    <leave>\na = b",
            "last = a\nfor v in x:\n    last = v\n    if v > <leaf>:\n        break\nelse:\n    last = 0.3\nt += last",
            "g = lambda z: z * a\na = <leaf>\ns = g(<leaf>)",
            "fs = [lambda z, j=j: z * j for j in range(3)]\ns += fs[<which>](<leaf>)",
            "fs = [lambda z: z * j * 0.1 for j in range(3)]\nt += fs[0](<leaf>)",
            "if (b := <num>) > <const>:\n    a = b",
            "def again(p):\n    return p * a\na = <leaf>\nt = again(<leaf>)",
            "while steps < n + 3:\n    steps += 1\n    a = a * <const> + 0.1\n    <leave>\nelse:\n    <plain>",
            "bump(<leaf>)",
            "*front, b = x[:3]\na = b + front[0]",
            "a = b = <leaf>\nb += 0.2\nt += b",
            *RULES["nested"],
        ),
        "which": ("0", "1", "2"),
    },
)

"""Values that are None until, or unless, data gives them: the best so far, what is not found, what is optional."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

NONE = Subject(
    before="""\
def found(a, b):
    if a > b:
        return None
    return <result>


def first(values, limit):
    for value in values:
        if value > limit:
            return value
    return None


def pair(a, b):
    if a < 0.0:
        return None, b
    if b < 0.0:
        return a, None
    return a, b


def scaled(a, by=None):
    if by is None:
        by = 0.5 * a
    return a * by""",
    body="""\
best = None
last = <start>
known = [None, <leaf>, <start>]
table = {0: None, 1: <leaf>}
<statement>
<block>
<statement>
<block>
if best is not None:
    s += best
if last is not None:
    t += 0.5 * last
for one in known:
    s += 0.0 if one is None else 0.2 * one""",
    rules={
        "result": ("a * b", "a - 0.5 * b", "np.cos(a)"),
        "maybe": (
            "None",
            "<leaf>",
            "found(<leaf>, <leaf>)",
            "first(x, <leaf>)",
            "(<num> if <test> else None)",
            "(None if <test> else <leaf>)",
            "best",
            "last",
            "known[<index>]",
            "table.get(<index>)",
            "next((v for v in y if v > <const>), None)",
            "max((v for v in x if v > <const>), default=None)",
            "pair(<leaf>, <leaf>)[0]",
        ),
        "start": ("None", "found(<leaf>, <leaf>)", "first(x, <leaf>)", "(<leaf> if <test> else None)"),
        "index": ("0", "1", "2", "k % 3"),
        "slot": ("0", "1", "k % 2"),
        "name": ("best", "last"),
        "isnone": (
            "<name> is None",
            "<name> is not None",
            "known[<index>] is None",
            "best is None or best > <leaf>",
            "last is not None and last < <leaf>",
            "table[<slot>] is not None",
            "None in (best, last)",
            "all(one is not None for one in known)",
        ),
        "statement": (
            "<name> = <maybe>",
            "<name> = <maybe>",
            "known[<index>] = <maybe>",
            "table[<slot>] = <maybe>",
            "if <isnone>:\n    <block>",
            "if <isnone>:\n    <name> = <leaf>\nelse:\n    <plain>",
            "if best is None:\n    best = <num>\nelif best < <leaf>:\n    best = best * 0.5 + 0.1",
            "if best is None or <leaf> < best:\n    best = <leaf>",
            "if last is not None:\n    s += last",
            "s = scaled(<leaf>, <maybe>)",
            "s = <leaf> if best is None else best",
            "best, last = last, best",
            "best, last = pair(<leaf>, <leaf>)",
            "for k in <trips>:\n    if best is None or x[k] > best:\n        best = x[k]\n        last = y[k]",
            "for v in x:\n    if v > <leaf>:\n        best = v\n        <leave>",
            "for one in known:\n    if one is None:\n        continue\n    t += one",
            "s += sum(one for one in known if one is not None)",
            *RULES["nested"],
        ),
        "leave": ("break", "continue", "<plain>", "last = v if <test> else None"),
        "inside": (
            "<statement>\n<statement>",
            "<statement>",
            "if <isnone>:\n    break\n<plain>",
            "if <test>:\n    continue\n<statement>",
        ),
    },
)

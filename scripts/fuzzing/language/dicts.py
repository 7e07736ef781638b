"""Dicts of whose keys data decides."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

DICTS = Subject(
    before="""\
from collections import Counter, defaultdict


def noted(cache, key, a):
    if key not in cache:
        cache[key] = <result>
    return cache[key]""",
    body="""\
d = {0: <leaf>, 1: <leaf>}
e = {}
groups = defaultdict(list)
totals = defaultdict(float)
<statement>
<block>
<statement>
<block>
s += sum(d.get(j, 0.1) for j in range(5))
t += 0.2 * e.get((1, 2), <leaf>) + 0.1 * len(d) + totals[1] + sum(groups[0])""",
    rules={
        "result": ("a * a", "0.5 * a", "np.sin(a)"),
        "key": ("0", "1", "2", "3", "k % 4", "int(<leaf> > 0.2)", "(2 if <test> else 3)"),
        "couple": ("(1, 2)", "(0, k % 3)", "('a', k % 2)", "'name'", "(int(<leaf> > 0), 2)"),
        "value": (
            "d.get(<key>, <leaf>)",
            "e.get(<couple>, <const>)",
            "d.setdefault(<key>, <leaf>)",
            "d.pop(<key>, <const>)",
            "noted(e, <couple>, <leaf>)",
            "noted(d, <key>, <leaf>)",
            "totals[<key>]",
            "len(d)",
            "len(groups[<key>])",
            "(d[<key>] if <key> in d else <leaf>)",
            "sum(groups[<key>])",
        ),
        "statement": (
            "d[<key>] = <num>",
            "d[<key>] = <num>",
            "e[<couple>] = <num>",
            "totals[<key>] += <leaf>",
            "groups[<key>].append(<leaf>)",
            "s = <const> * <value>",
            "t += 0.3 * <value>",
            "if <key> in d:\n    <block>",
            "if <couple> not in e:\n    e[<couple>] = <leaf>",
            "if <key> in d:\n    del d[<key>]",
            "e.pop(<couple>, None)",
            "d.update({<key>: <leaf>})",
            "if <key> in d:\n    d[<key>] *= <const>",
            "d = dict(d)",
            "f = d.copy()\nf[<key>] = <leaf>\ns += f.get(<key>, 0.2)",
            "for k in <trips>:\n    d[k] = d.get(k, 0.0) + x[k]",
            "for k in <trips>:\n    if x[k] > <leaf>:\n        totals[k % 2] += x[k]\n"
            "    else:\n        groups[k % 2].append(y[k])",
            *RULES["nested"],
        ),
    },
)

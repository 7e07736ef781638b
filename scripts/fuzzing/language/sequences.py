"""Lists, tuples, deques, generators and comprehensions, whose lengths data may decide."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

SEQUENCES = Subject(
    before="""\
from collections import deque
from itertools import accumulate, pairwise


def running(values):
    total = 0.0
    for value in values:
        total += <weight> * value
        yield total


def chosen(values, limit):
    for j, value in enumerate(values):
        if value > limit:
            yield j, value


def split(values):
    low = [v for v in values if v < 0.0]
    high = [v for v in values if v >= 0.0]
    return low, high""",
    body="""\
a = [<leaf>, <leaf>, <leaf>]
b = [v for v in x if v > <const>]
pairs = [(x[j], y[j]) for j in range(4)]
queue = deque([<leaf>, <leaf>], maxlen=3)
<statement>
<block>
<statement>
<block>
s += sum(a) + 0.5 * sum(b) + 0.1 * len(b) + queue[-1]
for p, q in pairs:
    t += p * q""",
    rules={
        "weight": ("0.5", "value", "(1.0 - 0.1 * total)"),
        "index": ("0", "1", "-1", "2", "k % 3"),
        "value": (
            "sum(a)",
            "a[<index>]",
            "sum(b)",
            "len(b)",
            "max(a)",
            "min(a, key=abs)",
            "sum(v * v for v in b)",
            "sum(running(a))",
            "sum(running(b))",
            "sum(v for _, v in chosen(x, <const>))",
            "sorted(a)[1]",
            "sorted(pairs)[0][1]",
            "max(pairs, key=lambda p: p[1])[0]",
            "queue[0]",
            "sum(queue)",
            "(b[0] if b else <leaf>)",
            "(b[-1] if len(b) > 1 else 0.2)",
            "sum(p * q for p, q in zip(a, running(x)))",
            "sum(v for v in a if v > <leaf>)",
            "float(any(v > <const> for v in a))",
            "len(split(a)[0])",
            "sum(split(b)[1])",
            "list(accumulate(a))[-1]",
            "sum(q - p for p, q in pairwise(a))",
            "np.mean(a)",
            "np.array(a) @ np.array(a)",
            "sum([j * v for j, v in enumerate(b)])",
            "a.index(max(a))",
        ),
        "statement": (
            "a[<index>] = <num>",
            "a.append(<num>)\ndel a[0]",
            "a = a[1:] + [<leaf>]",
            "a.insert(1, <leaf>)\na.pop()",
            "b.append(<leaf>)",
            "if b:\n    b.pop()",
            "if len(b) > 2:\n    <block>",
            "b = [v * <const> for v in b if v < <const>]",
            "b += [<leaf>]",
            "queue.append(<leaf>)",
            "queue.appendleft(<leaf>)",
            "s = <const> * <value>",
            "t += 0.3 * <value>",
            "u[<place>] = <value>",
            "a.sort()",
            "a.reverse()",
            "a = sorted(a, key=lambda v: -v)",
            "pairs[1] = (<leaf>, <leaf>)",
            "pairs.sort(key=lambda p: p[0])",
            "head, *rest = a\ns += head - rest[-1]",
            "for v in a:\n    s += <const> * v",
            "for v in list(b):\n    t += v\n    <leave>",
            "for j, v in chosen(y, <const>):\n    u[j] += v",
            "for p, q in zip(a, reversed(a)):\n    s += p * q * 0.3",
            "for v in running(a):\n    if v > <const>:\n        break\n    t += v",
            "for k in <trips>:\n    if x[k] > <leaf>:\n        b.append(x[k] * <leaf>)",
            "low, high = split(a)\nif len(low) > len(high):\n    <block>",
            "while b and <leaf> < 0.9:\n    s += 0.2 * b.pop()",
            *RULES["nested"],
        ),
    },
)

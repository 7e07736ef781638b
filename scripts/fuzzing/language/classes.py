"""Objects of several classes: which one is at hand, and what it holds, is decided by data."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

CLASSES = Subject(
    before="""\
from dataclasses import dataclass, field, replace


class Shape:
    sides = 4

    def __init__(self, size):
        self.size = size
        self.count = 0

    def area(self):
        return self.size * self.size

    def grow(self, by):
        self.size = self.size + <by>
        self.count += 1
        return self

    @property
    def half(self):
        return 0.5 * self.size

    def __lt__(self, other):
        return self.area() < other.area()

    def __add__(self, other):
        return Shape(self.size + other.size)

    def __call__(self, a):
        return a * self.size


class Circle(Shape):
    sides = 0

    def __init__(self, size, weight=0.5):
        super().__init__(size)
        self.weight = weight

    def area(self):
        return 3.1 * super().area() * <factor>

    @property
    def half(self):
        return 0.25 * self.size + self.weight


class Ring(Circle):
    def grow(self, by):
        self.weight = self.weight * 0.5 + by
        return super().grow(0.5 * by)


@dataclass
class Point:
    a: float
    b: float = 0.2
    trail: list = field(default_factory=list)

    def moved(self, by):
        return Point(self.a + by, self.b)

    def move(self, by):
        self.a += by
        self.trail.append(self.a)

    @staticmethod
    def between(p, q):
        return Point(0.5 * (p.a + q.a), 0.5 * (p.b + q.b))


def larger(p, q):
    if p.size > q.size:
        return p
    return q


def made(a):
    if a > 0.2:
        return Circle(a)
    if a < -0.3:
        return Ring(a, 0.3)
    return Shape(a)""",
    body="""\
o = <new>
p = <new>
q = Point(<leaf>)
shapes = [o, p, <new>]
<statement>
<block>
<statement>
<block>
s += o.size + p.area() + q.a * q.b""",
    rules={
        "by": ("by", "0.5 * by", "by * self.size"),
        "factor": ("self.weight", "0.4", "(1.0 + self.weight)"),
        "new": (
            "Shape(<leaf>)",
            "Circle(<leaf>)",
            "Ring(<leaf>, <const>)",
            "made(<leaf>)",
            "Circle(<leaf>, weight=<leaf>)",
        ),
        "object": ("o", "p", "shapes[<index>]", "shapes[-1]"),
        "index": ("0", "1", "2", "k % 3"),
        "value": (
            "<object>.area()",
            "<object>.size",
            "<object>.half",
            "<object>.count",
            "<object>.sides",
            "<object>(<leaf>)",
            "larger(o, p).area()",
            "(o + p).size",
            "max(shapes, key=lambda one: one.size).half",
            "min(shapes).size",
            "sum(one.area() for one in shapes)",
            "q.a",
            "q.b",
            "q.moved(<leaf>).a",
            "sum(q.trail)",
            "len(q.trail)",
            "made(<leaf>).area()",
            "(o if <test> else p).half",
            "getattr(<object>, 'size')",
            "sorted(shapes, key=lambda one: one.area())[0].size",
        ),
        "change": (
            "<object>.grow(<leaf>)",
            "<object>.size = <num>",
            "<object>.size *= <const>",
            "o = larger(o, p)",
            "o, p = p, o",
            "o = p",
            "p = <new>",
            "o = o if <test> else p",
            "o = shapes[<index>]",
            "shapes[<index>] = <object>",
            "shapes[0], shapes[1] = shapes[1], shapes[0]",
            "q.move(<leaf>)",
            "q = q.moved(<leaf>)",
            "q = Point.between(q, Point(<leaf>))",
            "q = replace(q, b=<leaf>)",
            "r = q\nr.a = <num>",
            "o = made(<num>)",
            "o.grow(0.1).grow(<leaf>)",
            "p = o + p",
        ),
        "statement": (
            "<change>",
            "<change>",
            "s = <const> * <value>",
            "t += 0.3 * <value>",
            "u[<place>] = <value>",
            "if isinstance(o, Circle):\n    <block>\nelse:\n    <plain>",
            "if isinstance(<object>, Ring):\n    <change>",
            "if <object> is <object>:\n    <block>",
            "if o < p:\n    <block>",
            "for one in shapes:\n    one.grow(<leaf>)",
            "for one in shapes:\n    if isinstance(one, Circle):\n        s += one.weight\n    t += 0.1 * one.area()",
            "for one in shapes:\n    if one.size > <leaf>:\n        o = one\n        break",
            "if hasattr(o, 'weight'):\n    s += o.weight",
            *RULES["nested"],
        ),
    },
)

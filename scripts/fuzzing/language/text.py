"""Strings, enumerations, matches and functions that are chosen by name, where data decides."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

TEXT = Subject(
    before="""\
from enum import Enum, IntEnum


class Phase(Enum):
    SOLID = "s"
    LIQUID = "l"
    GAS = "g"


class Level(IntEnum):
    LOW = 1
    HIGH = 3


def phase_of(a):
    if a < -0.2:
        return Phase.SOLID
    return Phase.LIQUID if a < 0.4 else Phase.GAS


def level_of(a):
    return Level.HIGH if a > 0.1 else Level.LOW


def name_of(a, b):
    if a > b:
        return "first"
    if a < -0.4:
        return "second"
    return <label>


FUNCTIONS = {"first": lambda a: 0.5 * a, "second": np.sin, "third": lambda a: a * a, "fourth": math.cos}
WEIGHTS = {Phase.SOLID: 0.3, Phase.LIQUID: 0.6, Phase.GAS: -0.4}""",
    body="""\
mode = name_of(<leaf>, <leaf>)
phase = phase_of(<leaf>)
level = level_of(<leaf>)
word = "a"
<statement>
<block>
<statement>
<block>
s += FUNCTIONS[mode](c) + WEIGHTS[phase] + 0.1 * level + 0.05 * len(word)""",
    rules={
        "label": ("'first'", "'second'", "'third'", "'fourth'"),
        "phase": ("Phase.SOLID", "Phase.LIQUID", "Phase.GAS"),
        "value": (
            "FUNCTIONS[mode](<leaf>)",
            "WEIGHTS[phase]",
            "WEIGHTS[phase_of(<leaf>)]",
            "FUNCTIONS[name_of(<leaf>, <leaf>)](<leaf>)",
            "level * <leaf>",
            "level_of(<leaf>).value",
            "float(mode == <label>)",
            "len(mode)",
            "len(word)",
            "{'s': 0.2, 'l': 0.5, 'g': 0.7}[phase.value]",
            "(<leaf> if phase is <phase> else <num>)",
            "list(Phase).index(phase)",
            "(0.3 if mode.startswith('f') else <leaf>)",
            "word.count('a')",
        ),
        "decides": (
            "mode == <label>",
            "mode != <label>",
            "mode in ('first', 'third')",
            "phase is <phase>",
            "phase == <phase>",
            "phase in (Phase.SOLID, Phase.GAS)",
            "level == Level.HIGH",
            "level > 1",
            "word.endswith('b')",
            "'ab' in word",
            "mode == 'first' and <test>",
        ),
        "statement": (
            "mode = <label>",
            "mode = name_of(<leaf>, <leaf>)",
            "mode = <label> if <test> else mode",
            "phase = <phase>",
            "phase = phase_of(<num>)",
            "phase = <phase> if <test> else phase",
            "level = level_of(<leaf>)",
            "word = word + ('a' if <test> else 'b')",
            "word += 'b'",
            "s = <const> * <value>",
            "t += 0.3 * <value>",
            "u[<place>] = <value>",
            "if <decides>:\n    <block>\nelse:\n    <block>",
            "if <decides>:\n    <block>",
            "while mode == 'first' and steps < 9:\n    steps += 1\n    s *= 0.5\n    mode = name_of(s, <const>)",
            "match mode:\n    case 'first':\n        <block>\n    case 'second' | 'third':\n        <plain>"
            "\n    case _:\n        <plain>",
            "match phase:\n    case Phase.SOLID:\n        <plain>\n    case Phase.GAS:\n        <block>",
            "f = FUNCTIONS[mode]\ns = f(s) + 0.1",
            "f = np.sin if <test> else np.cos\nt = f(<leaf>)",
            *RULES["nested"],
        ),
    },
)

"""Allocation in the generated C++: arrays begin late and end early, not at the start and end of the function.

DaCe allocates all arrays at once. The lowering puts a comment with a number into a tasklet of each statement before
which an array begins or ends, and a line of text that says what each number stands for: neither costs DaCe anything.
In the generated text the block around a comment then gets allocations and releases before it, and DaCe's own ones go.
What is left at the end, and all that is there where memory runs out, is released by a destructor.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sdfgad.errors import CompilerError

TABLE = "// sdfgad memory: "
MARK = "// sdfgad block "
# What DaCe writes for an array, each a line.
KINDS = ("made", "released")
LINE = re.compile(
    r" *(?:(?P<made>\w+) = dace::aligned_new_array<(?P<type>[^>]+)>\((?P<size>.*), 64\)"
    r"|dace::aligned_delete_array\((?P<released>\w+), 64\));"
)


@dataclass
class Change:
    """The arrays that end, and those that begin, at one place of a program."""

    ends: list[str] = field(default_factory=list)
    begins: list[str] = field(default_factory=list)


class Schedule:
    """Marks the statements of a program before which arrays end or begin.

    Args:
        lifetimes: the positions of the first and the last statement of each array.
    """

    def __init__(self, lifetimes: Mapping[str, tuple[int, int]]) -> None:
        self.due: dict[int, Change] = {}
        for name, (first, last) in lifetimes.items():
            self.due.setdefault(first, Change()).begins.append(name)
            self.due.setdefault(last + 1, Change()).ends.append(name)
        self.marked: list[Change] = []
        self.pending: Change | None = None

    def enter(self, position: int) -> None:
        """The statement at a position comes next. One that has no tasklet leaves its ends to a later one."""
        if position in self.due:
            change = self.due.pop(position)
            self.pending = Change([*(self.pending.ends if self.pending else ()), *change.ends], change.begins)

    def mark(self, code: str) -> str:
        """The code of the next tasklet, with a mark if it is the first one of a statement that needs one."""
        if self.pending is None:
            return code
        self.marked.append(self.pending)
        self.pending = None
        return f"{MARK}{len(self.marked) - 1}\n{code}"

    def table(self) -> str:
        """The line of C++ that tells `manage` about the marks."""
        return f"{TABLE}{json.dumps([(change.ends, change.begins) for change in self.marked])}\n"


def manage(text: str, name: str) -> str:
    """The generated code of the program `name`, with arrays that live as long as they are mentioned.

    Its entry point returns 1 where there was not enough memory, and 2 where one of the program's bounds was too small,
    and has then released everything.

    Raises:
        CompilerError: the code is not of the form that DaCe is known to generate for a lowered program.
    """
    return _Text(text).managed(name)


@dataclass(frozen=True)
class _Array:
    name: str
    number: int
    type: str
    size: str

    @property
    def allocation(self) -> str:
        size = re.sub(r"\bMax\(", "sdfgad::memory::largest(", self.size)
        return f"{self.name} = __blocks.allocate<{self.type}>({self.number}, {size});"

    @property
    def release(self) -> str:
        return f"__blocks.release({self.number});"


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text
        self.marked = [Change(*lists) for lists in json.loads(self._one(rf"^{re.escape(TABLE)}(.*)$")[1])]
        self.names = {name for change in self.marked for name in change.begins}
        self.arrays: dict[str, _Array] = {}
        self.seen: Counter[tuple[str, str]] = Counter()

    def managed(self, name: str) -> str:
        self._move()
        expected = Counter((kind, array) for array in self.names for kind in KINDS)
        expected.update(("block", str(number)) for number in range(len(self.marked)))
        if self.seen != expected:
            places = sorted((self.seen - expected) + (expected - self.seen))
            raise _unknown(f"missing, or there more than once: {places}")
        if self.arrays:
            start = self._one(rf"^void __program_{name}_internal\(.*\)\n\{{$").end()
            self.text = f"{self.text[:start]}\n    sdfgad::Blocks<{len(self.arrays)}> __blocks;{self.text[start:]}"
        self._report(name)
        for left in ("dace::aligned_new_array", "dace::aligned_delete_array", MARK):
            if left in self.text:
                raise _unknown(f"`{left}` is left over")
        return self.text

    def _move(self) -> None:
        """The changes before the blocks with their marks, and nothing of what DaCe says of an array."""
        lines: list[str] = []
        block = 0
        for line in self.text.splitlines():
            if line[:4] == "    " and line[4:5] not in (" ", "}", ""):
                block = len(lines)
            if MARK in line:
                self._insert(lines, block, line)
            elif not self._is_of_array(line):
                lines.append(line)
        self.text = "\n".join(lines) + "\n"

    def _insert(self, lines: list[str], block: int, mark: str) -> None:
        """What a mark stands for, before the block of the program's body that it is in."""
        number = mark.strip().removeprefix(MARK)
        is_known = number.isdecimal() and int(number) < len(self.marked)
        is_inside = mark.startswith(" " * 8) and lines[block].endswith("{")
        if not is_known or not is_inside:
            raise _unknown(f"`{mark.strip()}` is no mark in a block")
        self.seen["block", number] += 1
        change = self.marked[int(number)]
        made = [self._array(name).release for name in change.ends]
        made += [self._array(name).allocation for name in change.begins]
        lines[block:block] = [f"    {line}" for line in made]

    def _is_of_array(self, line: str) -> bool:
        found = LINE.fullmatch(line)
        if found is None:
            return False
        kind, name = next((kind, found[kind]) for kind in KINDS if found[kind])
        if name not in self.names:
            return False
        self.seen[kind, name] += 1
        if kind == "made":
            self.arrays[name] = _Array(name, len(self.arrays), found["type"], found["size"])
        return True

    def _array(self, name: str) -> _Array:
        if name not in self.arrays:
            raise _unknown(f"`{name}` is not allocated at the start")
        return self.arrays[name]

    def _report(self, name: str) -> None:
        """The entry point says whether there was enough memory."""
        self._put(rf"^DACE_EXPORTED void (?=__program_{name}\()", "DACE_EXPORTED int ")
        call = rf"^ *__program_{name}_internal\([^;{{]*\);$"
        handler = "    } catch (const std::bad_alloc&) {\n        return 1;\n"
        handler += "    } catch (const sdfgad::memory::NoRoom&) {\n        return 2;\n    }\n    return 0;"
        self._put(call, f"    try {{\n{self._one(call)[0]}\n{handler}")

    # --- patterns that occur exactly once

    def _one(self, pattern: str) -> re.Match[str]:
        found = list(re.finditer(pattern, self.text, re.MULTILINE))
        if len(found) != 1:
            raise _unknown(f"{len(found)} places match `{pattern}`, and not one")
        return found[0]

    def _put(self, pattern: str, new: str) -> None:
        found = self._one(pattern)
        self.text = self.text[: found.start()] + new + self.text[found.end() :]


def _unknown(what: str) -> CompilerError:
    return CompilerError(f"the code that DaCe generated has an unknown form: {what}")

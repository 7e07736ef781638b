"""One library for many sizes: from the third size on, programs that differ in numbers alone share compiled code.

The numbers of each program are recorded under its C++ without them. The first two are compiled as they are; the third
is compiled as a template (`sdfgad.runtime.template`), of which later ones, and it itself, are instances.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from sdfgad.cache import build_folder, build_lock, find, key_of, publish, read, write
from sdfgad.options import Shapes
from sdfgad.runtime.build import Library, Source, compile_source, is_compiled, library_name
from sdfgad.runtime.compiler import Level, toolchain
from sdfgad.runtime.template import Skeleton, Template, bound, split

# How many programs that are no instances of a template are needed for one.
SAMPLES = {"auto": 3, "any": 2}


@dataclass(frozen=True)
class Sharing:
    """Whether a program may run code that other sizes share.

    Attributes:
        shapes: "exact": no; "auto": from the third size on; "any": from the second, or from the first if `others` shows
            which of its numbers depend on sizes.
        others: with "any" the C++ of the program at other sizes, evaluated if necessary.
    """

    shapes: Shapes = "auto"
    others: Callable[[], Iterable[Source]] = tuple


AUTO = Sharing()


@dataclass
class Record:
    """The programs with one skeleton.

    Attributes:
        samples: the numbers of those that were no instances of a template when they were compiled.
        templates: for each template, how many of the samples it is computed from: the first so many.
    """

    samples: list[tuple[str, ...]] = field(default_factory=list)
    templates: list[int] = field(default_factory=list)

    @staticmethod
    def read(name: str) -> Record:
        text = read(name)
        found = json.loads(text) if text is not None else {"samples": [], "templates": []}
        return Record([tuple(sample.split()) for sample in found["samples"]], found["templates"])

    def write(self, name: str) -> None:
        samples = [" ".join(sample) for sample in self.samples]
        write(name, json.dumps({"samples": samples, "templates": self.templates}).encode())

    def template_for(self, skeleton: Skeleton, numbers: tuple[str, ...], sharing: Sharing) -> Template | None:
        """A template of which these numbers are an instance: one of the record, or a new one if samples suffice."""
        for count in self.templates:
            template = Template.of(skeleton, self.samples[:count])
            if template.match(numbers) is not None:
                return template
        self._add(numbers)
        if self._lacks(sharing) == 1:
            self._add_first_other(skeleton, sharing)
        if self._lacks(sharing) > 0:
            return None
        self.templates.append(len(self.samples))
        return Template.of(skeleton, self.samples)

    def _lacks(self, sharing: Sharing) -> int:
        """How many samples are missing for a new template."""
        return SAMPLES[sharing.shapes] - (len(self.samples) - max(self.templates, default=0))

    def _add(self, numbers: tuple[str, ...]) -> None:
        if numbers not in self.samples:
            self.samples.append(numbers)

    def _add_first_other(self, skeleton: Skeleton, sharing: Sharing) -> None:
        """Add the first program of another size that has this skeleton."""
        for source in sharing.others():
            other, numbers = split(source.code)
            if other == skeleton:
                self._add(numbers)
                return


def compile_for(source: Source, with_plain: bool, sharing: Sharing) -> Library:
    """Compile C++, or find its library, or an instance of a template's, in the cache.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    if sharing.shapes == "exact" or is_compiled(source, with_plain):
        return compile_source(source, with_plain)
    skeleton, numbers = split(source.code)
    name = f"skeletons/{key_of([*skeleton.parts, toolchain(), *source.options, *source.separate])}"
    with build_lock(name):
        record = Record.read(name)
        template = record.template_for(skeleton, numbers, sharing)
        library = compile_source(source, with_plain) if template is None else _instance(source, template, with_plain)
        record.write(name)
    return library


def _instance(source: Source, template: Template, with_plain: bool) -> Library:
    """The library of a template, which is compiled if necessary, with the constants of a program."""
    constants = template.match(split(source.code)[1])
    assert constants is not None
    general = compile_source(replace(source, code=template.code), with_plain)
    key = key_of([general.key, *constants])
    levels = {Level.OPTIMISED: general.path} | ({Level.PLAIN: general.plain} if general.plain is not None else {})
    paths = {level: _bound(library_name(key, level), path, constants) for level, path in levels.items()}
    return Library(paths[Level.OPTIMISED], source.name, source.arguments, paths.get(Level.PLAIN))


def _bound(name: str, general: Path, constants: tuple[str, ...]) -> Path:
    found = find(name)
    if found is not None:
        return found
    with build_folder() as folder:
        file = folder / general.name
        file.write_bytes(bound(general.read_bytes(), constants))
        return publish(name, file)

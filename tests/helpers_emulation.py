"""Programs for the emulated device, many of them in one library, each with a fault of its own."""

import re
from dataclasses import dataclass, field, replace

import numpy as np

import sdfgad
from sdfgad.ir.program import Program
from sdfgad.runtime.build import Library, Source, compile_source
from sdfgad.runtime.compile import source_of
from sdfgad.runtime.gpu import executable
from sdfgad.targets.gpu.environment import INCLUDE

SYMBOLS = re.compile(r"\bsdfgad_(kernel_count|emulated_kernels)\b")
TEXT = re.compile(r'extern "C" const char\* const sdfgad_kernel_text = R"kernels\(.*?\)kernels";', re.DOTALL)


@dataclass
class Variant:
    """The program of a function's value, maybe with a fault."""

    gradient: object
    made: object
    program: Program
    source: Source
    x: np.ndarray


@dataclass
class Variants:
    """Programs that are compiled together, by name."""

    found: dict[str, Variant] = field(default_factory=dict)
    headers: list[str] = field(default_factory=lambda: ['extern "C" const int64_t sdfgad_kernel_count = 0;'])

    def add(self, name, function, change=lambda code: code, size=64):
        """Generate code for the value of a function of an array, and change it."""
        gradient = sdfgad.differentiate(function, device="gpu")
        x = np.random.default_rng(1).normal(size=size)
        _, made = gradient._bind_and_specialise((x,), {})
        program = replace(made.pipeline.forward, name=name)
        source = source_of(program)
        code = change(source.code)
        self.found[name] = Variant(gradient, made, program, replace(source, code=_own(code, name)), x)

    def add_other_total(self, name, function, old, new):
        """Generate code that adds up with a changed `block_total`."""
        text = (INCLUDE / "block_total.h").read_text()
        assert old in text
        self.headers.append(text.replace("#pragma once", "").replace("block_total(", f"{name}(").replace(old, new, 1))
        self.add(name, function, replaced("sdfgad::block_total<", f"sdfgad::{name}<"))

    def compile(self):
        """The library of all of them."""
        includes, parts = dict[str, None](), list[str]()
        for name, one in self.found.items():
            lines = one.source.code.splitlines()
            includes |= dict.fromkeys(line for line in lines if line.startswith("#include"))
            rest = "\n".join(line for line in lines if not line.startswith("#include"))
            parts.append(f"namespace in_{name} {{\n{rest}\n}}\n")
        sources = [one.source for one in self.found.values()]
        options = tuple(dict.fromkeys(option for source in sources for option in source.options))
        separate = tuple(sorted({name for source in sources for name in source.separate}))
        self.library = compile_source(
            Source("variants", "\n".join([*includes, *self.headers, *parts]), (), options, separate)
        )

    def run(self, name, monkeypatch):
        """Whether the value is NumPy's.

        Raises:
            DeviceError: the emulation found a fault.
        """
        one = self.found[name]
        library = Library(self.library.path, name, one.source.arguments)
        monkeypatch.setattr(executable, "compile_program", lambda *_, **__: library)
        one.made.__dict__["forward_executable"] = executable.load_on_device(one.program)
        expected = one.gradient._function(one.x.copy())
        return np.allclose(one.gradient.value(one.x), expected, rtol=1e-12, atol=0)


def replaced(old, new):
    """A change of code."""

    def change(code):
        assert old in code, old
        return code.replace(old, new)

    return change


def _own(code, name):
    """Code whose symbols have a name of their own, without the text for NVRTC."""
    return SYMBOLS.sub(rf"\g<0>_{name}", TEXT.sub("", code))

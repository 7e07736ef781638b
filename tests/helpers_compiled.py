"""IR programs compiled as loop nests, several at a time."""

import ctypes
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from sdfgad.ir.expr import Lin, Rewriter
from sdfgad.ir.program import Program, rewrite_statement, transform
from sdfgad.ir.rename import renamed
from sdfgad.runtime import build as compiling
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_sdfg
from sdfgad.runtime.compiler import Level
from sdfgad.sdfg.writer import write


@contextmanager
def threads(number):
    """Compiled code that is called here runs on so many threads, whatever the environment says."""
    openmp = ctypes.CDLL("libgomp.so.1")
    before = openmp.omp_get_max_threads()
    openmp.omp_set_num_threads(number)
    yield
    openmp.omp_set_num_threads(before)


def change_code(monkeypatch, old, new, levels=(Level.OPTIMISED,)):
    """Code that is compiled from now on at one of the levels is another one than was generated."""
    command_for = compiling.command_for

    def changed(source, target, level, options):
        if level in levels:
            source.write_text(source.read_text().replace(old, new))
        return command_for(source, target, level, options)

    monkeypatch.setattr(compiling, "command_for", changed)


def packed(programs):
    """One program that runs others, one after the other: `k` is put before the names of the k-th one's storage."""
    buffers, inputs, outputs, integers, body = {}, [], {}, [], []
    for k, program in enumerate(programs):
        names = {name: f"p{k}_{name}" for name in program.buffers}
        symbols = {name: Lin.symbol(f"p{k}_{name}") for name in program.integers}
        rewriter = Rewriter(symbols)
        for name, new in names.items():
            old = program.buffers[name]
            buffers[new] = replace(old, name=new, shape=rewriter.index(old.shape))
        inputs += [names[name] for name in program.inputs]
        outputs |= {f"p{k}_{name}": names[buffer] for name, buffer in program.outputs.items()}
        integers += [f"p{k}_{name}" for name in program.integers]
        body += transform(renamed(program.body, names), lambda s, m=symbols: (rewrite_statement(s, m),))
    return Program("packed", buffers, tuple(inputs), tuple(integers), outputs, tuple(body))


def compiled_outputs(program, arrays, integers):
    """What the compiled program computes."""
    arrays = {name: np.array(value, order="C") for name, value in arrays.items()}
    for buffer in program.outputs.values():
        shape = tuple(extent.const for extent in program.buffers[buffer].shape)
        arrays.setdefault(buffer, np.full(shape, 77, program.buffers[buffer].dtype))
    Executable(compile_sdfg(write(program)))(arrays, integers)
    return {name: arrays[buffer] for name, buffer in program.outputs.items()}


def run_packed(cases):
    """The outputs of each of several (program, arrays, integers), compiled together."""
    program = packed([made for made, _, _ in cases])
    arrays = {f"p{k}_{n}": v for k, (_, given, _) in enumerate(cases) for n, v in given.items()}
    integers = {f"p{k}_{n}": v for k, (_, _, given) in enumerate(cases) for n, v in given.items()}
    found = compiled_outputs(program, arrays, integers)
    return [{name: found[f"p{k}_{name}"] for name in made.outputs} for k, (made, _, _) in enumerate(cases)]

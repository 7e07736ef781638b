"""Differential testing: optimised code is used once its results agree with those of plain code of the same program.

The first call of a new library runs both on the call's own arguments. Where the results agree bit by bit, or as far as
rounding explains, this is recorded in the cache and later calls run optimised code; where they do not, plain code is
used from then on, with a warning. Run-time integers, such as numbers of steps, of another bit length are tested
separately. SDFGAD_CHECK=off disables the test; SDFGAD_CHECK=plain always runs plain code.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np

from sdfgad.cache import read, write
from sdfgad.collector import collected_rarely
from sdfgad.errors import MiscompiledWarning, SdfgadError, TooFewSlots
from sdfgad.ir.program import Program
from sdfgad.messages.host import has_failed
from sdfgad.messages.recording import communicating_once, sent
from sdfgad.progress import stage
from sdfgad.runtime.build import Library
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_program, find_library, index_entry
from sdfgad.runtime.digest import Difference, Digest, difference, digest_of, values_of
from sdfgad.runtime.report import write_report
from sdfgad.runtime.sizes import AUTO, Sharing

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]

VARIABLE = "SDFGAD_CHECK"
# The first call is tested for each bit length of the run-time integers, up to this number of combinations.
MOST_SIZES = 4
SEEDS = (1, 2, 3)


class Mode(Enum):
    """The setting of SDFGAD_CHECK: optimised code is tested, trusted, or not used."""

    ON = "on"
    OFF = "off"
    PLAIN = "plain"


def mode() -> Mode:
    """The value of SDFGAD_CHECK.

    Raises:
        SdfgadError: it is none of the modes.
    """
    text = os.environ.get(VARIABLE) or "on"
    try:
        return Mode(text)
    except ValueError:
        raise SdfgadError(f"{VARIABLE}={text} is none of on, off and plain", todo=f"Unset {VARIABLE}.") from None


@collected_rarely()
def load(
    program: Program,
    optimised: Callable[[], Program] | None = None,
    sharing: Sharing = AUTO,
    is_tested: bool = True,
) -> Runnable:
    """Compile a program and load its library.

    Args:
        optimised: returns the program after all passes, where the caller has computed it already.
        sharing: whether code that other sizes share will do.
        is_tested: whether optimised code is compared with plain code; False where what it gives is checked otherwise.

    Raises:
        CompilerError: there is no compiler, or it failed.
        SdfgadError: SDFGAD_CHECK is none of the modes.
    """
    if program.device != "cpu":
        from sdfgad.runtime.gpu.executable import load_on_device  # Nothing else needs it.

        return load_on_device(program, optimised)
    chosen = mode()
    if chosen is Mode.ON and is_tested:
        return CheckedExecutable(program, optimised, sharing)
    if chosen is Mode.PLAIN:
        return _plain(program, sharing)
    return Executable(compile_program(program, optimised=optimised, sharing=sharing))


def _plain(program: Program, sharing: Sharing) -> Executable:
    library = compile_program(program, with_plain=True, sharing=sharing)
    assert library.plain is not None
    return Executable(replace(library, path=library.plain))


class Record:
    """Cached test results of a library: the sizes at which it agreed with plain code, and whether it ever differed."""

    def __init__(self, library: Library) -> None:
        self._name = f"checks/{library.key}.json"
        text = read(self._name)
        found = json.loads(text) if text is not None else {}
        self.agreed: set[tuple[int, ...]] = {tuple(sizes) for sizes in found.get("agreed", ())}
        self.differs: bool = found.get("differs", False)

    @property
    def is_new(self) -> bool:
        return not self.agreed and not self.differs

    def note(self, sizes: tuple[int, ...], agrees: bool) -> None:
        self.agreed |= {sizes} if agrees else set()
        self.differs |= not agrees
        write(self._name, json.dumps({"agreed": sorted(self.agreed), "differs": self.differs}).encode())

    def is_settled_for(self, sizes: tuple[int, ...]) -> bool:
        """Whether no test is due for integers of these sizes (bit lengths)."""
        return self.differs or sizes in self.agreed or len(self.agreed) >= MOST_SIZES


class CheckedExecutable:
    """An `Executable` of optimised code that is tested against plain code on its first calls."""

    def __init__(
        self, program: Program, optimised: Callable[[], Program] | None = None, sharing: Sharing = AUTO
    ) -> None:
        self._program, self._sharing = program, sharing
        known = find_library(index_entry(program, sharing))
        is_new = known is None or Record(known).is_new
        # If both are needed, they are compiled concurrently.
        library = compile_program(program, is_new, optimised, sharing)
        self._record = Record(library)
        self._integers = [name for name, kind in library.arguments if kind == "integer"]
        self._optimised = Executable(library)
        self._plain: Executable | None = None
        self._lock = threading.Lock()

    @property
    def library(self) -> Library:
        return self._chosen.library

    @property
    def peak_bytes(self) -> int:
        return self._chosen.peak_bytes

    def held_bytes(self, arrays: Arrays) -> int:
        return self._chosen.held_bytes(arrays)

    def reset_peak(self) -> None:
        self._chosen.reset_peak()

    @property
    def _chosen(self) -> Executable:
        return self._plain_executable() if self._record.differs else self._optimised

    def is_settled(self, integers: Mapping[str, int]) -> bool:
        """Whether a call with these integers runs without a test."""
        return self._record.is_settled_for(self._sizes(integers))

    def _sizes(self, integers: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(integers[name].bit_length() for name in self._integers)

    def __call__(self, arrays: Arrays, integers: Mapping[str, int]) -> None:
        """Run once, as an `Executable` does; if a test is due, it is done on the arguments of this call."""
        if not self.is_settled(integers):
            with self._lock:
                if not self.is_settled(integers):
                    with stage("comparing optimised with plain code"), communicating_once():
                        self._test(arrays, integers)
                    return
        self._chosen(arrays, integers)

    def _plain_executable(self) -> Executable:
        if self._plain is None:
            self._plain = _plain(self._program, self._sharing)
        return self._plain

    # --- the test

    def _test(self, arrays: Arrays, integers: Mapping[str, int]) -> None:
        """Run plain and optimised code; in the end the arrays hold the results of the chosen one."""
        plain, sizes = self._plain_executable(), self._sizes(integers)
        plain(arrays, integers)
        if self._has_failed(arrays):
            return  # The outputs are undefined then, and cannot be compared.
        expected = self._digests(arrays)
        self._optimised(arrays, integers)
        if has_failed():
            return
        found = self._digests(arrays)
        if all(found[name].bits == one.bits for name, one in expected.items()):
            self._record.note(sizes, agrees=True)
            return
        try:
            worst = self._worst(expected, found, self._perturbed(arrays, integers))
        except TooFewSlots:
            # A perturbed run had more trips than there are slots, as the number of trips depends on data: the test is
            # undecided, and the next call repeats it.
            plain(arrays, integers)
            return
        self._record.note(sizes, agrees=worst is None)
        self._chosen(arrays, integers)
        if worst is not None:
            self._warn(worst, arrays, integers)

    def _has_failed(self, arrays: Arrays) -> bool:
        return has_failed() or (bool(self._program.checks) and self._program.failed(int(arrays["status"])) is not None)

    def _digests(self, arrays: Arrays) -> dict[str, Digest]:
        return {name: digest_of(one) for name, one in self._found(arrays).items()}

    def _found(self, arrays: Arrays) -> dict[str, Array]:
        """What a run has given, messages included."""
        return {name: arrays[name] for name in self._results} | sent()

    @property
    def _results(self) -> list[str]:
        """The arrays that a run gives."""
        names = [*self._program.outputs.values(), *(("status",) if self._program.checks else ())]
        return list(dict.fromkeys(names))

    def _perturbed(self, arrays: Arrays, integers: Mapping[str, int]) -> Generator[dict[str, Array]]:
        """The values of digests of results of plain code, with random perturbations where optimised code may round."""
        plain = self._plain_executable()
        try:
            for seed in SEEDS:
                plain.perturb(seed)
                plain(arrays, integers)
                if has_failed():
                    continue  # Rounding has decided a branch with messages.
                yield {name: values_of(one) for name, one in self._found(arrays).items()}
        finally:
            plain.perturb(0)

    @staticmethod
    def _worst(
        expected: Mapping[str, Digest], found: Mapping[str, Digest], perturbed: Generator[dict[str, Array]]
    ) -> Difference | None:
        """A result that differs by more than rounding explains; each perturbed one may explain more."""
        runs: list[Mapping[str, Array]] = []
        with closing(perturbed):
            while True:
                each = (difference(n, one, found[n], [run[n] for run in runs]) for n, one in expected.items())
                worst = next((one for one in each if one is not None), None)
                more = None if worst is None else next(perturbed, None)
                if more is None:
                    return worst
                runs.append(more)

    def _warn(self, worst: Difference, arrays: Arrays, integers: Mapping[str, int]) -> None:
        outputs = {*self._program.outputs.values(), "status"}
        inputs = {name: array for name, array in arrays.items() if name not in outputs}
        folder = write_report(self._program, self._optimised.library, inputs, integers, str(worst))
        warnings.warn(
            f"the C++ compiler's optimised code of {self._program.name} is wrong: {worst}. Plain code is used from now "
            f"on, which is right and slower. {folder} reproduces it. Another compiler may do better: set CXX.",
            MiscompiledWarning,
            stacklevel=2,
        )


Runnable = Executable | CheckedExecutable

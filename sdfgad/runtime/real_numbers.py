"""Headers for programs of real numbers: what they are, and which programs need no others.

They lack DaCe's headers, <complex>, <string> and streams. A program needs none of these if it calls nothing but its own
functions, operators of C++, functions of ``namespace sdfgad`` in these headers, and those of ``std`` listed here.
"""

from __future__ import annotations

import functools
import re

from sdfgad.runtime.compiler import INCLUDE

# They include <complex>, <unordered_map> or the special functions of <cmath>.
OTHERS = frozenset(
    f"{name}.h"
    for name in (
        *("bessel", "hypergeometric", "lambert", "scaled_bessel"),
        *("fourier", "fourier_lines", "fourier_passes", "stock"),
    )
)
# Instead of <dace/dace.h>. One guard is that of libstdc++'s special functions: where it is another one, they are there.
BEFORE = """\
#define SDFGAD_REAL_ONLY
#define _GLIBCXX_BITS_SPECFUN_H 1
#define __DACE_RUNTIME_H
#define DACE_EXPORTED extern "C"
"""
INCLUDED = re.compile(r'^ *# *include *([<"][^">]*[">]).*$', re.MULTILINE)
ALWAYS = frozenset({"<dace/dace.h>", "<cstdint>", '"../../include/hash.h"'})
IGNORED = re.compile(r"/\*[\s\S]*?\*/|//.*")
# A name with its namespaces, unless it is a member of something; and whether it is called.
NAME = re.compile(r"(?<![\w.:])(?<!->)((?:::)?[A-Za-z_]\w*(?:::\w+)*)(\s*\()?")
# Functions that each program has itself, and the structure of its state.
OWN = re.compile(r"nest_\w+|__program_\w+|__dace_(init|exit)_\w+|sdfgad_run_\w+|\w+_state_t")
# Names that a header declares or calls.
DECLARED = re.compile(r"^(?:template <.*?> *)?(?:struct|class|using) (?:\[\[.*\]\] )?(\w+)|(\w+)\(", re.MULTILINE)
WORDS = """
    SDFGAD_ADD SDFGAD_SUM SDFGAD_TOTAL alignas asm bool catch char decltype defined double float for if int
    int16_t int32_t int64_t int8_t long push reduction return schedule short sizeof static_assert static_cast switch
    uint16_t uint32_t uint64_t uint8_t unsigned while
"""
STD = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor
    fma fmax fmin fmod gcd hypot isfinite isinf isnan lcm ldexp lgamma log log10 log1p log2 max memcpy
    memset min nearbyint nextafter numeric_limits pow remainder rint signbit sin sinh sqrt tan tanh tgamma
    trunc
"""


def text_for_real_numbers() -> str:
    """The header that includes them."""
    names = sorted(path.name for path in INCLUDE.glob("*.h") if path.name not in OTHERS)
    return "\n".join([BEFORE, *(f'#include "{name}"' for name in names), ""])


def is_of_real_numbers(code: str) -> bool:
    """Whether a program surely needs no other headers than those for real numbers."""
    if "dace::" in code or "complex" in code or not set(INCLUDED.findall(code)) <= _included_here():
        return False
    names = set(NAME.findall(IGNORED.sub("", INCLUDED.sub("", code))))
    return all(_is_here(name.removeprefix("::"), bool(call)) for name, call in names)


def _is_here(name: str, is_called: bool) -> bool:
    first, last = name.split("::")[0], name.split("::")[-1]
    if name.upper().startswith("DACE") and name != "DACE_EXPORTED":
        return False
    if first == "std":
        return last in _split(STD)
    if first == "sdfgad":
        return last not in _declared_elsewhere()
    return not is_called or name in _split(WORDS) or OWN.fullmatch(name) is not None


@functools.cache
def _included_here() -> frozenset[str]:
    return ALWAYS | {f'"{path.name}"' for path in INCLUDE.glob("*.h") if path.name not in OTHERS}


@functools.cache
def _declared_elsewhere() -> frozenset[str]:
    """The names that the other headers declare or call, and these do not."""
    names = {
        path.name: {name for names in DECLARED.findall(path.read_text()) for name in names}
        for path in INCLUDE.glob("*.h")
    }
    here = set[str]().union(*(found for header, found in names.items() if header not in OTHERS))
    return frozenset(set[str]().union(*(names[header] for header in OTHERS)) - here)


@functools.cache
def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())

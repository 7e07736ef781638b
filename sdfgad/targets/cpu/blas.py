"""BLAS calls: the C++ text of a matrix product. OpenBLAS comes as a wheel, so that no system library is needed."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.schedule.products import Operand, Product


def call_text(p: Product, scalar: str, alpha: str, texts: Mapping[str, str], pointers: tuple[str, str, str]) -> str:
    """The C++ text of the call, in loops over the batch; the call does nothing if an extent is 0.

    `texts` gives the parameters' extents, `pointers` the operands' first elements.
    """
    loops = "".join(f"for (int64_t {name} = 0; {name} < {texts[name]}; ++{name}) " for name in p.batch)
    a, b, c = (_moved(pointer, o, p.batch) for pointer, o in zip(pointers, (p.a, p.b, p.c), strict=True))
    again = [f"{name} == 0" for name in p.batch if name not in p.c.strides]
    fresh = (" && ".join(again) or "true") if p.fresh else "false"
    m, n, k = (" * ".join(f"({texts[name]})" for name in group) for group in (p.m, p.n, p.k))
    lead_a, flag_a = p.layout(p.a, p.m, p.k) or (0, "")
    head, tail = f"Cblas{flag_a}", f"{scalar}({alpha}), {a}, {lead_a}"
    if not p.n:
        x, y = f"{b}, {p.b.strides[p.k[-1]]}", f"{c}, {p.c.strides[p.m[-1]]}"
        return f"{loops}sdfgad::gemv({head}, {m}, {k}, {tail}, {x}, {fresh}, {y});"
    if p.is_symmetric:
        return f"{loops}sdfgad::syrk({head}, {m}, {k}, {tail}, {c}, {p.c.strides[p.m[-1]]});"
    lead_b, flag_b = p.layout(p.b, p.k, p.n) or (0, "")
    rest = f"{b}, {lead_b}, {fresh}, {c}, {p.c.strides[p.m[-1]]}"
    return f"{loops}sdfgad::gemm({head}, Cblas{flag_b}, {m}, {n}, {k}, {tail}, {rest});"


def _moved(pointer: str, operand: Operand, batch: tuple[str, ...]) -> str:
    """A pointer at a point of the batch."""
    steps = [f"{name} * {operand.strides[name]}" for name in batch if name in operand.strides]
    return " + ".join([pointer, *steps])

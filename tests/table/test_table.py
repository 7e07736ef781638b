"""Every function of the table, with each dtype, shape and layout, against NumPy, JAX and central differences.

Cases that sdfgad refuses are listed in refused.txt, which ``scripts/supported.py --measure`` writes.
"""

import pytest

from sdfgad.errors import SdfgadError
from tests.helpers_tiers import Pack, packed
from tests.table.cases import CASES
from tests.table.oracle import alone, assert_right, batch, batches, refusals, run, stage

FORMS = [Pack([case for form in pack.values for case in form], pack.is_default) for pack in batches()]


@pytest.mark.parametrize(("number", "case"), packed(FORMS, lambda case: case.id))
def test_value_and_gradients(number, case):
    assert_right(case, batch(number)[case.id])


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.id) for c in CASES if stage(c) in ("parsing", "differentiating")]
)
def test_what_is_refused(case):
    try:
        made = alone(case)
    except SdfgadError as error:  # pragma: no cover - other exceptions fail the test
        pytest.fail(f"raised outside of the stages: {error}")
    assert made.refused_at == stage(case), "run scripts/supported.py --measure"


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in CASES if stage(c) == "alone"])
def test_case_in_a_program_of_its_own(case):
    assert_right(case, run([[case]])[0])


def test_ids_are_distinct():
    assert len({case.id for case in CASES}) == len(CASES)


def test_refusals_name_cases():
    known = {key for c in CASES for key in (c.id, c.label, f"{c.function} {c.dtype}", c.function, f"* {c.dtype}")}
    assert set(refusals()) <= known

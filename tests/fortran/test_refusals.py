"""What is not read is refused with its file, its line, and what to write instead."""

import pytest

from sdfgad import fortran
from sdfgad.errors import UnsupportedProgram
from tests.fortran.refusals import REFUSALS


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: one.name)
def test_it_is_refused(refusal, tmp_path):
    path = tmp_path / "refused.f90"
    path.write_text(refusal.text)
    with pytest.raises(UnsupportedProgram) as caught:
        fortran.differentiate(path, "s", output="x")
    assert refusal.message in caught.value.what
    assert (caught.value.where.file, caught.value.where.line) == (str(path), refusal.line)
    assert caught.value.where.text == refusal.text.splitlines()[refusal.line - 1].strip()
    assert caught.value.todo

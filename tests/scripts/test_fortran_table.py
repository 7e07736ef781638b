"""The table of docs/fortran.md is that of the tests."""

from scripts import fortran_table


def test_the_page_is_up_to_date():
    assert fortran_table.main(["--check"]) == 0, "run python -m scripts.fortran_table"


def test_a_row_for_each_construct():
    rows = fortran_table.table().splitlines()
    assert len(rows) == len(fortran_table.CONSTRUCTS) + len(fortran_table.REFUSALS) + 2
    assert all(row.count("|") == 6 for row in rows)

"""The table of docs/dace.md is that of the tests."""

from scripts import dace_table


def test_the_page_is_up_to_date():
    assert dace_table.main(["--check"]) == 0, "run python -m scripts.dace_table"


def test_a_row_for_each_construct():
    rows = dace_table.table().splitlines()
    assert len(rows) == len(dace_table.CONSTRUCTS) + 2
    assert all(row.count("|") == 6 for row in rows)

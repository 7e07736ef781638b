"""The tables of docs/languages.md are those of the readers."""

from scripts import languages_table


def test_the_page_is_up_to_date():
    assert languages_table.main(["--check"]) == 0, "run python -m scripts.languages_table"


def test_a_row_for_each_operator():
    onnx, aten = languages_table.onnx, languages_table.aten
    rows = languages_table.onnx_table().splitlines()
    assert len(rows) == 2 + len(onnx.OPERATORS) + len(onnx.REFUSED)
    bases = {name.partition(".")[0] for name in aten.OPERATORS}
    assert len(languages_table.aten_table().splitlines()) == 2 + len(bases) + len(aten.REFUSED)
    assert bases >= languages_table.CONSTANT

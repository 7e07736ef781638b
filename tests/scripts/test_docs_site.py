"""The hooks of the documentation site: the list of decisions, and links to what is not on it."""

from types import SimpleNamespace

import pytest

from tests.docs.pages import DOCS

pytest.importorskip("griffe")

from scripts import docs_site

PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="adr/0001-own-front-end.md"))
TEXT = "[a](../../tests/a.py#L1) [b](../memory.md) [c](https://c.org/x) ![d](../pictures/viewer.png) [e](#there)"


@pytest.mark.parametrize(
    ("url", "shown"), [(None, "a"), ("https://host/us/sdfgad", "[a](https://host/us/sdfgad/blob/main/tests/a.py)")]
)
def test_links_to_files_that_are_no_pages(url, shown):
    made = docs_site.on_page_markdown(TEXT, page=PAGE, config=SimpleNamespace(repo_url=url))
    assert made == TEXT.replace("[a](../../tests/a.py#L1)", shown)


def test_all_decisions_are_listed_in_order():
    config = SimpleNamespace(docs_dir=str(DOCS), nav=[{"Home": "index.md"}, {"Decisions": []}])
    listed = docs_site.on_config(config).nav[1]["Decisions"]
    assert [path for one in listed for path in one.values()] == sorted(
        f"adr/{p.name}" for p in (DOCS / "adr").iterdir()
    )
    numbers = [int(title.partition(".")[0]) for one in listed for title in one]
    assert numbers == list(range(1, len(numbers) + 1))

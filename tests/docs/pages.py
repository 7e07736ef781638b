"""The pages of the documentation site, and the code blocks on them."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block: its language, its title ("" for none), and its lines."""

    language: str
    title: str
    text: str


def blocks(page):
    return [Block(language, title, text) for language, title, text in FENCE.findall((DOCS / page).read_text())]


def navigation():
    """The pages of the site in order, but for those of docs/adr, which `scripts/docs_site.py` finds."""
    return list(_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))


def _pages(entry):
    if isinstance(entry, str):
        yield entry
    for one in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
        yield from _pages(one)

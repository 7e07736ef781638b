"""What the documentation site needs besides `mkdocs.yml`: hooks of mkdocs, and an extension of griffe."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import griffe

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Fills the section "Decisions" with the pages of docs/adr, in order."""
    pages = sorted(Path(config.docs_dir, "adr").glob("*.md"))
    for section in config.nav:
        if "Decisions" in section:
            section["Decisions"] = [{_title(page): f"adr/{page.name}"} for page in pages]
    return config


def _title(page: Path) -> str:
    """The first heading, which has the decision's number."""
    return page.read_text().partition("\n")[0].lstrip("# ")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Links to files of the repository that are no pages go to `repo_url`, or are plain text where there is none."""
    folder = posixpath.dirname(page.file.src_uri)
    repository = (config.repo_url or "").rstrip("/")

    def link(match: re.Match[str]) -> str:
        text, target = match[1], posixpath.normpath(posixpath.join("docs", folder, match[2]))
        if target.startswith("docs/"):
            return match[0]
        return f"[{text}]({repository}/blob/main/{target})" if repository else text

    return LINK.sub(link, markdown)


class Examples(griffe.Extension):
    """Docstrings have sections "Example:", which griffe calls "Examples:"."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")

"""Plans as pages: what they show, and that they need nothing else."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import sdfgad
from sdfgad.plan.moments import Moment
from sdfgad.plan.page import timeline
from sdfgad.plan.units import size_text

VOID = {"meta", "br"}


class Checked(HTMLParser):
    """Notes elements, and that each one is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def decaying(steps, u, a):
    for _ in range(steps):
        b = np.sin(u) * a
        u[1:-1] += np.exp(-(b[1:-1] ** 2)) * (u[2:] - u[:-2]) * (a[0] < 1.0)
    return np.sum(u * u)


ARGS = (8, np.linspace(0.0, 1.0, 200), np.full(200, 0.1))


@pytest.fixture(scope="module")
def plan():
    return sdfgad.differentiate(decaying, wrt=("u", "a"), memory_limit="64 KiB").plan(*ARGS)


def test_the_page_shows_each_moment_and_decision(plan):
    text = plan.to_html()
    found = Checked(text).found
    moments = [attrs for tag, attrs in found if tag == "rect"]
    assert len(moments) == len(plan.moments)
    heights = [float(attrs["height"]) for attrs in moments]
    assert heights.index(max(heights)) == max(range(len(heights)), key=lambda k: plan.moments[k].bytes)
    rows = [attrs for tag, attrs in found if tag == "tr" and "data-line" in attrs]
    assert len(rows) == len(plan.decisions)
    assert size_text(plan.peak_bytes) in text
    assert "<code>b = np.sin(u) * a</code>" in text


def test_lines_are_escaped():
    drawn = timeline((Moment("heat.py:3: y = x[a < b]", 5),), (), None)
    assert "y = x[a &lt; b]" in drawn
    assert [tag for tag, _ in Checked(drawn).found].count("rect") == 1


def test_the_page_loads_nothing(plan):
    assert not re.search(r"(src|href)=|url\(|@import|https?:", plan.to_html())


def test_a_comparison_is_drawn_with_its_limits(plan):
    comparison = sdfgad.compare(
        decaying, *ARGS, wrt=("u", "a"), strategies=("store_all", "ilp"), budgets=(0.5,), repeats=1
    )
    text = plan.to_html(comparison)
    circles = [attrs for tag, attrs in Checked(text).found if tag == "circle"]
    assert len(circles) == len([row for row in comparison.rows if row.ratio])
    assert "ilp, 50%" in text


def test_notebooks_show_the_plan_without_a_page(plan):
    text = plan._repr_html_()
    assert "<html" not in text
    assert len([tag for tag, _ in Checked(text).found if tag == "rect"]) == len(plan.moments)


def test_a_plan_without_decisions_says_so():
    found = sdfgad.differentiate(lambda x: np.sum(x), wrt="x").plan(np.ones(3)).to_html()
    assert "Nothing is stored for the reverse sweep" in found

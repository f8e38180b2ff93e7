"""Reports: one page from results, as HTML that needs nothing else, or as Markdown; and what is said of a study.

What pages and figures need is loaded when it is first used: the words about a study need none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.later import loaded_later
from dobandit.numerals import interval, number, percent
from dobandit.report.numbers import chances, measure
from dobandit.report.ranges import said_of_best, said_of_ranges
from dobandit.report.stopping import AT_ALL_TIMES, NO_RANGE, lost, rule_in_words, stop_in_words, tied
from dobandit.report.studies import event_in_words, moment, nothing_known, sources, why_nothing

if TYPE_CHECKING:
    from dobandit.report.comparison import comparison_page, summary_rows, table_of, write_suite
    from dobandit.report.html import to_html, write_html
    from dobandit.report.markdown import to_markdown
    from dobandit.report.page import AGAINST, Page, Picture, Points, Section, Table
    from dobandit.report.problem_graph import problem_figure
    from dobandit.report.reproduction import remove_others, write_page, write_reproduction

_LATER = {
    "comparison": ("comparison_page", "summary_rows", "table_of", "write_suite"),
    "html": ("to_html", "write_html"),
    "markdown": ("to_markdown",),
    "page": ("AGAINST", "Page", "Picture", "Points", "Section", "Table"),
    "problem_graph": ("problem_figure",),
    "reproduction": ("remove_others", "write_page", "write_reproduction"),
}

__getattr__ = loaded_later(__name__, _LATER)

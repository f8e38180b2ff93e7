"""Reports: one page from results, as HTML that needs nothing else, or as Markdown."""

from dobandit.report.html import to_html
from dobandit.report.markdown import to_markdown
from dobandit.report.page import Page, Picture, Points, Section, Table

__all__ = ["Page", "Picture", "Points", "Section", "Table", "to_html", "to_markdown"]

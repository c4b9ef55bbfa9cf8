"""One self-contained page of a Diagnosis: `Diagnosis.to_html` finds `write_html` here by name."""

from softlabel.report.html.page import page, write_html

__all__ = ["page", "write_html"]

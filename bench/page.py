"""Sections of a page that scripts write."""
from pathlib import Path


def write_section(page, heading, text):
    """Puts the text, which begins with the heading of the section, in its place, or else at the end of the page."""
    page = Path(page)
    before, _, rest = page.read_text(encoding="utf-8").partition(heading)
    after = rest[rest.index("\n## "):] if "\n## " in rest else ""
    page.write_text(before.rstrip("\n") + "\n\n" + text + after, encoding="utf-8")

"""The README as a package index shows it: links into the repository, which would be dead there, are plain text."""

import re
from pathlib import Path

from setuptools import setup

RELATIVE = r"\]\((?!https?://|#)[^)\s]*\)"


def for_an_index(text: str) -> str:
    """The text without pictures and links that lead to files of the repository."""
    text = re.sub(r"!\[[^]]*" + RELATIVE, "", text)
    return re.sub(r"\[((?:[^][]|\[[^]]*\])*)" + RELATIVE, r"\1", text)


if __name__ == "__main__":
    readme = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    setup(long_description=for_an_index(readme), long_description_content_type="text/markdown")

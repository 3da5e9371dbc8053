"""A copy of this checkout without what was built in it, for tests that build: they leave nothing behind."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "shared"
)


def copied(place: Path) -> Path:
    """The copy, a new folder in `place`."""
    return Path(shutil.copytree(ROOT, place / "checkout", symlinks=True, ignore=BUILT))

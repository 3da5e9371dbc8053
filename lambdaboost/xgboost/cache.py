"""`Cache`: the files in which XGBoost keeps the batches of an iterator."""

from __future__ import annotations

import os
import secrets
import shutil
from glob import escape
from pathlib import Path

from lambdaboost._files import check_place
from lambdaboost._words import shown

ROW = 16  # bytes of a row beside its values


class Cache:
    """Files of their own names under the user's prefix.

    XGBoost calls them by an address in memory, which is the same in two forked processes, leaves them where an iterator
    fails, and ends the process when the disk is full.
    """

    def __init__(self, prefix: str | None, value: int) -> None:
        """`value` are the bytes of one value of a feature."""
        self.place, self.value, self.needed = Path(prefix or "DMatrix").absolute(), value, 0
        check_place("cache_prefix", self.place)
        self.free = shutil.disk_usage(self.place.parent).free
        self.prefix = f"{self.place}-{os.getpid()}-{secrets.token_hex(4)}"

    def add(self, rows: int, values: int) -> None:
        """Count one more batch; raise if all may not fit."""
        self.needed += ROW * rows + self.value * values
        if self.needed > self.free:
            raise ValueError(
                f"cache_prefix is {shown(self.place)}, where {self.free / 1e6:,.1f} MB are free, but the batches so "
                f"far may take {self.needed / 1e6:,.1f} MB: give a folder on a larger disk"
            )

    def remove(self) -> None:
        """Delete the files."""
        for file in self.place.parent.glob(f"{escape(Path(self.prefix).name)}-*"):
            file.unlink()

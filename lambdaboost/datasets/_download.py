"""Downloads that go on from where they were cut."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHUNK = 1 << 14  # what of it had come when a connection is cut is lost
SILENCE = 30.0  # seconds without a byte, after which a connection counts as cut


@dataclass(frozen=True)
class Resumable:
    """A downloader as pooch calls one: it keeps what has come in `part`, and asks for the rest only.

    A cut connection is taken up again as long as each attempt brings something. `size` is what the file must have,
    where that is known: a server that announces another, such as that of a sign-in page, is not listened to.
    """

    part: Path
    size: int | None = None

    def __call__(self, url: str, output_file: Any, _: object = None) -> None:
        """Fetch `url` whole and move it to `output_file`."""
        before = -1
        while True:
            try:
                self._attempt(url)
                break
            except OSError as error:
                if error.errno is not None and not _of_connection(error):  # the disk, not the network
                    raise
                have = _length(self.part)
                if have <= before or isinstance(error, Refused):
                    kept = (
                        f"; {have:,} bytes are kept, and the next attempt goes on from there" if have else ""
                    )
                    raise ConnectionError(f"{url}: {_reason(error)}{kept}") from None
                before = have
        os.replace(self.part, output_file)

    def _attempt(self, url: str) -> None:
        import requests
        from tqdm import tqdm

        have = _length(self.part)
        if have and have == self.size:
            return
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(url, headers=headers, stream=True, timeout=SILENCE) as answer:
            if answer.status_code == 416:  # nothing is left of it: it was whole, and its hash will tell
                return
            if answer.status_code >= 400:
                raise Refused(f"the server answers {answer.status_code} {answer.reason}")
            goes_on = answer.status_code == 206
            total = _announced(answer, have if goes_on else 0)
            if self.size is not None and total is not None and total != self.size:
                kind = answer.headers.get("Content-Type", "no type")
                raise Refused(
                    f"the server offers {total:,} bytes of {kind}, not {self.size:,}: it may want a sign-in"
                )
            with (
                open(self.part, "ab" if goes_on else "wb") as file,
                tqdm(
                    total=total,
                    initial=have if goes_on else 0,
                    unit="B",
                    unit_scale=True,
                    desc=self.part.stem,
                    disable=None,
                ) as bar,
            ):
                for chunk in answer.iter_content(CHUNK):
                    bar.update(file.write(chunk))
        if total is not None and _length(self.part) < total:
            raise ConnectionError("the connection was cut")


class Refused(ConnectionError):
    """An answer that another attempt will not better."""


def _announced(answer: Any, have: int) -> int | None:
    length = answer.headers.get("Content-Length")
    return None if length is None else have + int(length)


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _of_connection(error: OSError) -> bool:
    import requests

    return isinstance(error, ConnectionError | TimeoutError | requests.RequestException)


def _reason(error: OSError) -> str:
    """The last cause, without the addresses of objects that urllib3 tells."""
    import requests

    if isinstance(error, requests.ConnectionError | requests.Timeout):
        return "no connection, or it was cut"
    if isinstance(error, requests.RequestException):
        return "the connection was cut"
    return str(error)

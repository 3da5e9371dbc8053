"""Downloads that resume after a broken connection."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lambdaboost.datasets._part import opened_part

CHUNK = 1 << 14  # bytes per read; an incomplete chunk is lost when a connection breaks
SILENCE = 30.0  # seconds without data after which a connection counts as broken


@dataclass(frozen=True)
class Resumable:
    """A pooch downloader that keeps received bytes in `part` and requests only the rest.

    It reconnects as long as each attempt receives data. `size` is the size of the whole file: a response that
    announces another size, such as a sign-in page, is refused, and reading stops once a response exceeds it.
    """

    part: Path
    size: int

    def __call__(self, url: str, output_file: Any, _: object = None) -> None:
        """Download all of `url` and move it to `output_file`."""
        with opened_part(self.part) as file:
            if _length(file) > self.size:
                file.truncate(0)
            try:
                self._download(url, file)
            except BaseException:
                if _length(file) == 0:
                    with contextlib.suppress(PermissionError):  # Windows cannot remove an open file
                        self.part.unlink()
                raise
            if os.name == "posix":  # while it is locked; Windows cannot move an open file
                os.replace(self.part, output_file)
        if os.name != "posix":
            os.replace(self.part, output_file)

    def _download(self, url: str, file: IO[bytes]) -> None:
        before = -1
        while (have := _length(file)) < self.size:
            try:
                self._attempt(url, file, have)
            except OSError as error:
                if error.errno is not None and not _of_connection(error):  # a disk error, not a network error
                    raise
                have = _length(file)
                if have <= before or isinstance(error, Refused):
                    kept = (
                        f"; {have:,} bytes are kept, and the next attempt resumes from there" if have else ""
                    )
                    raise ConnectionError(f"{url}: {_reason(error)}{kept}") from None
                before = have

    def _attempt(self, url: str, file: IO[bytes], have: int) -> None:
        import requests
        from tqdm import tqdm

        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(url, headers=headers, stream=True, timeout=SILENCE) as answer:
            if answer.status_code >= 400:
                raise Refused(f"the server answers {answer.status_code} {answer.reason}")
            goes_on = answer.status_code == 206
            have = have if goes_on else 0
            total = _announced(answer, have)
            if total is not None and total != self.size:
                kind = answer.headers.get("Content-Type", "no type")
                raise Refused(
                    f"the server offers {total:,} bytes of {kind}, not {self.size:,}: it may require a sign-in"
                )
            file.truncate(have)
            file.seek(have)
            name = self.part.stem
            with tqdm(
                total=self.size, initial=have, unit="B", unit_scale=True, desc=name, disable=None
            ) as bar:
                for chunk in answer.iter_content(CHUNK):
                    if file.tell() + len(chunk) > self.size:
                        file.truncate(0)
                        raise Refused(f"the server sends more than the {self.size:,} bytes of the file")
                    bar.update(file.write(chunk))
        if _length(file) < self.size:
            raise ConnectionError("the connection was cut")


class Refused(ConnectionError):
    """A response that another attempt would not change."""


def _announced(answer: Any, have: int) -> int | None:
    length = answer.headers.get("Content-Length")
    return None if length is None else have + int(length)


def _length(file: IO[bytes]) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _of_connection(error: OSError) -> bool:
    import requests

    return isinstance(error, ConnectionError | TimeoutError | requests.RequestException)


def _reason(error: OSError) -> str:
    """The root cause, without the object addresses in urllib3's messages."""
    import requests

    if isinstance(error, requests.ConnectionError | requests.Timeout):
        return "no connection, or it was cut"
    if isinstance(error, requests.RequestException):
        return "the connection was cut"
    return str(error)

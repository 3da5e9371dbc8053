"""A text file in chunks of whole lines, which several threads take in turns."""

from __future__ import annotations

import io
from codecs import BOM_UTF8
from threading import Lock
from typing import IO

SIZE = 1 << 21  # bytes; text and numbers of a chunk stay in the processor's cache


class Chunk:
    """Lines ``buffer[:length]``, the last of which ends with a newline too; a buffer for one thread."""

    def __init__(self) -> None:
        self.buffer = bytearray(SIZE)
        self.length = 0
        self.number = -1  # from 0 in the file


class Chunks:
    """The chunks of a file; `with_qid` says whether its first row has a qid."""

    def __init__(self, file: IO[bytes]) -> None:
        self.with_qid: bool | None = None
        self._file = file
        self._lock = Lock()
        self._taken = 0
        self._rest = b""  # begin of the line in which the last chunk was cut
        self._ended = False

    def fill(self, chunk: Chunk) -> bool:
        """Read the next chunk; False if there is none, or after `stop`."""
        with self._lock:
            if self._ended:
                return False
            chunk.number = self._taken
            self._taken += 1
            chunk.length = self._read(chunk.buffer)
            if chunk.number == 0 and chunk.buffer.startswith(BOM_UTF8):
                chunk.buffer[: len(BOM_UTF8)] = b" " * len(BOM_UTF8)
            if self.with_qid is None:
                self.with_qid = has_qid(chunk.buffer[: chunk.length])
            return chunk.length > 0

    def stop(self) -> None:
        """Hand out no more chunks."""
        self._ended = True

    def _read(self, buffer: bytearray) -> int:
        """The number of bytes read, up to the end of a line; 0 at the end of the file."""
        filled, end = len(self._rest), 0
        buffer[:filled] = self._rest
        self._rest = b""
        while end == 0:
            if filled + 1 >= len(buffer):  # a long line
                buffer.extend(bytes(len(buffer) + filled))
            with memoryview(buffer)[filled:-1] as free:  # one byte for a newline
                read = self._file.readinto(free)  # type: ignore[attr-defined]
            if not read:
                self._ended = True
                buffer[filled : filled + 1] = b"\n"
                return filled + 1 if filled else 0
            end = buffer.rfind(b"\n", filled, filled + read) + 1
            filled += read
        self._rest = bytes(memoryview(buffer)[end:filled])
        return end


def has_qid(text: bytes | bytearray) -> bool | None:
    r"""Whether the first row has a qid; None if there are no rows.

    >>> has_qid(b"# comment\n\n2 qid:1 1:0.5\n"), has_qid(b"2 1:0.5\n"), has_qid(b"\n")
    (True, False, None)
    """
    for line in io.BytesIO(text):
        words = line.partition(b"#")[0].split(None, 2)
        if words:
            return len(words) > 1 and words[1].startswith(b"qid:")
    return None

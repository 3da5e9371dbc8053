"""`Interrupts`: Ctrl-C while XGBoost reads an iterator, kept back until Python may raise it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupts:
    """Keeps Ctrl-C back while `held`, except in a block where it is `handled`.

    XGBoost calls an iterator from C. What a signal's handler raises on the way is lost there, and XGBoost reads the
    last batch again, beyond the end of its memory.
    """

    def __init__(self) -> None:
        self._handler: Any = None
        self._came = self._is_handled = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep Ctrl-C back in this block, and handle it at the end."""
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler) or threading.current_thread() is not threading.main_thread():
            yield  # it is ignored, or handled by another thread
            return
        self._handler = handler
        signal.signal(signal.SIGINT, self._receive)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, handler)
            self._deliver()

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle Ctrl-C in this block, also what was kept back."""
        self._is_handled = True
        try:
            self._deliver()
            yield
        finally:
            self._is_handled = False

    def _receive(self, *_: Any) -> None:
        self._came = True
        if self._is_handled:
            self._deliver()

    def _deliver(self) -> None:
        if self._came:
            self._came = False
            self._handler(signal.SIGINT, None)

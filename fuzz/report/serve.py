"""A small server on this machine that shows a running campaign, and its record once it has ended. It only reads."""

import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tridiff.fuzz.campaign import history
from tridiff.fuzz.campaign.live import Live
from tridiff.fuzz.campaign.states import is_running
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.report.html import html
from tridiff.fuzz.report.record import find_record, report_of, report_of_campaign

ADDRESS = "127.0.0.1"

REFRESH = 3
"""Seconds after which a page asks again."""

FRESH = 1.0
"""Seconds for which a page is given to everybody who asks."""

_HOSTS = ("127.0.0.1", "localhost")
"""Names under which this server answers: a page from elsewhere that got another name to point here learns nothing."""

_HEADERS = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "frame-ancestors 'none'"}


def live_page(name: str, *, roots: Iterable[Path], reports: Path, corpus: Corpus | None) -> Callable[[], str]:
    """What makes the page of a campaign or a gate whenever it is asked for: as it runs, and its record afterwards.
    name: "" for the one that began last of those that run, else for the newest record. roots: where running ones keep
    their files. Raises TridiffError where there is neither."""
    folder = _running(name, roots)
    chosen = folder.name if folder is not None else name
    live = Live(folder) if folder is not None else None

    def page() -> str:
        if folder is None or live is None or not is_running(folder):
            return html(report_of(find_record(chosen, reports), corpus=corpus))
        now = live.moment()
        return html(report_of_campaign(
            now.summary, ledger=now.ledger, corpus=corpus, folder=reports / chosen, past=reports / history.FILE,
            running=True, entries=now.findings), refresh=REFRESH)

    page()
    return page


def _running(name: str, roots: Iterable[Path]) -> Path | None:
    folders = [root / name for root in roots] if name else [path for root in roots for path in root.glob("*")]
    running = [folder for folder in folders if is_running(folder)]
    return max(running, key=lambda folder: (folder / "plan.json").stat().st_mtime, default=None)


class _Kept:
    """A page that is made at most once in FRESH seconds, however many ask."""

    def __init__(self, page: Callable[[], str]) -> None:
        self._page, self._lock = page, threading.Lock()
        self._made_at, self._data = -FRESH, b""

    def data(self) -> bytes:
        with self._lock:
            if time.monotonic() - self._made_at >= FRESH:
                self._data = self._page().encode(errors="replace")
                self._made_at = time.monotonic()
            return self._data


def server(page: Callable[[], str], *, port: int) -> ThreadingHTTPServer:
    """A server that shows `page` at /, on this machine only; port 0 for any. TridiffError where it cannot listen."""
    kept = _Kept(page)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def _answer(self, *, body: bool) -> None:
            status, data = self._found()
            self.send_response(status)
            for header, value in _HEADERS.items():
                self.send_header(header, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body:
                self.wfile.write(data)

        def _found(self) -> tuple[int, bytes]:
            if self.headers.get("Host", "").rpartition(":")[0] not in _HOSTS:
                return 403, b"not under this name"
            if self.path.partition("?")[0] != "/":
                return 404, b"there is only /"
            try:
                return 200, kept.data()
            except TridiffError as error:
                return 503, printable(str(error), limit=500).encode()

        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        return ThreadingHTTPServer((ADDRESS, port), Handler)
    except OSError as error:
        raise TridiffError(f"port {port} of {ADDRESS} cannot be used ({error.strerror})",
                           fix="choose another --port, or 0 for any") from None

"""A headless Chromium, driven through a pipe by its own protocol: no driver, no port, nothing to install but itself."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any, Self

__all__ = ["CHROMIUM", "Browser", "Tab", "open_browser"]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
_HOME = "--user-data-dir"
# Chromium reads from 3 and writes to 4. The pipes may be these already, in the other order: first out of the way.
_LAUNCH = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(reads, 3); os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_PATIENCE = 60.0  # seconds, for a machine that is busy


class Browser:
    """Messages to and from Chromium: JSON, each ended by a zero byte."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._rest, self._count = b"", 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and return its result, keeping the events that come before it."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._count:
                assert "error" not in found, (method, found)
                result: dict[str, Any] = found["result"]
                return result
            self.events.append(found)

    def wait(self, method: str) -> dict[str, Any]:
        """Return the next event of a kind, of those that came before too."""
        while True:
            for at, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(at)
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select([self._read], [], [], max(end - time.monotonic(), 0.0))
            piece = os.read(self._read, 1 << 20) if ready else b""
            assert piece, "Chromium does not answer"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


class Tab:
    """One page: what it logs and asks of the network is kept."""

    def __init__(self, browser: Browser, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self._browser.call(method, self._session, **params)

    def open(self, path: Path) -> Self:
        """Open a file from disk and wait until it has loaded."""
        self._browser.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        loaded = self._browser.wait("Page.loadEventFired")
        assert loaded["sessionId"] == self._session
        return self

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; a promise is waited for."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def complaints(self) -> list[str]:
        """Return what was logged or thrown since the page was opened."""
        self.run("new Promise(done => setTimeout(done, 50))")
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self._browser.events if event.get("method") in kinds]

    def requests(self) -> list[str]:
        """Return the addresses asked for since the page was opened."""
        sent = (event for event in self._browser.events if event.get("method") == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def picture(self, *, whole: bool = True) -> bytes:
        """Return a PNG of the page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a Chromium with a profile of its own, and end it."""
    assert CHROMIUM is not None
    child_reads, we_write = os.pipe()
    we_read, child_writes = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _LAUNCH,
                str(child_reads),
                str(child_writes),
                CHROMIUM,
                *_FLAGS,
                f"{_HOME}={profile}",
            ],
            pass_fds=(child_reads, child_writes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(child_reads)
        os.close(child_writes)
        browser = Browser(we_write, we_read)
        try:
            yield browser
        finally:
            # It ends with its pipe.
            os.close(we_write)
            os.close(we_read)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

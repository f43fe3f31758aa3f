"""Chromium without a window, driven through chromedriver by plain HTTP (W3C WebDriver)."""

import contextlib
import json
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MISSING = "" if shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("google-chrome")) else (
    "no chromium with its chromedriver on this machine (Debian: apt-get install chromium chromium-driver)")
"""Why there is no browser, "" if there is one."""

_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
              "--disable-background-networking", "--disable-component-update", "--window-size=1280,900",
              "--disable-dev-shm-usage")

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}


class Browser:
    """One window."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            f"{self._address}{path}", method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        self.ask("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:
        """What the body of a function returns in the page."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys: str) -> None:
        """Press and let go of keys, as a person does: the page cannot tell the difference."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def log(self) -> list[str]:
        """Errors that the console has, refused scripts and requests among them, since the last call."""
        return [one["message"] for one in self.ask("POST", "/se/log", {"type": "browser"}) if one["level"] == "SEVERE"]

    def emulate(self, **features: str) -> None:
        """Set media features, such as prefers-color-scheme."""
        self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]}})


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tridiff-browser-", ignore_cleanup_errors=True) as profile:
        driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True)
        try:
            assert driver.stdout is not None
            line = next(line for line in driver.stdout if "started successfully on port" in line)
            address = f"http://127.0.0.1:{line.split()[-1].rstrip('.')}"
            made = Browser(address).ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": [*_ARGUMENTS, f"--user-data-dir={Path(profile) / 'profile'}"]}}}})
            one = Browser(f"{address}/session/{made['sessionId']}")
            yield one
            one.ask("DELETE", "")
        finally:
            driver.terminate()
            driver.wait(10)

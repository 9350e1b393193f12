"""Measures the console: how soon a browser that comes for the first time sees a large entry."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import data
from peers import Request, Salver

TITLE = "Console: a page of 10 M rows, opened for the first time"
NOTE = "From the navigation of Chromium until it is drawn; server and browser are started anew for each."
ROWS = 10_000_000
WORKS = {  # key: what is waited for, its page, and the most milliseconds it may take
    "browser-rows": ("rows", "console/entry/orders", 300),
    "browser-profile": ("profile", "console/entry/orders?tab=columns", 2_000),
}
PACKAGES = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "salver/node"


def keys() -> list[str]:
    return list(WORKS)


def measure(options, names, chosen, results, scratch: Path) -> None:
    works = {key: work for key, work in WORKS.items() if chosen(key)}
    if "Salver" not in names or not works:
        return
    if not (PACKAGES / "node_modules/playwright-core").is_dir():
        print("browser: left out, since playwright-core is not there; `make test` installs it", file=sys.stderr)
        return
    results.section(TITLE, NOTE)
    path = data.orders(scratch / "data", ROWS)
    salver = Salver(scratch / "salver.log", options.salver.resolve())
    results.versions |= {"Salver": salver.version()}
    for key, (what, page, ms_max) in works.items():
        taken = []
        for _ in range(options.rounds):
            salver.start({"orders": path}, {"orders": "id"}, ready=Request("/ready"))
            try:
                taken.append(shown_after(f"http://127.0.0.1:{salver.port}/{page}", what))
            finally:
                salver.stop()
        results.drawn(key, f"{what} of {ROWS // 1_000_000} M rows", taken, ms_max)


def shown_after(url: str, what: str) -> float:
    """The milliseconds from the navigation until the page shows it."""
    command = ["node", Path(__file__).with_suffix(".mjs"), url, what]
    done = subprocess.run(command, cwd=PACKAGES, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the browser failed at {url}\n{done.stderr}")
    return float(done.stdout)

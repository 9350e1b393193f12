"""Measures two builds of Salver in turns: what a change costs, row by row.

    python bench/turns.py OLD NEW                       two binaries, every row
    python bench/turns.py OLD NEW --only key,event-disk --rounds 5 --seconds 3

Every round asks both builds, the one that begins changing from round to round. What counts is the median of the rounds'
ratios: absolute numbers depend on the machine and on what else it does. Many short rounds say more than a few long
ones.
The second ratio is that of requests for the server's own processor time, all rounds together, of which the client takes
no part. Needs what bench/requirements.txt lists of pyarrow and numpy.
"""

import argparse
import sqlite3
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import data
import load
import record_works
import stream_works
import works
from peers import Request, Salver

ROOT = Path(__file__).resolve().parent.parent
POSTS = 1_000_000


@dataclass(frozen=True)
class Row:
    """Many small requests at once."""

    key: str
    request: Request
    connections: int = 50


ROWS = [Row("health", Request("/health"))]
ROWS += [Row(work.key, work.request, work.connections) for work in works.SMALL]
ROWS += [Row("read-sqlite", record_works.READ, 16)]
ROWS += [Row(work.key, work.request, work.connections) for work in stream_works.APPENDED if work.sink == "log"]
ROWS += [Row("fib-10", Request("/api/functions/fib/fib", '{"n": 10}', stream_works.JSON), 4)]
FIB = "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the binary that was")
    parser.add_argument("new", type=Path, help="the binary that is")
    parser.add_argument("--only", default=",".join(row.key for row in ROWS), help="comma-separated rows")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each build on each row")
    parser.add_argument("--seconds", type=int, default=3, help="length of one turn")
    parser.add_argument("--least", type=float, default=0.97, help="the ratio below which a row is marked")
    options = parser.parse_args()
    chosen = [row for row in ROWS if row.key in options.only.split(",")]
    with tempfile.TemporaryDirectory(prefix="salver-turns-", dir="/var/tmp") as folder:
        builds = [start(name, binary, Path(folder)) for name, binary in (("old", options.old), ("new", options.new))]
        try:
            low = [row.key for row in chosen if measure(row, builds, options) < options.least]
        finally:
            for build in builds:
                build.stop()
    print(f"below {options.least}: {', '.join(low) or 'none'}")
    return 1 if low else 0


def start(name: str, binary: Path, scratch: Path) -> Salver:
    """A server of one build, with files, a database, streams and a function of its own."""
    folder = scratch / name
    folder.mkdir()
    tables = {"uk_cities": ROOT / "examples/demo/data/uk_cities.csv",
              "orders": data.orders(ROOT / ".bench/data", 1_000_000)}
    with sqlite3.connect(folder / "blog.db") as database:
        database.execute("create table posts (id integer primary key, title text, content text, views integer)")
        rows = ((at, f"post {at}", "some text of a usual length, as posts have it", at % 977)
                for at in range(1, POSTS + 1))
        database.executemany("insert into posts values (?, ?, ?, ?)", rows)
    database.close()
    (folder / "fib.py").write_text(FIB)
    streams = {work.stream: {"sink": "log", "dir": str(folder / work.stream)}
               for work in stream_works.APPENDED if work.sink == "log"}
    build = Salver(folder / "salver.log", binary.resolve())
    build.start(tables, {"orders": "id"}, ready=Request("/ready"), databases={"b": f"sqlite:{folder / 'blog.db'}"},
                streams=streams, functions={"fib": {"file": str(folder / "fib.py")}})
    return build


def measure(row: Row, builds: list[Salver], options) -> float:
    """The median of the rounds' ratios of one row."""
    for build in builds:
        status, _, body = build.ask(row.request.numbered(1))
        if not 200 <= status < 300:
            raise SystemExit(f"{row.key}: {build.binary} answers {status}: {body[:300]!r}")
    ratios, rates, first, spent, answered = [], [[], []], 1, [0, 0], [0, 0]
    for turn in range(options.rounds):
        for at in (0, 1) if turn % 2 == 0 else (1, 0):
            before = ticks(builds[at])
            done = load.wrk(builds[at], row.request, options.seconds, row.connections, first)
            spent[at] += ticks(builds[at]) - before
            answered[at] += done.requests
            first += 50_000_000
            if done.not_2xx or done.broken:
                print(f"  WRONG: {row.key}: {done.not_2xx} not 2xx, {done.broken} broken", file=sys.stderr)
            rates[at].append(done.per_second)
        ratios.append(rates[1][-1] / rates[0][-1])
    ratio = statistics.median(ratios)
    old, new = (statistics.median(rate) for rate in rates)
    mark = "  <" if ratio < options.least else ""
    own = (answered[1] / max(spent[1], 1)) / (answered[0] / max(spent[0], 1))
    low, high = (statistics.quantiles(ratios, n=4)[at] if len(ratios) > 1 else ratio for at in (0, 2))
    print(f"{row.key:14} {old:10,.0f}/s {new:10,.0f}/s {ratio:6.3f}  (half of the rounds {low:.2f} to {high:.2f}; "
          f"for processor time {own:.3f}){mark}", flush=True)
    return ratio


def ticks(build: Salver) -> int:
    """Processor time of the server so far, in the system's ticks (proc(5))."""
    stat = Path(f"/proc/{build.process.pid}/stat").read_text()
    user, system = stat.rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system)


if __name__ == "__main__":
    sys.exit(main())

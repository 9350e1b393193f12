"""Measures the SQL engine: Salver over HTTP as Arrow, and DuckDB in a process of its own, on the same Parquet files,
query by query in turns."""

import importlib.metadata
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyarrow as pa

import answers
import hits
import mixed
import works
from peers import Request, Salver

HERE = Path(__file__).resolve().parent
TITLE = "SQL: against DuckDB"
NOTE = """Parquet (TPC-H at scale factors 1 and, with 2 GiB of memory for each, 10; page views of 105 columns, 10 M
rows), two threads each, the answer as Arrow. Times of a query are medians of as many runs as there are rounds, at least
five; those of a whole set are geometric means over its queries, at scale factor 10 the sum of one run each. "cold" is
the first run of each query after a start, with the file in the system's cache. "mixed": eight clients with small
statements and two with those of TPC-H at once."""
TABLES = ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"]
# Queries whose answer is any of several.
ANY_ROWS = {"hits": {"q17"}}
SETS = {"tpch": 2.0, "hits": 3.0}  # and how many times DuckDB's time one query may take
LARGE_TOTAL = 1.5  # of DuckDB's time for all queries at scale factor 10
LARGE_MEMORY, LARGE_MB = "2GiB", 2.5 * 1024
COLD = 1.5
HITS_ROWS = 10_000_000


SMALL_MS = 50  # within which all but one of a hundred small statements are answered, whatever else runs


def keys() -> list[str]:
    return [*SETS, "tpch10", "mixed"]


def measure(options, names, chosen, results, scratch: Path) -> None:
    results.section(TITLE, NOTE.replace("\n", " "))
    for name, worst in SETS.items():
        if chosen(name):
            files = tpch(scratch / "data", 1) if name == "tpch" else {"hits": page_views(scratch / "data")}
            Measured(options, results, scratch, name, files).run(worst, "DuckDB" in names)
    if chosen("tpch10"):
        Measured(options, results, scratch, "tpch10", tpch(scratch / "data", 10)).run_large("DuckDB" in names)
    if chosen("mixed"):
        mix(options, results, scratch, "DuckDB" in names)


def mix(options, results, scratch: Path, with_duck: bool) -> None:
    """Ten clients at once, of each system in turn, for a minute for each second of a usual turn."""
    files, seconds = tpch(scratch / "data", 1), options.seconds * 60
    salver = Salver(scratch / "salver.log", options.salver.resolve())
    results.versions["Salver"] = salver.version()
    salver.start(files, ready=Request("/ready"))
    try:
        note(f"mixed, {seconds} s")
        load = mixed.Load()
        load.run(mixed.over_http(salver.port), seconds)
        ours = load.told()
        results.memory(salver, "mixed")
    finally:
        salver.stop()
    found = {"Salver": ours}
    if with_duck:
        results.versions["DuckDB"] = importlib.metadata.version("duckdb")
        note(f"mixed, {seconds} s, DuckDB")
        tables = [f"{name}={file}" for name, file in files.items()]
        run = subprocess.run([sys.executable, str(HERE / "mixed.py"), str(seconds), *tables], check=True,
                             stdout=subprocess.PIPE, text=True)
        found["DuckDB"] = json.loads(run.stdout)
    results.keep("engine", "mixed", found)
    if ours["failed"]:
        results.fault(f"mixed: {ours['failed']} statements failed, among them {ours['failures']}")
    theirs = found.get("DuckDB")
    for what in ("small", "large"):
        peer, ratio = "", None
        if theirs:
            peer, ratio = f"{theirs[what] / seconds:,.1f}/s (DuckDB)", ours[what] / max(theirs[what], 1)
        results.row(f"mixed: {what} statements of ten clients", f"{ours[what] / seconds:,.1f}/s", peer, ratio, ">= 1 x",
                    met=ratio is None or ratio >= 1, key="mixed")
    results.row("mixed: 99 of 100 small ones within", f"{ours['p99_ms']:,.0f} ms",
                f"{theirs['p99_ms']:,.0f} ms (DuckDB)" if theirs else "",
                ours["p99_ms"] / theirs["p99_ms"] if theirs else None, f"<= {SMALL_MS} ms",
                met=ours["p99_ms"] <= SMALL_MS, key="mixed")


def tpch(folder: Path, scale: int) -> dict[str, Path]:
    """TPC-H's tables, by the generator of PyPI."""
    target = folder / f"tpch-{scale}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        generator = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([generator, "parquet", "-s", str(scale), "--output-dir", part], check=True, stdout=sys.stderr)
        part.rename(target)
    return {table: target / f"{table}.parquet" for table in TABLES}


def page_views(folder: Path) -> Path:
    target = folder / f"hits_{HITS_ROWS}.parquet"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        hits.write(part, HITS_ROWS)
        part.rename(target)
    return target


class Duck:
    """DuckDB in a process of its own."""

    def __init__(self, files: dict[str, Path], memory: str = ""):
        tables = [f"{name}={file}" for name, file in files.items()]
        limit = [f"--memory={memory}"] if memory else []
        command = [sys.executable, str(HERE / "peers/duckdb_sql.py"), *limit, *tables]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.peak_mb = 0.0
        self.process.stdout.readline()

    def run(self, statement: Path, target: Path | str = "") -> float:
        self.process.stdin.write(f"{statement} {target}\n")
        self.process.stdin.flush()
        seconds, _, peak_mb = map(float, self.process.stdout.readline().split())
        self.peak_mb = peak_mb
        return seconds

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()


class Measured:
    """One set of queries."""

    def __init__(self, options, results, scratch: Path, name: str, files: dict[str, Path]):
        self.options, self.results, self.name, self.files = options, results, name, files
        self.scratch, self.asked = scratch, 0
        self.queries = sorted((HERE / "sql" / name.removesuffix("10")).glob("*.sql"))

    def run(self, worst: float, with_duck: bool) -> None:
        salver = Salver(self.scratch / "salver.log", self.options.salver.resolve())
        self.results.versions["Salver"] = salver.version()
        if with_duck:
            self.results.versions["DuckDB"] = importlib.metadata.version("duckdb")
        duck = Duck(self.files) if with_duck else None
        salver.start(self.files, ready=Request("/ready"))
        try:
            cold, hot = {}, {}
            for query in self.queries:
                note(f"{self.name} {query.stem}")
                cold[query.stem], hot[query.stem] = self.query(salver, duck, query)
            self.report(cold, hot, worst, salver, duck)
        finally:
            salver.stop()
            if duck:
                duck.stop()

    def run_large(self, with_duck: bool) -> None:
        """All queries once, with little memory."""
        salver = Salver(self.scratch / "salver.log", self.options.salver.resolve())
        self.results.versions["Salver"] = salver.version()
        duck = None
        if with_duck:
            self.results.versions["DuckDB"] = importlib.metadata.version("duckdb")
            duck = Duck(self.files, LARGE_MEMORY)
        salver.start(self.files, ready=Request("/ready"), more=f'[limits]\nmemory_bytes_max = "{LARGE_MEMORY}"\n')
        try:
            taken = {}
            for query in self.queries:
                note(f"{self.name} {query.stem}")
                taken[query.stem] = self.once(salver, duck, query)
            self.results.keep("engine", self.name, taken)
            ours = sum(of["Salver"] for of in taken.values())
            peak_mb = salver.memory_mb("VmHWM")
            theirs = sum(of["DuckDB"] for of in taken.values()) if duck else None
            self.results.row(f"{self.name}, 22 queries", f"{ours:,.1f} s", f"{theirs:,.1f} s (DuckDB)" if duck else "",
                             ours / theirs if duck else None, f"<= {LARGE_TOTAL:g} x",
                             met=duck and ours <= LARGE_TOTAL * theirs, key=self.name)
            self.results.row(f"{self.name}: highest memory", f"{peak_mb:,.0f} MB",
                             f"{duck.peak_mb:,.0f} MB (DuckDB)" if duck else "",
                             peak_mb / duck.peak_mb if duck else None, f"<= {LARGE_MB:,.0f} MB",
                             met=peak_mb <= LARGE_MB, key=self.name)
        finally:
            salver.stop()
            if duck:
                duck.stop()

    def once(self, salver: Salver, duck: Duck | None, query: Path) -> dict[str, float]:
        """Seconds of a run of both, whose answers are compared."""
        target = self.scratch / "duckdb.arrow"
        started = time.perf_counter()
        ours = self.ask(salver, query.read_text())
        taken = {"Salver": time.perf_counter() - started}
        if duck:
            taken["DuckDB"] = duck.run(query, target)
            theirs = pa.ipc.open_stream(target).read_all()
            if query.stem in ANY_ROWS.get(self.name, ()):
                ours, theirs = ours.slice(0, 0), theirs.slice(0, 0)
            if why := answers.differ(ours, theirs):
                self.results.fault(f"{self.name}: {query.stem}: {why}")
        return taken

    def query(self, salver: Salver, duck: Duck | None, query: Path):
        """Seconds of the first run of both, and of the others."""
        text = query.read_text()
        cold = self.once(salver, duck, query)
        hot = {who: [] for who in cold}
        for _ in range(max(self.options.rounds, 5)):
            started = time.perf_counter()
            self.ask(salver, text)
            hot["Salver"].append(time.perf_counter() - started)
            if duck:
                hot["DuckDB"].append(duck.run(query))
        return cold, hot

    def ask(self, salver: Salver, text: str) -> pa.Table:
        # Salver keeps the answers of statements; a comment makes each statement a new one.
        self.asked += 1
        text += f"-- {self.asked}"
        url = f"http://127.0.0.1:{salver.port}/api/sql"
        with urllib.request.urlopen(urllib.request.Request(url, text.encode(), works.ARROW)) as answer:
            return pa.ipc.open_stream(answer).read_all()

    def report(self, cold, hot, worst: float, salver: Salver, duck: Duck | None) -> None:
        self.results.keep("engine", self.name, {"cold": cold, "hot": hot})
        self.results.memory(salver, f"{self.name}: all queries")
        medians = {query: {who: statistics.median(taken) for who, taken in of.items()} for query, of in hot.items()}
        if not duck:
            for query, of in medians.items():
                said = f"{of['Salver'] * 1000:,.0f} ms"
                self.results.row(f"{self.name} {query}", said, "", None, None, key=self.name)
            return
        self.together(f"{self.name}, {len(hot)} queries", medians, 1.0)
        self.together(f"{self.name}, cold", cold, COLD)
        for query, of in medians.items():
            self.compared(f"{self.name} {query}", of["Salver"], of["DuckDB"], worst)
        peak_mb = salver.memory_mb("VmHWM")
        self.results.row(f"{self.name}: highest memory", f"{peak_mb:,.0f} MB", f"{duck.peak_mb:,.0f} MB (DuckDB)",
                         peak_mb / duck.peak_mb, "<= 1 x", met=peak_mb <= duck.peak_mb, key=self.name)

    def together(self, name: str, of, most: float) -> None:
        mean = lambda who: statistics.geometric_mean([times[who] for times in of.values()])
        ours, theirs = mean("Salver"), mean("DuckDB")
        self.compared(name, ours, theirs, most)

    def compared(self, name: str, ours: float, theirs: float, most: float) -> None:
        self.results.row(name, f"{ours * 1000:,.0f} ms", f"{theirs * 1000:,.0f} ms (DuckDB)", ours / theirs,
                         f"<= {most:g} x", met=ours <= most * theirs, key=self.name)


def note(text: str) -> None:
    print(f"measuring {text}", file=sys.stderr, flush=True)

"""Measures the SQL engine: Salver over HTTP as Arrow, and DuckDB in a process of its own, on the same Parquet files,
query by query in turns."""

import importlib.metadata
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyarrow as pa

import answers
import hits
import works
from peers import Request, Salver

HERE = Path(__file__).resolve().parent
TITLE = "SQL: against DuckDB"
NOTE = """Parquet (TPC-H at scale factor 1; page views of 105 columns, 10 M rows), two threads each, the answer as
Arrow. Times of a query are medians of as many runs as there are rounds, at least five; those of a whole set are
geometric means over its queries. "cold" is the first run of each query after a start, with the file in the system's
cache."""
TABLES = ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"]
# Queries whose answer is any of several.
ANY_ROWS = {"hits": {"q17"}}
SETS = {"tpch": 2.0, "hits": 3.0}  # and how many times DuckDB's time one query may take
COLD = 1.5
HITS_ROWS = 10_000_000


def keys() -> list[str]:
    return list(SETS)


def measure(options, names, chosen, results, scratch: Path) -> None:
    results.section(TITLE, NOTE.replace("\n", " "))
    for name, worst in SETS.items():
        if chosen(name):
            files = tpch(scratch / "data") if name == "tpch" else {"hits": page_views(scratch / "data")}
            Measured(options, results, scratch, name, files).run(worst, "DuckDB" in names)


def tpch(folder: Path) -> dict[str, Path]:
    """TPC-H's tables at scale factor 1, by the generator of PyPI."""
    target = folder / "tpch-1"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        generator = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([generator, "parquet", "-s", "1", "--output-dir", part], check=True, stdout=sys.stderr)
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

    def __init__(self, files: dict[str, Path]):
        tables = [f"{name}={file}" for name, file in files.items()]
        command = [sys.executable, str(HERE / "peers/duckdb_sql.py"), *tables]
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
        self.queries = sorted((HERE / "sql" / name).glob("*.sql"))

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

    def query(self, salver: Salver, duck: Duck | None, query: Path):
        """Seconds of the first run of both, and of the others."""
        text, target = query.read_text(), self.scratch / "duckdb.arrow"
        started = time.perf_counter()
        ours = self.ask(salver, text)
        cold = {"Salver": time.perf_counter() - started}
        if duck:
            cold["DuckDB"] = duck.run(query, target)
            theirs = pa.ipc.open_stream(target).read_all()
            if query.stem in ANY_ROWS.get(self.name, ()):
                ours, theirs = ours.slice(0, 0), theirs.slice(0, 0)
            if why := answers.differ(ours, theirs):
                self.results.fault(f"{self.name}: {query.stem}: {why}")
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

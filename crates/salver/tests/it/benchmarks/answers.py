"""Compares answers of the server with DuckDB's, for the queries of the benchmark.

    answers.py make FOLDER             makes the tables: TPC-H at scale factor 0.02, and 40,000 page views
    answers.py compare FOLDER ADDRESS  asks both, and tells each difference
"""

import subprocess
import sys
import urllib.request
from pathlib import Path

BENCH = Path(__file__).resolve().parents[5] / "bench"
sys.path.insert(0, str(BENCH))
ARROW = {"accept": "application/vnd.apache.arrow.stream"}
# Queries whose answer is any of several.
ANY_ROWS = {"hits/q17"}


def make(folder: Path) -> None:
    import hits

    generator = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run([generator, "parquet", "-s", "0.02", "--output-dir", folder], check=True, stdout=sys.stderr)
    hits.write(folder / "hits.parquet", 40_000)


def compare(folder: Path, address: str) -> None:
    import answers
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    for file in folder.glob("*.parquet"):
        connection.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM '{file}'")
    queries = sorted((BENCH / "sql").glob("*/q*.sql"))
    for query in queries:
        name, text = f"{query.parent.name}/{query.stem}", query.read_text()
        request = urllib.request.Request(f"http://{address}/api/sql", text.encode(), ARROW)
        try:
            with urllib.request.urlopen(request) as answer:
                ours = pa.ipc.open_stream(answer).read_all()
        except urllib.error.HTTPError as error:
            print(f"{name}: {error.code} {error.read().decode()}")
            continue
        theirs = connection.sql(text).to_arrow_table()
        if name in ANY_ROWS:
            ours, theirs = ours.slice(0, 0), theirs.slice(0, 0)
        if why := answers.differ(ours, theirs):
            print(f"{name}: {why}")
    print(len(queries))


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])

"""Answers statements with DuckDB, two threads. Arguments: NAME=FILE of each table, before them --memory=SIZE. Reads the
path of a file with a statement from each line of standard input, and writes the seconds it took as Arrow in memory, its
rows, and the highest resident memory so far in MB; with a second path in the line, also the rows to that file."""

import resource
import sys
import time

import duckdb
import pyarrow as pa

connection = duckdb.connect()
connection.execute("SET threads = 2")
for table in sys.argv[1:]:
    if table.startswith("--memory="):
        connection.execute(f"SET memory_limit = '{table.removeprefix('--memory=')}'")
        continue
    name, file = table.split("=", 1)
    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")
print("ready", flush=True)
for line in sys.stdin:
    statement, *target = line.split()
    with open(statement) as file:
        text = file.read()
    started = time.perf_counter()
    rows = connection.sql(text).to_arrow_table()
    seconds = time.perf_counter() - started
    if target:
        with pa.ipc.new_stream(target[0], rows.schema) as writer:
            writer.write_table(rows)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(seconds, rows.num_rows, peak_mb, flush=True)

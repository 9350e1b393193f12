"""Writes a Parquet file to standard output with DuckDB, when told to begin. Arguments: file, format."""

import sys

import duckdb

file, form = sys.argv[1:]
connection = duckdb.connect()
connection.execute("SET threads = 2")
connection.execute(f"SELECT * FROM '{file}' LIMIT 1").fetchall()
print("ready", file=sys.stderr, flush=True)
sys.stdin.readline()
connection.execute(f"COPY (SELECT * FROM '{file}') TO '/dev/stdout' (FORMAT {form})")

"""Writes a Parquet file to standard output with chDB, when told to begin. Arguments: file, format."""

import sys

import chdb

file, form = sys.argv[1:]
session = chdb.connect(":memory:")
session.query(f"SELECT * FROM file('{file}', Parquet) LIMIT 1")
print("ready", file=sys.stderr, flush=True)
sys.stdin.readline()
session.query(f"INSERT INTO FUNCTION file('/dev/stdout', '{form}') SELECT * FROM file('{file}', Parquet)"
              " SETTINGS max_threads = 2, engine_file_truncate_on_insert = 1")

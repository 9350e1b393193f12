"""The rows that exports are measured on: the same bytes on every machine, made once and kept in .bench/data."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK = 131_072  # rows made at once, and rows of a row group
KINDS = ["click", "view", "purchase", "refund", "signup", "login", "logout", "search", "share", "delete"]
# One in four needs an escape in JSON, and some of them quotes in CSV.
NOTES = [
    "the parcel was left with a neighbour", "asked for an invoice", "paid in full, delivered on time",
    "wants to be called back after lunch", "no answer yet", "second order of the same customer this month",
    "said \"tomorrow\" and did not come", "two lines\nfor one remark", "path C:\\orders\\2024", "délivré à Genève",
    "waiting for the supplier", "returned, reason unknown",
]
START_US = 1_577_836_800_000_000  # 2020-01-01
SCHEMA = pa.schema([
    ("id", pa.int64()), ("user", pa.int32()), ("amount", pa.float64()), ("kind", pa.string()), ("note", pa.string()),
    ("at", pa.timestamp("us")), ("active", pa.bool_()),
])


def events(folder: Path, rows: int) -> Path:
    """A Parquet file of `rows` rows and seven columns; one value in ten or so of four of them is null."""
    path = folder / f"events_{rows}.parquet"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(20_260_505)
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, SCHEMA, compression="snappy") as writer:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            writer.write_table(chunk(chance, start, count), row_group_size=CHUNK)
    part.rename(path)
    return path


def chunk(chance, start: int, count: int) -> pa.Table:
    """`count` rows from number `start` on."""
    missing = lambda share: chance.random(count) < share
    ids = pa.array(np.arange(start, start + count), pa.int64())
    users = pa.array(chance.integers(1, 2_000_000, count), pa.int32(), mask=missing(0.02))
    amounts = pa.array(np.round(chance.gamma(2.0, 60.0, count), 2), pa.float64(), mask=missing(0.1))
    kinds = pa.array(KINDS).take(pa.array(chance.integers(0, len(KINDS), count)))
    notes = pa.array(NOTES).take(pa.array(chance.integers(0, len(NOTES), count), pa.int64(), mask=missing(0.1)))
    times = START_US + np.arange(start, start + count) * 7_000_000 + chance.integers(0, 7_000_000, count)
    created = pa.array(times, pa.int64()).cast(pa.timestamp("us"))
    active = pa.array(chance.random(count) < 0.7, pa.bool_(), mask=missing(0.05))
    return pa.table([ids, users, amounts, kinds, notes, created, active], schema=SCHEMA)

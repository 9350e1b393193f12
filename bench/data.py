"""The data of the benchmark: the same bytes on every machine, made once and kept in .bench/data."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CHUNK = 131_072  # rows made at once, and rows of a row group
COLORS = ["amber", "black", "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "teal", "white"]
WORDS = ["called back", "paid in full", "left a message", "wants a refund", "second order", "no answer yet"]
START_US = 1_577_836_800_000_000  # 2020-01-01


def orders(folder: Path, rows: int) -> Path:
    """A Parquet file of `rows` orders: id, user, amount, color, created_at, active, note. No nulls: ROAPI leaves them
    out of its JSON, and then the two would write answers of different length."""
    path = folder / f"orders_{rows}.parquet"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(20_260_101)
    schema = pa.schema([
        ("id", pa.int64()), ("user", pa.int64()), ("amount", pa.float64()), ("color", pa.string()),
        ("created_at", pa.timestamp("us")), ("active", pa.bool_()), ("note", pa.string()),
    ])
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, schema, compression="snappy") as writer:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            writer.write_table(chunk(chance, start, count, schema), row_group_size=CHUNK)
    part.rename(path)
    return path


def chunk(chance, start: int, count: int, schema: pa.Schema) -> pa.Table:
    """`count` orders from number `start` on."""
    ids = pa.array(np.arange(start, start + count), pa.int64())
    users = pa.array(chance.integers(1, 50_000, count), pa.int64())
    amounts = pa.array(np.round(chance.gamma(2.0, 60.0, count), 2))
    colors = pa.array(COLORS).take(pa.array(chance.integers(0, len(COLORS), count)))
    seconds = (np.arange(start, start + count) * 17 + chance.integers(0, 17, count)) * 1_000_000
    created = pa.array(START_US + seconds, pa.int64()).cast(pa.timestamp("us"))
    active = pa.array(chance.random(count) < 0.7)
    words = pa.array(WORDS).take(pa.array(chance.integers(0, len(WORDS), count)))
    numbers = pa.array(chance.integers(0, 10_000, count), pa.int64()).cast(pa.string())
    notes = pc.binary_join_element_wise(words, numbers, " #")
    return pa.table([ids, users, amounts, colors, created, active, notes], schema=schema)

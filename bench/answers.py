"""Whether two answers to a statement are the same, whichever engine gave them."""

import datetime as dt
import decimal
import math

import pyarrow as pa

# Sums of floats differ with the order of the rows, and averages with the digits that an engine keeps.
TOLERANCE = 1e-9


def differ(ours: pa.Table, theirs: pa.Table, ordered: bool = True) -> str | None:
    """Says how the answers differ; None if they don't. Rows without an order are compared as a set."""
    if ours.shape != theirs.shape:
        return f"{ours.shape} and {theirs.shape} rows and columns"
    pair = [[tuple(map(plain, row.values())) for row in named(table).to_pylist()] for table in (ours, theirs)]
    if not ordered:
        pair = [sorted(rows, key=repr) for rows in pair]
    for at, (one, other) in enumerate(zip(*pair)):
        if not all(map(same, one, other)):
            return f"row {at}: {one} and {other}"
    return None


def named(table: pa.Table) -> pa.Table:
    """The table with columns of different names: a dictionary has each name once."""
    return table.rename_columns([str(at) for at in range(table.num_columns)])


def plain(value):
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    return value


def same(one, other) -> bool:
    numbers = (int, float, decimal.Decimal)
    if isinstance(one, numbers) and isinstance(other, numbers) and not isinstance(one, bool):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(one, dt.date) and isinstance(other, dt.date):
        return str(one)[:19].removesuffix(" 00:00:00") == str(other)[:19].removesuffix(" 00:00:00")
    return one == other

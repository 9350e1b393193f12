"""A report over rows, with pandas where it is installed."""

from collections import defaultdict
from typing import Dict, List, Optional, Union

try:
    import pandas
except ImportError:
    pandas = None

Row = Dict[str, Union[str, float]]


def by_region(rows: List[Row], least: Optional[float] = None):
    if pandas is not None:
        frame = pandas.DataFrame(rows).groupby("region", as_index=False)["amount"].sum().sort_values("region")
        return frame if least is None else frame[frame["amount"] >= least]
    sums = defaultdict(float)
    for row in rows:
        sums[row["region"]] += row["amount"]
    found = [{"region": region, "amount": amount} for region, amount in sorted(sums.items())]
    return [row for row in found if least is None or row["amount"] >= least]


def pivot(rows: List[Row]) -> Dict[str, Dict[str, float]]:
    table = {}
    for row in rows:
        table.setdefault(row["region"], {})[row["month"]] = row["amount"]
    return table

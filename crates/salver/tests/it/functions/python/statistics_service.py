"""Statistics of what is sent."""

import math
import statistics
from typing import Dict, Iterable, List, Optional


def summary(values: List[float], digits: int = 2) -> Dict[str, float]:
    """Mean, median and deviation."""
    measures = {"mean": statistics.mean, "median": statistics.median, "deviation": statistics.pstdev}
    return {name: round(measure(values), digits) for name, measure in measures.items()}


def total(*numbers: float):
    return math.fsum(numbers)


def histogram(values: Iterable[float], width: float = 1.0):
    bins = {}
    for value in values:
        low = math.floor(value / width) * width
        bins[low] = bins.get(low, 0) + 1
    return dict(sorted(bins.items()))


def weighted(values: Dict[str, float], weights: Optional[Dict[str, float]] = None) -> float:
    weights = weights or {}
    return sum(value * weights.get(name, 1.0) for name, value in values.items())


def extremes(values: List[int]):
    return {"least": min(values), "most": max(values), "nan": float("nan"), "infinite": math.inf}

"""Arrays, with numpy where it is installed."""

from typing import List

try:
    import numpy
except ImportError:
    numpy = None


def norm(vector: List[float]) -> float:
    if numpy is None:
        return sum(value * value for value in vector) ** 0.5
    return numpy.linalg.norm(numpy.array(vector))


def multiplied(a: List[List[float]], b: List[List[float]]):
    if numpy is None:
        columns = list(zip(*b))
        return [[float(sum(x * y for x, y in zip(row, column))) for column in columns] for row in a]
    return numpy.array(a, dtype=float) @ numpy.array(b, dtype=float)


def scaled(values: List[float]):
    low, high = min(values), max(values)
    span = high - low or 1.0
    return [(value - low) / span for value in values]

"""Shortest ways through a graph, and other algorithms over nested values."""

import heapq
from typing import Dict, List, Optional, Tuple

from salver import HTTPError

Graph = Dict[str, Dict[str, float]]


def shortest(graph: Graph, start: str, end: str) -> dict:
    heap: List[Tuple[float, str, List[str]]] = [(0.0, start, [start])]
    seen = set()
    while heap:
        length, place, way = heapq.heappop(heap)
        if place == end:
            return {"length": length, "way": way}
        if place in seen:
            continue
        seen.add(place)
        for target, step in graph.get(place, {}).items():
            heapq.heappush(heap, (length + step, target, [*way, target]))
    raise HTTPError(404, f"no way leads from {start} to {end}")


def flattened(tree: list) -> list:
    return [leaf for branch in tree for leaf in (flattened(branch) if isinstance(branch, list) else [branch])]


def depth(tree: Optional[dict]) -> int:
    return 0 if not tree else 1 + max(map(depth, tree.values()), default=0)

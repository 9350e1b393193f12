"""Typed dictionaries, named tuples and types with a new name."""

from typing import Any, Dict, List, NamedTuple, NewType, Optional, Sequence, Set, Tuple, TypedDict

UserId = NewType("UserId", int)


class Address(TypedDict, total=False):
    street: str
    number: int


class Person(TypedDict):
    id: UserId
    name: str
    address: Address


class Point(NamedTuple):
    x: float
    y: float = 0.0


def greet(person: Person) -> str:
    return f"{person['name']} ({person['id']}), {person.get('address', {}).get('street', 'nowhere')}"


def moved(point: Point, by: Tuple[float, float] = (1.0, 1.0)) -> Point:
    return Point(point.x + by[0], point.y + by[1])


def unique(words: Set[str]) -> List[str]:
    return sorted(words)


def path(points: Sequence[Point]) -> float:
    steps = zip(points, points[1:])
    return sum(abs(a.x - b.x) + abs(a.y - b.y) for a, b in steps)


def anything(value: Any = None, more: Optional[Dict[str, Any]] = None, **rest):
    return {"value": value, "more": more, "rest": rest}

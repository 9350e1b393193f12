"""Classes that take one another's place."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import List, Union


class Shape(ABC):
    @abstractmethod
    def area(self): ...


@dataclass
class Circle(Shape):
    radius: float

    def __post_init__(self):
        if self.radius < 0:
            raise ValueError("a radius can't be negative")

    def area(self):
        return round(math.pi * self.radius ** 2, 3)


@dataclass(frozen=True)
class Rectangle(Shape):
    width: float
    height: float = 1.0

    def area(self):
        return self.width * self.height


AnyShape = Union[Circle, Rectangle]


def area(shape: AnyShape) -> float:
    return shape.area()


def areas(shapes: List[AnyShape]) -> List[float]:
    return [shape.area() for shape in shapes]


def largest(shapes: List[AnyShape]) -> AnyShape:
    return max(shapes, key=lambda shape: shape.area())

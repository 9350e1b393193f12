"""Orders, checked by pydantic where it is installed, and by a class of one's own where it is not."""

from dataclasses import dataclass, field
from typing import List

try:
    from pydantic import BaseModel, Field

    class Line(BaseModel):
        product: str
        quantity: int = Field(default=1, ge=1)

    class Order(BaseModel):
        customer: str
        lines: List[Line] = []

except ImportError:

    @dataclass
    class Line:
        product: str
        quantity: int = 1

        def __post_init__(self):
            if self.quantity < 1:
                raise ValueError("quantity must be at least 1")

    @dataclass
    class Order:
        customer: str
        lines: List[Line] = field(default_factory=list)


def pieces(order: Order) -> int:
    return sum(line.quantity for line in order.lines)


def completed(order: Order) -> Order:
    order.lines.append(Line(product="gift"))
    return order

"""A catalogue with type hints, as an application of FastAPI has them."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Dict, List, Literal, Optional

from salver import HTTPError


class Category(str, Enum):
    BOOK = "book"
    TOY = "toy"


@dataclass
class Item:
    """Something to buy."""

    name: str
    price: float
    category: Category = Category.BOOK
    tags: List[str] = field(default_factory=list)
    note: Optional[str] = None


ITEMS: Dict[int, Item] = {
    1: Item("Robot", 20.5, Category.TOY),
    2: Item("Atlas", 40, tags=["maps"]),
    3: Item("Novel", 10),
}


#* All items
#* @get /items
def list_items(category: Optional[Category] = None, sort: Literal["name", "price"] = "name", skip: int = 0,
               limit: int = 10) -> List[Item]:
    found = [item for item in ITEMS.values() if category in (None, item.category)]
    return sorted(found, key=lambda item: getattr(item, sort))[skip:skip + limit]


#* One item
#* @get /items/{item_id}
def read_item(item_id: int) -> Item:
    if item_id not in ITEMS:
        raise HTTPError(404, f"there is no item {item_id}")
    return ITEMS[item_id]


#* What an order costs
#* @post /price
def price(item: Item, quantity: int = ..., discount: float = 0.0) -> float:
    return item.price * quantity * (1 - discount)

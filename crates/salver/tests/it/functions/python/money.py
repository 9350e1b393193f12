"""Amounts, exactly."""

from decimal import ROUND_HALF_UP, Decimal
from enum import Enum, IntEnum
from typing import Literal, Union


class Currency(Enum):
    EUR = "EUR"
    JPY = "JPY"


class Rounding(IntEnum):
    WHOLE = 0
    CENTS = 2


def rounded(amount: Decimal, to: Rounding = Rounding.CENTS) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-to), ROUND_HALF_UP)


def shown(amount: Union[int, float], currency: Currency = Currency.EUR, place: Literal["before", "behind"] = "behind"):
    digits = 0 if currency is Currency.JPY else 2
    text = f"{amount:.{digits}f}"
    return f"{currency.value} {text}" if place == "before" else f"{text} {currency.value}"


def with_tax(net: Decimal, percent: Decimal = Decimal("19")) -> dict:
    tax = rounded(net * percent / 100)
    return {"net": net, "tax": tax, "gross": net + tax}

"""What goes wrong, and how it is told."""

import sys

from salver import HTTPError


class OutOfStock(HTTPError):
    def __init__(self, what):
        super().__init__(409, f"{what} is out of stock", error="out_of_stock", hint="order something else")


def divide(a: float, b: float) -> float:
    return a / b


def order(what: str):
    raise OutOfStock(what)


def chained():
    try:
        {}["password hunter2"]
    except KeyError as error:
        raise RuntimeError("secret place /srv/x") from error


def leaves():
    sys.exit(3)


def endless():
    return endless()


def wrong_type():
    return object()


def slow_down():
    raise HTTPError(429, headers={"Retry-After": "7"})


def checked(age: int):
    if age < 0:
        raise HTTPError(400, "nobody is that young")
    assert age < 200, "nobody is that old"
    return age

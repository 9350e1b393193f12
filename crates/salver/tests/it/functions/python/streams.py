"""Answers that come in pieces."""

import itertools

from salver import HTTPError, Response


def count(to: int, start: int = 1):
    for number in range(start, to + 1):
        yield {"number": number, "square": number ** 2}


def lines(rows: int = 2):
    def written():
        yield "a,b\n"
        for row in range(rows):
            yield f"{row},{row * 2}\n"

    return Response(written(), content_type="text/csv")


def chunks(of: list, size: int = 2):
    rest = iter(of)
    return iter(lambda: list(itertools.islice(rest, size)), [])


def refused(early: bool = True):
    if early:
        raise HTTPError(409, "not now")
    yield 1


async def ticks(to: int):
    for number in range(to):
        yield number

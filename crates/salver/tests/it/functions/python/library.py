"""A class that does the work, and functions that let it."""

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import ClassVar, Dict, List


@dataclass(order=True)
class Book:
    title: str
    year: int
    shelf: ClassVar[str] = "A"

    @property
    def age(self):
        return 2026 - self.year


class Library:
    def __init__(self, books):
        self._books = sorted(books)

    def __len__(self):
        return len(self._books)

    def __contains__(self, title):
        return any(book.title == title for book in self._books)

    def by_decade(self):
        shelves = defaultdict(list)
        for book in self._books:
            shelves[book.year // 10 * 10].append(book.title)
        return shelves

    @classmethod
    def standard(cls):
        return cls([Book("Dune", 1965), Book("Emma", 1815), Book("Neuromancer", 1984)])


LIBRARY = Library.standard()


def size() -> int:
    return len(LIBRARY)


def has(title: str) -> bool:
    return title in LIBRARY


def by_decade() -> Dict[int, List[str]]:
    return LIBRARY.by_decade()


def described(book: Book):
    return {**asdict(book), "age": book.age, "shelf": book.shelf}

"""Small tools for texts, as in anybody's script."""

import re
import unicodedata
from collections import Counter


def slugify(text, separator="-"):
    """A text as a part of an address."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", separator, plain.lower()).strip(separator)


def count_words(text, top=3):
    words = re.findall(r"\w+", text.lower())
    return [{"word": word, "count": count} for word, count in Counter(words).most_common(top)]


def is_palindrome(text: str) -> bool:
    letters = [letter for letter in text.lower() if letter.isalnum()]
    return letters == letters[::-1]


def join(*words: str, separator: str = " "):
    return separator.join(words)


if __name__ == "__main__":
    print(slugify("Not run here"))

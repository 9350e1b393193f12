"""Functions of Python. A comment above one says where it stands; every one is also called by its name."""

import collections
import re


#* How often each word comes in a text
#* @param text:str* the text
#* @param top:int how many words at most
#* @post /words/count
def count(text: str, top: int = 10):
    words = collections.Counter(re.findall(r"\w+", text.lower()))
    return [{"word": word, "times": times} for word, times in words.most_common(top)]


#* The word backwards
#* @get /words/<word>/reversed
def backwards(word: str) -> str:
    return word[::-1]


# A generator's values go out while they are made, one a line.
#* @get /words/numbers
def numbers(to: int = 3):
    for number in range(1, to + 1):
        yield {"number": number}

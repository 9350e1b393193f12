"""What functions get: arguments made of JSON, the request, the body."""

import unittest

from served import Served, call_frame

SOURCE = '''
import asyncio, collections, datetime, decimal, enum, pathlib, typing, uuid
from dataclasses import dataclass, field
from salver import HTTPError, Request

@dataclass
class Point:
    x: float
    tags: typing.List[str] = field(default_factory=list)
    next: typing.Optional["Point"] = None

class Colour(enum.Enum):
    RED = "red"

def told(*values):
    return [f"{type(each).__name__} {each}" for each in values]

def scalars(a: int, b: float, c: str = "c", d: bool = False): return told(a, b, c, d)
def lists(a: typing.List[float], b: typing.Tuple[int, ...] = (), c: typing.Set[str] = frozenset()): return told(a, b, c)
def optional(a: typing.Optional[int], b: int = 5): return told(a, b)
def classes(p: Point): return told(p.x, p.tags, p.next and p.next.x)
def words(c: Colour, l: typing.Literal["a", 1] = "a"): return told(c, l)
def texts(d: datetime.date, t: datetime.datetime, u: uuid.UUID, n: decimal.Decimal): return told(d, t, u, n)
def by_place(a, b=2, /, c=3): return [a, b, c]
def further(a, *rest, b=1, **named): return [a, rest, b, named]
def body(data: bytes, n: int = 1): return told(data, n)
def maybe_body(data: bytes = b"none"): return told(data)
async def later(n: int):
    await asyncio.sleep(0)
    return n + 1
def asked(request, n: int = 0): return [request.method, request.path, request.query, request.headers, request.args,
                                       request.header("X-One"), request.query_values(), request.address]
def asked_too(r: Request): return r.json()
def spelled(r: Request): return r.text()
def length(r: Request): return len(r.body)
def nothing(): return None
def default(a=5, b: int = 6, c: typing.Any = 7, d: str = "8"): return [a, b, c, d]
@dataclass
class Even:
    n: int
    def __post_init__(self):
        if self.n < 0: raise HTTPError(404, "there are no such numbers")
        if self.n % 2: raise ValueError("it is odd")
def even(e: Even): return e.n
def many(e: typing.List[Even]): return len(e)
def boom(n: int): return unknown_name
def typed(n: int): return n + "1"
def of_table(t: typing.Dict[str, Point]): return told(*[each.x for each in t.values()])
'''


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = Served(SOURCE)
        names = [each["function"] for each in cls.served.offer()["endpoints"]]
        cls.number = {name: index for index, name in enumerate(names)}
        cls.worker = cls.served.worker()

    @classmethod
    def tearDownClass(cls):
        cls.served.__exit__()

    def call(self, name, arguments=None, **rest):
        return self.worker.call(self.number[name], arguments, **rest)

    def values(self, name, arguments=None, **rest):
        answer = self.call(name, arguments, **rest)
        self.assertEqual(answer.kind, b"A", answer)
        return answer.json()

    def wrong(self, name, arguments, **rest):
        """The message of a call whose argument is not right."""
        answer = self.call(name, arguments, **rest)
        self.assertEqual((answer.kind, answer.why), (b"X", 2), answer)
        return answer.message

    def test_scalars(self):
        self.assertEqual(self.values("scalars", {"a": 1, "b": 2}), ["int 1", "float 2.0", "str c", "bool False"])
        self.assertEqual(
            self.values("scalars", '{ "d": true, "c": "\\u00e9", "b": 1e-3, "a": 3.0 }'),
            ["int 3", "float 0.001", "str é", "bool True"],
        )
        self.assertEqual(self.values("scalars", '{"a": 123456789012345678901234567890, "b": 0}')[:2], [
            "int 123456789012345678901234567890", "float 0.0",
        ])

    def test_no_arguments(self):
        for arguments in (None, "", "{}", " {} \n"):
            answer = self.call("nothing", arguments)
            self.assertEqual((answer.status, answer.body), (200, b"null"), arguments)

    def test_lists(self):
        self.assertEqual(
            self.values("lists", {"a": [1, 2.5], "b": [1, 2], "c": ["x"]}),
            ["list [1.0, 2.5]", "tuple (1, 2)", "set {'x'}"],
        )

    def test_null(self):
        self.assertEqual(self.values("optional", {}), ["NoneType None", "int 5"])
        self.assertEqual(self.values("optional", {"a": None, "b": None}), ["NoneType None", "int 5"])
        self.assertEqual(self.values("optional", {"a": 1, "b": 2}), ["int 1", "int 2"])

        self.assertEqual(self.values("default", {"a": None, "b": None, "c": None, "d": None}), [None, 6, None, "8"])

    def test_checks_of_the_file(self):
        self.assertEqual(self.values("even", {"e": {"n": 2.0}}), 2)
        self.assertEqual(self.wrong("even", {"e": {"n": 3}}), "`e` is not right: it is odd")
        self.assertEqual(self.call("even", {"e": {"n": -1}}).status, 404)
        self.assertEqual(self.values("many", {"e": [{"n": 2}] * 3}), 3)
        self.assertEqual(self.wrong("many", {"e": [{"n": 2}, {"n": 1}]}), "`e[1]` is not right: it is odd")

    def test_dataclasses(self):
        point = {"x": 1, "tags": ["a"], "next": {"x": 2}}
        self.assertEqual(self.values("classes", {"p": point}), ["float 1.0", "list ['a']", "float 2.0"])
        self.assertEqual(self.wrong("classes", {"p": {"x": 1, "y": 2}}), "`p` is not right: there is no member `y`")
        self.assertEqual(self.wrong("classes", {"p": {}}), "`p` is not right: the member `x` is missing")
        self.assertEqual(self.wrong("classes", {"p": [1]}), "`p` is not right: it is not an object")
        self.assertEqual(self.values("of_table", {"t": {"a": {"x": 1}, "b": {"x": 2}}}), ["float 1.0", "float 2.0"])

    def test_choices(self):
        self.assertEqual(self.values("words", {"c": "red", "l": 1}), ["Colour Colour.RED", "int 1"])
        self.assertEqual(self.wrong("words", {"c": "blue"}), "`c` is not right: it is none of red")
        self.assertEqual(self.wrong("words", {"c": "red", "l": []}), "`l` is not right: it is none of a, 1")

    def test_texts(self):
        given = {
            "d": "2026-11-21", "t": "2026-11-21T10:00:00Z", "u": "12345678123456781234567812345678", "n": 0.1,
        }
        self.assertEqual(self.values("texts", given), [
            "date 2026-11-21", "datetime 2026-11-21 10:00:00+00:00", "UUID 12345678-1234-5678-1234-567812345678",
            "Decimal 0.1",
        ])
        self.assertIn("`d` is not right: Invalid isoformat", self.wrong("texts", {**given, "d": "today"}))

    def test_by_place_and_by_name(self):
        self.assertEqual(self.values("by_place", {"a": 1}), [1, 2, 3])
        self.assertEqual(self.values("by_place", {"c": 7, "b": 8, "a": 9}), [9, 8, 7])
        self.assertEqual(self.wrong("by_place", {"b": 1}), "`a` is missing")
        self.assertEqual(self.values("further", {"a": 1, "x": 2, "y": [3]}), [1, [], 1, {"x": 2, "y": [3]}])

    def test_arguments_that_do_not_fit(self):
        self.assertEqual(self.wrong("scalars", {"a": 1}), "`b` is missing")
        self.assertEqual(self.wrong("nothing", {"x": 1}), "`nothing` has no parameter `x`")
        self.assertEqual(self.wrong("later", {}), "`n` is missing")

    def test_errors(self):
        answer = self.call("boom", {"n": 1})
        self.assertEqual((answer.why, answer.message), (0, "the function `boom` of `sample.py` raised an error"))
        self.assertIn("NameError: name 'unknown_name' is not defined", answer.detail)
        self.assertIn("in boom", answer.detail)
        self.assertNotIn("salver_host", answer.detail)
        answer = self.call("typed", {"n": 1})
        self.assertEqual(answer.why, 0)
        self.assertIn("TypeError: unsupported operand", answer.detail)

    def test_async(self):
        self.assertEqual(self.values("later", {"n": 1}), 2)
        self.assertEqual(self.values("later", {"n": 2}), 3)

    def test_bytes(self):
        self.assertEqual(self.values("body", {"n": 2}, body=b"\xff\x00"), ["bytes b'\\xff\\x00'", "int 2"])
        self.assertEqual(self.values("body", {"data": "AP8="}), ["bytes b'\\x00\\xff'", "int 1"])
        self.assertIn("`data` is not right", self.wrong("body", {"data": "?"}))
        self.assertEqual(self.wrong("body", {}), "`data` is missing")
        self.assertEqual(self.values("maybe_body"), ["bytes b'none'"])

    def test_the_request(self):
        headers = [("x-one", "1"), ("x-one", "2"), ("accept", "text/html")]
        got = self.values("asked", {"n": 3}, method="PUT", path="/a%20b", query="q=1&q=2&e=", headers=headers,
                          address="10.0.0.1")
        self.assertEqual(got, [
            "PUT", "/a%20b", "q=1&q=2&e=", {"x-one": "1, 2", "accept": "text/html"}, {"n": 3}, "1, 2",
            {"q": ["1", "2"], "e": [""]}, "10.0.0.1",
        ])

    def test_its_body(self):
        self.assertEqual(self.values("asked_too", body=b'{"a": [1]}'), {"a": [1]})
        answer = self.call("asked_too", body=b'{"a": [1')
        self.assertEqual((answer.status, answer.json()["error"]), (400, "invalid_body"))
        answer = self.call("spelled", body=b"ab\xff")
        self.assertEqual(answer.json(), {
            "code": 400, "error": "invalid_body", "message": "the body is not UTF-8 text: invalid start byte at byte 2",
        })
        self.assertEqual(answer.headers["cache-control"], "no-store")

    def test_a_large_body(self):
        self.assertEqual(self.values("length", body=bytes(100 * 1000 * 1000)), 100 * 1000 * 1000)
        self.assertEqual(self.values("length", body=b"x"), 1)

    def test_frames_in_pieces_and_at_once(self):
        frame = call_frame(self.number["scalars"], {"a": 1, "b": 2})
        for byte in frame:
            self.worker.connection.sendall(bytes([byte]))
        self.assertEqual(self.worker.answer().json()[0], "int 1")
        self.worker.connection.sendall(frame + frame + frame[:7])
        self.worker.connection.sendall(frame[7:])
        for _ in range(3):
            self.assertEqual(self.worker.answer().json()[0], "int 1")

    def test_what_there_is_not(self):
        answer = self.worker.call(-1)
        self.assertEqual((answer.why, answer.message), (0, "the file is not an application"))


if __name__ == "__main__":
    unittest.main()

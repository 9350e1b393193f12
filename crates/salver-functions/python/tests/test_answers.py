"""What becomes of what functions return."""

import collections
import datetime
import decimal
import json
import sys
import unittest
from pathlib import Path
from unittest import mock

from served import Served

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from salver_host import json_text  # noqa: E402

SOURCE = '''
import asyncio, collections, datetime, decimal, enum, fractions, ipaddress, math, pathlib, typing, uuid
from dataclasses import dataclass
from salver import HTTPError, Response

@dataclass
class Point:
    x: float
    _y: int = 2

class Colour(enum.Enum):
    RED = "red"

class Level(enum.IntEnum):
    HIGH = 3

class Pair(typing.NamedTuple):
    a: int
    b: str

class Own: ...

class Text(str): ...

CYCLE = []
CYCLE.append(CYCLE)
LOOP = {"a": 1}
LOOP["loop"] = [LOOP]
TWICE = [1]
VALUES = {
    "int": 3, "big": 2 ** 100, "str": 'a"b\\\\\\n\\u00e9\\x01', "float": 0.1, "bool": True, "none": None,
    "dict": {"a": [1, {"b": None}]},
    "tuple": (1, 2), "empty": [{}, [], ""], "nan": float("nan"), "infinite": -math.inf, "nans": [1.0, {"x": math.nan}],
    "keys": {1: "a", 2.5: "b", None: "c", True: "d", Colour.RED: "e", datetime.date(2026, 1, 2): "f"},
    "dataclass": Point(1.5), "dataclasses": [Point(1.5)], "enum": Colour.RED, "enums": [Level.HIGH, Colour.RED],
    "named": Pair(1, "x"), "set": {1}, "deque": collections.deque([1, 2]), "uuid": uuid.UUID(int=1),
    "when": [datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.date(2026, 1, 2), datetime.time(1, 2)],
    "span": datetime.timedelta(minutes=1), "decimals": [decimal.Decimal("1.50"), decimal.Decimal("NaN")],
    "precise": decimal.Decimal("12345678901234567890.123456789"), "bytes_in": [b"\\x00\\xff"],
    "surrogate": "a\\udc80", "surrogates": ["a\\udc80"], "subclass": Text("t"), "path_in": [pathlib.Path("/a")],
    "view": {"a": 1}.keys(), "mapping": collections.ChainMap({"a": 1}), "twice": [TWICE, TWICE],
    "networks": [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_address("::1"), fractions.Fraction(1, 3)],
    "same": [{"a": {1: "a", "1": "b"}}], "same_truth": {True: 1, "true": 2}, "same_day": {datetime.date(2026, 1, 2): 1,
    "2026-01-02": 2}, "numbered": {"a": {1: "a", 2: "b"}}, "named_so": [{"x1": 1, "true": Point(1)}],
    "same_below": [Point({1: 1, "1": 2})],
    "cycle": CYCLE, "loop": LOOP, "own": Own(), "owns": [Own()], "class": Own, "complex": 1j,
}
def value(name: str): return VALUES[name]
def names(): return list(VALUES)
def deep(n: int):
    made = []
    for _ in range(n):
        made = [made]
    return made
def data(): return b"\\x00\\xff"
def response(kind: str):
    return {
        "text": lambda: Response("hello", 201, {"X-One": 1}),
        "html": lambda: Response("<p>", content_type="text/html"),
        "json": lambda: Response({"a": 1}, 202),
        "raw": lambda: Response(b"abc", headers={"Content-Type": "image/gif"}),
        "nothing": lambda: Response(status=204),
        "status": lambda: Response("x", status=1000),
        "lines": lambda: Response(iter(["a,b\\n", b"1,2\\n"]), content_type="text/csv"),
        "events": lambda: Response(iter([1]), content_type="text/event-stream"),
    }[kind]()
def refuse(status: int, message=None): raise HTTPError(status, message)
def refuse_more():
    raise HTTPError(429, "slowly", error="too_fast", hint="wait", headers={"Retry-After": "9", "X-A": "b"})
def cookies(kind: str):
    if kind == "error":
        raise HTTPError(401, headers={"WWW-Authenticate": ["Basic", "Bearer"], "Cache-Control": "private"})
    response = Response("x", headers={
        "pairs": [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-A", 1)], "list": {"Set-Cookie": ["a=1", "b=2"]},
        "both": [("Set-Cookie", ["a=1", "b=2"]), ("Set-Cookie", "c=3")], "set": None, "lists": [["Vary", ("a", "b")]],
    }[kind])
    if kind == "set":
        response.headers["Set-Cookie"] = ("a=1", "b=2")
    return response
def file(name: str): return pathlib.Path(__file__).parent / name
def count(n: int):
    for i in range(n):
        yield {"i": i}
def fails_at(n: int):
    for i in range(n):
        yield i
    raise ValueError("in the middle")
def fails_late(n: int):
    yield from range(n)
    raise HTTPError(404, "too late")
def unwritable(n: int):
    yield 1
    yield Own()
async def counted(n: int):
    for i in range(n):
        await asyncio.sleep(0)
        yield i
async def async_fails():
    yield 1
    raise KeyError("gone")
def mapped(n: int): return map(str, range(n))
def nested(x: float): return {"a": (i for i in [1, x]), "b": [map(str, [1]), zip([1], [x])], "c": iter([]), "d": x}
def nested_fails():
    def items():
        yield 1
        raise ValueError("in an item")
    return {"a": items()}
def coroutine(): return later()
async def later(): return [1]
async def future():
    return asyncio.get_running_loop().create_future
async def generator_later(n: int): return count(n)
'''


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = Served(SOURCE, beside={"some.csv": "a,b\n"})
        names = [each["function"] for each in cls.served.offer()["endpoints"]]
        cls.number = {name: index for index, name in enumerate(names)}
        cls.worker = cls.served.worker()

    @classmethod
    def tearDownClass(cls):
        cls.served.__exit__()

    def call(self, name, arguments=None, **rest):
        return self.worker.call(self.number[name], arguments, **rest)

    def text(self, name):
        answer = self.call("value", {"name": name})
        self.assertEqual(answer.kind, b"A", answer)
        self.assertEqual((answer.status, answer.headers, answer.place), (200, {"content-type": "application/json"}, 0))
        answer.json()
        return answer.body.decode()

    def test_json(self):
        for name, text in {
            "int": "3", "big": str(2**100), "str": '"a\\"b\\\\\\né\\u0001"', "float": "0.1", "bool": "true",
            "none": "null", "dict": '{"a":[1,{"b":null}]}', "tuple": "[1,2]", "empty": '[{},[],""]',
            "nan": "null", "infinite": "null", "nans": '[1.0,{"x":null}]',
            "keys": '{"1":"a","2.5":"b","null":"c","red":"e","2026-01-02":"f"}',
            "dataclass": '{"x":1.5,"_y":2}', "dataclasses": '[{"x":1.5,"_y":2}]', "enum": '"red"', "enums": '[3,"red"]',
            "named": '[1,"x"]', "set": "[1]", "deque": "[1,2]", "uuid": '"00000000-0000-0000-0000-000000000001"',
            "when": '["2026-01-02T03:04:05","2026-01-02","01:02:00"]', "span": "60.0", "decimals": "[1.50,null]",
            "precise": "12345678901234567890.123456789", "bytes_in": '["AP8="]', "surrogate": '"a\\udc80"',
            "surrogates": '["a\\udc80"]', "subclass": '"t"', "path_in": '["/a"]', "view": '["a"]', "mapping": '{"a":1}',
            "twice": "[[1],[1]]",
        }.items():
            with self.subTest(name):
                # True is the same key as 1.
                expected = text.replace('"1":"a"', '"1":"d"') if name == "keys" else text
                self.assertEqual(self.text(name), expected)

    def test_iterators_in_values_are_read_once(self):
        whole = b'{"a":[1,2.0],"b":[["1"],[[1,2.0]]],"c":[],"d":2.0}'
        self.assertEqual(self.call("nested", {"x": 2.0}).body, whole)
        for number in ("NaN", "Infinity"):
            answer = self.call("nested", '{"x":%s}' % number)
            self.assertEqual(answer.body, whole.replace(b"2.0", b"null"), answer)
        answer = self.call("nested_fails")
        self.assertEqual((answer.kind, answer.why), (b"X", 0))
        self.assertEqual(answer.detail.splitlines()[-1], "ValueError: in an item")

    def test_what_is_no_json(self):
        same = "ValueError: two keys of a dictionary become the same one in JSON:"
        for name, said in {
            "cycle": "ValueError: a list contains itself, so it can't be written as JSON",
            "loop": "ValueError: a dict contains itself, so it can't be written as JSON",
            "own": "TypeError: a value of type Own can't be written as JSON",
            "owns": "TypeError: a value of type Own can't be written as JSON",
            "class": "TypeError: a value of type type can't be written as JSON",
            "same": f'{same} "1"', "same_truth": f'{same} "true"', "same_day": f'{same} "2026-01-02"',
            "same_below": f'{same} "1"',
            "complex": "TypeError: a value of type complex can't be written as JSON",
        }.items():
            with self.subTest(name):
                answer = self.call("value", {"name": name})
                self.assertEqual((answer.kind, answer.why), (b"X", 0))
                self.assertEqual(answer.detail.splitlines()[-1], said)
        # What went wrong before is not in the way of the next.
        self.assertEqual(self.text("twice"), "[[1],[1]]")

    def test_deep(self):
        self.assertEqual(self.call("deep", {"n": 200}).body, b"[" * 201 + b"]" * 201)
        answer = self.call("deep", {"n": 100_000})
        self.assertEqual((answer.kind, answer.why), (b"X", 0))
        self.assertIn("RecursionError", answer.detail)
        self.assertEqual(self.text("int"), "3")

    def test_bytes(self):
        answer = self.call("data")
        self.assertEqual((answer.headers, answer.body), ({"content-type": "application/octet-stream"}, b"\0\xff"))

    def test_responses(self):
        for kind, status, headers, body in (
            ("text", 201, {"content-type": "text/plain; charset=utf-8", "x-one": "1"}, b"hello"),
            ("html", 200, {"content-type": "text/html"}, b"<p>"),
            ("json", 202, {"content-type": "application/json"}, b'{"a":1}'),
            ("raw", 200, {"content-type": "image/gif"}, b"abc"),
            ("nothing", 204, {}, b""),
        ):
            with self.subTest(kind):
                answer = self.call("response", {"kind": kind})
                self.assertEqual((answer.status, answer.headers, answer.body), (status, headers, body))
        answer = self.call("response", {"kind": "status"})
        self.assertIn("1000 is not the status of an answer", answer.detail)

    def test_several_fields_of_one_name(self):
        one, two = ("set-cookie", "a=1"), ("set-cookie", "b=2")
        for kind, fields in {
            "pairs": [one, two, ("x-a", "1")], "list": [one, two], "both": [one, two, ("set-cookie", "c=3")],
            "set": [one, two], "lists": [("vary", "a"), ("vary", "b")],
        }.items():
            self.assertEqual(self.call("cookies", {"kind": kind}).fields[1:], fields, kind)
        fields = [("www-authenticate", "Basic"), ("www-authenticate", "Bearer"), ("cache-control", "private")]
        self.assertEqual(self.call("cookies", {"kind": "error"}).fields[1:], fields)

    def test_http_errors(self):
        answer = self.call("refuse", {"status": 404, "message": "no such thing"})
        self.assertEqual(answer.status, 404)
        self.assertEqual(answer.headers, {"content-type": "application/json", "cache-control": "no-store"})
        self.assertEqual(answer.body, b'{"code":404,"error":"not_found","message":"no such thing"}')
        answer = self.call("refuse", {"status": 418})
        self.assertIn(json.loads(answer.body)["error"], ("im_a_teapot", "error"))
        answer = self.call("refuse", {"status": 599})
        self.assertEqual(answer.json(), {"code": 599, "error": "error", "message": "Error"})
        self.assertEqual(self.call("refuse", {"status": 503}).headers["retry-after"], "1")
        answer = self.call("refuse_more")
        self.assertEqual(answer.json(), {"code": 429, "error": "too_fast", "message": "slowly", "hint": "wait"})
        self.assertEqual((answer.headers["retry-after"], answer.headers["x-a"]), ("9", "b"))
        self.assertEqual(self.call("refuse", {"status": 7}).why, 0)

    def test_files(self):
        answer = self.call("file", {"name": "some.csv"})
        self.assertEqual((answer.place, answer.headers), (1, {"content-type": "text/csv"}))
        self.assertEqual(answer.body.decode(), str(self.served.folder / "some.csv"))
        answer = self.call("file", {"name": "other.csv"})
        self.assertEqual(answer.why, 0)
        self.assertIn("there is no such file", answer.detail)

    def test_streams(self):
        lines = {"content-type": "application/x-ndjson"}
        answer = self.call("count", {"n": 2})
        self.assertEqual((answer.status, answer.headers, answer.end), (200, lines, b"E"))
        self.assertEqual(answer.pieces, [b'{"i":0}\n', b'{"i":1}\n'])
        answer = self.call("count", {"n": 0})
        self.assertEqual((answer.headers, answer.pieces, answer.end), (lines, [], b"E"))
        answer = self.call("count", {"n": 2}, headers=[("accept", "text/event-stream")])
        self.assertEqual(answer.headers, {"content-type": "text/event-stream", "cache-control": "no-cache"})
        self.assertEqual(answer.pieces, [b'data: {"i":0}\n\n', b'data: {"i":1}\n\n'])
        self.assertEqual(self.call("counted", {"n": 3}).pieces, [b"0\n", b"1\n", b"2\n"])
        self.assertEqual(self.call("mapped", {"n": 2}).pieces, [b'"0"\n', b'"1"\n'])
        self.assertEqual(self.call("generator_later", {"n": 1}).pieces, [b'{"i":0}\n'])
        answer = self.call("response", {"kind": "lines"})
        self.assertEqual((answer.headers, answer.pieces), ({"content-type": "text/csv"}, [b"a,b\n", b"1,2\n"]))
        self.assertEqual(self.call("response", {"kind": "events"}).pieces, [b"data: 1\n\n"])
        self.assertEqual(len(self.call("count", {"n": 20_000}).pieces), 20_000)

    def test_streams_that_fail(self):
        answer = self.call("fails_at", {"n": 0})
        self.assertEqual((answer.kind, answer.why), (b"X", 0))
        self.assertIn("in the middle", answer.detail)
        for name, arguments, pieces, said in (
            ("fails_at", {"n": 2}, [b"0\n", b"1\n"], "ValueError: in the middle"),
            ("fails_late", {"n": 1}, [b"0\n"], "404 too late"),
            ("unwritable", {"n": 1}, [b"1\n"], "TypeError: a value of type Own can't be written as JSON"),
            ("async_fails", None, [b"1\n"], "KeyError: 'gone'"),
        ):
            with self.subTest(name):
                answer = self.call(name, arguments)
                self.assertEqual((answer.kind, answer.pieces, answer.end.kind), (b"S", pieces, b"X"))
                self.assertIn(said, answer.end.detail)
                self.assertNotIn("salver_host", answer.end.detail)
        self.assertEqual(self.call("fails_late", {"n": 0}).status, 404)

    def test_coroutines(self):
        self.assertEqual(self.call("coroutine").json(), [1])
        self.assertIn("can't be written as JSON", self.call("future").detail)


class Keys(unittest.TestCase):
    def test_keys_that_are_the_same_in_json(self):
        day = datetime.date(2026, 1, 2)
        for orjson in (json_text.orjson, None):
            with mock.patch.object(json_text, "orjson", orjson):
                for value in (
                    {1: 1, "1": 2}, [{"a": {True: 1, "true": 2}}], ({None: 1, "null": 2},), {1.5: 1, "1.5": 2},
                    {day: 1, "2026-01-02": 2}, {"a": collections.OrderedDict({0: 1, "0": 2})},
                    [collections.ChainMap({1: 1, "1": 2})], {"a": decimal.Decimal(1), "b": {1: 1, "1": 2}},
                ):
                    with self.assertRaisesRegex(ValueError, "two keys of a dictionary become the same one"):
                        json_text.write(value)
                for value, text in (
                    ({1: 1, "2": 2}, b'{"1":1,"2":2}'), ([{"x1": 1}, {"true": 2}], b'[{"x1":1},{"true":2}]'),
                    ({"x1": {1, }}, b'{"x1":[1]}'), ({"1\": ": {True: 0, 2: 1}}, b'{"1\\": ":{"true":0,"2":1}}'),
                ):
                    self.assertEqual(json_text.write(value), text)


if __name__ == "__main__":
    unittest.main()

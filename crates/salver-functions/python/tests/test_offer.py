"""What a file offers, by its annotations, its type hints and its docstrings; and why it can't be loaded."""

import unittest

from served import Served


def offered(source, **rest):
    with Served(source, **rest) as served:
        return served.offer()


def kinds(source):
    """The parameters of the one function: name to kind, list and required."""
    endpoint, = offered(source)["endpoints"]
    return {each["name"]: (each["kind"], each["list"], each["required"]) for each in endpoint["parameters"]}


class Functions(unittest.TestCase):
    def test_every_function_the_file_defines(self):
        offer = offered('''
            """Numbers.

            All about them.
            """
            from os.path import join
            import json

            def second(): ...
            def _hidden(): ...
            class Klass: ...
            if True:
                async def first():
                    """One line.

                    And more."""
            twice = first
            def second(): "the later one"
        ''')
        self.assertEqual((offer["title"], offer["description"]), ("Numbers.", "All about them."))
        self.assertFalse(offer["application"])
        first, second = offer["endpoints"]
        self.assertEqual((first["function"], first["summary"]), ("first", "One line."))
        self.assertEqual(first["description"], "And more.")
        self.assertEqual((second["function"], second["summary"]), ("second", "the later one"))
        self.assertEqual((first["method"], first["path"], first["pure"]), (None, None, False))

    def test_decorated_functions(self):
        offer = offered('''
            import functools

            #* Remembers.
            #* @get /kept
            @functools.lru_cache
            def kept(n: int): return n
        ''')
        endpoint, = offer["endpoints"]
        self.assertEqual((endpoint["path"], endpoint["summary"]), ("/kept", "Remembers."))
        self.assertEqual(endpoint["parameters"][0]["kind"], "integer")

    def test_results(self):
        offer = offered('''
            import datetime, typing
            def a(n) -> typing.Optional[int]: ...
            def b(n) -> typing.List[float]: ...
            #* @vectorized
            def c(n) -> typing.List[float]: ...
            #* @return text
            def d(n): ...
            #* @return the number of rows
            def e(n): ...
            def f(request) -> datetime.date: ...
        ''')
        told = [(each["result"], each["vectorized"], each["request"]) for each in offer["endpoints"]]
        self.assertEqual(told, [
            ("integer", False, False), ("object", False, False), ("number", True, False), ("text", False, False),
            ("any", False, False), ("text", False, True),
        ])

    def test_what_gathers(self):
        offer = offered('''
            import typing
            #* @vectorized
            def a(n: int, *, word: typing.Optional[str] = None): ...
            #* @vectorized
            def b(n, request): ...
            #* @vectorized
            def c(n, **more): ...
            #* @vectorized
            def d(n) -> bytes: ...
            def e(n): ...
        ''')
        self.assertEqual([each["gathers"] for each in offer["endpoints"]], [True, False, False, False, False])

    def test_annotations(self):
        offer = offered('''
            #* @apiTitle Numbers
            #* @apiDescription All of them

            #* The number n.
            #*
            #* As it is.
            #* @param n:int* which one
            #* @param names:[str] of what
            #* @pure
            #* @get /number/<n:int>
            #* @post /number
            def number(n, names=()): ...

            # Just a comment.
            # @any /below/*
            def below(): ...

            # Nothing here is meant for the server.
            def other(): ...

            #* @get /far

            def far(): ...
        ''')
        self.assertEqual((offer["title"], offer["description"]), ("Numbers", "All of them"))
        routes = [(each["method"], each["path"], each["prefix"]) for each in offer["endpoints"]]
        self.assertEqual(routes, [
            ("GET", "/number/<n:int>", False), ("POST", "/number", False), ("*", "/below", True),
        ])
        number = offer["endpoints"][0]
        self.assertEqual((number["summary"], number["description"]), ("The number n.", "As it is."))
        self.assertEqual((number["pure"], number["request"]), (True, False))
        self.assertEqual(number["parameters"], [
            {"name": "n", "kind": "integer", "list": False, "required": True, "table": False,
             "description": "which one"},
            {"name": "names", "kind": "text", "list": True, "required": False, "table": False,
             "description": "of what"},
        ])

    def test_the_kind_in_a_path(self):
        source = '''
            #* @get /<n:int>/<x:double>/{any}
            def f(n, x, any): ...
        '''
        self.assertEqual(kinds(source), {
            "n": ("integer", False, True), "x": ("number", False, True), "any": ("any", False, True),
        })

    def test_no_annotations_in_text(self):
        endpoint, = offered('''
            text = """
            #* @get /no
            """
            def f(): ...
        ''')["endpoints"]
        self.assertIsNone(endpoint["path"])


class Hints(unittest.TestCase):
    def test_scalars_and_lists(self):
        self.assertEqual(kinds('''
            from typing import Any, Dict, List, Optional, Sequence, Tuple
            def f(a: int, b: float, c: str, d: bool, e: list, f: List[int], g: dict, h: Dict[str, int], i: bytes,
                  j: Optional[int], k: Any, l, m: int = 3, *, n: Sequence[str], o: Tuple[float, ...],
                  p: List[List[int]], q: Optional[List[str]] = None, r: "int" = 2, s: List[Optional[int]] = ()): ...
        '''), {
            "a": ("integer", False, True), "b": ("number", False, True), "c": ("text", False, True),
            "d": ("boolean", False, True), "e": ("any", True, True), "f": ("integer", True, True),
            "g": ("object", False, True), "h": ("object", False, True), "i": ("bytes", False, True),
            "j": ("integer", False, False), "k": ("any", False, True), "l": ("any", False, True),
            "m": ("integer", False, False), "n": ("text", True, True), "o": ("number", True, True),
            "p": ("any", True, True), "q": ("text", True, False), "r": ("integer", False, False),
            "s": ("any", True, False),
        })

    def test_classes(self):
        self.assertEqual(kinds('''
            import datetime, decimal, enum, uuid
            from dataclasses import dataclass
            from typing import Literal, TypedDict, Union
            @dataclass
            class Point:
                x: float
            class Row(TypedDict):
                n: int
            class Colour(enum.Enum):
                RED = "red"
            def f(a: Point, b: Row, c: Colour, d: Literal[1, 2], e: datetime.date, f: uuid.UUID, g: decimal.Decimal,
                  h: Union[int, float], i: Union[int, str], j: Union[int, None], k: Point = None): ...
        '''), {
            "a": ("object", False, True), "b": ("object", False, True), "c": ("text", False, True),
            "d": ("integer", False, True), "e": ("text", False, True), "f": ("text", False, True),
            "g": ("number", False, True), "h": ("number", False, True), "i": ("any", False, True),
            "j": ("integer", False, False), "k": ("object", False, False),
        })

    def test_hints_that_are_texts_or_not_to_be_found(self):
        self.assertEqual(kinds('''
            from __future__ import annotations
            from typing import TYPE_CHECKING, Optional
            if TYPE_CHECKING:
                from nowhere import Thing
            def f(a: int, b: Thing, c: Optional[float] = None, d: "str" = ""): ...
        '''), {
            "a": ("integer", False, True), "b": ("any", False, True), "c": ("number", False, False),
            "d": ("text", False, False),
        })

    def test_the_request_and_other_arguments_are_not_in_the_path_of_checks(self):
        self.assertEqual(kinds('''
            import salver
            def f(request, n: int, asked: salver.Request, *further, **named): ...
        '''), {"n": ("integer", False, True), "further": ("any", True, False), "**named": ("any", False, False)})


class Refused(unittest.TestCase):
    def refusal(self, source, name="sample.py"):
        with Served(source, name=name) as served:
            said = served.refusal()
            self.assertEqual(served.process.wait(60), 1)
            return said

    def test_syntax(self):
        said = self.refusal("def f(:\n    pass\n")
        self.assertIn('sample.py", line 1', said)
        self.assertIn("SyntaxError", said.splitlines()[-1])
        self.assertNotIn("Traceback", said)

    def test_an_import(self):
        said = self.refusal("x = 1\nimport nowhere_at_all\n")
        self.assertEqual(said.splitlines()[-1], "ModuleNotFoundError: No module named 'nowhere_at_all'")
        self.assertIn('sample.py", line 2', said)
        self.assertNotIn("salver_host", said)

    def test_an_error_beneath(self):
        said = self.refusal("def inner():\n    raise ValueError('no data')\ninner()\n")
        self.assertEqual(said.splitlines()[-1], "ValueError: no data")
        self.assertIn("line 2, in inner", said)

    def test_an_end_and_threads(self):
        said = self.refusal("import sys\nsys.exit('it is over')")
        self.assertIn("SystemExit: it is over", said)
        said = self.refusal("import threading\nthreading.Thread(target=threading.Event().wait).start()\n1 / 0")
        self.assertIn("ZeroDivisionError", said)

    def test_bytes_that_are_no_text(self):
        self.assertIn("SyntaxError", self.refusal(b"x = '\xff'\n"))


class Loading(unittest.TestCase):
    def test_it_is_a_module_of_its_name_and_not_the_main_one(self):
        with Served('''
            import sys
            from beside import VALUE
            if __name__ == "__main__":
                raise SystemExit("it was run")
            def told():
                return [__name__, sys.modules[__name__].VALUE, __file__.endswith("sample.py"), sys.argv[0] == __file__]
        ''', beside={"beside.py": "VALUE = 7\n"}) as served:
            served.offer()
            self.assertEqual(served.worker().call(0).json(), ["sample", 7, True, True])
            self.assertFalse(any("sample" in path.name for path in served.folder.glob("__pycache__/*")))

    def test_a_file_named_as_a_module_of_the_interpreter(self):
        with Served("import json\ndef f(): return json.loads('[1]')", name="random.py") as served:
            served.offer()
            self.assertEqual(served.worker().call(0).json(), [1])

    def test_another_encoding(self):
        source = "# -*- coding: latin-1 -*-\ndef f(): return 'é'\n".encode("latin-1")
        with Served(source) as served:
            served.offer()
            self.assertEqual(served.worker().call(0).json(), "é")

    def test_threads_are_told(self):
        with Served('''
            import threading
            threading.Thread(target=threading.Event().wait, name="ticker", daemon=True).start()
            def f(): return 1
        ''') as served:
            served.offer()
            self.assertEqual(served.worker().call(0).json(), 1)
            self.assertIn("ticker", served.logged())


if __name__ == "__main__":
    unittest.main()

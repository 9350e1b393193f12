"""Tables, arrays and pictures. Each test needs its library; without it, it is left out."""

import importlib.util
import io
import unittest

from served import Served

STREAM = "application/vnd.apache.arrow.stream"
ACCEPT = [("accept", f"{STREAM}, */*;q=0.1")]


def needs(*libraries):
    missing = [each for each in libraries if importlib.util.find_spec(each) is None]
    return unittest.skipIf(missing, f"{missing} not installed")


def stream(columns):
    import pyarrow

    table, sink = pyarrow.table(columns), io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return sink.getvalue()


class Tables(unittest.TestCase):
    def served(self, source):
        served = Served(source)
        self.addCleanup(served.__exit__)
        names = [each["function"] for each in served.offer()["endpoints"]]
        worker = served.worker()
        return lambda name, arguments=None, **rest: worker.call(names.index(name), arguments, **rest)

    def bodies(self, call, expected):
        for name, body in expected.items():
            with self.subTest(name):
                answer = call(name)
                self.assertEqual((answer.kind, getattr(answer, "body", answer)), (b"A", body))
                answer.json()

    @needs("numpy")
    def test_numpy(self):
        call = self.served('''
            import numpy as np
            def integer(): return np.int64(3)
            def real(): return np.float32(0.5)
            def truth(): return {"a": np.bool_(True), np.int64(1): np.float64("nan")}
            def array(): return np.array([[1, 2], [3, 4]])
            def gaps(): return np.array([1.5, np.nan, np.inf])
            def rows(): return np.array([(1, "x")], dtype=[("a", "i4"), ("b", "U1")])
            def times(): return np.array(["2026-01-02T03:04:05.123456789", "NaT"], dtype="datetime64[ns]")
            def days(): return np.array(["2026-01-02"], dtype="datetime64[D]")
            def spans(): return np.array([1500], dtype="timedelta64[ms]")
            def doubled(a: np.ndarray): return [a.dtype.kind, a * 2]
            def chance(): return np.random.random()
            def text(): return np.array(["a", "b"])
        ''')
        self.bodies(call, {
            "integer": b"3", "real": b"0.5", "truth": b'{"a":true,"1":null}', "array": b"[[1,2],[3,4]]",
            "gaps": b"[1.5,null,null]", "rows": b'[{"a":1,"b":"x"}]', "times": b'["2026-01-02T03:04:05.123456789",null]',
            "days": b'["2026-01-02"]', "spans": b"[1.5]", "text": b'["a","b"]',
        })
        self.assertEqual(call("doubled", {"a": [[1, 2.5]]}).json(), ["f", [[2.0, 5.0]]])

    @needs("numpy")
    def test_chance_is_not_the_same_in_all_workers(self):
        with Served("import numpy as np\ndef f(): return np.random.random()") as served:
            served.offer()
            self.assertEqual(len({served.worker().call(0).json() for _ in range(3)}), 3)

    @needs("pandas")
    def test_pandas(self):
        call = self.served('''
            import pandas as pd
            FRAME = pd.DataFrame({"n": [1, 2], "x": [0.1 + 0.2, None], "t": ["a", None],
                                  "d": [pd.Timestamp("2026-01-02T03:04:05"), pd.NaT]})
            def frame(): return FRAME
            def series(): return FRAME["x"]
            def scalars(): return [FRAME["n"].sum(), pd.NA, pd.NaT, FRAME["d"][0], pd.Timedelta(seconds=2)]
            def inside(): return {"rows": FRAME[["n"]], "index": FRAME.index}
            def none(): return FRAME[FRAME.n > 5]
            def same_names(): return pd.concat([FRAME[["n"]], FRAME[["x"]]], axis=1).iloc[:1]
            def twice(): return FRAME[["n", "x", "n"]]
            def interval(): return pd.DataFrame({"i": pd.cut([1], [0, 2])})
            def told(rows: pd.DataFrame, s: pd.Series = None):
                return [type(rows).__name__, list(rows.columns), rows["a"].sum(), None if s is None else s.max()]
        ''')
        first = b'{"n":1,"x":0.30000000000000004,"t":"a","d":"2026-01-02T03:04:05"}'
        self.bodies(call, {
            "frame": b"[" + first + b',{"n":2,"x":null,"t":null,"d":null}]',
            "series": b"[0.30000000000000004,null]", "scalars": b'[3,null,null,"2026-01-02T03:04:05",2.0]',
            "inside": b'{"rows":[{"n":1},{"n":2}],"index":[0,1]}', "none": b"[]",
            "same_names": b'[{"n":1,"x":0.30000000000000004}]', "interval": b'[{"i":"(0, 2]"}]',
        })
        self.assertIn("two columns are called 'n'", str(vars(call("twice"))))
        told = call("told", {"rows": [{"a": 1, "b": 2}, {"a": 3}], "s": [1, 5]}).json()
        self.assertEqual(told, ["DataFrame", ["a", "b"], 4, 5])
        self.assertEqual(call("told", {"rows": {"a": [1, 2]}}).json(), ["DataFrame", ["a"], 3, None])
        self.assertEqual(call("told", {"rows": 1}).why, 2)

    @needs("pandas", "pyarrow")
    def test_an_arrow_stream_out_of_anything(self):
        import pyarrow

        call = self.served('''
            import numpy as np, pandas as pd, pyarrow as pa
            import salver
            def frame(): return pd.DataFrame({"a": [1, 2]})
            def series(): return pd.Series([1, 2], name="a")
            def table(): return pa.table({"a": [1, 2]})
            def batch(): return pa.RecordBatch.from_pydict({"a": [1, 2]})
            def rows(): return np.array([(1,), (2,)], dtype=[("a", "i8")])
            def column(): return np.array([1, 2])
            def matrix(): return np.array([[1, 2], [3, 4]])
            def responded(): return salver.Response(pa.table({"a": [1, 2]}), status=201)
            def nothing(): return [1]
        ''')
        for name, expected in {
            "frame": {"a": [1, 2]}, "series": {"a": [1, 2]}, "table": {"a": [1, 2]}, "batch": {"a": [1, 2]},
            "rows": {"a": [1, 2]}, "column": {"value": [1, 2]}, "matrix": {"column_1": [1, 3], "column_2": [2, 4]},
            "responded": {"a": [1, 2]},
        }.items():
            with self.subTest(name):
                answer = call(name, headers=ACCEPT)
                self.assertEqual(answer.headers, {"content-type": STREAM})
                self.assertEqual(pyarrow.ipc.open_stream(answer.body).read_all().to_pydict(), expected)
        self.assertEqual(call("nothing", headers=ACCEPT).body, b"[1]")
        self.assertEqual(call("table").body, b'[{"a":1},{"a":2}]')

    @needs("pandas", "pyarrow")
    def test_an_arrow_stream_in(self):
        import pyarrow

        call = self.served('''
            from typing import Any, Optional
            import pandas as pd, pyarrow as pa
            def table(t: pa.Table): return [type(t).__module__, t.num_rows]
            def frame(f: pd.DataFrame, n: int = 1): return [type(f).__name__, f["a"].sum() * n]
            def maybe(f: Optional[pd.DataFrame] = None): return None if f is None else type(f).__name__
            def anything(a, b: Any): return [type(a).__module__, type(b).__module__]
            def asked(t: pa.Table, n: int, request): return [request.args["n"], len(request.body), t.num_rows]
            def broken(t: pa.Table): raise ValueError("no way")
            async def later(t: pa.Table): return t.slice(1)
        ''')
        body = stream({"a": [1, 2]})
        self.assertEqual(call("table", table="t", body=body).json(), ["pyarrow.lib", 2])
        self.assertEqual(call("frame", {"n": 2}, table="f", body=body).json(), ["DataFrame", 6])
        self.assertEqual(call("maybe", table="f", body=body).json(), "DataFrame")
        self.assertEqual(call("maybe").json(), None)
        self.assertEqual(call("anything", {"a": 1}, table="b", body=body).json(), ["builtins", "pyarrow.lib"])
        self.assertEqual(call("asked", {"n": 1}, table="t", body=body).json(), [1, len(body), 2])
        self.assertEqual(call("later", table="t", body=body).json(), [{"a": 2}])
        out = call("later", table="t", body=body, headers=ACCEPT).body
        self.assertEqual(pyarrow.ipc.open_stream(out).read_all().to_pydict(), {"a": [2]})
        self.assertEqual(call("table", {"t": [{"a": 1}]}).json(), ["pyarrow.lib", 1])
        self.assertEqual(call("table", {"t": {"a": [1, 2, 3]}}).json(), ["pyarrow.lib", 3])
        self.assertEqual(call("table").message, "`t` is missing")
        self.assertEqual(call("broken", table="t", body=body).why, 0)
        text = stream({"a": ["x" * 9]})
        for wrong in (b"no Arrow", body[: len(body) // 2], text.replace(b"x" * 9, b"\xff" * 9)):
            answer = call("table", table="t", body=wrong)
            self.assertEqual((answer.why, answer.message[:30]), (2, "the body is not right for `t`:"))
        self.assertEqual(call("table", table="t", body=body).json(), ["pyarrow.lib", 2])

    def test_without_pyarrow(self):
        call = self.served('''
            import sys
            sys.modules["pyarrow"] = None  # As if it were not there.
            def table(t): return t
        ''')
        answer = call("table", table="t", body=b"whatever")
        message = "`t` can't be a table here: pyarrow is not installed for the Python that runs the function"
        self.assertEqual((answer.why, answer.message), (2, message))

    def test_what_may_be_a_table(self):
        with Served('''
            from typing import Any, Optional
            def f(a, b: Any, c: Optional[Any], d: int, e: dict, g: list, h: "int | str", i, j, request): pass
            #* @param x:df
            #* @param y:[df]
            #* @param z:int
            def annotated(x, y, z): pass
        ''') as served:
            one, other = served.offer()["endpoints"]
        self.assertEqual([each["name"] for each in one["parameters"] if each["table"]], ["a", "b", "c", "i", "j"])
        self.assertEqual([each["name"] for each in other["parameters"] if each["table"]], ["x"])

    @needs("pyarrow")
    def test_pyarrow(self):
        call = self.served('''
            import datetime, decimal
            import pyarrow as pa
            def table(): return pa.table({"d": [decimal.Decimal("1.50"), None], "t": [datetime.date(2026, 1, 2)] * 2})
            def array(): return pa.array([1, None])
            def scalar(): return pa.scalar(3)
            def twice(): return pa.table([[1], [2]], names=["a", "a"])
        ''')
        self.bodies(call, {
            "table": b'[{"d":1.50,"t":"2026-01-02"},{"d":null,"t":"2026-01-02"}]', "array": b"[1,null]", "scalar": b"3",
        })
        self.assertIn("two columns are called 'a'", str(vars(call("twice"))))

    @needs("matplotlib")
    def test_pictures(self):
        call = self.served('''
            import matplotlib
            matplotlib.use("Agg")
            import matplotlib.pyplot as plt
            def plot():
                figure, axes = plt.subplots()
                axes.plot([1, 2])
                return figure
            def still_open(): return len(plt.get_fignums())
        ''')
        answer = call("plot")
        self.assertEqual((answer.headers, answer.body[:4]), ({"content-type": "image/png"}, b"\x89PNG"))
        answer = call("plot", headers=[("accept", "image/svg+xml")])
        self.assertEqual((answer.headers, b"<svg" in answer.body), ({"content-type": "image/svg+xml"}, True))
        self.assertEqual(call("still_open").json(), 0)


if __name__ == "__main__":
    unittest.main()

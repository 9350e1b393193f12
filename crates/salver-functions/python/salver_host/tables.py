"""Tables, arrays and pictures of numpy, pandas, pyarrow and matplotlib, none of which is imported unless the file did.
"""

import datetime
import io
import sys

ARROW_STREAM = "application/vnd.apache.arrow.stream"


def _library(value):
    """Which of the libraries a value's type is from, if any."""
    for base in type(value).__mro__:
        root = base.__module__.partition(".")[0]
        if root in _PLAIN:
            return root
    return None


def plain(value):
    """Whether it is from one of the libraries, and then what stands for it in JSON: rows are objects."""
    root = _library(value)
    return (False, None) if root is None else (True, _PLAIN[root](value))


def is_table(value):
    """Whether it can go out as an Arrow stream."""
    root = _library(value)
    if root == "pandas":
        return hasattr(value, "columns") or hasattr(value, "to_frame")
    if root == "pyarrow":
        return hasattr(value, "schema") and hasattr(value, "to_pylist")
    return root == "numpy" and getattr(value, "ndim", 0) in (1, 2)


def arrow_stream(value):
    """A table as the bytes of an Arrow stream, or `None` when pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    table = _arrow(pyarrow, value)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return sink.getvalue().to_pybytes()


def of_stream(body):
    """The table of pyarrow that the bytes of an Arrow stream are."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("pyarrow is not installed for the Python that runs the function") from None
    table = pyarrow.ipc.open_stream(body).read_all()
    # Who sent it may have meant no good: what points out of it would be read.
    table.validate(full=True)
    return table


def reader(hint):
    """For a parameter whose type is one of the libraries': what makes its value of JSON's, and what makes it of an
    Arrow stream, if anything does. `None` when it is none of them."""
    root = getattr(hint, "__module__", "").partition(".")[0]
    library = sys.modules.get(root) if root in _PLAIN else None
    name = getattr(hint, "__name__", "")
    if (root, name) in (("pandas", "DataFrame"), ("pandas", "Series"), ("numpy", "ndarray")):
        make = library.array if root == "numpy" else getattr(library, name)
        return make, (_frame_of_stream if name == "DataFrame" else None)
    if library is not None and (root, name) == ("pyarrow", "Table"):
        return _table_of_json, of_stream
    return None


def _table_of_json(value):
    import pyarrow

    return pyarrow.table(value) if isinstance(value, dict) else pyarrow.Table.from_pylist(value)


def _frame_of_stream(body):
    return of_stream(body).to_pandas()


def _arrow(pyarrow, value):
    root = _library(value)
    if root == "pyarrow":
        return pyarrow.Table.from_batches([value]) if isinstance(value, pyarrow.RecordBatch) else value
    if root == "pandas":
        frame = value if hasattr(value, "columns") else value.to_frame(value.name or "value")
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    if value.dtype.names:
        return pyarrow.table({name: value[name] for name in value.dtype.names})
    if value.ndim == 1:
        return pyarrow.table({"value": value})
    return pyarrow.table({f"column_{index + 1}": value[:, index] for index in range(value.shape[1])})


def _of_numpy(value):
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names and value.ndim == 1:
        # Each field by itself: of some times numpy makes whole numbers.
        return [dict(zip(names, row)) for row in zip(*(_of_numpy(value[name]) for name in names))]
    return _of_times(value) if value.dtype.kind in "mM" else value.tolist()


def _of_times(value):
    """Dates and spans as Python's, which have microseconds; those with nanoseconds as they are written."""
    kind = value.dtype.kind
    if value.dtype == "datetime64[D]":
        return value.tolist()
    cut = value.astype(f"{kind}8[us]")
    beyond = (value.astype(f"{kind}8[ns]") - cut).astype("int64")
    # Nothing minus nothing is the least number.
    beyond = beyond * (0 <= beyond) * (beyond < 1000)
    return _with_nanoseconds(cut.tolist(), beyond.tolist()) if beyond.any() else cut.tolist()


def _with_nanoseconds(time, beyond):
    if isinstance(time, list):
        return list(map(_with_nanoseconds, time, beyond))
    if not beyond:
        return time
    if isinstance(time, datetime.timedelta):
        return (time // datetime.timedelta(microseconds=1) * 1000 + beyond) / 10**9
    return f"{time.isoformat(timespec='microseconds')}{beyond:03}"


def _of_pandas(value):
    if hasattr(value, "columns"):
        names = _own_names(str(name) for name in value.columns)
        columns = [_column(value.iloc[:, index]) for index in range(len(names))]
        return [dict(zip(names, row)) for row in zip(*columns)]
    if hasattr(value, "isna") and hasattr(value, "tolist"):
        return _column(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return None if type(value).__name__ == "NAType" else str(value)  # A period, an interval.


def _own_names(names):
    """The names of columns, each its own: an object of JSON would keep the last of two values in silence."""
    names, seen = list(names), set()
    for name in names:
        if name in seen:
            raise ValueError(f"two columns are called {name!r}: rows of JSON need a name for each")
        seen.add(name)
    return names


def _column(series):
    values = series.tolist()
    missing = series.isna()
    if missing.any():
        values = [None if absent else value for value, absent in zip(values, missing.tolist())]
    return values


def _of_pyarrow(value):
    _own_names(getattr(value, "column_names", None) or getattr(getattr(value, "schema", None), "names", ()))
    return value.to_pylist() if hasattr(value, "to_pylist") else value.as_py()


_PLAIN = {"numpy": _of_numpy, "pandas": _of_pandas, "pyarrow": _of_pyarrow}


def is_figure(value):
    """Whether it is a figure of matplotlib."""
    return type(value).__module__ == "matplotlib.figure" and hasattr(value, "savefig")


def picture(figure, media_type):
    """A figure as a picture. It is closed, as the library would keep it for good."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg" if media_type == "image/svg+xml" else "png")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)
    return drawn.getvalue()

//! The table of types in `docs/formats.md`: which type of Arrow and of Parquet becomes which, as pyarrow writes and
//! reads them. With `UPDATE=1` the page is written anew.

use std::fs;
use std::process::Command;

use super::server::Server;

/// Writes a file for each type, or asks a server that serves them, and prints the table.
const PROGRAM: &str = r#"
import datetime as dt, decimal, io, pathlib, sys, urllib.error, urllib.request
import numpy as np, pyarrow as pa, pyarrow.ipc as ipc, pyarrow.parquet as pq

def cases():
    yield pa.null(), [None]
    yield pa.bool_(), [True]
    for bits in (8, 16, 32, 64):
        yield getattr(pa, f"int{bits}")(), [7]
        yield getattr(pa, f"uint{bits}")(), [7]
    yield pa.float16(), [np.float16(1.5)]
    yield pa.float32(), [1.5]
    yield pa.float64(), [1.5]
    for t in (pa.decimal32(7, 2), pa.decimal64(15, 2), pa.decimal128(38, 2), pa.decimal256(76, 2)):
        yield t, [decimal.Decimal("1.50")]
    for t in (pa.string(), pa.large_string(), pa.string_view()):
        yield t, ["a"]
    for t in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)):
        yield t, [b"\0\xff"]
    for t in (pa.date32(), pa.date64()):
        yield t, [dt.date(1970, 1, 2)]
    for t in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield t, [dt.time(0, 0, 1)]
    units = ("s", "ms", "us", "ns")
    for unit in units:
        yield pa.timestamp(unit), [dt.datetime(2021, 4, 12, 4, 4, 28)]
    for unit in units:
        yield pa.timestamp(unit, "Europe/Berlin"), [dt.datetime(2021, 4, 12, 2, 4, 28, tzinfo=dt.timezone.utc)]
    for unit in units:
        yield pa.duration(unit), [dt.timedelta(seconds=90)]
    yield pa.month_day_nano_interval(), [pa.MonthDayNano([1, 2, 3])]
    numbers = pa.int64()
    for t in (pa.list_(numbers), pa.large_list(numbers), pa.list_view(numbers), pa.list_(numbers, 2)):
        yield t, [[1, 2]]
    yield pa.struct([("a", numbers)]), [{"a": 1}]
    yield pa.map_(pa.string(), numbers), [[("k", 1)]]
    yield pa.dictionary(pa.int32(), pa.string()), ["a"]
    yield pa.run_end_encoded(pa.int32(), numbers), None
    yield pa.dense_union([pa.field("a", numbers), pa.field("b", pa.string())]), None

def array(t, values):
    if pa.types.is_run_end_encoded(t):
        return pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([7]))
    if pa.types.is_union(t):
        kinds, places = pa.array([0], pa.int8()), pa.array([0], pa.int32())
        return pa.UnionArray.from_dense(kinds, places, [pa.array([1]), pa.array(["x"])], ["a", "b"])
    return pa.array(values, t)

def make(directory):
    for i, (t, values) in enumerate(cases()):
        table = pa.table({"v": array(t, values)})
        with ipc.new_file(f"{directory}/a{i}.arrow", table.schema) as file:
            file.write(table)
        try:
            pq.write_table(table, f"{directory}/p{i}.parquet")
        except (pa.ArrowException, NotImplementedError):
            pathlib.Path(f"{directory}/p{i}.parquet").unlink(missing_ok=True)

def show(url):
    def came(target, schema):
        try:
            return f"`{schema(urllib.request.urlopen(url + target).read()).field(0).type}`"
        except urllib.error.HTTPError as error:
            return "-" if error.code == 404 else "refused"
    arrow = lambda name: came(f"/api/tables/{name}.arrow", lambda b: ipc.open_file(b).schema)
    parquet = lambda name: came(f"/api/tables/{name}.parquet", lambda b: pq.read_table(io.BytesIO(b)).schema)
    same, rows = [], []
    for i, (t, _) in enumerate(cases()):
        told = [arrow(f"a{i}"), parquet(f"a{i}"), arrow(f"p{i}")]
        if set(told) == {f"`{t}`"}:
            same.append(f"`{t}`")
        else:
            rows.append(f"| `{t}` | {' | '.join(told)} |")
    lines = ["As they are:"]
    for name in same:
        end = "," if name != same[-1] else "."
        if len(lines[-1]) + len(name) + 2 > 118:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + name + end
    print("\n".join(lines) + "\n")
    print("| written | Arrow in, Arrow out | Arrow in, Parquet out | Parquet in, Arrow out |\n|---|---|---|---|")
    print("\n".join(rows))

{"make": make, "show": show}[sys.argv[1]](sys.argv[2])
"#;

fn python(verb: &str, of: &str) -> String {
    let done = Command::new("python3").args(["-c", PROGRAM, verb, of]).output().expect("python3 is there");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn the_page_tells_which_type_becomes_which() {
    if !Command::new("python3").args(["-c", "import pyarrow, numpy"]).output().is_ok_and(|done| done.status.success()) {
        return;
    }
    let made = tempfile::tempdir().expect("a directory");
    python("make", made.path().to_str().expect("text"));
    let files: Vec<(String, Vec<u8>)> = fs::read_dir(made.path())
        .expect("there")
        .map(|entry| entry.expect("a file"))
        .map(|entry| (entry.file_name().into_string().expect("text"), fs::read(entry.path()).expect("bytes")))
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let server = Server::of(&files);
    let table = python("show", &format!("http://{}", server.address()));
    salver_testkit::doc_table::has_table("formats.md", "it::becomes", &table);
}

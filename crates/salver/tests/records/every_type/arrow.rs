//! Arrow and Parquet bodies of the tables, read by pyarrow, which has no code in common with what wrote them.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use super::catalogue::Class;
use super::doors::Shown;
use super::value::canonical;

/// Reads lines of a name and a target, and writes a line for each row: the name, its number, its value in hexadecimal
/// digits; or what went wrong.
const PROGRAM: &str = r#"
import http.client, io, sys, urllib.error, urllib.request
import pyarrow as pa, pyarrow.ipc as ipc, pyarrow.parquet as pq

def text(kind, column):
    if pa.types.is_date32(kind):
        return [None if v is None else f"day {v}" for v in column.cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(kind):
        assert kind.unit == "us", kind
        return [None if v is None else f"moment {v}" for v in column.cast(pa.int64()).to_pylist()]
    values = column.to_pylist()
    if pa.types.is_boolean(kind):
        return [None if v is None else str(v).lower() for v in values]
    if pa.types.is_binary(kind):
        return [None if v is None else v.hex() for v in values]
    if pa.types.is_decimal(kind):
        return [None if v is None else format(v, "f") for v in values]
    if pa.types.is_floating(kind):
        return [None if v is None else repr(v).replace("nan", "NaN") for v in values]
    return [None if v is None else str(v) for v in values]

for line in sys.stdin.read().splitlines():
    name, target = line.split("\t")
    try:
        body = urllib.request.urlopen(sys.argv[1] + target).read()
        path = target.split("?")[0]
        if path.endswith(".parquet"):
            table = pq.read_table(io.BytesIO(body))
        elif path.endswith(".arrows"):
            table = ipc.open_stream(body).read_all()
        else:
            table = ipc.open_file(body).read_all()
        print(name, "type", str(table.schema.field("v").type).encode().hex(), sep="\t")
        for i, v in zip(table.column("id").to_pylist(), text(table.schema.field("v").type, table.column("v"))):
            print(name, i, "~" if v is None else v.encode().hex(), sep="\t")
    except urllib.error.HTTPError as error:
        print(name, "error", f"{error.code}: {error.read().decode()}".encode().hex(), sep="\t")
    except http.client.IncompleteRead:
        print(name, "error", "it broke off".encode().hex(), sep="\t")
"#;

/// Whether pyarrow is there.
pub(super) fn is_there() -> bool {
    Command::new("python3").args(["-c", "import pyarrow"]).output().is_ok_and(|done| done.status.success())
}

/// What pyarrow reads of each named target, and the type of the column.
pub(super) fn read(address: &str, targets: &[(String, String, Class)]) -> BTreeMap<String, (String, Shown)> {
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM, &format!("http://{address}/api")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let lines: String = targets.iter().map(|(name, target, _)| format!("{name}\t{target}\n")).collect();
    child.stdin.take().expect("a way in").write_all(lines.as_bytes()).expect("python3 reads");
    let output = child.wait_with_output().expect("python3 ends");
    assert!(output.status.success(), "pyarrow could not read a body");
    let classes: BTreeMap<&str, Class> = targets.iter().map(|(name, _, class)| (name.as_str(), *class)).collect();
    let mut read: BTreeMap<String, (String, Shown)> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        let [name, what, hex] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let entry = read.entry(name.to_owned()).or_insert_with(|| (String::new(), Ok(BTreeMap::new())));
        match what {
            "type" => entry.0 = text(hex),
            "error" => entry.1 = Err(text(hex)),
            id => {
                let value = (hex != "~").then(|| canonical(classes[name], &text(hex)));
                let rows = entry.1.as_mut().expect("rows");
                rows.insert(id.parse().expect("a number"), value);
            }
        }
    }
    read
}

fn text(hex: &str) -> String {
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
    let bytes = hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    String::from_utf8(bytes).expect("text")
}

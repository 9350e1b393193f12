//! Tables as Arrow streams, into functions and out of them.

use std::process::Command;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Date32Array, Float64Array, Int32Array, NullArray, RecordBatch, RecordBatchOptions,
    StringArray, TimestampMicrosecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;

use super::serve;
use crate::it::server::{Answer, Server};

const ARROW: &str = "application/vnd.apache.arrow.stream";
const SENT: (&str, &str) = ("content-type", ARROW);
const BOTH: &[(&str, &str)] = &[SENT, ("accept", ARROW)];

const R: &[u8] = br#"
same <- function(data) data

#* @param rows:df
sum_of <- function(by, rows) sum(rows[[by]])

#* @param n:int
plain <- function(n) n

#* @serializer csv
written <- function(data) data

#* @pure
counted <- function(data, log) {
  cat("x\n", file = log, append = TRUE)
  sum(data$n)
}
"#;

const PYTHON: &[u8] = br#"
try:
    import pandas as pd
    import pyarrow as pa
except ImportError:
    pass


def same(table: "pa.Table"):
    return table


def frame(data: "pd.DataFrame", times: int = 1):
    return data.assign(n=data["n"] * times)


def anything(data, n: int):
    return {"rows": data.num_rows, "n": n}


#* @pure
def counted(data: "pa.Table", log: str):
    with open(log, "a") as file:
        file.write("x\n")
    return sum(data["n"].to_pylist())


def plain(n: int):
    return n
"#;

fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn columns(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn numbers(numbers: Vec<Option<i32>>) -> Vec<u8> {
    stream(&columns(vec![("n", Arc::new(Int32Array::from(numbers)))]))
}

/// The rows of an answer.
fn batches(answer: &Answer) -> Vec<RecordBatch> {
    assert_eq!((answer.status, answer.header("content-type")), (200, Some(ARROW)), "{:?}", answer.headers);
    StreamReader::try_new(&answer.body[..], None).unwrap().map(Result::unwrap).collect()
}

fn message(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["message"].as_str().unwrap().to_owned())
}

/// How many lines a function has left.
fn calls(log: &str) -> usize {
    std::fs::read_to_string(log).map_or(0, |text| text.lines().count())
}

/// A function that is pure is called again for another body only.
fn counts(server: &Server, file: &str) {
    let log = server.file(file).to_str().unwrap().to_owned();
    let target = format!("/api/functions/{file}/counted?log={log}");
    for (body, sum) in [(1, "3"), (1, "3"), (2, "4"), (1, "3")] {
        let answer = server.ask("POST", &target, &[SENT], &numbers(vec![Some(body), Some(2)]));
        assert_eq!((answer.status, answer.text()), (200, sum));
    }
    assert_eq!(calls(&log), 2, "{file}");
}

#[test]
fn r_takes_and_gives_tables() {
    let server = serve("", &[("functions/r.R", R)]);
    let whole = columns(vec![
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("n", Arc::new(Int32Array::from(vec![Some(-7), None]))),
        ("x", Arc::new(Float64Array::from(vec![Some(0.1), None]))),
        ("text", Arc::new(StringArray::from(vec![Some("\u{e9}"), None]))),
        ("day", Arc::new(Date32Array::from(vec![Some(20_000), None]))),
        ("time", Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None]).with_timezone("UTC"))),
    ]);
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let bare = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
    let long = columns(vec![
        ("n", Arc::new((0..100_000).map(|n| (n % 7 != 0).then_some(n)).collect::<Int32Array>())),
        ("text", Arc::new((0..100_000).map(|n| Some(format!("row {n}"))).collect::<StringArray>())),
    ]);
    for batch in [whole.clone(), whole.slice(0, 0), bare, long] {
        let answer = server.ask("POST", "/api/functions/r/same", BOTH, &stream(&batch));
        assert_eq!(batches(&answer), [batch]);
    }
    let json = server.ask("POST", "/api/functions/r/same", &[SENT], &stream(&whole.slice(0, 1)));
    let row = r#"[{"truth":true,"n":-7,"x":0.1,"text":"é","day":"2024-10-04","time":"1970-01-01T00:00:00.000001Z"}]"#;
    assert_eq!((json.header("content-type"), json.text()), (Some("application/json"), row));
    let from_json = server.ask("POST", "/api/functions/r/sum_of", &[], br#"{"by": "n", "rows": [{"n": 1}, {"n": 2}]}"#);
    assert_eq!(from_json.text(), "3");
    let body = numbers(vec![Some(1), Some(2)]);
    let with_others = server.ask("POST", "/api/functions/r/sum_of?by=n", &[SENT], &body);
    assert_eq!((with_others.status, with_others.text()), (200, "3"));
    let csv = server.ask("POST", "/api/functions/r/written", BOTH, &body);
    assert_eq!((csv.header("content-type"), csv.text()), (Some("text/csv; charset=UTF-8"), "\"n\"\n1\n2\n"));
    counts(&server, "r");
    let described = server.get("/api/functions.openapi.json").json();
    let bodies =
        |name: &str| described["paths"][format!("/api/functions/r/{name}")]["post"]["requestBody"]["content"].clone();
    assert!(bodies("sum_of").get(ARROW).is_some() && bodies("plain").get(ARROW).is_none());
}

#[test]
fn tables_that_fit_nowhere_are_refused() {
    let server = serve("", &[("functions/r.R", R), ("functions/py.py", PYTHON)]);
    let body = numbers(vec![Some(1)]);
    let ask = |target: &str, body: &[u8]| server.ask("POST", &format!("/api/functions/{target}"), BOTH, body);
    for target in ["r/plain?n=1", "py/plain?n=1"] {
        let told = "`plain` has no parameter for the table in the body";
        assert_eq!(message(&ask(target, &body)), (415, told.to_owned()), "{target}");
    }
    assert_eq!(message(&ask("r/same?data=1", &body)).0, 415);
    assert_eq!(message(&ask("r/sum_of", &body)), (400, "`by` is missing".to_owned()));
    assert_eq!(message(&ask("r/same", b"")), (400, "`data` is missing".to_owned()));
    for bad in [&b"no Arrow"[..], &body[..body.len() / 2]] {
        let (status, told) = message(&ask("r/same", bad));
        assert!(status == 400 && told.starts_with("the body is not right for `data`: it can't be read as"), "{told}");
    }
    // What it claims is not believed, whoever would read it.
    let nulls = stream(&columns(vec![("data", Arc::new(NullArray::new(10_000_000)))]));
    for target in ["r/same", "py/anything?n=1"] {
        let (status, told) = message(&ask(target, &nulls));
        assert!(status == 400 && told.contains("it tells of 20000000 values"), "{target}: {status} {told}");
    }
    assert_eq!(batches(&ask("r/same", &body)).len(), 1);
}

#[test]
fn a_job_takes_and_gives_a_table() {
    let server = serve("", &[("functions/r.R", R)]);
    let body = numbers(vec![Some(1), None]);
    let called = server.ask("POST", "/api/functions/r/same", BOTH, &body);
    let headers = [BOTH, &[("prefer", "respond-async")]].concat();
    let accepted = server.ask("POST", "/api/functions/r/same", &headers, &body);
    assert_eq!(accepted.status, 202);
    let location = accepted.header("location").unwrap();
    let result = server.get_with(&format!("{location}/result"), &[("prefer", "wait=30")]);
    assert_eq!(batches(&result), batches(&called));
}

/// Without the libraries, what is missing is said.
#[test]
fn python_takes_and_gives_tables() {
    let server = serve("", &[("functions/py.py", PYTHON)]);
    let body = numbers(vec![Some(1), Some(20)]);
    let ask = |target: &str, body: &[u8]| server.ask("POST", &format!("/api/functions/py/{target}"), BOTH, body);
    if !Command::new("python3").args(["-c", "import pandas, pyarrow"]).output().unwrap().status.success() {
        let (status, told) = message(&ask("anything?n=1", &body));
        assert!(status == 400 && told.starts_with("`data` can't be a table here: pyarrow is not installed"), "{told}");
        return;
    }
    let same = batches(&ask("same", &body));
    assert_eq!(same.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
    let frame = batches(&ask("frame?times=2", &body));
    let doubled = cast(frame[0].column(0), &DataType::Int64).unwrap();
    assert_eq!(*doubled.as_primitive::<Int64Type>().values(), [2, 40]);
    let json = server.ask("POST", "/api/functions/py/frame", &[SENT], &body);
    assert_eq!(json.text(), r#"[{"n":1},{"n":20}]"#);
    assert_eq!(ask("anything?n=3", &body).text(), r#"{"rows":2,"n":3}"#);
    assert_eq!(batches(&ask("same", &numbers(Vec::new()))).iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    let (status, told) = message(&ask("same", b"no Arrow"));
    assert!(status == 400 && told.starts_with("the body is not right for `table`:"), "{told}");
    counts(&server, "py");
}

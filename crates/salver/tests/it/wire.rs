//! Clients of PostgreSQL: psql and drivers of Python, where the setup of the tests could install them, and clients that
//! say what none of them would.

mod copy;
mod cursors;
mod drivers;
mod hostile;
mod jdbc;
mod parameters;
mod psql;

use std::process::Command;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array,
    Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder, Time64MicrosecondArray,
    TimestampMicrosecondArray, UInt64Array,
};

use super::server::Server;

/// Settings of a server for these clients.
const WIRE: &str = "[wire]\npostgres = \"127.0.0.1:0\"\n";
/// A table of people.
pub(super) const PEOPLE: &[u8] = b"id,name,born\n1,Ann,1980-02-03\n2,Ben,1995-12-31\n3,,\n";

/// A row of values of many types, and one of nulls.
pub(super) fn types() -> Vec<u8> {
    let mut texts = ListBuilder::new(StringBuilder::new());
    texts.values().append_value("a b");
    texts.values().append_null();
    texts.append(true);
    texts.append(false);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2]))),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("big", Arc::new(Int64Array::from(vec![Some(i64::MIN), None]))),
        ("huge", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("short", Arc::new(Float32Array::from(vec![Some(0.1), None]))),
        ("long", Arc::new(Float64Array::from(vec![Some(1e300), None]))),
        (
            "exact",
            Arc::new(Decimal128Array::from(vec![Some(-1_234_567), None]).with_precision_and_scale(12, 2).unwrap()),
        ),
        ("word", Arc::new(StringArray::from(vec![Some("it's \u{fc}"), None]))),
        ("bytes", Arc::new(BinaryArray::from(vec![Some(&b"\x00\xff"[..]), None]))),
        ("day", Arc::new(Date32Array::from(vec![Some(2_932_896), None]))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![Some(3_723_000_004), None]))),
        ("moment", Arc::new(TimestampMicrosecondArray::from(vec![Some(-11_676_096_000_000_006), None]))),
        ("words", Arc::new(texts.finish())),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let batch = batch.unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// A server with people and types.
fn server(more: &str) -> Server {
    Server::with(&format!("{WIRE}{more}"), &[("people.csv", PEOPLE), ("types.arrow", &types())])
}

/// Runs a program of Python that fails by raising, if it has these modules.
pub(super) fn python(modules: &str, program: &str, arguments: &[&str]) {
    let has = Command::new("python3").args(["-c", &format!("import {modules}")]).output();
    if !has.is_ok_and(|done| done.status.success()) {
        return;
    }
    let done = Command::new("python3").args(["-c", program]).args(arguments).output().expect("it is there");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.trim(), "well", "{}", String::from_utf8_lossy(&done.stderr));
}

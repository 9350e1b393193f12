//! Look-ups by key: the index finds what a scan finds, and errors say what is wrong.

use salver_model::ports::Table;
use salver_model::{Code, Comparison, Filter, Item, Query, Value};

use super::generated::{self, collect};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_finds_its_row_at_once() {
    let (engine, _dir) = generated::engine();
    let data = generated::rows(200_000, 5);
    let table = generated::resident(&generated::spec("t", &["id"]), &data, &engine);
    for id in [0_i64, 1, 65_535, 65_536, 131_072, 199_999] {
        let query = Query {
            items: vec![Item::column("id"), Item::column("text")],
            filter: Some(Filter::compare("id", Comparison::Eq, Value::Int(id))),
            ..Query::default()
        };
        let rows = collect(table.read(&query).ready().unwrap().unwrap()).await.unwrap();
        assert_eq!(rows.num_rows(), 1);
        assert_eq!(rows.column(0).to_data(), data.column(0).slice(id as usize, 1).to_data());
    }
    let missing =
        Query { filter: Some(Filter::compare("id", Comparison::Eq, Value::Int(200_000))), ..Query::default() };
    assert_eq!(collect(table.read(&missing).ready().unwrap().unwrap()).await.unwrap().num_rows(), 0);
    let scan =
        Query { filter: Some(Filter::compare("text", Comparison::Eq, Value::Text("a".into()))), ..Query::default() };
    assert!(table.read(&scan).ready().is_none(), "a scan of many rows is not for the caller's thread");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_column_and_suggest() {
    let (engine, _dir) = generated::engine();
    let table = generated::resident(&generated::spec("t", &[]), &generated::rows(10, 5), &engine);
    let error = |query: Query| table.read(&query).ready().unwrap().unwrap_err();
    let filter = |column: &str, value: Value| Query {
        filter: Some(Filter::compare(column, Comparison::Eq, value)),
        ..Query::default()
    };
    let unknown = error(Query { items: vec![Item::column("smal")], ..Query::default() });
    assert_eq!((unknown.code, unknown.hint.as_deref()), (Code::InvalidColumn, Some("did you mean `small`?")));
    assert_eq!(unknown.message, "no column `smal` in `t`");
    assert_eq!(error(filter("smal", Value::Int(1))).code, Code::InvalidFilter);
    let quoted = error(filter("text", Value::Int(1)));
    assert_eq!(quoted.code, Code::InvalidValue);
    assert!(quoted.hint.unwrap().contains("quotes"));
    assert_eq!(error(filter("id", Value::Text("x".into()))).code, Code::InvalidValue);
    assert_eq!(error(filter("day", Value::Text("soon".into()))).code, Code::InvalidValue);
    assert_eq!(error(filter("tags", Value::Text("x".into()))).code, Code::InvalidFilter);
    let by_list = salver_model::Sort { column: "tags".into(), descending: false, nulls_first: false };
    assert_eq!(error(Query { sort: vec![by_list], ..Query::default() }).code, Code::InvalidSort);
}

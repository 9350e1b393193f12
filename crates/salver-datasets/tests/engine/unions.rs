//! Columns that hold values of several types: shown and known to be null, and nothing is computed from them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, UnionArray};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{DataType, Field, Schema, UnionFields};
use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, SqlQuery};

use super::generated::{self, Catalog};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_computed_is_refused() {
    let fields =
        UnionFields::try_new([0, 1], [Field::new("n", DataType::Int64, true), Field::new("s", DataType::Utf8, true)]);
    let types = ScalarBuffer::from(vec![0_i8, 1, 0, 1]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None, None, None]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("x"), None, Some("")]));
    let union = UnionArray::try_new(fields.unwrap(), types, None, vec![numbers, texts]).unwrap();
    let schema =
        Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("un", union.data_type().clone(), true)]);
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let rows = RecordBatch::try_new(Arc::new(schema), vec![ids, Arc::new(union)]).unwrap();
    let (engine, _dir) = generated::engine();
    let table = generated::resident(&generated::spec("t", &[]), &rows, &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
    let ask = |text: &str| {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        let (engine, tables) = (Arc::clone(&engine), Arc::clone(&tables));
        async move {
            match engine.run(tables, &query).await {
                Ok(rows) => generated::collect(rows).await,
                Err(error) => Err(error),
            }
        }
    };
    for text in [
        "select case when id = 1 then un end as x from t",
        "select nullif(un, 5) from t",
        "select un::text from t",
        "select un || 'a' from t",
        "select length(un) from t",
        "select max(un) from t",
        "select count(distinct un) from t",
        "select a.id from t as a join t as b on a.un = b.un",
        "select id from t where un in (select un from t)",
        "select id from t where un = 5",
        "select id from t order by un",
        "select un, count(*) from t group by un",
        "select distinct un from t",
        "select id, row_number() over (order by un) from t",
        "select id from t where un is distinct from 5",
    ] {
        let error = ask(text).await.expect_err(text);
        assert_eq!(error.code, Code::InvalidSql, "{text}: {error:?}");
        assert!(error.message.contains("several types") || error.hint.is_some(), "{text}: {error:?}");
    }
    for (text, count) in [
        ("select un from t where id > 1", 3),
        ("select id + 0 as id, un as other from t where un is not null", 3),
        ("select * from (select un, id from t order by id desc limit 2) as q", 2),
        ("select count(un) as n from t", 1),
        ("select id from t where un is null", 1),
    ] {
        let rows = ask(text).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(rows.num_rows(), count, "{text}");
    }
}

//! The contract of the `SqlEngine` port, clause by clause.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use salver_model::ports::{SqlEngine, Table, Tables};
use salver_model::{Code, Name, Result, Rows, SqlParameters, SqlQuery, Value};

use super::collected;
use crate::MemoryTable;

/// A catalog of one table, `sample`, with the columns `id` (1 to 3) and `word`.
#[derive(Debug)]
struct Catalog(Arc<dyn Table>);

impl Catalog {
    fn new() -> Self {
        let fields = [Field::new("id", DataType::Int64, true), Field::new("word", DataType::Utf8, true)];
        let ids = Int64Array::from(vec![1, 2, 3]);
        let words = StringArray::from(vec![Some("a"), None, Some("c")]);
        let rows = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), vec![Arc::new(ids), Arc::new(words)]);
        Self(Arc::new(MemoryTable::new("sample", rows.expect("columns of one length"))))
    }
}

impl Tables for Catalog {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        Ok((name == "sample").then(|| Arc::clone(&self.0)))
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        vec![(self.0.describe().name.clone(), Arc::clone(&self.0))]
    }

    fn generation(&self) -> u64 {
        1
    }
}

/// Runs the suite.
///
/// # Panics
/// When the contract is broken.
pub async fn run(engine: &dyn SqlEngine) {
    let tables: Arc<dyn Tables> = Arc::new(Catalog::new());
    answers(engine, &tables).await;
    refuses(engine, &tables).await;
    says_what_it_read(engine, &tables).await;
}

async fn answers(engine: &dyn SqlEngine, tables: &Arc<dyn Tables>) {
    for (text, rows) in [
        ("select id from sample where word is null", vec![Some(2)]),
        ("select id from sample order by id desc limit 2", vec![Some(3), Some(2)]),
        ("select count(*) from sample", vec![Some(3)]),
        ("select sum(a.id) from sample a join sample b on a.id < b.id", vec![Some(4)]),
        ("select max(id) from sample where id > 7", vec![None]),
        ("select id from sample where false;", vec![]),
    ] {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        let general =
            integers(engine.run(Arc::clone(tables), &query).await.unwrap_or_else(|e| panic!("{text}: {e:?}")));
        assert_eq!(general.await, rows, "{text}");
    }
    for parameters in [
        (SqlParameters::Positional(vec![Value::Int(2)]), "select id from sample where id = $1"),
        (SqlParameters::Named(vec![("n".to_owned(), Value::Int(2))]), "select id from sample where id = $n"),
    ] {
        let query = SqlQuery { text: parameters.1.to_owned(), parameters: parameters.0, ..SqlQuery::default() };
        let rows = engine.run(Arc::clone(tables), &query).await.expect("parameters");
        assert_eq!(integers(rows).await, [Some(2)], "{}", parameters.1);
    }
}

async fn refuses(engine: &dyn SqlEngine, tables: &Arc<dyn Tables>) {
    for (text, codes) in [
        ("insert into sample values (1)", [Code::ReadOnly, Code::ReadOnly]),
        ("drop table sample", [Code::ReadOnly, Code::ReadOnly]),
        ("with x as (delete from sample returning id) select * from x", [Code::ReadOnly, Code::InvalidSql]),
        ("copy sample to '/tmp/never'", [Code::ReadOnly, Code::InvalidSql]),
        ("select * from read_csv('/etc/passwd')", [Code::InvalidSql, Code::ReadOnly]),
        ("select * from '/etc/passwd'", [Code::InvalidSql, Code::UnknownEntry]),
        ("", [Code::InvalidSql, Code::InvalidSql]),
        ("select 1; select 2", [Code::InvalidSql, Code::InvalidSql]),
    ] {
        let error = refusal(engine, tables, text).await;
        assert!(codes.contains(&error.code), "{text}: {error:?}");
    }
    for text in ["select id,\n  wrod from sample", "select id from\n  smaple", "select id\n  frm sample x y"] {
        let error = refusal(engine, tables, text).await;
        assert!(error.message.contains("line 2, column"), "{text}: {error:?}");
    }
}

async fn says_what_it_read(engine: &dyn SqlEngine, tables: &Arc<dyn Tables>) {
    let version = tables.list()[0].1.describe().version;
    for (text, reads, repeatable) in [
        ("select id from sample", 1, true),
        ("select 1 where exists (select 1 from sample)", 1, true),
        ("select 1 as one", 0, true),
        ("select random() < 2 from sample", 1, false),
        ("select now() is null", 0, false),
    ] {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        let rows = engine.run(Arc::clone(tables), &query).await.unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let names: Vec<_> = rows.read.iter().map(|(name, own)| (name.as_str(), *own)).collect();
        assert_eq!(names, vec![("sample", version); reads], "{text}");
        assert_eq!(rows.repeatable, repeatable, "{text}");
    }
}

async fn refusal(engine: &dyn SqlEngine, tables: &Arc<dyn Tables>, text: &str) -> salver_model::Error {
    let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
    match engine.run(Arc::clone(tables), &query).await {
        Ok(rows) => panic!("{text}: {rows:?}"),
        Err(error) => error,
    }
}

/// Returns the integers of the first column.
async fn integers(rows: Rows) -> Vec<Option<i64>> {
    let batches = collected(rows.batches).await.expect("rows");
    let column = |batch: &RecordBatch| {
        let own = arrow::compute::cast(batch.column(0), &DataType::Int64).expect("integers");
        own.as_any().downcast_ref::<Int64Array>().map(|own| own.iter().collect::<Vec<_>>()).unwrap_or_default()
    };
    batches.iter().flat_map(column).collect()
}

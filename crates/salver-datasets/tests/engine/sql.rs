//! What SQL means: names, parameters, errors.

use std::sync::Arc;

use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, Error, SqlParameters, SqlQuery, Value};

use super::generated::{self, Catalog, collect};

struct Bench {
    engine: Arc<salver_datasets::Engine>,
    tables: Arc<dyn Tables>,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let (engine, dir) = generated::engine();
        let data = generated::rows(20, 1);
        let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![
            Arc::new(generated::resident(&generated::spec("people", &["id"]), &data, &engine)),
            Arc::new(generated::resident(&generated::spec("Upper Case", &[]), &data, &engine)),
        ]));
        Self { engine, tables, _dir: dir }
    }

    async fn run(&self, text: &str, parameters: SqlParameters) -> Result<arrow::array::RecordBatch, Error> {
        let query = SqlQuery { text: text.to_owned(), parameters, is_safe: false, ..SqlQuery::default() };
        collect(self.engine.run(Arc::clone(&self.tables), &query).await?).await
    }

    async fn error(&self, text: &str) -> Error {
        self.run(text, SqlParameters::None).await.err().unwrap_or_else(|| panic!("it ran: {text}"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_match_in_any_case() {
    let bench = Bench::new();
    for text in [
        "select mixed from (select \"Mixed Name\" as mixed from people)",
        "select ID from People where Id = 3",
        "SELECT P.ID FROM PEOPLE AS P ORDER BY p.Id",
        "select id from \"Upper Case\"",
        "select a.ID from people a join \"Upper Case\" b using (ID)",
        "select count(*) as Total from people group by FLAG order by TOTAL",
        "with Recent as (select Id as Number from people) select NUMBER from recent",
        "select people.* from people",
        "select place['city'] from people",
        "select upper(Text) from people",
    ] {
        bench.run(text, SqlParameters::None).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
    let rows = bench.run("select ID, \"id\" as x from people", SqlParameters::None).await.unwrap();
    assert_eq!(rows.schema().field(0).name(), "id");
    assert_eq!(bench.error("select \"ID\" from people").await.code, Code::InvalidSql);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_values_and_nothing_else() {
    let bench = Bench::new();
    let positional = |values: Vec<Value>| SqlParameters::Positional(values);
    let one = bench.run("select id from people where id = $1", positional(vec![Value::Int(3)])).await.unwrap();
    assert_eq!(one.num_rows(), 1);
    let both = positional(vec![Value::Int(3), Value::Int(-5)]);
    assert_eq!(bench.run("select id from people where id = ? or id = ?", both).await.unwrap().num_rows(), 1);
    let named = SqlParameters::Named(vec![("low".to_owned(), Value::Int(5))]);
    assert_eq!(bench.run("select id from people where id < $low", named).await.unwrap().num_rows(), 5);
    let evil = positional(vec![Value::Text("' or 1=1 --".to_owned())]);
    assert_eq!(bench.run("select id from people where text = $1", evil).await.unwrap().num_rows(), 0);
    let typed = positional(vec![Value::Float(1.0), Value::Null, Value::Bool(true), Value::Text("x".into())]);
    let row = bench.run("select $1 as a, $2 as b, $3 as c, $4 as d", typed).await.unwrap();
    let types: Vec<String> = row.schema().fields().iter().map(|f| f.data_type().to_string()).collect();
    assert_eq!(types, ["Decimal128(2, 1)", "Null", "Boolean", "Utf8"]);
    let missing = bench.run("select $2", positional(vec![Value::Int(1)])).await.unwrap_err();
    assert_eq!(missing.code, Code::InvalidValue);
    let many = bench.run("select $1", positional(vec![Value::Int(1), Value::Int(2)])).await.unwrap_err();
    assert_eq!(many.code, Code::InvalidValue);
    assert_eq!(bench.error("select $1").await.code, Code::InvalidValue);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_what_and_where() {
    let bench = Bench::new();
    let column = bench.error("select id,\n  smal from people").await;
    assert_eq!(column.code, Code::InvalidSql);
    assert_eq!(column.message, "no column `smal` at line 2, column 3");
    assert_eq!(column.hint.as_deref(), Some("did you mean `small`?"));
    let table = bench.error("select * from peopel").await;
    assert_eq!(table.message, "no table `peopel` at line 1, column 15");
    assert_eq!(table.hint.as_deref(), Some("did you mean `people`?"));
    let syntax = bench.error("select from where").await;
    assert!(syntax.message.contains("at line 1, column"), "{syntax:?}");
    let function = bench.error("select uper(text) from people").await;
    assert!(function.message.contains("uper") && function.message.contains("line 1"), "{function:?}");
    assert_eq!(bench.error("").await.code, Code::InvalidSql);
    assert_eq!(bench.error("select 1; select 2").await.code, Code::InvalidSql);
    assert_eq!(bench.error(";;").await.code, Code::InvalidSql);
    assert_eq!(bench.error("select 1/0").await.code, Code::Execution);
    assert_eq!(bench.error("select cast(text as int) from people").await.code, Code::Execution);
    for text in ["select 'x", "select /* x", "select \"x", "select $$x", "selct 1"] {
        assert_eq!(bench.error(text).await.code, Code::InvalidSql, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_name_a_way_out() {
    let bench = Bench::new();
    for (text, message, hint) in [
        ("select 1 where (1, 'x') = (select id, text from people limit 1)", "Too many columns", "`(x, y) in (select"),
        (
            "with a as (select 1) select * from (with a as (select 2) select * from a) q",
            "more than once",
            "another name",
        ),
        (
            "select id from people o where exists (select 1 from people i where i.id = o.id group by rollup(i.text))",
            "group by several sets",
            "join",
        ),
    ] {
        let refused = bench.error(text).await;
        assert!(refused.message.contains(message) && !refused.message.contains("__"), "{text}: {refused:?}");
        assert!(refused.hint.as_deref().is_some_and(|own| own.contains(hint)), "{text}: {refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_depth_exhausts_a_stack() {
    let bench = Bench::new();
    let n = 10_000;
    for text in [
        format!("select {}1{}", "(".repeat(n), ")".repeat(n)),
        format!("select {}1", "-".repeat(n).replace('-', "- ")),
        format!("select {} true", "not ".repeat(n)),
        format!("select 1{}", "+1".repeat(n)),
        format!("select 1{}", "::int".repeat(n)),
        format!("{}select 1{}", "select * from (".repeat(n), ")".repeat(n)),
        format!("select 1{}", " union all select 1".repeat(n)),
        format!("select * from people where {}", "id = 1 or ".repeat(n) + "id = 2"),
        format!("select {}1{}", "abs(".repeat(n), ")".repeat(n)),
        format!("select {}1 {}", "case when true then ".repeat(n), "end ".repeat(n)),
        format!("select [{}", "[".repeat(n)),
        format!("select 1{}", " is null".repeat(n)),
    ] {
        assert_eq!(bench.error(&text).await.code, Code::InvalidSql, "{}", &text[..40]);
    }
    let long = format!(
        "select id from people where id in ({})",
        (0..9_000).map(|i| i.to_string()).collect::<Vec<_>>().join(",")
    );
    assert_eq!(bench.run(&long, SqlParameters::None).await.unwrap().num_rows(), 20);
    let chain = format!("select id from people where {}id = 2", "id = 1 or ".repeat(450));
    assert_eq!(bench.run(&chain, SqlParameters::None).await.unwrap().num_rows(), 2);
    let sum = format!("select 1{} as n", "+1".repeat(450));
    assert_eq!(bench.run(&sum, SqlParameters::None).await.unwrap().num_rows(), 1);
}

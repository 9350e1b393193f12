//! Only reading gets through.

use std::sync::Arc;

use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, SqlQuery};

use super::generated::{self, Catalog, collect};

#[tokio::test(flavor = "multi_thread")]
async fn anything_that_is_not_reading_is_refused() {
    let (engine, dir) = generated::engine();
    let secret = dir.path().join("secret.csv");
    std::fs::write(&secret, "a\n1\n").unwrap();
    let path = secret.display();
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(generated::resident(
        &generated::spec("t", &[]),
        &generated::rows(10, 1),
        &engine,
    ))]));
    let refused = [
        "insert into t values (1)".to_owned(),
        "update t set id = 1".to_owned(),
        "delete from t".to_owned(),
        "drop table t".to_owned(),
        "truncate table t".to_owned(),
        "alter table t add column x int".to_owned(),
        "create table x as select 1".to_owned(),
        "create view x as select 1".to_owned(),
        "create external table x stored as csv location '/etc/passwd'".to_owned(),
        format!("copy t to '{path}'"),
        "set datafusion.execution.batch_size = 1".to_owned(),
        "show all".to_owned(),
        "begin".to_owned(),
        "explain insert into t values (1)".to_owned(),
        "explain analyze delete from t".to_owned(),
        "explain show tables".to_owned(),
        "with x as (insert into t values (1) returning id) select * from x".to_owned(),
        "select * into x from t".to_owned(),
        "select * from t for update".to_owned(),
        "prepare x as select 1".to_owned(),
        "merge into t using t as s on t.id = s.id when matched then delete".to_owned(),
        format!("select * from read_csv('{path}')"),
        format!("select * from parquet_metadata('{path}')"),
        "select * from table(foo(1))".to_owned(),
        "vacuum".to_owned(),
        "grant select on t to x".to_owned(),
        "use other".to_owned(),
        "kill 1".to_owned(),
    ];
    for text in refused {
        let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
        let error = engine.run(Arc::clone(&tables), &query).await.err().unwrap_or_else(|| panic!("it ran: {text}"));
        // What the parser doesn't even know is refused as well.
        assert!(matches!(error.code, Code::ReadOnly | Code::InvalidSql), "{text}: {error:?}");
        if !text.starts_with("copy") && !text.starts_with("create external") {
            continue;
        }
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a\n1\n", "{text}");
    }
    for text in [
        format!("select * from '{path}'"),
        format!("select * from \"{path}\""),
        "select * from '/etc/passwd'".to_owned(),
        // These tell of places on this machine.
        "select * from information_schema.df_settings".to_owned(),
        "select value from \"INFORMATION_SCHEMA\".\"DF_Settings\"".to_owned(),
        "table salver.information_schema.df_settings".to_owned(),
    ] {
        let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
        let error = engine.run(Arc::clone(&tables), &query).await.unwrap_err();
        assert_eq!(error.code, Code::InvalidSql, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_statements_run() {
    let (engine, _dir) = generated::engine();
    let data = generated::rows(10, 1);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![
        Arc::new(generated::resident(&generated::spec("t", &[]), &data, &engine)),
        Arc::new(generated::parquet(&generated::spec("files", &[]), &data, 1, &engine)),
    ]));
    let run = |text: &'static str| {
        let (engine, tables) = (Arc::clone(&engine), Arc::clone(&tables));
        async move {
            let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
            let rows = engine.run(tables, &query).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let read: Vec<String> = rows.read.iter().map(|(name, _)| name.to_string()).collect();
            let repeatable = rows.repeatable;
            (collect(rows).await.unwrap(), read, repeatable)
        }
    };
    for text in [
        "select 1",
        "values (1), (2)",
        "select * from t;",
        "select * from public.t",
        "select * from salver.public.t",
        "select * from generate_series(1, 3)",
        "select * from range(1, 3)",
        "select * from unnest([1, 2])",
        "select * from t union all select * from files",
        "select 1 except select 2",
        "with x as (select id from t) select * from x",
        "select id, row_number() over (order by id) from t",
        "select json_get_int('{\"a\": 1}', 'a')",
        "select '{\"a\": {\"b\": 2}}'->'a'->>'b'",
        "describe t",
        "show tables",
        "show columns from t",
        "explain select * from t",
        "explain analyze select count(*) from t",
    ] {
        let (rows, ..) = run(text).await;
        assert!(rows.num_rows() > 0, "{text}");
    }
    let (_, read, repeatable) = run("select t.id from t join files on t.id = files.id").await;
    assert_eq!((read, repeatable), (vec!["files".to_owned(), "t".to_owned()], true));
    let (_, read, _) = run("select * from information_schema.tables").await;
    assert_eq!(read, ["files", "t"]);
    for text in [
        // A table that is loaded later is in none of the versions that these read.
        "select * from information_schema.tables",
        "select count(*) from Information_Schema.columns",
        "with listed as (select table_name from information_schema.tables) select * from t, listed",
        "show tables",
        "show columns from t",
        "select now()",
        "select random() from t",
        "select * from t where id < random()",
        "select current_date",
        "select uuid()",
    ] {
        assert!(!run(text).await.2, "{text} is not repeatable");
    }
    let (plan, ..) = run("explain select * from files where id > 3").await;
    assert!(!format!("{plan:?}").contains("hidden"), "the plan shows a path: {plan:?}");
}

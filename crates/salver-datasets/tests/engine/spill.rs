//! A dataset larger than the memory for queries can be queried: what does not fit spills, what can't spill is refused,
//! and whoever leaves ends the work.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use arrow::util::pretty::pretty_format_batches;
use futures::TryStreamExt;
use salver_model::ports::{SqlEngine, Table, Tables};
use salver_model::{Batches, Code, Query, Sort, SqlQuery};

use super::generated::{self, Catalog};

/// About 100 MB in memory.
fn wide(count: i64) -> RecordBatch {
    let schema = Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("note", DataType::Utf8, false)]);
    let ids = Int64Array::from_iter_values((0..count).map(|i| i.wrapping_mul(7_919) % count));
    let notes = StringArray::from_iter_values((0..count).map(|i| format!("{:0>180}", i % 1000)));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(notes)]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sorting_more_than_the_memory() {
    let (engine, _dir) = generated::engine_of(64 * 1024 * 1024);
    let data = wide(500_009);
    let table = generated::parquet(&generated::spec("wide", &[]), &data, 1, &engine);
    drop(data);
    let sort = vec![Sort { column: "id".into(), descending: true, nulls_first: false }];
    let rows = table.read(&Query { sort, ..Query::default() }).await.unwrap();
    let Batches::Stream(mut stream) = rows.batches else { panic!("a long answer is a stream") };
    let (mut last, mut count) = (i64::MAX, 0);
    while let Some(batch) = stream.try_next().await.unwrap() {
        for id in batch.column(0).as_primitive::<Int64Type>().values() {
            assert!(*id < last, "{id} behind {last}");
            last = *id;
            count += 1;
        }
    }
    assert_eq!(count, 500_009);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_for_the_memory_is_said() {
    let (engine, _dir) = generated::engine_of(16 * 1024 * 1024);
    let table = generated::parquet(&generated::spec("wide", &[]), &wide(200_003), 1, &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
    let text = "select array_agg(note || cast(id as varchar)) as everything from wide".to_owned();
    let outcome = match engine.run(tables, &SqlQuery { text, ..SqlQuery::default() }).await {
        Ok(rows) => super::generated::collect(rows).await.map(|_| ()),
        Err(error) => Err(error),
    };
    let error = outcome.unwrap_err();
    assert_eq!(error.code, Code::OutOfMemory, "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_stream_is_harmless() {
    let (engine, _dir) = generated::engine();
    let table = generated::parquet(&generated::spec("wide", &[]), &wide(100_003), 1, &engine);
    for _ in 0..3 {
        let rows = table.read(&Query::default()).await.unwrap();
        let Batches::Stream(mut stream) = rows.batches else { panic!("a long answer is a stream") };
        assert!(stream.try_next().await.unwrap().is_some());
    }
    let rows = table.read(&Query { limit: Some(1), ..Query::default() }).await.unwrap();
    assert_eq!(generated::collect(rows).await.unwrap().num_rows(), 1);
}

/// Every size between hardly anything and enough: what a sort or a join needs must not depend on luck.
#[tokio::test(flavor = "multi_thread")]
async fn sorts_and_joins_fit_into_any_memory() {
    let data = wide(150_001);
    for memory_mib in [16, 24, 32, 40, 48, 64, 80, 96, 128] {
        let (engine, _dir) = generated::engine_of(memory_mib * 1024 * 1024);
        let table = generated::parquet(&generated::spec("wide", &[]), &data, 1, &engine);
        let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
        for text in [
            "select id, note from wide order by note, id",
            "select a.id, b.note from wide a join wide b on a.id = b.id order by b.note, a.id",
        ] {
            let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
            let rows = engine.run(Arc::clone(&tables), &query).await.unwrap_or_else(|error| {
                panic!("{memory_mib} MiB, {text}: {error:?}");
            });
            let answer = generated::collect(rows).await.unwrap();
            assert_eq!(answer.num_rows(), 150_001, "{memory_mib} MiB, {text}");
            let (ids, notes) = (answer.column(0).as_primitive::<Int64Type>(), answer.column(1).as_string::<i32>());
            let keys = notes.iter().zip(ids.values());
            assert!(keys.clone().zip(keys.skip(1)).all(|(a, b)| a < b), "{memory_mib} MiB, {text}");
        }
    }
}

/// Rows of half a kilobyte, of which there are no two.
fn distinct_rows(count: i64) -> RecordBatch {
    let fields = ["id", "few", "many", "note", "other"];
    let kinds = [DataType::Int64, DataType::Int64, DataType::Int64, DataType::Utf8, DataType::Utf8];
    let fields: Vec<Field> = fields.into_iter().zip(kinds).map(|(name, kind)| Field::new(name, kind, true)).collect();
    let ids = Int64Array::from_iter_values((0..count).map(|i| i.wrapping_mul(7_919) % count));
    let few = Int64Array::from_iter((0..count).map(|i| (i % 11 != 3).then_some(i % 7)));
    let many = Int64Array::from_iter((0..count).map(|i| (i % 5 != 0).then_some(i / 2)));
    let note = StringArray::from_iter((0..count).map(|i| (i % 13 != 5).then(|| format!("{:0>250}", i / 3))));
    let other = StringArray::from_iter((0..count).map(|i| (i % 17 != 1).then(|| format!("{:x>250}", i))));
    let columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(few), Arc::new(many), Arc::new(note), Arc::new(other)];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// What hash tables and heaps would have to hold is answered all the same, and in the same way.
#[tokio::test(flavor = "multi_thread")]
async fn groups_distinct_values_and_offsets_spill() {
    let statements = [
        "select count(*), max(length(note)), min(id) from (select distinct * from t) as x",
        "select distinct note, other from t order by other nulls first, note limit 20 offset 60000",
        "select count(*) as n, sum(c) from (select note, count(*) as c from t group by note) as x",
        "select count(distinct note), count(distinct other) from t",
        "select count(distinct note), count(distinct other), count(distinct id), count(*), sum(few) from t",
        "select few, count(distinct note), count(distinct other), sum(distinct many), count(many), avg(id) from t \
         group by few order by few",
        "select few + 1 as k, count(distinct note) filter (where id > 1000), count(distinct note), min(other) from t \
         group by k having count(distinct many) > 10 order by k",
        "select count(distinct note), count(distinct other), count(*), max(id) from t where id < 0",
        "select count(distinct few), count(distinct note || other) from t",
        "select count(distinct id::double), count(distinct many), avg(distinct many) from t",
        "select few, sum(distinct id), sum(distinct many), avg(distinct id + 1) from t group by few order by few",
        "select id, note from t order by other, id limit 10 offset 80000",
        "select id, note from t order by note desc, id limit 7 offset 90000",
    ];
    answered_in_any_memory(&statements).await;
}

/// The left side of a join of all pairs is read twice where it does not fit, whatever it is made of.
#[tokio::test(flavor = "multi_thread")]
async fn sides_of_joins_are_read_again() {
    let statements = [
        "select count(*), sum(g.x), min(b.note) from t as a join t as b on a.id = b.id \
         join generate_series(1, 3) as g(x) on b.id < g.x * 100",
        "select count(*), max(a.other) from (select * from t order by other limit 70000) as a \
         join generate_series(1, 3) as g(x) on a.few < g.x",
        "select count(*), sum(a.n), max(a.note) from (select note, count(*) as n from t group by note) as a \
         left join generate_series(1, 3) as g(x) on a.n < g.x",
        "select count(*), count(b.note) from t as a left join t as b on a.id = b.id + 50000 \
         join generate_series(1, 3) as g(x) on a.many < g.x * 1000",
        "select count(*), max(a.note) from (select *, row_number() over (order by other) as r from t) as a \
         join generate_series(1, 3) as g(x) on a.r < g.x * 1000",
    ];
    answered_in_any_memory(&statements).await;
}

/// Asks statements with much memory and with little, which have one answer each.
async fn answered_in_any_memory(statements: &[&str]) {
    let data = distinct_rows(100_003);
    let mut expected: Vec<String> = Vec::new();
    for memory_mib in [1024, 64, 32] {
        let (engine, _dir) = generated::engine_of(memory_mib * 1024 * 1024);
        let table = generated::parquet(&generated::spec("t", &[]), &data, 2, &engine);
        let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
        for (number, text) in statements.iter().enumerate() {
            let query = SqlQuery { text: (*text).to_owned(), ..SqlQuery::default() };
            let answer = match engine.run(Arc::clone(&tables), &query).await {
                Ok(rows) => generated::collect(rows).await,
                Err(error) => Err(error),
            };
            let answer = answer.unwrap_or_else(|error| panic!("{memory_mib} MiB, {text}: {error:?}"));
            let answer = pretty_format_batches(&[answer]).unwrap().to_string();
            match expected.get(number) {
                Some(expected) => assert_eq!(answer, *expected, "{memory_mib} MiB, {text}"),
                None => expected.push(answer),
            }
        }
    }
}

/// States of distinct aggregates that don't fit are groups, also where a rule of ours has rewritten their arguments.
#[tokio::test(flavor = "multi_thread")]
async fn distinct_numbers_spill() {
    let (engine, _dir) = generated::engine_of(96 << 20);
    let ids = Int64Array::from_iter_values((0..2_000_000_i64).map(|i| i.wrapping_mul(7_919) % 2_000_000));
    let data = RecordBatch::try_from_iter([("id", Arc::new(ids) as ArrayRef)]).unwrap();
    let table = generated::parquet(&generated::spec("t", &[]), &data, 2, &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
    for (text, expected) in [
        ("select count(distinct id) as a, sum(distinct id + 1) as b from t", "| 2000000 | 2000001000000 |"),
        ("select sum(distinct id::decimal(38, 0) * 10 + 1) as a from t", "| 19999992000000 |"),
        ("select count(distinct id::double) as a, avg(distinct id / 2) as b from t", "| 2000000 | 499999.5 |"),
    ] {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        let rows = engine.run(Arc::clone(&tables), &query).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let answer = pretty_format_batches(&[generated::collect(rows).await.unwrap()]).unwrap().to_string();
        let row: Vec<_> = answer.lines().nth(3).unwrap().split_whitespace().collect();
        assert_eq!(row.join(" "), expected, "{text}");
    }
}

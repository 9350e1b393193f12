//! A dataset larger than the memory for queries can be queried: what does not fit spills, what can't spill is refused,
//! and whoever leaves ends the work.

use std::sync::Arc;

use arrow::array::{AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use futures::TryStreamExt;
use salver_model::ports::{SqlEngine, Table, Tables};
use salver_model::{Batches, Code, Query, Sort, SqlQuery};

use super::made::{self, Catalog};

/// About 100 MB in memory.
fn wide(count: i64) -> RecordBatch {
    let schema = Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("note", DataType::Utf8, false)]);
    let ids = Int64Array::from_iter_values((0..count).map(|i| i.wrapping_mul(7_919) % count));
    let notes = StringArray::from_iter_values((0..count).map(|i| format!("{:0>180}", i % 1000)));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(notes)]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sorting_more_than_the_memory() {
    let (engine, _dir) = made::engine_of(64 * 1024 * 1024);
    let data = wide(500_009);
    let table = made::parquet(&made::spec("wide", &[]), &data, 1, &engine);
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
    let (engine, _dir) = made::engine_of(16 * 1024 * 1024);
    let table = made::parquet(&made::spec("wide", &[]), &wide(200_003), 1, &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
    let text = "select array_agg(note || cast(id as varchar)) as everything from wide".to_owned();
    let outcome = match engine.run(tables, &SqlQuery { text, ..SqlQuery::default() }).await {
        Ok(rows) => super::made::collect(rows).await.map(|_| ()),
        Err(error) => Err(error),
    };
    let error = outcome.unwrap_err();
    assert_eq!(error.code, Code::OutOfMemory, "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_stream_is_harmless() {
    let (engine, _dir) = made::engine();
    let table = made::parquet(&made::spec("wide", &[]), &wide(100_003), 1, &engine);
    for _ in 0..3 {
        let rows = table.read(&Query::default()).await.unwrap();
        let Batches::Stream(mut stream) = rows.batches else { panic!("a long answer is a stream") };
        assert!(stream.try_next().await.unwrap().is_some());
    }
    let rows = table.read(&Query { limit: Some(1), ..Query::default() }).await.unwrap();
    assert_eq!(made::collect(rows).await.unwrap().num_rows(), 1);
}

/// Every size between hardly anything and enough: what a sort or a join needs must not depend on luck.
#[tokio::test(flavor = "multi_thread")]
async fn sorts_and_joins_fit_into_any_memory() {
    let data = wide(150_001);
    for memory_mib in [16, 24, 32, 40, 48, 64, 80, 96, 128] {
        let (engine, _dir) = made::engine_of(memory_mib * 1024 * 1024);
        let table = made::parquet(&made::spec("wide", &[]), &data, 1, &engine);
        let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
        for text in [
            "select id, note from wide order by note, id",
            "select a.id, b.note from wide a join wide b on a.id = b.id order by b.note, a.id",
        ] {
            let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
            let rows = engine.run(Arc::clone(&tables), &query).await.unwrap_or_else(|error| {
                panic!("{memory_mib} MiB, {text}: {error:?}");
            });
            let answer = made::collect(rows).await.unwrap();
            assert_eq!(answer.num_rows(), 150_001, "{memory_mib} MiB, {text}");
            let (ids, notes) = (answer.column(0).as_primitive::<Int64Type>(), answer.column(1).as_string::<i32>());
            let keys = notes.iter().zip(ids.values());
            assert!(keys.clone().zip(keys.skip(1)).all(|(a, b)| a < b), "{memory_mib} MiB, {text}");
        }
    }
}

//! The waist against tables in memory: key-value stores.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use salver_model::observation::Silent;
use salver_model::{Batches, Code, Limits, Name, Result};
use salver_service::{Catalog, Service, State, Store};
use salver_testkit::{MemoryTable, NoSql};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn table(entry: &str) -> Arc<MemoryTable> {
    let key: ArrayRef = Arc::new(StringArray::from(vec![
        Some("once"),
        Some("twice"),
        Some("null"),
        Some("twice"),
        None,
        Some("then null"),
        Some("then null"),
        Some("12"),
    ]));
    let value = vec![Some(1), Some(2), None, Some(3), Some(4), Some(5), None, Some(6)];
    let value: ArrayRef = Arc::new(Int64Array::from(value));
    let number: ArrayRef = Arc::new(Int64Array::from_iter_values(0..8));
    let rows = RecordBatch::try_from_iter([("key", key), ("value", value), ("number", number)]).unwrap();
    Arc::new(MemoryTable::new(entry, rows))
}

fn service(limits: Limits) -> Service {
    let store = |store: &str, key: &str| Store {
        name: name(store),
        entry: name("t"),
        key: key.to_owned(),
        value: "value".to_owned(),
    };
    let stores = vec![store("by_key", "key"), store("by_number", "number")];
    let catalog = Arc::new(Catalog::new([name("t"), name("slow")], [], stores));
    Service::new(catalog, Arc::new(NoSql), Arc::new(Silent), limits)
}

async fn look_up(service: &Service, store: &str, key: &str) -> Result<i64> {
    let snapshot = service.snapshot_for_store(store).await;
    let rows = service.look_up(&snapshot, store, key).await?;
    let Batches::Ready(batches) = rows.batches else { panic!("a stream of one row") };
    let column = batches.iter().find(|batch| batch.num_rows() > 0).unwrap().column(0);
    assert_eq!((column.len(), column.null_count()), (1, 0), "{store} {key}");
    Ok(column.as_primitive::<Int64Type>().value(0))
}

#[tokio::test]
async fn the_last_value_of_a_key_counts() {
    // As few rows as the answer has: the others of the key are not rows of an answer.
    let service = service(Limits { rows_max: 1, ..Limits::default() });
    service.catalog().publish(table("t"));
    for (key, value) in [("once", 1), ("twice", 3), ("then null", 5), ("12", 6)] {
        assert_eq!(look_up(&service, "by_key", key).await.unwrap(), value, "{key}");
    }
    assert_eq!(look_up(&service, "by_number", "7").await.unwrap(), 6);
    // A null is as if it were not there, and so is what can't be a key.
    for (store, key) in [("by_key", "null"), ("by_key", "none"), ("by_key", ""), ("by_number", "2"), ("by_number", "x")]
    {
        assert_eq!(look_up(&service, store, key).await.unwrap_err().code, Code::NotFound, "{store} {key}");
    }
    assert_eq!(look_up(&service, "by_ky", "once").await.unwrap_err().code, Code::UnknownStore);
}

#[tokio::test]
async fn a_store_waits_for_its_own_entry_only() {
    // Longer than any test may take: who waits for the other entry never ends.
    let service = service(Limits { queue_ms_max: 3_600_000, ..Limits::default() });
    let asked = look_up(&service, "by_key", "once");
    let loaded = async {
        tokio::task::yield_now().await;
        service.catalog().publish(table("t"));
    };
    let (answer, ()) = tokio::join!(asked, loaded);
    assert_eq!(answer.unwrap(), 1);
    assert!(matches!(service.catalog().snapshot().entry("slow").unwrap().state, State::Loading));
}

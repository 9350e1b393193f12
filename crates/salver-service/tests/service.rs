//! The waist against tables in memory: key-value stores, tables that grow, and exports.

#![allow(clippy::unwrap_used)]

mod service {
    mod leases;
    mod reader;
}

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use salver_model::observation::Silent;
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::{Batches, Caller, Code, Description, Limits, Name, Permission, Query, Result, Rows};
use salver_service::{Catalog, LoadState, Service, Snapshot, Store};
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
    let snapshot = service.snapshot_for_store(&Caller::default(), store).await;
    let rows = service.look_up(&Caller::default(), &snapshot, store, key).await?;
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
    assert!(matches!(service.catalog().snapshot().entry("slow").unwrap().state, LoadState::Loading));
}

/// A table that grows by one row whenever it is looked at, and gets a column with the third.
#[derive(Debug)]
struct Growing {
    about: MemoryTable,
    rows: std::sync::atomic::AtomicUsize,
}

fn numbers(rows: usize) -> MemoryTable {
    let column = || -> ArrayRef { Arc::new(Int64Array::from_iter_values(0..rows as i64)) };
    let mut columns = vec![("a", column())];
    if rows >= 3 {
        columns.push(("b", column()));
    }
    MemoryTable::new("grows", RecordBatch::try_from_iter(columns).unwrap())
}

#[async_trait::async_trait]
impl Table for Growing {
    fn describe(&self) -> &Description {
        self.about.describe()
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        self.about.read(query)
    }

    fn current(&self) -> Option<Arc<dyn Table>> {
        let rows = self.rows.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Arc::new(numbers(rows)))
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        self.about.hold(parts).await
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

#[tokio::test]
async fn a_request_holds_a_growing_table_as_it_first_sees_it() {
    let service = service(Limits::default());
    service.catalog().publish(table("t"));
    service.catalog().publish(table("slow"));
    let fixed = service.catalog().snapshot();
    assert!(Arc::ptr_eq(&fixed, &service.catalog().snapshot()), "a catalog that does not grow is made anew");
    service.catalog().publish(Arc::new(Growing { about: numbers(0), rows: 0.into() }));
    let generation = service.catalog().snapshot().generation();
    let rows = |snapshot: &Snapshot| {
        let table = snapshot.resolve("grows").unwrap().describe().clone();
        assert_eq!(snapshot.entry("grows").unwrap().table().unwrap().describe().rows, table.rows);
        assert!(snapshot.entries().any(|entry| entry.table().is_some_and(|t| t.describe().rows == table.rows)));
        table.rows.unwrap()
    };
    let (one, other) = (service.catalog().snapshot(), service.catalog().snapshot());
    let first = rows(&one);
    assert!(rows(&other) > first);
    assert_eq!(rows(&one), first, "a request sees two versions");
    let read = service.read(&Caller::default(), &one, "grows", &Query::default()).await.unwrap();
    let Batches::Ready(batches) = read.batches else { panic!("a stream of a few rows") };
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, first);
    // What all requests share can't hold rows for one; tables that never change are there.
    let shared = service.catalog().peek();
    assert_eq!(shared.resolve("grows").unwrap_err().code, Code::EntryUnavailable);
    assert!(shared.resolve("t").is_ok());
    assert_eq!(shared.resolve("grow").unwrap_err().hint.as_deref(), Some("did you mean `grows`?"));
    // Who reads all columns gets a new generation with them.
    let before = service.catalog().snapshot();
    assert_eq!(before.generation(), generation);
    let wide = service.snapshot_settled(&Caller::default(), Permission::Read).await;
    assert_eq!(wide.resolve("grows").unwrap().describe().schema.fields().len(), 2);
    assert!(wide.generation() > generation && wide.content() != before.content());
    assert_eq!(
        service.snapshot_settled(&Caller::default(), Permission::Read).await.generation(),
        wide.generation(),
        "nothing has widened"
    );
}

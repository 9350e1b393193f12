//! Readers that may not read ahead, as when many clients read nothing.

use std::sync::Arc;

use arrow::compute::concat_batches;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use salver_model::limits::AHEAD_BYTES_MAX;
use salver_model::memory;
use salver_model::ports::{Held, Scan};

use super::{Stream, rows_of, table_of};

/// A stream with 160 wide rows, most of them in a Parquet file.
async fn wide(dir: &std::path::Path) -> Stream {
    let stream = Stream::open(dir, 2_000_000);
    let text = "x".repeat(20_000);
    for append in 0..16 {
        let some: Vec<_> = (0..10).map(|n| format!(r#"{{"n":{},"p":"{text}"}}"#, 10 * append + n)).collect();
        stream.append(1_000, &some).await;
    }
    stream.compacted().await;
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_without_slots_get_the_same_rows() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = wide(dir.path()).await;
    let held = stream.scan.hold();
    let table = table_of(&held).await;
    assert_eq!(table.num_rows(), 160);
    memory::bound_read_ahead(0);
    let columns: Vec<_> = (0..table.num_columns()).collect();
    let batches = rows_of(&held, &columns, None).await;
    assert!(batches.iter().all(|batch| batch.get_array_memory_size() < 1024 * 1024));
    assert_eq!(concat_batches(&table.schema(), &batches).expect("one table"), table);

    // Many at once, each of which stops after every batch while the others read.
    let mut readers: Vec<_> = (0..20).map(|_| (held.read(0, &columns, None, None), Vec::new())).collect();
    let mut open = readers.len();
    while open > 0 {
        open = 0;
        for (reader, batches) in &mut readers {
            if let Some(batch) = reader.next().await {
                batches.push(batch.expect("a batch"));
                open += 1;
            }
        }
    }
    memory::bound_read_ahead(AHEAD_BYTES_MAX as u64);
    for (_, batches) in &readers {
        assert_eq!(concat_batches(&table.schema(), batches).expect("one table"), table);
    }
    // One test, since the slots are those of the process.
    readers_give_up_what_they_read_ahead_and_read_it_again(&held, &table).await;
}

/// With room for all, each has read ahead when the room shrinks.
async fn readers_give_up_what_they_read_ahead_and_read_it_again(held: &Arc<dyn Held>, table: &RecordBatch) {
    let columns: Vec<_> = (0..table.num_columns()).collect();
    let mut readers: Vec<_> = (0..8).map(|_| (held.read(0, &columns, None, None), Vec::new())).collect();
    for (reader, batches) in &mut readers {
        batches.push(reader.next().await.expect("a batch").expect("rows"));
    }
    memory::bound_read_ahead(0);
    let more = futures::future::join_all(readers.into_iter().map(|(reader, mut batches)| async move {
        batches.extend(reader.map(|batch| batch.expect("rows")).collect::<Vec<_>>().await);
        batches
    }));
    let all = more.await;
    memory::bound_read_ahead(AHEAD_BYTES_MAX as u64);
    for batches in &all {
        assert_eq!(concat_batches(&table.schema(), batches).expect("one table"), *table);
    }
}

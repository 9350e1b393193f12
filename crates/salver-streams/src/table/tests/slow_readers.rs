//! Readers that may not read ahead, as when many clients read nothing.

use arrow::compute::concat_batches;
use salver_model::limits::AHEAD_BYTES_MAX;
use salver_model::memory;
use salver_model::ports::Scan;

use super::{Stream, rows_of, table_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_room_the_same_rows_come_in_smaller_batches() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 2_000_000);
    let text = "x".repeat(20_000);
    for append in 0..16 {
        let some: Vec<_> = (0..10).map(|n| format!(r#"{{"n":{},"p":"{text}"}}"#, 10 * append + n)).collect();
        stream.append(1_000, &some).await;
    }
    stream.compacted().await;
    let held = stream.scan.hold();
    let table = table_of(&held).await;
    assert_eq!(table.num_rows(), 160);
    memory::bound_read_ahead(0);
    let columns: Vec<_> = (0..table.num_columns()).collect();
    let batches = rows_of(&held, &columns, None).await;
    memory::bound_read_ahead(AHEAD_BYTES_MAX as u64);
    assert!(batches.iter().all(|batch| batch.get_array_memory_size() < 1024 * 1024));
    assert_eq!(concat_batches(&table.schema(), &batches).expect("one table"), table);
}

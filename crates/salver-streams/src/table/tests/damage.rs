//! Parquet files that are damaged in every place, and a log that is.

use std::fs;
use std::os::unix::fs::MetadataExt;

use arrow::compute::concat_batches;
use salver_model::ports::Scan;

use super::{Dice, Stream, event, rows_of, table_of};
use crate::table::layout::{Layout, Wanted};
use crate::table::sidecar::{Footers, SidecarReader};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_damage_makes_other_rows() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 5_000);
    let mut dice = Dice(11);
    for _ in 0..4 {
        let some: Vec<_> = (0..20).map(|_| event(&mut dice, 1)).collect();
        stream.append(1_000, &some).await;
    }
    stream.compacted().await;
    let table = table_of(&stream.scan.hold()).await;
    let segment = stream.log.segments().remove(0);
    let rows = (segment.end() - segment.base()) as usize;
    let path = segment.parquet_path();
    let whole = fs::read(&path).expect("a file");
    let layout = std::sync::Arc::new(Layout::new(stream.checks.shape.newest()));
    let wanted = Wanted::new(layout, &(0..table.num_columns()).collect::<Vec<_>>());
    let (mut found, mut same) = (0, 0);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << dice.roll(8);
        fs::write(&path, &bytes).expect("a file");
        assert_eq!(fs::metadata(&path).expect("a file").size() as usize, bytes.len());
        let offsets = segment.base()..segment.end();
        let reader =
            Footers::default().open(&segment).and_then(|file| SidecarReader::new(file, &offsets, &wanted, None, 100));
        let mut batches = Vec::new();
        let result = reader.map(|mut reader| {
            while let Some(batch) = reader.next()? {
                batches.push(batch);
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        });
        if let Some(Ok(())) = result {
            let read = concat_batches(&wanted.schema, &batches).expect("one table");
            assert_eq!(read, table.slice(0, rows), "byte {at} of {}", whole.len());
            same += 1;
        } else {
            found += 1;
        }
    }
    assert!(found > same, "{found} {same}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_events_are_left_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), 1024 * 1024);
    let mut dice = Dice(7);
    for _ in 0..4 {
        let some: Vec<_> = (0..5).map(|_| event(&mut dice, 1)).collect();
        stream.append(1_000, &some).await;
    }
    let frames = stream.log.read(0, usize::MAX).expect("frames");
    let second = frames[0].bytes.len();
    stream.scan.close();
    stream.log.close().expect("a log that is closed");
    drop(stream);
    let logs = fs::read_dir(dir.path()).expect("files").map(|entry| entry.expect("a file").path());
    let path = logs.filter(|path| path.extension().is_some_and(|own| own == "log")).max().expect("a log");
    let mut bytes = fs::read(&path).expect("a file");
    bytes[second + 80] ^= 1;
    fs::write(&path, &bytes).expect("a file");
    for has_index in [true, false] {
        if !has_index {
            let _ = fs::remove_file(path.with_extension("index"));
        }
        let stream = Stream::open(dir.path(), 1024 * 1024);
        let rows: usize = rows_of(&stream.scan.hold(), &[0], None).await.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!(rows, 15, "{has_index}");
        // What was found out counts: the rows are as many as are told.
        assert_eq!(table_of(&stream.scan.hold()).await.num_rows(), 15);
        stream.scan.close();
        stream.log.close().expect("a log that is closed");
    }
}

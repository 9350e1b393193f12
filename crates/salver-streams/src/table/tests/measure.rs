//! Not tests but measurements: `cargo test --release -p salver-streams --lib -- --ignored --nocapture measure`.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use salver_model::ports::{Held, Scan};

use super::Stream;
use crate::event::{SplitStep, Splitter};
use crate::log::frame::FrameBuilder;

fn tell(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).expect("standard error");
}

async fn scan(held: &Arc<dyn Held>, columns: &[usize], at_once: bool) -> f64 {
    let start = Instant::now();
    let parts = (0..held.parts()).map(|part| {
        let mut stream = held.read(part, columns, None, None);
        async move {
            let mut rows = 0;
            while let Some(batch) = stream.next().await {
                rows += batch.expect("rows").num_rows() as u64;
            }
            rows
        }
    });
    let rows: u64 = if at_once {
        futures::future::join_all(parts.map(tokio::spawn)).await.into_iter().map(|rows| rows.expect("rows")).sum()
    } else {
        let mut rows = 0;
        for part in parts {
            rows += part.await;
        }
        rows
    };
    assert_eq!(Some(rows), held.describe().rows);
    start.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn measure_scans() {
    let millions = std::env::var("MILLIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_usize);
    let dir = tempfile::tempdir().expect("a directory");
    let stream = Stream::open(dir.path(), salver_model::limits::SEGMENT_BYTES);
    let start = Instant::now();
    for frame in 0..millions * 100 {
        let mut text = String::new();
        for n in 0..10_000 {
            let id = 1_000_000 + frame * 10_000 + n;
            let (user, ms) = (10_000 + id * 7 % 80_000, id * 31 % 100);
            text.push_str(
                &format!("{{\"id\":{id:08},\"user\":\"u-{user}\",\"kind\":\"click\",\"ms\":{ms:02},\"ok\":true}}\n")
                    .replace(":0", ":1"),
            );
        }
        let mut builder = FrameBuilder::new(1_000 + frame as i64, text.len() * 2);
        let mut splitter = Splitter::new(text.as_bytes(), Default::default(), true, &stream.checks);
        while let SplitStep::Event(range) = splitter.next_event() {
            builder.push_plain(&text.as_bytes()[range]);
        }
        assert_eq!(builder.count(), 10_000);
        stream.log.room().await;
        stream.log.append(builder.seal()).expect("room");
    }
    stream.log.durable(stream.log.ends().next).await.expect("disk");
    tell(&format!("{millions} M events written in {:.2} s", start.elapsed().as_secs_f64()));
    let start = Instant::now();
    for _ in 0..10_000 {
        std::hint::black_box(stream.scan.hold());
    }
    tell(&format!("hold: {:.2} us", start.elapsed().as_secs_f64() * 100.0));
    let held = stream.scan.hold();
    let names: Vec<_> = held.describe().schema.fields().iter().map(|field| field.name().clone()).collect();
    let of = |name: &str| names.iter().position(|own| own == name).expect("a column");
    let all: Vec<_> = (0..names.len()).collect();
    let (ms, members, own) = (vec![of("ms")], (4..names.len()).collect::<Vec<_>>(), vec![1]);
    let wishes = [("count", &vec![]), ("one int", &ms), ("members", &members), ("_id", &own), ("all", &all)];
    for (name, columns) in wishes {
        let (one, two) = (scan(&held, columns, false).await, scan(&held, columns, true).await);
        tell(&format!("frames, {name}: {one:.3} s one by one, {two:.3} s at once"));
    }
    let start = Instant::now();
    stream.compacted().await;
    tell(&format!(
        "files of {} segments written in {:.2} s more",
        stream.log.segments().len(),
        start.elapsed().as_secs_f64()
    ));
    for segment in stream.log.segments() {
        let bytes = std::fs::metadata(segment.parquet_path()).expect("a file").len();
        tell(&format!("{} rows, log {} bytes, file {bytes} bytes", segment.end() - segment.base(), segment.bytes()));
    }
    for (name, columns) in wishes {
        let (one, two) = (scan(&held, columns, false).await, scan(&held, columns, true).await);
        tell(&format!("files, {name}: {one:.3} s one by one, {two:.3} s at once"));
    }
}

//! A process that is killed while it appends.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::{Fixture, check, value};
use crate::log::frame::FrameBuilder;
use crate::log::{Log, LogOptions};

const DIR: &str = "SALVER_TEST_LOG_DIR";
const ROUNDS: u64 = 12;

fn options(dir: &Path) -> LogOptions {
    LogOptions {
        dir: dir.to_owned(),
        segment_bytes: 32 << 10,
        retain: None,
        retain_bytes: None,
        refuse_bytes: None,
        has_listener: false,
    }
}

/// Runs in the process to be killed: appends from several tasks, and prints which events are durable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "another test starts it in a process of its own"]
async fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let log = Log::open(options(Path::new(&dir))).unwrap();
    let turn = Arc::new(tokio::sync::Mutex::new(()));
    let tasks = (0..8).map(|task| {
        let (log, turn) = (Arc::clone(&log), Arc::clone(&turn));
        tokio::spawn(async move {
            loop {
                let end = {
                    // A record has its own offset as text, so they are appended one after the other.
                    let _turn = turn.lock().await;
                    let (first, count) = (log.ends().next, 1 + task);
                    let mut builder = FrameBuilder::new(0, 0);
                    (first..first + count).for_each(|n| builder.push_plain(value(n).as_bytes()));
                    assert_eq!(log.append(builder.seal()).unwrap().first, first);
                    first + count
                };
                log.durable(end).await.unwrap();
                // In one write, because the reader expects whole lines.
                std::io::stdout().write_all(format!("\nend {end}\n").as_bytes()).unwrap();
            }
        })
    });
    // Until one of them fails: by itself none ends.
    futures::future::try_join_all(tasks).await.unwrap();
}

#[test]
fn what_a_killed_process_acknowledged_is_there() {
    let fixture = Fixture::new();
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "log::tests::killed::child"])
            .env(DIR, fixture.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ends = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("end ")?.parse::<u64>().ok());
        let mut count = 0;
        for end in ends {
            acknowledged = acknowledged.max(end);
            count += 1;
            if count == 20 + round * 37 {
                process.kill().unwrap();
            }
        }
        process.wait().unwrap();
        assert!(count >= 20 + round * 37, "the process ended by itself");
        let log = Log::open(options(&fixture.path())).unwrap();
        assert!(log.ends().next >= acknowledged, "{:?} {acknowledged}", log.ends());
        check(&log, 0);
        drop(log);
    }
    assert!(acknowledged > ROUNDS * 50);
}

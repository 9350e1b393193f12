//! How many calls go through the port, and what each costs the server's side:
//! `cargo bench --workspace --bench calls`. The host of R is built by the tests.

#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]
#![allow(missing_docs, reason = "a program has no documentation to publish")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use salver_functions::{FunctionFile, Program};
use salver_model::Name;
use salver_model::functions::{Call, Language};
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;

const ROUND: Duration = Duration::from_secs(2);
const CALLERS: [usize; 5] = [1, 2, 4, 64, 256];
const PYTHON: &str = "def f(n):\n    return n\n";
const R: &str = "f <- function(n) { x <- rep(1L, n); for (i in 3L:n) x[[i]] <- x[[i - 1L]] + x[[i - 2L]]; x[[n]] }\n";

#[tokio::main]
async fn main() {
    measure(Language::Python, PYTHON, "f(n)", Program::python(Path::new("python3"))).await;
    match r_host() {
        Some(host) => measure(Language::R, R, "fib(10)", Program::new(host, Vec::new())).await,
        None => println!("the host of R is not built: cargo build --release --workspace --examples"),
    }
}

/// The host of R, beside which Cargo puts this program.
fn r_host() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.parent()?.join("examples/r_host")).filter(|host| host.exists())
}

async fn measure(language: Language, text: &str, what: &str, program: Program) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(match language {
        Language::Python => "file.py",
        Language::R => "file.R",
    });
    fs::write(&path, text).expect("a file");
    let mut spec = FunctionSpec::new(Name::new("file").expect("a name"), path, language);
    spec.workers_max = 2;
    let file = FunctionFile::open(spec, program).expect("a directory of its own");
    let keeper = tokio::spawn(Arc::clone(&file).keep());
    while let Some(fault) = file.fault() {
        assert!(fault.message.contains("being loaded"), "{fault:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    println!("{language:?}, {what}, 2 workers");
    println!("{:>8} {:>10} {:>16} {:>14}", "callers", "calls/s", "server us/call", "all us/call");
    for callers in CALLERS {
        round(&file, callers).await;
    }
    keeper.abort();
}

async fn round(file: &Arc<FunctionFile>, callers: usize) {
    let (calls, end) = (Arc::new(AtomicU64::new(0)), Instant::now() + ROUND);
    let (cpu, all, begin) = (processor_us("self"), everything_us(), Instant::now());
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (file, calls) = (Arc::clone(file), Arc::clone(&calls));
            tokio::spawn(async move {
                while Instant::now() < end {
                    file.call(call()).await.expect("an answer");
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    let calls = calls.load(Ordering::Relaxed) as f64;
    let rate = calls / begin.elapsed().as_secs_f64();
    let (cpu, all) = ((processor_us("self") - cpu) / calls, (everything_us() - all) / calls);
    println!("{callers:>8} {rate:>10.0} {cpu:>16.1} {all:>14.1}");
}

/// About what a door makes of a small request.
fn call() -> Call {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Call {
        endpoint: Some(0),
        method: "GET".to_owned(),
        path: "/fib".to_owned(),
        query: "n=10".to_owned(),
        headers: vec![field("host", "127.0.0.1:8080"), field("user-agent", "bench"), field("accept", "*/*")],
        arguments: "{\"n\":10}".into(),
        ..Call::default()
    }
}

/// The processor time of this process, in microseconds.
fn processor_us(process: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(2);
    // The kernel counts in hundredths of a second.
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10_000.0
}

/// The processor time of the whole machine, in microseconds.
fn everything_us() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    // All but what it was idle or waited for disks.
    let busy = fields.enumerate().filter(|(index, _)| ![3, 4].contains(index));
    busy.filter_map(|(_, ticks)| ticks.parse::<f64>().ok()).sum::<f64>() * 10_000.0
}

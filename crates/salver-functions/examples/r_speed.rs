//! How long calls take in a worker of R: processor time of the worker and time on the clock, for each call of a
//! function that does nothing, of the iterative Fibonacci function, and of the same behind RestRserve.
//!
//! ```sh
//! cargo run --release -p salver-functions --example r_speed
//! ```
#![allow(clippy::unwrap_used, reason = "a measurement may stop where it fails")]
#![allow(dead_code, reason = "the tests use more of it")]

use std::fs;
use std::io::{Write, stdout};
use std::time::Instant;

use serde_json::json;

#[path = "../tests/r_host/server.rs"]
mod server;

use server::{Host, Outcome, Worker};

const FIBONACCI: &str = "fib <- function(n) {
  if (n == 0L) return(0L)
  if (n == 1L || n == 2L) return(1L)
  x <- rep(1L, n)
  for (i in 3L:n) x[[i]] <- x[[i - 1]] + x[[i - 2]]
  x[[n]]
}
";

const APPLICATION: &str = "library(RestRserve)
app <- Application$new(content_type = 'text/plain')
app$add_get('/fib', function(request, response) response$set_body(list(fib(as.integer(request$get_param_query('n'))))))
";

const CALLS: u32 = 20_000;

fn main() {
    let mut functions = Host::loaded(&format!("nothing <- function() NULL\n{FIBONACCI}"));
    let mut worker = functions.fork();
    let (nothing, ten) = (json!({}).to_string(), json!({ "n": 10 }).to_string());
    for _ in 0..3 {
        measure("nothing", &mut worker, |worker| worker.get(0, &nothing, "/", ""));
        measure("fib(10)", &mut worker, |worker| worker.get(1, &ten, "/", ""));
    }
    let mut application = Host::loaded(&format!("{FIBONACCI}{APPLICATION}"));
    let mut worker = application.fork();
    for _ in 0..3 {
        measure("fib(10), RestRserve", &mut worker, |worker| worker.get(-1, "", "/fib", "n=10"));
    }
}

/// Calls many times and says what one call took.
fn measure(what: &str, worker: &mut Worker, call: impl Fn(&mut Worker) -> Outcome) {
    for _ in 0..500 {
        assert!(matches!(call(worker), Outcome::Answer { status: 200, .. }));
    }
    let (before, begin) = (processor_nanos(worker.process), Instant::now());
    for _ in 0..CALLS {
        call(worker);
    }
    let each = |nanos: f64| nanos / f64::from(CALLS) / 1_000.0;
    let clock = each(begin.elapsed().as_secs_f64() * 1e9);
    let processor = each(processor_nanos(worker.process) - before);
    let mut out = stdout().lock();
    writeln!(out, "{what}: {processor:.1} us of the processor, {clock:.1} us on the clock").unwrap();
}

/// Time a process has run.
fn processor_nanos(process: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

//! What the system knows of the process, under the names that Prometheus' clients give it
//! (<https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics>). Only where there is `/proc`.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::metrics::Exposition;

/// Ticks of the clock in a second and bytes of a page, as Linux reports them to programs on all common machines.
const TICKS: f64 = 100.0;
const PAGE_BYTES: u64 = 4_096;

pub(super) fn write(out: &mut Exposition) {
    let Some(found) = read() else { return };
    out.family("process_cpu_seconds_total", "counter", "Seconds of processor time, of users and system.");
    out.sample("", &[], found.ticks as f64 / TICKS);
    out.family("process_resident_memory_bytes", "gauge", "Resident memory.");
    out.sample("", &[], found.resident_pages * PAGE_BYTES);
    out.family("process_open_fds", "gauge", "Open file descriptors.");
    out.sample("", &[], found.descriptors);
    out.family("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.");
    out.sample("", &[], found.started_s);
}

struct Found {
    ticks: u64,
    resident_pages: u64,
    descriptors: usize,
    started_s: f64,
}

/// Reads them; `None` where the system has no such files.
fn read() -> Option<Found> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
    Some(Found {
        ticks: field(14)? + field(15)?,
        resident_pages: field(24)?,
        descriptors: fs::read_dir("/proc/self/fd").ok()?.count(),
        started_s: now - uptime + field(22)? as f64 / TICKS,
    })
}

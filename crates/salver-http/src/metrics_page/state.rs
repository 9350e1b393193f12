//! The state of the server's parts: connections, permits, entries, streams and user code.

use std::time::UNIX_EPOCH;

use salver_model::limits::METRICS_ENTRIES_MAX;
use salver_model::{Caller, Permission};
use salver_service::{Entry, LoadState};

use crate::app::App;
use crate::metrics::Exposition;
use crate::status;

/// Writes the state to the page of `caller`, which names only what the caller may know of.
pub(super) fn write(app: &App, caller: &Caller, out: &mut Exposition) {
    permits(app, out);
    certificate(app, out);
    entries(app, caller, out);
    streams(app, caller, out);
    functions(app, caller, out);
    spans(app, out);
}

fn spans(app: &App, out: &mut Exposition) {
    let Some(tracer) = &app.options.tracer else { return };
    let counts = tracer.counts();
    let help =
        "Spans of traces, by what became of them: exported, dropped since too many waited, or failed to be sent.";
    out.family("salver_trace_spans_total", "counter", help);
    for (outcome, count) in [("exported", counts.exported), ("dropped", counts.dropped), ("failed", counts.failed)] {
        out.sample("", &[("outcome", outcome)], count);
    }
}

fn permits(app: &App, out: &mut Exposition) {
    let kinds = status::permits(app);
    out.family(
        "salver_permits",
        "gauge",
        "Permits of a kind that there are: connections, queries, bytes and the like.",
    );
    kinds.iter().for_each(|kind| out.sample("", &[("kind", kind.kind)], kind.total));
    out.family("salver_permits_taken", "gauge", "Permits of a kind that are taken.");
    kinds.iter().for_each(|kind| out.sample("", &[("kind", kind.kind)], kind.taken));
}

fn certificate(app: &App, out: &mut Exposition) {
    let Some(tls) = &app.options.tls else { return };
    if let Some(ends_s) = tls.certificate.end() {
        let name = "salver_certificate_expiry_timestamp_seconds";
        out.family(name, "gauge", "Time at which the certificate of the server expires.");
        out.sample("", &[], ends_s.max(0).unsigned_abs());
    }
    if tls.challenges.is_some() {
        let name = "salver_certificate_requests_total";
        out.family(name, "counter", "Requests to the authority for a certificate that were answered with one, or not.");
        for (result, count) in ["success", "failure"].into_iter().zip(tls.certificate.attempts()) {
            out.sample("", &[("result", result)], count);
        }
    }
}

/// Returns whether the access rules let the caller know of an entry.
fn knows(caller: &Caller, name: &str) -> bool {
    caller.grants.as_ref().is_none_or(|grants| grants.knows(name))
}

fn entries(app: &App, caller: &Caller, out: &mut Exposition) {
    let snapshot = app.service.snapshot_of_all();
    // Of what the caller may read, the rules of a database may deny a table all the same.
    let seen = app.service.snapshot(caller, Permission::Read);
    let is_shown = |entry: &&Entry| {
        let name = entry.name.as_str();
        seen.entry(name).is_some() || knows(caller, name) && !caller.may(Permission::Read, name)
    };
    let all: Vec<&Entry> = snapshot.entries().filter(is_shown).take(METRICS_ENTRIES_MAX).collect();
    out.family("salver_entry_up", "gauge", "1 for an entry that is served in its newest version, 0 for any other.");
    for entry in &all {
        let is_up = matches!(entry.state, LoadState::Ready(_));
        out.sample("", &[("entry", entry.name.as_str())], u8::from(is_up));
    }
    out.family("salver_entry_failed_timestamp_seconds", "gauge", "Time of an entry's failure that still holds.");
    for (entry, failure) in all.iter().filter_map(|entry| Some((entry, entry.failure()?))) {
        let at = failure.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        out.sample("", &[("entry", entry.name.as_str())], at);
    }
    let tables = || all.iter().filter_map(|entry| Some((entry.name.as_str(), entry.table()?.describe())));
    out.family("salver_entry_rows", "gauge", "Rows of an entry, where they are known without counting.");
    for (name, rows) in tables().filter_map(|(name, description)| Some((name, description.rows?))) {
        out.sample("", &[("entry", name)], rows);
    }
    out.family("salver_entry_memory_bytes", "gauge", "Memory that an entry's rows take.");
    for (name, description) in tables() {
        out.sample("", &[("entry", name)], description.memory_bytes);
    }
}

fn streams(app: &App, caller: &Caller, out: &mut Exposition) {
    let all = || app.service.all_consumers().filter(|stream| knows(caller, stream.spec().name.as_str()));
    let open = || all().filter(|stream| stream.available().is_ok());
    out.family("salver_stream_up", "gauge", "1 for a stream that is open, 0 for any other.");
    for stream in all() {
        out.sample("", &[("stream", stream.spec().name.as_str())], u8::from(stream.available().is_ok()));
    }
    out.family("salver_stream_next_offset", "gauge", "Offset of the next event of a stream.");
    open().for_each(|stream| out.sample("", &[("stream", stream.spec().name.as_str())], stream.ends().next));
    out.family("salver_stream_first_offset", "gauge", "Offset of the oldest event of a stream.");
    open().for_each(|stream| out.sample("", &[("stream", stream.spec().name.as_str())], stream.ends().first));
    out.family("salver_stream_backlog_events", "gauge", "Events of a stream that wait to be delivered to Kafka.");
    for stream in open().filter(|stream| stream.spec().kafka.is_some()) {
        out.sample("", &[("stream", stream.spec().name.as_str())], stream.backlog());
    }
    out.family("salver_stream_group_lag_events", "gauge", "Events that a group has not committed.");
    for stream in open() {
        let ends = stream.ends();
        for (group, offset) in stream.groups().into_iter().take(METRICS_ENTRIES_MAX) {
            let lag = ends.next.saturating_sub(offset.max(ends.first));
            out.sample("", &[("stream", stream.spec().name.as_str()), ("group", &group)], lag);
        }
    }
}

fn functions(app: &App, caller: &Caller, out: &mut Exposition) {
    let known = app.service.functions().iter().filter(|file| knows(caller, file.spec().name.as_str()));
    let files: Vec<_> = known.map(|file| (file.spec().name.as_str(), file.workers())).collect();
    out.family("salver_function_workers", "gauge", "Processes of a file of functions, by state.");
    for (name, workers) in &files {
        out.sample("", &[("file", name), ("state", "busy")], workers.busy);
        out.sample("", &[("file", name), ("state", "idle")], workers.alive.saturating_sub(workers.busy));
    }
    out.family("salver_function_waiting_calls", "gauge", "Calls that wait for a worker.");
    files.iter().for_each(|(name, workers)| out.sample("", &[("file", name)], workers.waiting));
    out.family(
        "salver_function_workers_lost_total",
        "counter",
        "Processes that ended by themselves, or were killed: over a limit, or when a caller left.",
    );
    files.iter().for_each(|(name, workers)| out.sample("", &[("file", name)], workers.lost));
    out.family("salver_function_loads_total", "counter", "Times that a file was loaded.");
    files.iter().for_each(|(name, workers)| out.sample("", &[("file", name)], workers.loads));
}

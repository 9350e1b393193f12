//! Proves `[server]` and `[limits]`.

use std::path::PathBuf;

use salver_model::Limits;

use super::Server;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

pub(super) fn check(table: &Table, findings: &mut Findings) -> Server {
    let listen = table.text("listen").unwrap_or_default();
    let listen = findings.keep(address(listen).map_err(|why| {
        Mistake::new(table.place_of("listen"), format!("`{listen}` is not an address to listen on: {why}"))
            .with_hint("write HOST:PORT, like \"127.0.0.1:8080\", \"0.0.0.0:80\" or \"[::1]:8080\"")
    }));
    let base = table.text("base_path").unwrap_or_default();
    let base_path = findings.keep(base_path(base).map_err(|why| {
        Mistake::new(table.place_of("base_path"), format!("`{base}` can't be a base path: {why}"))
            .with_hint("write a path like \"/data\"")
    }));
    Server {
        listen: listen.unwrap_or_default(),
        base_path: base_path.unwrap_or_default(),
        data_dir: table.text("data_dir").map(PathBuf::from),
        log: table.text("log").unwrap_or_default().to_owned(),
        cors: table.bool("cors"),
        access_log: table.bool("access_log"),
        default_format: table.text("default_format").unwrap_or_default().to_owned(),
        threads: usize::try_from(table.count("threads")).unwrap_or(0),
    }
}

pub(super) fn limits(table: &Table) -> Limits {
    let size = |key| usize::try_from(table.count(key)).unwrap_or(usize::MAX);
    Limits {
        query_ms_max: table.count("query_ms_max"),
        rows_max: table.count("rows_max"),
        body_bytes_max: table.count("body_bytes_max"),
        queries_max: size("queries_max"),
        queue_ms_max: table.count("queue_ms_max"),
        memory_bytes_max: table.count("memory_bytes_max"),
        cache_bytes_max: table.count("cache_bytes_max"),
        connections_max: size("connections_max"),
        head_ms_max: table.count("head_ms_max"),
        drain_ms_max: table.count("drain_ms_max"),
    }
}

/// `HOST:PORT`, or a port alone for this machine only.
fn address(text: &str) -> Result<String, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(format!("127.0.0.1:{port}"));
    }
    let Some((host, port)) = text.rsplit_once(':') else { return Err("it has no port".to_owned()) };
    if port.parse::<u16>().is_err() {
        return Err(format!("`{port}` is not a port, which is 0 to 65535"));
    }
    if host.is_empty() {
        return Err("it has no host".to_owned());
    }
    if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err("an IPv6 address stands in brackets".to_owned());
    }
    if host.contains('/') || host.chars().any(char::is_whitespace) {
        return Err(format!("`{host}` is not a host"));
    }
    Ok(text.to_owned())
}

fn base_path(text: &str) -> Result<String, &'static str> {
    let path = text.trim_end_matches('/');
    if path.is_empty() {
        return Ok(String::new());
    }
    if !path.starts_with('/') {
        return Err("it doesn't begin with `/`");
    }
    if path.contains("//") || path.split('/').any(|part| matches!(part, "." | "..")) {
        return Err("it has an empty part, `.` or `..`");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.~".contains(c);
    if path.chars().all(plain) { Ok(path.to_owned()) } else { Err("it has characters that need escapes") }
}

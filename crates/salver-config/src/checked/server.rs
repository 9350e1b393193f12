//! Validates `[server]` and `[limits]`.

use std::net::IpAddr;
use std::path::PathBuf;

use salver_model::Limits;

use super::{Listen, Server, UNIX, WhenInUse, listen, tls};
use crate::event_field;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

pub(super) fn check(table: &Table, findings: &mut Findings) -> Server {
    let base = table.text("base_path").unwrap_or_default();
    let base_path = findings.keep(base_path(base).map_err(|why| {
        Mistake::new(table.place_of("base_path"), format!("`{base}` can't be a base path: {why}"))
            .with_hint("write a path like \"/data\"")
    }));
    Server {
        listen: listen::listen(table, findings),
        metrics_listen: listen::metrics_listen(table, findings),
        socket_mode: listen::socket_mode(table, findings),
        base_path: base_path.unwrap_or_default(),
        data_dir: table.text("data_dir").map(PathBuf::from),
        queries: table.text("queries").map(PathBuf::from),
        data_dir_in_use: match table.text("data_dir_in_use") {
            Some("end") => WhenInUse::End,
            Some("share") => WhenInUse::Share,
            _ => WhenInUse::Wait,
        },
        log: table.text("log").unwrap_or_default().to_owned(),
        log_format: table.text("log_format").unwrap_or_default().to_owned(),
        cors: table.bool("cors"),
        watch: table.bool("watch"),
        access_log: table.bool("access_log"),
        slow_ms: table.count("slow_ms"),
        server_timing: table.bool("server_timing"),
        otlp_endpoint: otlp_endpoint(table, findings),
        ready_needs_all: table.bool("ready_needs_all"),
        default_format: table.text("default_format").unwrap_or_default().to_owned(),
        threads: usize::try_from(table.count("threads")).unwrap_or(0),
        reverse_proxy: table.bool("reverse_proxy"),
        caller: caller(table, findings),
        firewall: firewall(table, findings),
        proxy_protocol: networks(table, "proxy_protocol", &[UNIX], findings),
        callbacks: callbacks(table, findings),
        ssl_redirect: tls::ssl_redirect(table, findings),
        tls: tls::tls(table, findings),
        insecure: table.bool("insecure"),
        xsrf: table.bool("xsrf"),
        ajax_only: table.bool("ajax_only"),
        cors_origins: origins(table, findings),
        hosts: hosts(table, findings),
    }
}

/// Returns patterns of origins. One that cannot match any, because browsers never write an origin in this way, is a
/// mistake.
fn origins(table: &Table, findings: &mut Findings) -> Vec<String> {
    let origins = table.texts("cors_origins").unwrap_or_default();
    for origin in origins.iter().filter(|origin| !is_origin(origin.trim())) {
        let message = format!("`{origin}` is not the origin of a page");
        let hint = "write scheme and host, and a port only where it is not the scheme's own, without a path, like \
                    \"https://app.example.org\" or \"https://*.example.org\"";
        findings.mistake(Mistake::new(table.place_of("cors_origins"), message).with_hint(hint));
    }
    origins.to_vec()
}

fn is_origin(origin: &str) -> bool {
    let (scheme, host) = match origin.split_once("://") {
        Some((scheme, host)) => (scheme, host),
        // `*` may stand for the scheme as well.
        None if origin.contains('*') => ("", origin),
        None => return origin == "null",
    };
    let own_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "::",
    };
    !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) && !host.ends_with(own_port)
}

fn hosts(table: &Table, findings: &mut Findings) -> Vec<String> {
    let hosts = table.texts("hosts").unwrap_or_default();
    for host in hosts.iter().filter(|host| host.trim().is_empty() || host.contains(['/', '@', ' '])) {
        let message = format!("`{host}` is not the name of a host");
        let hint = "write it without a scheme, like \"data.example.org\" or \"*.example.org\"";
        findings.mistake(Mistake::new(table.place_of("hosts"), message).with_hint(hint));
    }
    hosts.to_vec()
}

fn caller(table: &Table, findings: &mut Findings) -> Vec<(String, String)> {
    let pairs = table.pairs("caller").unwrap_or_default().to_vec();
    behind_proxy(table, "caller", !pairs.is_empty(), findings);
    for (name, header) in &pairs {
        if !event_field::is_header(header) {
            let message = format!("`{header}`, for `caller.{name}`, is not the name of a header");
            findings.mistake(Mistake::new(table.place_of("caller"), message).with_hint("write it like \"X-User\""));
        }
    }
    pairs
}

/// Checks that a setting for a proxy's header is used with a reverse proxy, without which the header is not
/// trustworthy.
fn behind_proxy(table: &Table, key: &str, given: bool, findings: &mut Findings) -> bool {
    if given && !table.bool("reverse_proxy") {
        let message = format!("`{key}` needs `reverse_proxy`");
        let hint = "put a proxy of your own before the server and set reverse_proxy = true";
        findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
    }
    given
}

/// Returns the networks that are let in. Callers of a Unix socket have no address that could be in one.
fn firewall(table: &Table, findings: &mut Findings) -> Vec<String> {
    let networks = networks(table, "firewall", &[], findings);
    let is_told = table.bool("reverse_proxy")
        || table.texts("proxy_protocol").is_some_and(|own| own.iter().any(|own| own == UNIX));
    if !networks.is_empty() && !is_told && matches!(listen::listen(table, &mut Findings::default()), Listen::Unix(_)) {
        let message = "`firewall` would let nobody in: callers of a Unix socket have no address";
        let hint = "leave it to `socket_mode`; or, if a proxy of your own uses the socket, set reverse_proxy = true or \
                    proxy_protocol = [\"unix\"]";
        findings.mistake(Mistake::new(table.place_of("firewall"), message).with_hint(hint));
    }
    networks
}

/// Returns a list of addresses and networks, and of the `words` that may stand there too.
fn networks(table: &Table, key: &str, words: &[&str], findings: &mut Findings) -> Vec<String> {
    let networks = table.texts(key).unwrap_or_default();
    for network in networks.iter().filter(|network| !words.contains(&network.as_str())) {
        let (address, bits) = network.split_once('/').map_or((network.as_str(), None), |(a, b)| (a, Some(b)));
        let most = match address.parse() {
            Ok(IpAddr::V4(_)) => Some(32),
            Ok(IpAddr::V6(_)) => Some(128),
            Err(_) => None,
        };
        let fits = |most: u8| bits.is_none_or(|bits| bits.parse::<u8>().is_ok_and(|bits| bits <= most));
        if !most.is_some_and(fits) {
            let message = format!("`{network}` is neither an address nor a network");
            let words: String = words.iter().map(|word| format!(", or \"{word}\"")).collect();
            let hint = format!("write it like \"192.168.0.7\", \"10.0.0.0/8\" or \"fd00::/8\"{words}");
            findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
        }
    }
    networks.to_vec()
}

/// Returns the address of the collector of traces.
fn otlp_endpoint(table: &Table, findings: &mut Findings) -> Option<String> {
    let address = table.text("otlp_endpoint").map(|address| address.trim_end_matches('/'))?;
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or_default();
    let host = rest.split('/').next().unwrap_or_default();
    if host.is_empty() || rest.contains(['@', '?', '#', ' ']) {
        let message = "`otlp_endpoint` is not the address of a collector";
        let hint = "write scheme and host, like \"http://collector:4318\"; header fields that prove who you are stand \
                    in the variable OTEL_EXPORTER_OTLP_HEADERS";
        findings.mistake(Mistake::new(table.place_of("otlp_endpoint"), message.to_owned()).with_hint(hint));
    }
    Some(address.to_owned())
}

/// Returns the prefixes of callback URLs. Each must contain the complete host, since it would otherwise match other
/// hosts that continue it.
fn callbacks(table: &Table, findings: &mut Findings) -> Vec<String> {
    let addresses = table.texts("callbacks").unwrap_or_default();
    for address in addresses {
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or_default();
        let host = rest.split_once('/').map_or("", |(host, _)| host);
        if host.is_empty() || host.contains(['@', '?', '#', '*']) {
            let message = format!("`{address}` is not the beginning of an address");
            let hint = "write scheme, host and a path, like \"https://example.org/hooks/\"";
            findings.mistake(Mistake::new(table.place_of("callbacks"), message).with_hint(hint));
        }
    }
    addresses.to_vec()
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
        connections_per_address_max: size("connections_per_address_max"),
        head_ms_max: table.count("head_ms_max"),
        drain_ms_max: table.count("drain_ms_max"),
        jobs_max: size("jobs_max"),
        job_bytes_max: table.count("job_bytes_max"),
        job_ttl_ms: table.count("job_ttl"),
        spill_bytes_max: table.count("spill_bytes_max"),
        object_cache_bytes_max: table.count("object_cache_bytes_max"),
    }
}

/// Validates a plain path without a trailing `/`.
pub(super) fn base_path(text: &str) -> Result<String, &'static str> {
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

//! Validates a stream's own path.

use crate::checked::server;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Prefixes of the server's own paths.
const OURS: [&str; 14] = [
    "_api",
    "api",
    "brokers",
    "clusters",
    "consumers",
    "docs",
    "health",
    "metrics",
    "openapi.json",
    "partitions",
    "ready",
    "topics",
    "v0",
    "v3",
];

/// Returns the path without a trailing `/`; `/` alone is valid, since nothing else handles a POST there.
pub(super) fn check(table: &Table, findings: &mut Findings) -> Option<String> {
    let text = table.text("route")?;
    let proved = match text {
        "" => Err("it doesn't begin with `/`"),
        "/" => Ok("/".to_owned()),
        text => server::base_path(text),
    };
    let hint = "write a path like \"/\" or \"/track\"";
    let path = findings.keep(proved.map_err(|why| {
        Mistake::new(table.place_of("route"), format!("`{text}` can't be a route: {why}")).with_hint(hint)
    }))?;
    if let Some(first) = path.split('/').nth(1).filter(|first| OURS.contains(first)) {
        let message = format!("`{text}` can't be a route: what is below `/{first}` is the server's own");
        findings.mistake(Mistake::new(table.place_of("route"), message).with_hint(hint));
        return None;
    }
    Some(if path.is_empty() { "/".to_owned() } else { path })
}

//! Proves a stream's own path.

use crate::checked::server;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// What the paths of the server itself begin with.
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

/// The path, without a `/` at its end; `/` alone is one, since nothing else takes a POST there.
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

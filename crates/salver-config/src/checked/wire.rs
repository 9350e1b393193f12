//! Validates `[wire]`.

use super::{Server, Wire, listen};
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// The settings, each with whose clients come to its address, and an example.
const POSTGRES: [&str; 3] = ["postgres", "PostgreSQL", "127.0.0.1:5433"];
const FLIGHT: [&str; 3] = ["flight", "Arrow Flight SQL", "127.0.0.1:32010"];

pub(super) fn check(table: &Table, server: &Server, findings: &mut Findings) -> Wire {
    let mut taken = vec![(server.listen.to_string(), "HTTP")];
    taken.extend(server.metrics_listen.clone().map(|address| (address, "HTTP")));
    let postgres = address(table, POSTGRES, &taken, findings);
    taken.extend(postgres.clone().map(|address| (address, "`wire.postgres`")));
    let flight = address(table, FLIGHT, &taken, findings);
    Wire { postgres, flight }
}

/// Returns the address for clients of a wire, which nothing else may have.
fn address(
    table: &Table,
    [key, whose, example]: [&str; 3],
    taken: &[(String, &str)],
    findings: &mut Findings,
) -> Option<String> {
    let text = table.text(key)?;
    let address = listen::address(text).and_then(|address| {
        let other = taken.iter().find(|(other, _)| !address.ends_with(":0") && *other == address);
        match other {
            Some((_, owner)) => Err(format!("{owner} has it")),
            None => Ok(address),
        }
    });
    findings.keep(address.map_err(|why| {
        let message = format!("`{text}` is not an address for clients of {whose}: {why}");
        Mistake::new(table.place_of(key), message).with_hint(format!("write HOST:PORT, like \"{example}\""))
    }))
}

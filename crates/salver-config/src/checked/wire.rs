//! Validates `[wire]`.

use super::{Server, Wire, listen};
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

pub(super) fn check(table: &Table, server: &Server, findings: &mut Findings) -> Wire {
    Wire { postgres: postgres(table, server, findings) }
}

/// Returns the address for clients of PostgreSQL, which nothing else may have.
fn postgres(table: &Table, server: &Server, findings: &mut Findings) -> Option<String> {
    let text = table.text("postgres")?;
    let address = listen::address(text).and_then(|address| {
        let others = [Some(server.listen.to_string()), server.metrics_listen.clone()];
        let is_taken = !address.ends_with(":0") && others.iter().flatten().any(|other| *other == address);
        if is_taken { Err("HTTP has it".to_owned()) } else { Ok(address) }
    });
    findings.keep(address.map_err(|why| {
        let message = format!("`{text}` is not an address for clients of PostgreSQL: {why}");
        Mistake::new(table.place_of("postgres"), message).with_hint("write HOST:PORT, like \"127.0.0.1:5433\"")
    }))
}

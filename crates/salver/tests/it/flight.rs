//! Clients of Arrow Flight SQL: ADBC's driver, pyarrow and the driver of JDBC, where the setup of the tests could
//! install them, and clients that say what none of them would.

mod callers;
mod drivers;
mod hostile;
mod jdbc;
mod tables;
mod tls;

use super::server::Server;
use super::wire::{PEOPLE, python, types};

/// Settings of a server for these clients.
const FLIGHT: &str = "[wire]\nflight = \"127.0.0.1:0\"\n";

/// A server with people and types.
fn server(more: &str) -> Server {
    Server::with(&format!("{FLIGHT}{more}"), &[("people.csv", PEOPLE), ("types.arrow", &types())])
}

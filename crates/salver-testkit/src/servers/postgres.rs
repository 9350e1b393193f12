//! How a PostgreSQL server is made, run and talked to.

use std::path::Path;

use super::Client;
use super::programs::{program, unprivileged};

/// The administrator comes through the socket; everybody else needs a password.
const WHO_MAY: &str = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";

/// Makes the server's files.
pub(super) fn initialise(directory: &Path) {
    let arguments = [
        format!("--pgdata={}", directory.join("data").display()),
        "--username=postgres".to_owned(),
        "--auth=trust".to_owned(),
        "--encoding=UTF8".to_owned(),
        "--locale=C.UTF-8".to_owned(),
        "--no-sync".to_owned(),
        "--no-instructions".to_owned(),
    ];
    super::prepare(directory, &unprivileged(&program("initdb"), &arguments));
    std::fs::write(directory.join("data/pg_hba.conf"), WHO_MAY).expect("a file for the server");
}

/// The server's command line. What is acknowledged survives the server's end, but not the machine's.
pub(super) fn command(directory: &Path, port: u16) -> Vec<String> {
    let place = |name: &str| directory.join(name).display().to_string();
    let mut arguments = vec!["-D".to_owned(), place("data")];
    let settings = [
        format!("port={port}"),
        format!("unix_socket_directories={}", directory.display()),
        "listen_addresses=127.0.0.1".to_owned(),
        "max_connections=200".to_owned(),
        "shared_buffers=64MB".to_owned(),
        // In files that go with the directory, not in the system's shared memory.
        "dynamic_shared_memory_type=mmap".to_owned(),
        "fsync=off".to_owned(),
        "full_page_writes=off".to_owned(),
        "autovacuum=off".to_owned(),
        "jit=off".to_owned(),
        "deadlock_timeout=50ms".to_owned(),
        "timezone=UTC".to_owned(),
    ];
    for setting in settings {
        arguments.extend(["-c".to_owned(), setting]);
    }
    unprivileged(&program("postgres"), &arguments)
}

/// The client, as the administrator.
pub(super) fn client(directory: &Path, port: u16, database: Option<&str>) -> Client {
    let arguments = vec![
        "--no-psqlrc".to_owned(),
        "--quiet".to_owned(),
        "--no-align".to_owned(),
        "--tuples-only".to_owned(),
        "--field-separator=\t".to_owned(),
        "--set=ON_ERROR_STOP=1".to_owned(),
        format!("--host={}", directory.display()),
        format!("--port={port}"),
        "--username=postgres".to_owned(),
        format!("--dbname={}", database.unwrap_or("postgres")),
        "--file=-".to_owned(),
    ];
    Client { program: program("psql"), arguments }
}

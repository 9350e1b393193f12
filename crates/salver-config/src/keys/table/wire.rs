//! The settings of protocols beside HTTP.

use super::{at_start, new_row};
use crate::keys::{Section, Setting, SettingKind};

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    at_start(new_row(Section::Wire, "postgres", SettingKind::Location, ["", r#""127.0.0.1:5433""#],
        "Address and port for clients of PostgreSQL, like psql and psycopg, which read there what \
            `/api/sql` does; port 0 takes a free one. With `server.tls_certificate` it speaks TLS where the client \
            wants it, and passwords from other machines are only taken so. There are no Unix sockets and no headers of \
            proxies there.",
        &["addr_postgres", "postgres_listen", "pgwire"])),
    at_start(new_row(Section::Wire, "flight", SettingKind::Location, ["", r#""127.0.0.1:32010""#],
        "Address and port for clients of Arrow Flight SQL, like ADBC and its JDBC driver, which read there what \
            `/api/sql` does, in columns; port 0 takes a free one. With `server.tls_certificate` it speaks TLS where \
            the client wants it, and passwords, keys and tokens from other machines are only taken so.",
        &["flight_sql", "flight_listen"])),
];

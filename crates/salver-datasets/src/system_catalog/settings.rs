//! Settings of the server, as statements read them.

/// Settings that statements read. Those of a session are the protocol's, and are shown by `SHOW`.
pub(super) const SETTINGS: [(&str, &str); 10] = [
    ("client_encoding", "UTF8"),
    ("datestyle", "ISO, MDY"),
    ("jit", "off"),
    ("max_index_keys", "32"),
    ("search_path", "public"),
    ("server_version", "15.18"),
    ("server_version_num", "150018"),
    ("standard_conforming_strings", "on"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
];

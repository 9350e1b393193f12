//! The settings of the server itself.

use super::{at_start, new_row, row};
use crate::keys::{Section, Setting, SettingKind};

/// Values of a response's format: its suffixes.
const ANSWERS: SettingKind =
    SettingKind::Choice(&["json", "ndjson", "csv", "tsv", "arrows", "arrow", "parquet", "html"]);

/// Log levels.
const LEVELS: SettingKind = SettingKind::Choice(&["off", "error", "warn", "info", "debug", "trace"]);

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    at_start(row(Section::Server, "listen", SettingKind::Text, [r#""127.0.0.1:8080""#, r#""0.0.0.0:8080""#],
        "Address and port to listen on; port 0 takes a free one. `unix:PATH` is a Unix socket at an absolute path, and \
            `systemd` takes the sockets that systemd hands over, which are also taken without this when there are any.",
        &["addr", "address"])),
    at_start(new_row(Section::Server, "metrics_listen", SettingKind::Location, ["", r#""127.0.0.1:9090""#],
        "Address and port at which `/metrics` is served, and no longer at `listen`; port 0 takes a free one. Beside it \
            there are only `/health` and `/ready`. There is no TLS there, and headers of a proxy are not believed; \
            `[auth]`, `[[access]]` and `firewall` hold as they do at `listen`.",
        &["metrics_addr", "metrics_address", "telemetry_listen"])),
    at_start(new_row(Section::Server, "socket_mode", SettingKind::Text, [r#""0660""#, r#""0600""#],
        "Mode of the file of a Unix socket, in octal: who may write to it may connect. The file is removed at the end.",
        &["unix_socket_permissions", "socket_permissions"])),
    row(Section::Server, "hosts", SettingKind::Texts, ["[]", r#"["data.example.org", "*.internal"]"#],
        "Names the server goes by, with `*` for any part of one; requests for another name are refused (403), those \
            for `localhost` or an address are not. Without this setting, a server that listens on this machine alone \
            answers to `localhost` and addresses of this machine, so that no page can reach it under a name of its \
            own, and any other server to every name and address.",
        &["allowed_hosts"]),
    row(Section::Server, "base_path", SettingKind::Text, [r#""""#, r#""/data""#],
        "Path before every path of the API, for a server behind a proxy.",
        &["prefix"]),
    at_start(row(Section::Server, "data_dir", SettingKind::Location, ["", r#""/var/cache/salver""#],
        "Where streams are kept, in its `streams`, the key of tokens, `tokens.key`, and the spilled queries and \
            converted files of this process. Without it, streams and key are in `salver-data` beside the configuration \
            file, and the rest is in a directory of this process below `$XDG_CACHE_HOME/salver` or the temporary \
            directory, removed at the end.",
        &["cache_dir", "tmp_dir"])),
    new_row(Section::Server, "queries", SettingKind::Location, ["", r#""queries""#],
        "A folder of named queries: each `NAME.sql` in it is one. Comments at its beginning describe it, \
            `-- description: TEXT`, and its parameters, `-- param NAME TYPE = DEFAULT -- DESCRIPTION`. Relative paths \
            start at this file's directory.",
        &["queries_dir", "query_folder"]),
    at_start(new_row(Section::Server, "data_dir_in_use", SettingKind::Choice(&["wait", "end", "share"]),
        [r#""wait""#, r#""end""#],
        "What a server does whose `data_dir` another server has: it waits until that one ends, before it listens, and \
            takes over; or it ends, with a message, as with `--no-wait`; or, if \
            both say `share`, both use the directory, and each stream, and what is kept of sessions, is that of the \
            server which has it first.",
        &[])),
    row(Section::Server, "log", LEVELS, [r#""info""#, r#""warn""#],
        "What is logged to standard error. The environment variable `RUST_LOG` goes before it.",
        &["log_level"]),
    at_start(new_row(Section::Server, "log_format", SettingKind::Choice(&["text", "json"]), [r#""text""#, r#""json""#],
        "How it is logged: lines for people, or one JSON object a line for programs.",
        &["log_style"])),
    row(Section::Server, "cors", SettingKind::Bool, ["false", "true"],
        "Whether pages of any origin may read answers, query, export and call functions. They change no rows and \
            append no events. Off, because a server on your own machine would be open to every page you visit.",
        &[]),
    row(Section::Server, "access_log", SettingKind::Bool, ["false", "true"],
        "Whether a line is logged for each request.",
        &[]),
    new_row(Section::Server, "slow_ms", SettingKind::Milliseconds, ["0", r#""1s""#],
        "Time after which it is logged, as a warning, that a request was slow to be answered, and a query to be \
            computed, with its statement and plan; 0 logs neither.",
        &["slow_log", "long_query_time", "log_min_duration_statement"]),
    new_row(Section::Server, "server_timing", SettingKind::Bool, ["false", "true"],
        "Whether answers tell in the header `Server-Timing` how long they took, which the developer tools of browsers \
            show.",
        &[]),
    at_start(new_row(Section::Server, "otlp_endpoint", SettingKind::Location, ["", r#""http://collector:4318""#],
        "Address of an OpenTelemetry collector that the traces of requests are sent to, by OTLP over HTTP \
            (`/v1/traces` below it). Without it the variables `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and \
            `OTEL_EXPORTER_OTLP_ENDPOINT` name one; without any there are no traces.",
        &["otel_endpoint", "otlp_traces_endpoint"])),
    new_row(Section::Server, "ready_needs_all", SettingKind::Bool, ["false", "true"],
        "Whether `/ready` answers 503 also while an entry or a file of functions can't be loaded, not even in an older \
            version. Off, because one broken file would take the server out of service.",
        &["ready_strict"]),
    row(Section::Server, "default_format", ANSWERS, [r#""json""#, r#""csv""#],
        "Format of rows when a request names none.",
        &["response_format"]),
    at_start(row(Section::Server, "threads", SettingKind::Count(0), ["0", "4"],
        "Threads that work; 0 is one for each processor.",
        &[])),
    row(Section::Server, "reverse_proxy", SettingKind::Bool, ["false", "true"],
        "Whether every request comes through a proxy of your own, whose `X-Forwarded-For`, `X-Forwarded-Proto`, \
            `X-Forwarded-Host` and `caller` headers are believed.",
        &["trust_proxy"]),
    row(Section::Server, "caller", SettingKind::Pairs, ["", r#"{ user = "X-User", tenant = "X-Tenant" }"#],
        "What rules see as `caller.NAME`, and the header it comes in. Needs `reverse_proxy`: anybody else could write \
            anything there.",
        &[]),
    row(Section::Server, "firewall", SettingKind::Texts, ["[]", r#"["10.0.0.0/8", "::1"]"#],
        "Addresses and networks that are let in; empty lets everybody in.",
        &["allowed_ip_addresses"]),
    new_row(Section::Server, "proxy_protocol", SettingKind::Texts, ["[]", r#"["10.0.0.0/8", "127.0.0.1"]"#],
        "Addresses and networks of proxies whose connections begin with a header of the PROXY protocol (version 1 or \
            2), whose source address then counts as that of the client; a connection of theirs without one is closed. \
            `unix` stands for the callers of a Unix socket.",
        &["accept_proxy", "accept_proxy_from"]),
    new_row(Section::Server, "watch", SettingKind::Bool, ["true", "false"],
        "Whether served directories are looked at every two seconds for files that came or went, and become entries or \
            are none any more. A new file is served when it did not change between two looks.",
        &["auto_reload"]),
    new_row(Section::Server, "insecure", SettingKind::Bool, ["false", "true"],
        "Whether a server that other machines can reach may start with neither `[auth]`, `[[access]]` nor a \
            `firewall`, so that everybody is let in. Also `--insecure`.",
        &[]),
    row(Section::Server, "callbacks", SettingKind::Texts, ["[]", r#"["https://example.org/hooks/"]"#],
        "What the addresses begin with that jobs may be told to report to, with `X-Callback-Url`; empty allows none.",
        &[]),
    at_start(new_row(Section::Server, "tls_certificate", SettingKind::Location, ["", r#""/etc/salver/fullchain.pem""#],
        "File with the certificate of the server and those that lead to its authority, as PEM. With it, the server \
            speaks TLS (1.2 and 1.3) and nothing else. The file is read again when it changes.",
        &["ssl_certificate", "tls_cert"])),
    at_start(new_row(Section::Server, "tls_key", SettingKind::Location, ["", r#""/etc/salver/privkey.pem""#],
        "File with the private key of `tls_certificate`, as PEM, without a password. It is read again when it changes.",
        &["ssl_key", "ssl_certificate_key"])),
    at_start(new_row(Section::Server, "tls_client_ca", SettingKind::Location, ["", r#""/etc/salver/clients.pem""#],
        "File with the certificates of the authorities that sign those of clients, as PEM. With it, the certificate \
            that a client shows proves who it is, as one of the ways of `[auth]`: by the common name of its subject, \
            or its first alternative name if there is none. The file is read again when it changes. Needs \
            `tls_certificate`.",
        &["ssl_client_certificate", "tls_client_auth_ca", "ssl_ca_file"])),
    at_start(new_row(Section::Server, "tls_client", SettingKind::Choice(&["required", "optional"]),
        [r#""required""#, r#""optional""#],
        "Whether there is no connection without a certificate of the client. Where it is optional, `[auth]` decides \
            about those who show none. One of another authority, or one that has expired, ends the connection in any \
            case. Needs `tls_client_ca`.",
        &["ssl_verify_client", "tls_client_auth"])),
    at_start(new_row(Section::Server, "acme_domains", SettingKind::Texts, ["[]", r#"["data.example.org"]"#],
        "Names for which the server gets itself a certificate from an authority (ACME), and renews it when two thirds \
            of its time are over, in place of `tls_certificate`. To name them is to agree to the terms of the \
            authority, which must reach the server by each name at port 443: it checks there, by TLS-ALPN-01, that \
            the name is the server's. Account, certificate and key are in `acme` of the data directory.",
        &["acme_domain", "letsencrypt_domains", "autocert"])),
    at_start(new_row(Section::Server, "acme_contact", SettingKind::Text, ["", r#""ops@example.org""#],
        "Address of mail that the authority may write to.",
        &["acme_email", "letsencrypt_email"])),
    at_start(new_row(Section::Server, "acme_directory", SettingKind::Location,
        [r#""https://acme-v02.api.letsencrypt.org/directory""#,
         r#""https://acme-staging-v02.api.letsencrypt.org/directory""#],
        "URL of the authority's directory. Without this setting it is Let's Encrypt; the example is its place for \
            trials, whose certificates no browser trusts.",
        &["acme_server", "acme_url"])),
    at_start(new_row(Section::Server, "acme_ca", SettingKind::Location, ["", r#""/etc/salver/acme-ca.pem""#],
        "File with the certificates that the directory's own leads to, as PEM, for an authority of your own. Without \
            it, those of the public authorities count.",
        &["acme_ca_root"])),
    at_start(row(Section::Server, "ssl_redirect", SettingKind::Bool, ["false", "true"],
        "Whether requests that came without TLS are sent to `https://`, at the same port where the server has a \
            `tls_certificate`. Needs one, or `reverse_proxy`.",
        &["tls_redirect"])),
    row(Section::Server, "xsrf", SettingKind::Bool, ["false", "true"],
        "Whether requests that write to a database must repeat the cookie `XSRF-TOKEN` in the header `X-XSRF-TOKEN`.",
        &[]),
    row(Section::Server, "ajax_only", SettingKind::Bool, ["false", "true"],
        "Whether requests that write to a database must have the header `X-Requested-With: XMLHttpRequest`.",
        &[]),
    row(Section::Server, "cors_origins", SettingKind::Texts, ["[]", r#"["https://*.example.com"]"#],
        "Origins (with `*` for any part) whose pages may read answers, write and call, with credentials, as the \
            server's own may.",
        &["allowed_origins"]),
];

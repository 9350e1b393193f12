//! The HTTP doors: they parse requests into those of the model, pass them to the waist, and encode its replies as
//! responses.
//!
//! Suggested reading order: `routes` is the routing table and `router` the life of a request; `rest`, `sql`, `graphql`,
//! `kv`, `schema`, `index`, `records`, `streams`, `export`, `cursor` (with `aql`, a language of its queries) and
//! `status` are the doors; `gate` decides which requests are admitted and `auth` identifies callers; `respond` is the
//! one exit and `dialect` the one writer of refusals; `cache` keeps finished bodies. No door knows a backend: all data
//! comes from the waist.

mod absent;
mod app;
mod aql;
mod auth;
mod body;
mod browser;
mod cache;
mod caller_accounts;
mod certificate_state;
mod client_certificate;
mod conditional;
mod connections;
mod console;
mod consumers;
mod cookie;
mod cursor;
mod cursor_state;
mod dialect;
mod doors;
mod exit;
mod export;
mod export_state;
mod functions;
mod functions_state;
mod gate;
mod graphql;
mod graphql_http;
mod header_lines;
mod html_page;
mod idempotency;
mod in_force;
mod index;
mod kv;
mod lingering;
mod listener;
mod metrics;
mod metrics_page;
mod number_text;
mod offload;
mod oidc_login;
mod open_request;
mod openapi;
mod openapi_document;
mod options;
mod other_method;
mod page_ways;
mod peer;
mod plain_place;
mod policy;
mod proxy_protocol;
mod queries;
mod query_edits;
mod receive;
mod records;
mod redaction;
mod refuse;
mod request_context;
mod request_record;
mod request_target;
mod respond;
mod rest;
mod router;
mod routes;
mod row_size;
mod schema;
mod security_headers;
mod segment;
mod server;
mod socket;
mod sql;
mod status;
mod streams;
mod tokens;
mod transport;
mod treeql;
mod unsent_responses;
mod wire_reception;

pub use auth::{Auth, AuthSources, CurrentAuth, Sessions, is_same_table};
pub use certificate_state::CertificateState;
pub use doors::Doors;
pub use listener::{Listener, Places};
pub use options::{Callbacks, HttpOptions, OriginOptions, TlsOptions};
pub use redaction::{keep_private, keep_secret};
pub use server::{serve, serve_behind};

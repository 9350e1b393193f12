//! The ports: one trait for each kind of backend. Each file states the contract; `salver-testkit` has a suite for each
//! that every implementation runs.

pub mod database;
pub mod event_stream;
pub mod functions;
pub mod identity_provider;
pub mod key_set_source;
pub mod loader;
pub mod maybe_ready;
pub mod progress;
pub mod query_editor;
pub mod scan;
pub mod session_store;
pub mod sql_engine;
pub mod table;
pub mod tracer;
pub mod webhook_sender;

pub use database::{ArrivingRow, Database, RecordStream};
pub use event_stream::EventStream;
pub use functions::Functions;
pub use identity_provider::{IdentityProvider, SecretPlace, TokenAnswer};
pub use key_set_source::KeySetSource;
pub use loader::{Loader, WaitsFor};
pub use maybe_ready::MaybeReady;
pub use progress::Progress;
pub use query_editor::{EditCondition, QueryEditor};
pub use scan::{FileKind, Held, HeldFile, Scan, locate};
pub use session_store::SessionStore;
pub use sql_engine::{QueryDescription, SqlEngine, StatementDescription, StatementQuestion, Tables};
pub use table::{Left, Table};
pub use tracer::{SpanCounts, Tracer};
pub use webhook_sender::{Delivery, WebhookSender};

//! The vocabulary of Salver and its ports: the requests of doors, the results of backends, and no I/O.
//!
//! Suggested reading order: the words (`name`, `value`, `filter`, `query`), requests and results (`request`, `reply`,
//! `cursor`, `records`, `streams`), limits and failures (`limits`, `error`), and last the ports a backend implements.
//! This crate has no runtime and knows no protocol: no URL, header or status code stands here.

pub mod access;
pub mod caller;
pub mod column;
pub mod cursor;
pub mod decimal;
pub mod entry;
pub mod error;
mod expression_text;
pub mod filter;
pub mod functions;
pub mod hexadecimal;
pub mod like;
pub mod limits;
pub mod mask;
pub mod memory;
pub mod name;
pub mod network;
pub mod observation;
pub mod owner;
pub mod panics;
pub mod parameter;
pub mod pg_parameter;
pub mod pg_type;
pub mod ports;
pub mod principal;
pub mod query;
pub mod read_view;
pub mod records;
pub mod reply;
pub mod request;
pub mod rule;
pub mod seal;
pub mod secrecy;
pub mod shares;
pub mod spec;
pub mod sql_fault;
pub mod streams;
pub mod suggest;
pub mod trace;
pub mod value;
pub mod version;

pub use access::{AccessPolicy, CallerLimits, Grants, LimitPolicy, Permission};
pub use caller::Caller;
pub use column::ColumnPath;
pub use cursor::Cursor;
pub use entry::{Description, EntryKind, Relation};
pub use error::{Code, Error, Result};
pub use filter::{Comparison, Filter};
pub use limits::Limits;
pub use mask::{ColumnMask, Mask};
pub use name::Name;
pub use owner::Owner;
pub use parameter::{ParameterType, TypedValue};
pub use pg_parameter::{PgContent, PgDatum, PgParameter, PgValue};
pub use principal::{Holder, Principal};
pub use query::{Aggregate, AggregateFunction, Item, Query, Sort};
pub use read_view::ReadView;
pub use reply::{Batches, Rows};
pub use request::{SqlParameters, SqlQuery};
pub use rule::Rule;
pub use seal::RootKey;
pub use shares::{Share, Shares};
pub use sql_fault::SqlFault;
pub use value::Value;
pub use version::Version;

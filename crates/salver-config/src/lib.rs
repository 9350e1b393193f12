//! Settings: from configuration text to validated values.
//!
//! One table ([`keys`]) names every setting; the parser, `salver config example`, the reference page and the
//! suggestions come from it. Values are kept as written with their place ([`raw`]) until they are validated
//! ([`checked`]), so that every mistake has a location. [`load`] joins defaults, file, environment and command line in
//! that order; [`render`] writes settings out again. Nothing here opens a source or a socket.

pub mod checked;
pub mod data_type;
mod event_field;
mod hidden;
pub mod keys;
pub mod load;
pub mod mistake;
pub mod raw;
pub mod render;
pub mod setting_place;
pub mod setting_sources;
mod sql_header;
mod value;

pub use checked::real_location::is_same as is_same_database;
pub use checked::{
    ACME_DIR, AcmeSpec, CertificateSource, Checked, Compat, Listen, OBJECTS_DIR, Server, StoreSpec, Tls, TlsClient,
    TlsFiles, UNIX, WhenInUse, query_of_text,
};
pub use hidden::HiddenText;
pub use load::load;
pub use mistake::{Mistake, Warning};
pub use raw::arguments::{ArgumentTarget, target};
pub use render::{differing, example, reference, show};
pub use setting_place::SettingPlace;
pub use setting_sources::{Override, Sources};
pub use value::{bytes, duration_ms};

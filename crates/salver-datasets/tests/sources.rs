//! Sources become content: every format, location and option, messy files and damaged ones.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

#[path = "sources/generated.rs"]
mod generated;

#[path = "sources/avro.rs"]
mod avro;
#[path = "sources/binary.rs"]
mod binary;
#[path = "sources/contradicting.rs"]
mod contradicting;
#[path = "sources/csv.rs"]
mod csv;
#[path = "sources/csv_forms.rs"]
mod csv_forms;
#[path = "sources/damage.rs"]
mod damage;
#[path = "sources/delta.rs"]
mod delta;
#[path = "sources/geojson.rs"]
mod geojson;
#[cfg(feature = "google-sheets")]
#[path = "sources/google_sheets.rs"]
mod google_sheets;
#[path = "sources/http.rs"]
mod http;
#[path = "sources/joined.rs"]
mod joined;
#[path = "sources/json.rs"]
mod json;
#[path = "sources/places.rs"]
mod places;
#[path = "sources/residency.rs"]
mod residency;
#[path = "sources/sheet.rs"]
mod sheet;

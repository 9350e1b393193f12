//! Spreadsheets of Google as files of datasets, over the Google Sheets API.
//!
//! `client` asks the API, with what `credential` has for it; the token of a service account is from `account`, and
//! `attempt` makes a request again. `choice` picks a sheet from the API's list of them. The answer with its cells is
//! kept on disk as it comes, and is a file in a format of its own, which `answer` reads: everything behind it is as
//! with workbooks. `fault` says what a refusal means.

#[cfg(feature = "google-sheets")]
mod account;
mod answer;
#[cfg(feature = "google-sheets")]
mod attempt;
#[cfg(feature = "google-sheets")]
mod choice;
#[cfg(feature = "google-sheets")]
mod client;
#[cfg(feature = "google-sheets")]
mod credential;
#[cfg(feature = "google-sheets")]
mod fault;
mod serial;
#[cfg(feature = "google-sheets")]
mod sheet_fetch;
#[cfg(not(feature = "google-sheets"))]
#[path = "google_sheets/without_client.rs"]
mod sheet_fetch;

pub(crate) use answer::cells;
pub(crate) use sheet_fetch::fetch;

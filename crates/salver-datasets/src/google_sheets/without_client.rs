//! Stands for the client of the Google Sheets API in a program that was built without it.

use std::path::Path;

use salver_model::spec::{DatasetSpec, GoogleSheetSource};
use salver_model::{Code, Error, Result};

use crate::fetch::Fetched;

/// Refuses every spreadsheet.
pub(crate) fn fetch(_: &DatasetSpec, source: &GoogleSheetSource, _: &Path) -> Result<Fetched> {
    Err(Error::new(Code::Config, format!("`{source}`: this program was built without `google-sheets`"))
        .with_hint("build it with that feature, or save the sheet as CSV"))
}

//! Spreadsheets of Google as sources of datasets: which one a source names.

use std::fmt;

/// Scheme of a source that names a spreadsheet of Google.
const SCHEME: &str = "gsheets://";
/// Beginning of the addresses that browsers show for spreadsheets.
const PAGES: &str = "https://docs.google.com/spreadsheets/";

/// A spreadsheet of Google, and one of its sheets if the source says which.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GoogleSheetSource {
    /// The id of the spreadsheet.
    pub id: String,
    /// The id of the sheet, which addresses call `gid`.
    pub sheet_id: Option<i64>,
}

impl GoogleSheetSource {
    /// Scheme of its sources.
    pub const SCHEME: &'static str = "gsheets";

    /// Returns whether a source is a spreadsheet of Google, or is meant to be one.
    #[must_use]
    pub fn is_meant(source: &str) -> bool {
        source.starts_with(SCHEME) || Self::of_source(source).is_some()
    }

    /// Parses `gsheets://ID`, or the address of the page of a spreadsheet. Other addresses at that host are files, such
    /// as what a spreadsheet exports.
    #[must_use]
    pub fn of_source(source: &str) -> Option<Self> {
        let end = source.find(['?', '#']).unwrap_or(source.len());
        let (path, rest) = source.split_at(end);
        let id = match path.strip_prefix(SCHEME) {
            Some(path) => path.strip_suffix('/').unwrap_or(path),
            None => id_of_page(path.strip_prefix(PAGES)?)?,
        };
        let is_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if id.is_empty() || !id.chars().all(is_id) {
            return None;
        }
        // The last one is in the fragment, which is what the browser shows.
        let sheet_ids = rest.split(['?', '#', '&']).filter_map(|part| part.strip_prefix("gid="));
        Some(Self { id: id.to_owned(), sheet_id: sheet_ids.filter_map(|text| text.parse().ok()).next_back() })
    }
}

/// Returns the id in `d/ID/edit`, or in the same behind the number of a browser's account.
fn id_of_page(path: &str) -> Option<&str> {
    let path = match path.strip_prefix("u/") {
        Some(rest) => rest.split_once('/')?.1,
        None => path,
    };
    let (id, page) = path.strip_prefix("d/").map(|rest| rest.split_once('/').unwrap_or((rest, "")))?;
    matches!(page, "" | "edit" | "view" | "preview" | "htmlview").then_some(id)
}

impl fmt::Display for GoogleSheetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.id)?;
        self.sheet_id.map_or(Ok(()), |sheet_id| write!(f, "#gid={sheet_id}"))
    }
}

#[cfg(test)]
mod tests {
    use super::GoogleSheetSource;

    #[test]
    fn sources() {
        let id = "1aB-c_9";
        for (source, sheet_id) in [
            ("gsheets://1aB-c_9", None),
            ("gsheets://1aB-c_9/", None),
            ("gsheets://1aB-c_9#gid=12", Some(12)),
            ("https://docs.google.com/spreadsheets/d/1aB-c_9", None),
            ("https://docs.google.com/spreadsheets/d/1aB-c_9/edit", None),
            ("https://docs.google.com/spreadsheets/d/1aB-c_9/edit#gid=0", Some(0)),
            ("https://docs.google.com/spreadsheets/d/1aB-c_9/edit?gid=3#gid=4", Some(4)),
            ("https://docs.google.com/spreadsheets/d/1aB-c_9/edit?usp=sharing", None),
            ("https://docs.google.com/spreadsheets/u/1/d/1aB-c_9/view?gid=7", Some(7)),
        ] {
            let expected = GoogleSheetSource { id: id.to_owned(), sheet_id };
            assert_eq!(GoogleSheetSource::of_source(source), Some(expected), "{source}");
        }
        for source in [
            "gsheets://",
            "gsheets://a b",
            "gsheets://a/b",
            "https://docs.google.com/spreadsheets/d/1aB-c_9/export?format=csv&gid=0",
            "https://docs.google.com/spreadsheets/d/e/2PACX-1v/pub?output=csv",
            "https://docs.google.com/document/d/1aB-c_9/edit",
            "https://docs.google.com.example/spreadsheets/d/1aB-c_9/edit",
            "data/gsheets.csv",
        ] {
            assert_eq!(GoogleSheetSource::of_source(source), None, "{source}");
        }
        assert!(GoogleSheetSource::is_meant("gsheets://") && !GoogleSheetSource::is_meant("gs://bucket"));
    }
}

//! The entry and server of an export.

use percent_encoding::percent_decode_str;
use salver_model::Name;

use crate::cli::ExportArguments;
use crate::client::usage;
use crate::failure::CommandFailure;

/// Entry of a server.
#[derive(Debug, PartialEq)]
pub(super) struct ExportTarget {
    /// Address of the server.
    pub(super) base: String,
    /// Name of the entry.
    pub(super) entry: Name,
    /// Columns; `None` for all.
    pub(super) columns: Option<Vec<String>>,
}

impl ExportTarget {
    /// Parses the arguments: `people`, `http://host:1/people`, or an API address like
    /// `http://host:1/api/export/people`.
    pub(super) fn of(arguments: &ExportArguments) -> Result<Self, CommandFailure> {
        let columns = (!arguments.columns.is_empty()).then(|| arguments.columns.clone());
        let (base, name) = match split(&arguments.entry) {
            Some((base, name)) => (base.to_owned(), percent_decode_str(name).decode_utf8_lossy().into_owned()),
            None if arguments.entry.contains("://") => {
                let message = format!("`{}` names no entry", arguments.entry);
                return Err(usage(message, "write it as in `http://127.0.0.1:8080/people`"));
            }
            None => (arguments.url.clone(), arguments.entry.clone()),
        };
        let entry = Name::new(&name).map_err(CommandFailure::Usage)?;
        Ok(Self { base, entry, columns })
    }
}

/// Splits an address into the server and the last segment of the path.
fn split(text: &str) -> Option<(&str, &str)> {
    let start = text.find("://")? + 3;
    let (base, name) = text.rsplit_once('/').filter(|(base, name)| base.len() > start && !name.is_empty())?;
    Some((base.strip_suffix("/api/export").unwrap_or(base), name))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("http://host:1/people", Some(("http://host:1", "people"))),
            ("https://host/base/people", Some(("https://host/base", "people"))),
            ("http://host:1/api/export/people", Some(("http://host:1", "people"))),
            ("http://host:1", None),
            ("http://host:1/", None),
            ("people", None),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }
}

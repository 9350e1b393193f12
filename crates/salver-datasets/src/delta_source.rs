//! Which table of Delta Lake a source names, and at which version.

use std::fmt;
use std::path::{Path, PathBuf};

use salver_model::spec::{DatasetSpec, GoogleSheetSource, ObjectStoreKind, SourceFormat, TableVersion};
use salver_model::{Code, Error, Result};
use salver_text::percent;

use crate::infer::{parse_date, parse_timestamp};

/// Directory of a table's log.
pub(crate) const LOG: &str = "_delta_log";

/// A table and the version of it that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeltaSource {
    /// The table: a directory, or the address of a prefix in an object store, without a slash at its end.
    pub(crate) root: String,
    pub(crate) wanted: WantedVersion,
}

/// The version that is wanted of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedVersion {
    /// The latest one.
    Latest,
    /// This one.
    Number(u64),
    /// The latest one at this time, in milliseconds since 1970.
    At(i64),
}

/// Returns whether the directory is a table.
pub(crate) fn is_table(dir: &Path) -> bool {
    dir.join(LOG).is_dir()
}

impl DeltaSource {
    /// Returns the table that a source of `spec` names by its format, by its version, or as a directory with a log;
    /// `None` if it is none, or if only a listing can tell.
    ///
    /// # Errors
    /// [`Code::Source`] if the version is none.
    pub(crate) fn of_source(spec: &DatasetSpec, source: &str) -> Result<Option<Self>> {
        let is_other = spec.format.is_some_and(|format| format != SourceFormat::Delta);
        let is_url = source.starts_with("http://") || source.starts_with("https://");
        if is_other || is_url || source == "-" || GoogleSheetSource::is_meant(source) {
            return Ok(None);
        }
        // What is called so is meant, as with patterns.
        let is_remote = ObjectStoreKind::of_source(source).is_some();
        let version = TableVersion::of_source(source).filter(|_| is_remote || !Path::new(source).exists());
        let root = version.map_or(source, |version| version.root);
        let is_declared = spec.format == Some(SourceFormat::Delta) || version.is_some();
        if !is_declared && (is_remote || !is_table(&directory(root))) {
            return Ok(None);
        }
        let wanted = match version {
            Some(version) => wanted(source, version)?,
            None => WantedVersion::Latest,
        };
        Ok(Some(Self { root: trimmed(root).to_owned(), wanted }))
    }

    /// Returns the latest version of the table at `root`.
    pub(crate) fn latest(root: &str) -> Self {
        Self { root: trimmed(root).to_owned(), wanted: WantedVersion::Latest }
    }

    /// Returns its directory; `None` if it is in an object store.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        ObjectStoreKind::of_source(&self.root).is_none().then(|| directory(&self.root))
    }
}

impl fmt::Display for DeltaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)
    }
}

fn trimmed(root: &str) -> &str {
    let trimmed = root.trim_end_matches('/');
    if trimmed.is_empty() || trimmed.ends_with(':') { root } else { trimmed }
}

fn directory(root: &str) -> PathBuf {
    match root.strip_prefix("file://") {
        Some(rest) => PathBuf::from(percent::decode(rest.strip_prefix("localhost").unwrap_or(rest))),
        None => PathBuf::from(root),
    }
}

fn wanted(source: &str, version: TableVersion<'_>) -> Result<WantedVersion> {
    let TableVersion { key, value, .. } = version;
    let found = match key {
        "version" => value.parse().ok().map(WantedVersion::Number),
        _ => moment(value).map(WantedVersion::At),
    };
    found.ok_or_else(|| {
        let hint = match key {
            "version" => "write the number of a version, as in `?version=3`",
            _ => "write a date or a time, as in `?at=2026-01-31` or `?at=2026-01-31T12:00:00Z`",
        };
        Error::new(Code::Source, format!("`{source}`: `{value}` is no version of a table")).with_hint(hint)
    })
}

/// Parses a time, or a date, which is its midnight, in milliseconds since 1970; in UTC if it has no zone.
fn moment(text: &str) -> Option<i64> {
    if let Some(days) = parse_date(text) {
        return i64::from(days).checked_mul(86_400_000);
    }
    Some(parse_timestamp(text)?.micros()?.div_euclid(1_000))
}

#[cfg(test)]
mod tests {
    use salver_model::Name;
    use salver_model::spec::{DatasetSpec, SourceFormat};

    use super::{DeltaSource, WantedVersion};

    fn of(source: &str, format: Option<SourceFormat>) -> Option<(String, WantedVersion)> {
        let mut spec = DatasetSpec::new(Name::new("t").unwrap(), vec![source.to_owned()]);
        spec.format = format;
        DeltaSource::of_source(&spec, source).unwrap().map(|table| (table.root, table.wanted))
    }

    #[test]
    fn sources() {
        let delta = Some(SourceFormat::Delta);
        let root = || "s3://b/t".to_owned();
        assert_eq!(of("s3://b/t/", delta), Some((root(), WantedVersion::Latest)));
        assert_eq!(of("s3://b/t?version=3", None), Some((root(), WantedVersion::Number(3))));
        assert_eq!(of("s3://b/t?at=1970-01-02", None), Some((root(), WantedVersion::At(86_400_000))));
        assert_eq!(of("s3://b/t?at=1970-01-01T00:00:01.5Z", None), Some((root(), WantedVersion::At(1_500))));
        assert_eq!(of("s3://b/t", None), None);
        assert_eq!(of("s3://b/t?version=3", Some(SourceFormat::Parquet)), None);
        assert_eq!(of("https://example.org/t?version=3", None), None);
        let spec = DatasetSpec::new(Name::new("t").unwrap(), Vec::new());
        for wrong in ["t?version=", "t?version=-1", "t?version=x", "t?at=yesterday", "t?at=2026-13-01"] {
            assert!(DeltaSource::of_source(&spec, wrong).unwrap_err().message.contains("is no version"), "{wrong}");
        }
    }
}

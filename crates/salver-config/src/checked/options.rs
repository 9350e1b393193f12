//! Warnings about format options that do not apply to any of a dataset's sources.

use salver_model::spec::{CsvOptions, DatasetSpec, GoogleSheetSource, SourceFormat};

use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Suffixes of compressed files, in front of which the format's suffix is expected.
const PACKED: [&str; 7] = ["gz", "gzip", "bz2", "xz", "zst", "zstd", "lzma"];

/// Warns of options that no source of the dataset uses.
pub(super) fn warn_of_idle(table: &Table, spec: &DatasetSpec, findings: &mut Findings) {
    use SourceFormat::{Csv, Json, NdJson, Sheet, Tsv};
    let Some(formats) = formats(spec) else { return };
    let (plain, csv) = (CsvOptions::default(), &spec.csv);
    let (texts, sheets, headed) = (&[Csv, Tsv][..], &[Sheet][..], &[Csv, Tsv, Sheet][..]);
    let options: [(&str, bool, &[SourceFormat], &str); 15] = [
        ("delimiter", csv.delimiter.is_some(), texts, "CSV"),
        ("header", csv.header.is_some(), headed, "CSV and spreadsheets"),
        ("quote", csv.quote != plain.quote, texts, "CSV"),
        ("escape", csv.escape.is_some(), texts, "CSV"),
        ("comment", csv.comment.is_some(), texts, "CSV"),
        ("skip_rows", csv.skip_rows.is_some(), texts, "CSV"),
        ("null_tokens", !csv.null_tokens.is_empty(), texts, "CSV"),
        ("encoding", csv.encoding.is_some(), texts, "CSV"),
        ("decimal", csv.decimal.is_some(), texts, "CSV"),
        ("thousands", csv.thousands.is_some(), texts, "CSV"),
        ("dates", csv.dates.is_some(), texts, "CSV"),
        ("pointer", spec.json.pointer.is_some(), &[Json], "JSON documents"),
        ("array_encoded", spec.json.array_encoded, &[Json, NdJson], "JSON"),
        ("sheet", spec.sheet.sheet.is_some(), sheets, "spreadsheets"),
        ("range", spec.sheet.range.is_some(), sheets, "spreadsheets"),
    ];
    for (key, is_set, heard_by, what) in options {
        if is_set && !formats.iter().any(|format| heard_by.contains(format)) {
            let message = format!("`{key}` of `{}` has no effect: it is for {what}, and no source is that", spec.name);
            findings.warning(
                Mistake::new(table.place_of(key), message)
                    .with_hint(format!("remove `{key}`, or say what the sources are with `format`")),
            );
        }
    }
}

/// Returns the formats of the sources; `None` when a name has no known suffix.
fn formats(spec: &DatasetSpec) -> Option<Vec<SourceFormat>> {
    let of_source = |source: &String| match GoogleSheetSource::is_meant(source) {
        true => Some(SourceFormat::Sheet),
        false => spec.format.or_else(|| of_name(source)),
    };
    spec.sources.iter().map(of_source).collect()
}

fn of_name(source: &str) -> Option<SourceFormat> {
    let path = if source.contains("://") { source.split(['?', '#']).next()? } else { source };
    let (rest, suffix) = path.rsplit_once('.')?;
    if PACKED.iter().any(|packed| packed.eq_ignore_ascii_case(suffix)) {
        return SourceFormat::of_suffix(rest.rsplit_once('.')?.1);
    }
    SourceFormat::of_suffix(suffix)
}

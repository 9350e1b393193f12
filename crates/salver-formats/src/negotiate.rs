//! Negotiates the format with a client by its `Accept` header (RFC 9110, section 12.5.1).

use std::cmp::Reverse;

use crate::format::{Choice, Format};
use crate::quality;

/// Every media type that a client may name, with its format and the `Content-Type` of the response. This is the same
/// name, for clients that compare the two; ROAPI's short names for Arrow are answered with Arrow's registered names.
const NAMES: [(&str, Format, &str); 22] = [
    ("application/json", Format::Json, "application/json"),
    ("application/x-ndjson", Format::NdJson, "application/x-ndjson"),
    ("application/ndjson", Format::NdJson, "application/ndjson"),
    ("application/jsonl", Format::NdJson, "application/jsonl"),
    ("application/x-jsonlines", Format::NdJson, "application/x-jsonlines"),
    ("application/jsonlines", Format::NdJson, "application/jsonlines"),
    ("application/json-lines", Format::NdJson, "application/json-lines"),
    ("text/csv", Format::Csv, "text/csv; charset=utf-8"),
    ("application/csv", Format::Csv, "application/csv"),
    ("text/tab-separated-values", Format::Tsv, "text/tab-separated-values; charset=utf-8"),
    ("text/tsv", Format::Tsv, "text/tsv; charset=utf-8"),
    ("application/vnd.apache.arrow.stream", Format::ArrowStream, "application/vnd.apache.arrow.stream"),
    ("application/arrow.stream", Format::ArrowStream, "application/vnd.apache.arrow.stream"),
    ("application/vnd.apache.arrow.file", Format::ArrowFile, "application/vnd.apache.arrow.file"),
    ("application/arrow.file", Format::ArrowFile, "application/vnd.apache.arrow.file"),
    ("application/vnd.apache.parquet", Format::Parquet, "application/vnd.apache.parquet"),
    ("application/parquet", Format::Parquet, "application/parquet"),
    ("application/x-parquet", Format::Parquet, "application/x-parquet"),
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Format::Xlsx,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("text/html", Format::Html, "text/html; charset=utf-8"),
    ("application/xhtml+xml", Format::Html, "text/html; charset=utf-8"),
    ("text/x-csv", Format::Csv, "text/x-csv; charset=utf-8"),
];

/// Specificity of the match of a media range with a name; the most specific range applies (RFC 9110, section 12.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// `*/*`.
    Any,
    /// `text/*`.
    Kind,
    /// The name itself.
    Name,
}

/// The preference of the header for one name.
#[derive(Clone, Copy, Debug)]
struct Wish {
    fit: Fit,
    weight: u16,
    /// Index of the range that applies.
    place: usize,
}

/// Returns the format that a client asks for, and its media type.
///
/// The weight of each supported name is that of the most specific media range that matches it: the name, then `text/*`,
/// then `*/*`. The name with the highest weight wins; among equals, the one whose range comes first in the header, and
/// within a wildcard `default`, else the first of the table. A weight of zero excludes a name. Without a header, or if
/// no requested format is supported, it is `default`: a client that accepts no supported format loses nothing by
/// getting one.
#[must_use]
pub fn negotiate(accept: Option<&str>, default: Format) -> Choice {
    let Some(accept) = accept else { return default.into() };
    let mut wishes: [Option<Wish>; NAMES.len()] = [None; NAMES.len()];
    for (place, (member, weight)) in quality::members(accept).enumerate() {
        for ((name, format, _), wish) in NAMES.iter().zip(&mut wishes) {
            let Some(fit) = fit(&member, name, *format) else { continue };
            // If a range is repeated, the higher weight counts.
            if wish.is_none_or(|known| (fit, weight) > (known.fit, known.weight)) {
                *wish = Some(Wish { fit, weight, place });
            }
        }
    }
    let wanted = NAMES.into_iter().zip(wishes).filter_map(|(name, wish)| Some((name, wish?)));
    let mut best = ((0, Reverse(0), false), Choice::from(default));
    for ((_, format, media_type), wish) in wanted.filter(|(_, wish)| wish.weight > 0) {
        let rank = (wish.weight, Reverse(wish.place), format == default);
        if rank > best.0 {
            best = (rank, Choice { format, media_type });
        }
    }
    best.1
}

/// Returns whether a client names `name` with at least the weight of `other`; among equals, the one named first wins.
/// Wildcards name neither.
#[must_use]
pub fn names_before(accept: Option<&str>, name: &str, other: &str) -> bool {
    let wish = |wanted: &str| {
        let members = quality::members(accept.unwrap_or_default()).enumerate();
        members.filter(|(_, (member, _))| member == wanted).map(|(place, (_, weight))| (weight, Reverse(place))).max()
    };
    wish(name).is_some_and(|(weight, place)| weight > 0 && wish(other).is_none_or(|other| (weight, place) > other))
}

/// Returns how `member` matches the name `name` of `format`, if it does. A wildcard matches each format by its primary
/// name only.
fn fit(member: &str, name: &str, format: Format) -> Option<Fit> {
    if member == name {
        return Some(Fit::Name);
    }
    let kind = member.strip_suffix('*')?;
    let fit = match kind {
        "*/" => Fit::Any,
        kind if kind.ends_with('/') && name.starts_with(kind) => Fit::Kind,
        _ => return None,
    };
    format.media_type().starts_with(name).then_some(fit)
}

//! Which format a client wants, by its `Accept` header (RFC 9110, section 12.5.1).

use std::cmp::Reverse;

use crate::format::{Choice, Format};
use crate::quality;

/// Every media type a client may name, with its format and the `Content-Type` it is answered with: the same name, so
/// that a client that compares the two is content. ROAPI's short names of Arrow go out under Arrow's registered names.
const NAMES: [(&str, Format, &str); 21] = [
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
    ("text/html", Format::Html, "text/html; charset=utf-8"),
    ("application/xhtml+xml", Format::Html, "text/html; charset=utf-8"),
    ("text/x-csv", Format::Csv, "text/x-csv; charset=utf-8"),
];

/// How closely a member of the header fits a name: a more specific one decides (RFC 9110, section 12.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// `*/*`.
    Any,
    /// `text/*`.
    Kind,
    /// The name itself.
    Name,
}

/// What the header says of one name.
#[derive(Clone, Copy, Debug)]
struct Wish {
    fit: Fit,
    weight: u16,
    /// The place of the deciding member in the header.
    place: usize,
}

/// The format a client asks for, and the name it is answered under.
///
/// The weight of each name we serve is that of the most specific member that fits it: the name, then `text/*`, then
/// `*/*`. The name with the greatest weight wins; of equals the one whose member was written first, and where that is
/// a wildcard, `default`, else the first of the table. A weight of zero excludes. Without a header, and when nothing
/// asked for exists here, the answer is `default`: a client that can read nothing we have loses nothing by getting
/// something.
#[must_use]
pub fn negotiate(accept: Option<&str>, default: Format) -> Choice {
    let Some(accept) = accept else { return default.into() };
    let mut wishes: [Option<Wish>; NAMES.len()] = [None; NAMES.len()];
    for (place, (member, weight)) in quality::members(accept).enumerate() {
        for ((name, format, _), wish) in NAMES.iter().zip(&mut wishes) {
            let Some(fit) = fit(&member, name, *format) else { continue };
            // Of one range written twice the kinder weight counts.
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

/// Whether a client names `name` and likes it no less than `other`; of equals the one that it wrote first. Wildcards
/// name neither.
#[must_use]
pub fn names_before(accept: Option<&str>, name: &str, other: &str) -> bool {
    let wish = |wanted: &str| {
        let members = quality::members(accept.unwrap_or_default()).enumerate();
        members.filter(|(_, (member, _))| member == wanted).map(|(place, (_, weight))| (weight, Reverse(place))).max()
    };
    wish(name).is_some_and(|(weight, place)| weight > 0 && wish(other).is_none_or(|other| (weight, place) > other))
}

/// How `member` fits the name `name` of `format`, if it does. A wildcard means each format under its own name only.
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

//! What a client asks for, and what it gets.

use salver_formats::{Choice, Coding, Format, negotiate};

fn asked(accept: &str) -> (Format, &'static str) {
    let Choice { format, media_type } = negotiate(Some(accept), Format::Json);
    (format, media_type)
}

#[test]
fn formats_and_suffixes() {
    for format in Format::ALL {
        assert_eq!(Format::of_suffix(format.suffix()), Some(format));
        assert_eq!(Format::of_suffix(&format.suffix().to_uppercase()), Some(format));
        assert_eq!(negotiate(Some(format.media_type()), Format::Json).format, format);
        assert_eq!(negotiate(Some(format.media_type()), Format::Csv).media_type, format.media_type());
        assert_eq!(negotiate(None, format), format.into());
        assert_eq!(negotiate(Some("*/*"), format), format.into());
        assert_eq!(negotiate(Some("image/png"), format), format.into());
        assert_eq!(negotiate(Some(""), format), format.into());
    }
    assert_eq!(Format::of_suffix("jsonl"), Some(Format::NdJson));
    assert_eq!(Format::of_suffix("xls"), None);
    assert_eq!(Format::of_suffix(""), None);
}

#[test]
fn the_names_roapi_knows_and_answers() {
    assert_eq!(asked("application/json"), (Format::Json, "application/json"));
    assert_eq!(asked("application/csv"), (Format::Csv, "application/csv"));
    let stream = (Format::ArrowStream, "application/vnd.apache.arrow.stream");
    assert_eq!(asked("application/arrow.stream"), stream);
    assert_eq!(asked("application/vnd.apache.arrow.stream"), stream);
    let file = (Format::ArrowFile, "application/vnd.apache.arrow.file");
    assert_eq!(asked("application/arrow.file"), file);
    assert_eq!(asked("application/vnd.apache.arrow.file"), file);
    assert_eq!(asked("application/parquet"), (Format::Parquet, "application/parquet"));
}

#[test]
fn lists_weights_and_wildcards() {
    assert_eq!(asked("text/csv"), (Format::Csv, "text/csv; charset=utf-8"));
    assert_eq!(asked("Application/JSON; charset=utf-8").0, Format::Json);
    assert_eq!(asked("application/json;q=0.5, text/csv").0, Format::Csv);
    assert_eq!(asked("application/json;q=0.5, text/csv;q=0.4").0, Format::Json);
    assert_eq!(asked("text/csv;q=0, application/json;q=0.1").0, Format::Json);
    assert_eq!(asked("text/csv, application/json").0, Format::Csv);
    assert_eq!(asked("image/png, application/x-ndjson;q=0.2").0, Format::NdJson);
    assert_eq!(asked("text/*").0, Format::Csv);
    assert_eq!(negotiate(Some("text/*"), Format::Tsv).format, Format::Tsv);
    assert_eq!(asked("text/*, text/csv;q=0").0, Format::Tsv);
    assert_eq!(asked("application/*").0, Format::Json);
    assert_eq!(asked("*/*, application/json;q=0").0, Format::NdJson);
    assert_eq!(asked("*/*;q=0.1, text/csv;q=0.2").0, Format::Csv);
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
    assert_eq!(asked(browser), (Format::Html, "text/html; charset=utf-8"));
}

/// RFC 9110, section 12.5.1: the most specific range decides the weight of a type.
#[test]
fn the_most_specific_range_decides() {
    assert_eq!(asked("application/json;q=0.2, */*;q=0.9").0, Format::NdJson);
    assert_eq!(asked("*/*;q=0.9, application/json;q=0.2").0, Format::NdJson);
    assert_eq!(asked("application/json;q=0.2, */*;q=0.1").0, Format::Json);
    assert_eq!(asked("application/*;q=0, */*").0, Format::Csv);
    assert_eq!(asked("*/*, application/*;q=0").0, Format::Csv);
    assert_eq!(asked("application/*;q=0, application/json;q=0.1, */*;q=0.05").0, Format::Json);
    assert_eq!(asked("text/*;q=0.3, text/csv;q=0.1, application/json;q=0.2").0, Format::Tsv);
    assert_eq!(asked("*/*;q=0, text/csv;q=0.1").0, Format::Csv);
    // Nothing is left, so that the default is better than nothing.
    assert_eq!(asked("*/*;q=0").0, Format::Json);
    assert_eq!(asked("application/*;q=0, text/*;q=0").0, Format::Json);
    let by_default = |accept, default| negotiate(Some(accept), default);
    assert_eq!(by_default("*/*, text/csv;q=0.5", Format::Csv).format, Format::Json);
    assert_eq!(by_default("application/json, text/plain, */*", Format::Csv).format, Format::Json);
    assert_eq!(by_default("text/plain, */*", Format::Csv), Format::Csv.into());
    // A page refused by its name does not come back under the other one, which is answered as the first.
    assert_ne!(by_default("text/html;q=0, */*", Format::Html).format, Format::Html);
    // Several lines of the header, joined.
    assert_eq!(asked("text/html;q=0.1, , application/parquet;q=0.5,*/*;q=0.01").0, Format::Parquet);
}

#[test]
fn nonsense_is_answered() {
    for nonsense in [",", ";", ";q=", "a/b;q=x", "text/csv;q=9", "/", "*", "*/", ",,text/csv,,", "text/csv;;;q"] {
        let choice = asked(nonsense).0;
        assert!(matches!(choice, Format::Json | Format::Csv), "{nonsense}: {choice:?}");
    }
}

#[test]
fn codings() {
    for (header, coding) in [
        ("gzip", Coding::Gzip),
        ("x-gzip", Coding::Gzip),
        ("GZIP;q=1.0", Coding::Gzip),
        ("gzip, deflate, br", Coding::Brotli),
        ("gzip, deflate, br, zstd", Coding::Zstd),
        ("gzip;q=1.0, br;q=0.5, zstd;q=0.1", Coding::Gzip),
        ("br;q=0, gzip;q=0.1", Coding::Gzip),
        ("identity, gzip;q=0.5", Coding::Identity),
        ("identity;q=0.5, gzip;q=0.8", Coding::Gzip),
        ("*", Coding::Zstd),
        ("*;q=0.1, zstd;q=0", Coding::Brotli),
        ("*;q=0", Coding::Identity),
        ("deflate", Coding::Identity),
        ("", Coding::Identity),
        (";;,q=", Coding::Identity),
    ] {
        assert_eq!(Coding::negotiate(Some(header)), coding, "{header}");
    }
    assert_eq!(Coding::negotiate(None), Coding::Identity);
}

//! Entity tags of records: `"ROW"`, `"ROW-ANSWER"` or `"-ANSWER"`, each followed by `-xml` for XML and by `-CODING`
//! when compressed.
//!
//! `ROW` identifies the state of one row; `If-Match` compares it, and it is the tag of a record that is read alone.
//! `ANSWER` is a hash of everything that determines any other response, including the version of the database; if the
//! database knows its version in microseconds, `If-None-Match` is checked without reading any rows. For callers from
//! whom something of the database is kept back it is a hash of the response.

use http::{HeaderMap, HeaderValue, header};
use salver_formats::Coding;
use salver_model::{Code, Error, Result, Version};

use crate::conditional;

/// The form in which a response has its content: two forms are two representations, whose strong tags differ (RFC 9110,
/// section 8.8.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) xml: bool,
    pub(super) coding: Coding,
}

impl Form {
    /// Reads the parts of a tag behind the row and the version of the response: whether it is XML, and the coding.
    fn parts<'t>(mut parts: impl Iterator<Item = &'t str>) -> (bool, Option<&'t str>) {
        match parts.next() {
            Some(XML) => (true, parts.next()),
            coding => (false, coding),
        }
    }
}

/// The part of a tag for XML.
const XML: &str = "xml";

/// Returns the tag of a response; `None` when neither part is known.
pub(super) fn of(row: Option<&str>, answer: Option<Version>, form: Form) -> Option<HeaderValue> {
    if row.is_none() && answer.is_none() {
        return None;
    }
    let mut text = String::with_capacity(48);
    text.push('"');
    text.push_str(row.unwrap_or_default());
    if let Some(answer) = answer {
        text.push('-');
        text.push_str(&answer.text());
    }
    let coding = Some(form.coding.token()).filter(|_| form.coding != Coding::Identity);
    for part in Some(XML).filter(|_| form.xml).into_iter().chain(coding) {
        text.push('-');
        text.push_str(part);
    }
    text.push('"');
    HeaderValue::from_maybe_shared(bytes::Bytes::from(text)).ok()
}

/// Returns the tag in `If-None-Match` that names this response, with any row part.
pub(super) fn known(headers: &HeaderMap, answer: Version, form: Form) -> Option<HeaderValue> {
    let given = conditional::if_none_match(headers)?;
    let found = conditional::known(&given).find(|tag| {
        let inside = tag.trim_matches('"');
        let mut parts = inside.split('-').skip(1);
        let same_answer = parts.next().is_some_and(|part| part == answer.to_string());
        let (xml, coding) = Form::parts(parts);
        // A response too small to be compressed has no coding in its tag.
        same_answer && xml == form.xml && coding.is_none_or(|token| token == form.coding.token())
    })?;
    HeaderValue::from_str(found).ok()
}

/// Returns the tag in `If-None-Match` that names this row, at any version of the database.
pub(super) fn known_row(headers: &HeaderMap, row: &str, form: Form) -> Option<HeaderValue> {
    let given = conditional::if_none_match(headers)?;
    let found = conditional::known(&given).find(|tag| {
        let mut parts = tag.trim_matches('"').split('-');
        let same_row = parts.next() == Some(row);
        let (xml, coding) = Form::parts(parts.filter(|part| !is_answer(part)));
        same_row && xml == form.xml && coding.unwrap_or(Coding::Identity.token()) == form.coding.token()
    })?;
    HeaderValue::from_str(found).ok()
}

/// Returns whether a part of a tag is the version of a response.
fn is_answer(part: &str) -> bool {
    part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the row named by `If-Match`; `*` for any existing row.
///
/// # Errors
/// `InvalidRequest` for anything but exactly one tag.
pub(super) fn if_match(headers: &HeaderMap) -> Result<Option<String>> {
    if headers.contains_key(header::IF_NONE_MATCH) {
        return Err(Error::new(Code::InvalidRequest, "`If-None-Match` is for reads")
            .with_hint("write where the record is as it was with `If-Match`, or new ones with POST"));
    }
    let Some(given) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let refuse = || {
        Error::new(Code::InvalidRequest, "`If-Match` takes one entity tag")
            .with_hint("send the `ETag` of the record as it was read, in its quotes")
    };
    let text = given.to_str().map_err(|_| refuse())?.trim();
    if text.starts_with("W/") {
        // Weak tags never match (RFC 9110, section 13.1.1), so this names no row.
        return Ok(Some(String::new()));
    }
    if text == "*" && headers.get_all(header::IF_MATCH).iter().count() == 1 {
        return Ok(Some(text.to_owned()));
    }
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(refuse)?;
    if inside.contains(['"', ',']) || headers.get_all(header::IF_MATCH).iter().count() > 1 {
        return Err(refuse());
    }
    // A quoted star is an ordinary tag, which matches no row.
    Ok(Some(inside.split('-').next().filter(|row| *row != "*").unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};
    use salver_formats::Coding;
    use salver_model::Version;

    use super::{Form, if_match, known, known_row, of};

    fn headers(name: header::HeaderName, value: &HeaderValue) -> HeaderMap {
        HeaderMap::from_iter([(name, value.clone())])
    }

    #[test]
    fn the_row_and_the_answer_come_back() {
        let rows = [Some("abc1"), None];
        let codings = [Coding::Identity, Coding::Gzip, Coding::Zstd];
        let codings = codings.into_iter().flat_map(|coding| [(coding, false), (coding, true)]);
        for (row, (coding, xml)) in codings.flat_map(|coding| rows.map(|row| (row, coding))) {
            let form = Form { xml, coding };
            let tag = of(row, Some(Version(7)), form).unwrap();
            let sent = headers(header::IF_NONE_MATCH, &tag);
            assert_eq!(known(&sent, Version(7), form), Some(tag.clone()));
            assert_eq!(known(&sent, Version(8), form), None);
            assert_eq!(known(&sent, Version(7), Form { xml: !xml, coding }), None);
            if let Some(row) = row {
                let alone = headers(header::IF_NONE_MATCH, &of(Some(row), None, form).unwrap());
                for sent in [&sent, &alone] {
                    assert!(known_row(sent, row, form).is_some());
                    assert_eq!(known_row(sent, row, Form { xml: !xml, coding }), None);
                    assert_eq!(known_row(sent, "abc", form), None);
                }
            }
            let named = if_match(&headers(header::IF_MATCH, &tag)).unwrap();
            assert_eq!(named.as_deref(), Some(row.unwrap_or_default()));
        }
        assert_eq!(of(Some("a"), None, Form { xml: false, coding: Coding::Identity }).unwrap(), "\"a\"");
        assert_eq!(of(Some("a"), None, Form { xml: true, coding: Coding::Gzip }).unwrap(), "\"a-xml-gzip\"");
        assert_eq!(of(None, None, Form { xml: false, coding: Coding::Gzip }), None);
    }

    #[test]
    fn if_match_takes_one_strong_tag() {
        let given = |text: &str| if_match(&headers(header::IF_MATCH, &HeaderValue::from_str(text).unwrap()));
        assert_eq!(given("W/\"a\"").unwrap().as_deref(), Some(""));
        assert_eq!(given("*").unwrap().as_deref(), Some("*"));
        assert_eq!(given("\"*\"").unwrap().as_deref(), Some(""));
        for bad in ["a", "\"a\", \"b\"", "\"a"] {
            assert!(given(bad).is_err(), "{bad}");
        }
    }
}

//! Parses the bodies of writes. As in PHP-CRUD-API the content type is ignored: a body that begins with `{` or `[` is
//! JSON, any other body is a form, and with `format=xml` the body is XML.

mod excess;
mod form;
mod xml;

use ahash::AHashMap;
use salver_model::limits::CHANGES_MAX;
use salver_model::records::{Field, Record};
use salver_model::{Code, Error, Result};

use super::json::{Reader, SCANNED_MEMBERS};

/// The records of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Records {
    /// The records, in the order of the body.
    pub(super) records: Vec<Record>,
    /// Whether the body was an array.
    pub(super) batch: bool,
}

/// Parses a body.
///
/// # Errors
/// `InvalidBody` when it is empty or malformed; `InvalidRequest` when it exceeds a limit.
pub(super) fn read(body: &[u8], is_xml: bool) -> Result<Records> {
    let text = std::str::from_utf8(body).map_err(|_| unreadable())?.trim_start();
    let parsed = match text.as_bytes().first() {
        None => None,
        Some(_) if is_xml => xml::read(text),
        Some(b'{' | b'[') => Reader::whole(text, |reader| reader.records(CHANGES_MAX)),
        Some(_) => form::read(text).map(|record| (vec![record], false)),
    };
    let (records, batch) = parsed.ok_or_else(|| excess::find(text, is_xml).unwrap_or_else(unreadable))?;
    Ok(Records { records, batch })
}

/// The error for a malformed body.
pub(super) fn unreadable() -> Error {
    Error::new(Code::InvalidBody, "Cannot read HTTP message")
}

/// Builds a record of these members; among members of the same name the last one wins.
fn merged(members: impl Iterator<Item = (String, Field)>) -> Record {
    let mut record = Record::new();
    let mut places: AHashMap<String, usize> = AHashMap::new();
    for (name, field) in members {
        let next = record.len();
        let at = if next <= SCANNED_MEMBERS {
            record.iter().position(|(own, _)| *own == name).unwrap_or(next)
        } else {
            if places.is_empty() {
                places.extend(record.iter().enumerate().map(|(at, (own, _))| (own.clone(), at)));
            }
            *places.entry(name.clone()).or_insert(next)
        };
        if at < next {
            record[at].1 = field;
        } else {
            record.push((name, field));
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use salver_model::records::Field;

    use super::read;

    fn text(text: &str) -> Field {
        Field::Text(text.to_owned())
    }

    fn one(body: &str, is_xml: bool) -> Option<Vec<(String, Field)>> {
        let read = read(body.as_bytes(), is_xml).ok()?;
        assert!(!read.batch && read.records.len() == 1, "{body}");
        read.records.into_iter().next()
    }

    #[test]
    fn forms() {
        let expected = vec![("a".to_owned(), text("1 2é")), ("b".to_owned(), Field::Null), ("c".to_owned(), text(""))];
        assert_eq!(one("a=1+2%C3%A9&b__is_null&c=", false), Some(expected));
        assert_eq!(one("b=1&b__is_null=", false), Some(vec![("b".to_owned(), Field::Null)]));
        assert_eq!(one("a=%FF", false), None);
    }

    #[test]
    fn of_several_with_one_name_the_last_counts() {
        for count in [3, 40] {
            let form: Vec<String> = (0..2 * count).map(|n| format!("c{}={n}", n % count)).collect();
            let expected: Vec<_> = (0..count).map(|n| (format!("c{n}"), text(&(n + count).to_string()))).collect();
            assert_eq!(one(&form.join("&"), false), Some(expected));
        }
    }

    #[test]
    fn json() {
        let read = read(b" [{\"a\":1},{}]", false).unwrap();
        assert!(read.batch);
        assert_eq!(read.records, [vec![("a".to_owned(), Field::Number("1".to_owned()))], vec![]]);
        for bad in ["", "  ", "[\"truncat", "{\"}", "[1]", "{} {}", "[{}] x"] {
            assert!(super::read(bad.as_bytes(), false).is_err(), "{bad}");
        }
        assert!(super::read(b"{\"a\":\"\xff\"}", false).is_err());
    }

    #[test]
    fn xml() {
        let body = "<?xml version=\"1.0\"?>\n<root>\n <a>1 &lt; 2</a><b type=\"null\"/><c type=\"number\">23.010</c>\
                    <d type=\"boolean\">true</d><e></e>\
                    <f><x>1</x><y type=\"array\"><i>a\"</i></y></f><g><![CDATA[<&]]></g></root>";
        let expected = [
            ("a", text("1 < 2")),
            ("b", Field::Null),
            ("c", Field::Number("23.010".into())),
            ("d", Field::Bool(true)),
            ("e", text("")),
            ("f", Field::Json(r#"{"x":"1","y":["a\""]}"#.into())),
            ("g", text("<&")),
        ];
        assert_eq!(one(body, true), Some(expected.map(|(name, field)| (name.to_owned(), field)).to_vec()));
        let batch = read(b"<object type=\"array\"><object><a>1</a></object><object><a>2</a></object></object>", true);
        assert_eq!(batch.map(|read| (read.batch, read.records.len())).ok(), Some((true, 2)));
        for bad in
            ["<root><a>x</b></root>", "<root>", "text", "<root>text</root>", "<a/><b/>", "<root>&what;</root>", ""]
        {
            assert!(read(bad.as_bytes(), true).is_err(), "{bad}");
        }
        let deep = format!("<root><a>{}{}</a></root>", "<b>".repeat(500), "</b>".repeat(500));
        assert!(read(deep.as_bytes(), true).is_err());
    }
}

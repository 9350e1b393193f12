//! Explains why a body could not be parsed, when it exceeds a limit. Runs only after parsing has failed, so that valid
//! bodies do not pay for it.

use salver_model::limits::{CHANGES_MAX, JSON_DEPTH_MAX, LIST_ITEMS_MAX, XML_DEPTH_MAX, XML_ELEMENTS_MAX};
use salver_model::{Code, Error};
use salver_text::json::pieces;

/// Returns an error for the limit that `text` exceeds, if there is one.
pub(super) fn find(text: &str, is_xml: bool) -> Option<Error> {
    let what = match text.as_bytes().first()? {
        _ if is_xml => of_xml(text)?,
        b'{' | b'[' => of_json(text)?,
        _ if text.split('&').nth(LIST_ITEMS_MAX).is_some() => format!("has more than {LIST_ITEMS_MAX} names"),
        _ => return None,
    };
    Some(
        Error::new(Code::InvalidRequest, format!("the body {what}"))
            .with_hint("send less at once; NDJSON and CSV may have any number of rows"),
    )
}

fn of_json(text: &str) -> Option<String> {
    let is_batch = text.starts_with('[');
    let (mut depth, mut records) = (0_usize, 0_usize);
    for byte in pieces(text).filter(|piece| !piece.starts_with('"')).flat_map(str::bytes) {
        match byte {
            b'{' | b'[' => {
                records += usize::from(is_batch && depth == 1);
                depth += 1;
                // A record, within a batch or not, adds levels around its values.
                if depth > JSON_DEPTH_MAX + 2 {
                    return Some(format!("nests deeper than {JSON_DEPTH_MAX} levels"));
                }
                if records > CHANGES_MAX {
                    return Some(format!("has more than {CHANGES_MAX} records"));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn of_xml(text: &str) -> Option<String> {
    let (mut depth, mut elements) = (0_usize, 0_usize);
    for tag in text.split('<').skip(1) {
        let is_empty = tag.split('>').next().is_some_and(|tag| tag.ends_with('/'));
        match tag.as_bytes().first() {
            Some(b'?' | b'!') => continue,
            Some(b'/') => depth = depth.saturating_sub(1),
            _ => {
                elements += 1;
                depth += usize::from(!is_empty);
            }
        }
        if depth > XML_DEPTH_MAX {
            return Some(format!("nests deeper than {XML_DEPTH_MAX} levels"));
        }
        if elements > XML_ELEMENTS_MAX {
            return Some(format!("has more than {XML_ELEMENTS_MAX} elements"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::read;

    #[test]
    fn limits_are_named() {
        for (body, is_xml, word) in [
            (format!("{{\"a\":{}", "[".repeat(1_000)), false, "levels"),
            (format!("[{}]", vec!["{}"; 10_001].join(",")), false, "records"),
            (vec!["a=1"; 1_001].join("&"), false, "names"),
            (format!("<r>{}</r>", "<a>".repeat(100)), true, "levels"),
            (format!("<r><a>{}</a></r>", "<b/>".repeat(250_001)), true, "elements"),
        ] {
            let error = read(body.as_bytes(), is_xml).unwrap_err();
            assert!(error.message.contains(word), "{error}");
        }
        for (body, is_xml) in
            [("{\"a\":", false), ("a=%FF", false), ("<r><a>", true), ("[{\"a\":\"[[[\\\"[\"},1]", false)]
        {
            assert_eq!(read(body.as_bytes(), is_xml).unwrap_err().message, "Cannot read HTTP message", "{body}");
        }
    }
}

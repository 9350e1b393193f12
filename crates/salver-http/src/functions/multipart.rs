//! Forms with files: `multipart/form-data` (RFC 7578).

use http::HeaderMap;
use http::header;
use memchr::memmem;
use salver_model::limits::{PARAMETERS_MAX, PART_HEAD_BYTES_MAX};
use salver_model::{Code, Error, Result};
use salver_text::base64;
use serde_json::{Value as Json, json};

/// The media type of such forms.
pub(super) const FORM_DATA: &str = "multipart/form-data";

/// Field of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FormPart<'b> {
    pub(super) name: String,
    /// For a file the name that the client gives it, and its media type.
    pub(super) file: Option<(String, Option<String>)>,
    pub(super) content: &'b [u8],
}

impl FormPart<'_> {
    /// Returns a file as its argument: its name, its media type and its content in base64.
    pub(super) fn argument(&self) -> Json {
        let mut content = Vec::with_capacity(self.content.len() / 3 * 4 + 4);
        base64::encode(self.content, &mut content);
        let (filename, media_type) = self.file.clone().unzip();
        // Base64 is ASCII.
        let content = String::from_utf8(content).unwrap_or_default();
        json!({ "filename": filename, "content_type": media_type.flatten(), "content": content })
    }

    /// Returns the text of a field that is not a file.
    ///
    /// # Errors
    /// `InvalidBody`.
    pub(super) fn text(&self) -> Result<String> {
        let text = std::str::from_utf8(self.content);
        text.map(str::to_owned).map_err(|cause| malformed(&format!("the field `{}` is not UTF-8", self.name), cause))
    }
}

/// Splits a form into its fields, in order.
///
/// # Errors
/// `InvalidBody`, also for more fields than parameters may be.
pub(super) fn read<'b>(headers: &HeaderMap, body: &'b [u8]) -> Result<Vec<FormPart<'b>>> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = parameter(given, "boundary").filter(|boundary| !boundary.is_empty() && boundary.len() <= 70);
    let Some(boundary) = boundary else {
        return Err(fault("its media type has no `boundary`"));
    };
    let mark = format!("\r\n--{boundary}");
    let finder = memmem::Finder::new(mark.as_bytes());
    // The first boundary may begin the body.
    let mut rest = match body.strip_prefix(&mark.as_bytes()[2..]) {
        Some(rest) => rest,
        None => &body[finder.find(body).ok_or_else(|| fault("its boundary does not occur"))? + mark.len()..],
    };
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Ok(parts);
        }
        if parts.len() == PARAMETERS_MAX {
            return Err(fault(&format!("it has more than {PARAMETERS_MAX} fields")));
        }
        let end = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        let Some(begun) = rest[end..].strip_prefix(b"\r\n") else {
            return Err(fault("a boundary is not a line of its own"));
        };
        let Some(next) = finder.find(rest) else {
            return Err(fault("it ends in the middle of a field"));
        };
        let start = rest.len() - begun.len();
        // A field without head and content ends where it begins.
        let field: &[u8] = if next < start { &[] } else { &rest[start..next] };
        parts.push(part(field)?);
        rest = &rest[next + mark.len()..];
    }
}

/// Reads a field: its head and its content.
fn part(text: &[u8]) -> Result<FormPart<'_>> {
    let within = &text[..text.len().min(PART_HEAD_BYTES_MAX)];
    let Some(end) = memmem::find(within, b"\r\n\r\n") else {
        return Err(fault(&format!("the head of a field does not end within {PART_HEAD_BYTES_MAX} bytes")));
    };
    let head =
        std::str::from_utf8(&text[..end]).map_err(|cause| malformed("the head of a field is not UTF-8", cause))?;
    let field = |name: &str| {
        let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
        lines.find(|(own, _)| own.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let disposition = field("content-disposition").unwrap_or_default();
    let is_field = disposition.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("form-data"));
    let Some(name) = parameter(disposition, "name").filter(|_| is_field) else {
        return Err(fault("a field has no name in its `Content-Disposition`"));
    };
    let file = parameter(disposition, "filename").map(|file| (file, field("content-type").map(str::to_owned)));
    Ok(FormPart { name, file, content: &text[end + 4..] })
}

/// Returns a parameter of a header field: `name=value` or `name="value"` behind a semicolon. Browsers write a quote in
/// a value as `%22`, others as `\"`.
fn parameter(field: &str, wanted: &str) -> Option<String> {
    let mut rest = field.split_once(';')?.1;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let (value, next) = match behind.trim_start().strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (value, next) = behind.split_once(';').unwrap_or((behind, ""));
                (value.trim().to_owned(), next)
            }
        };
        if name.trim_matches(|char: char| char == ';' || char.is_ascii_whitespace()).eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = next;
    }
}

/// Reads a value up to its closing quote, and returns what follows, too.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value.replace("%22", "\""), &text[at + 1..])),
            // Only quotes and backslashes are escaped: old browsers send paths of Windows as they are.
            '\\' if text[at + 1..].starts_with(['"', '\\']) => value.extend(chars.next().map(|(_, char)| char)),
            char => value.push(char),
        }
    }
    None
}

fn fault(why: &str) -> Error {
    Error::new(Code::InvalidBody, format!("the form is not `{FORM_DATA}`: {why}"))
        .with_hint("let a library write it, as `curl -F name=value -F file=@PATH` does")
}

fn malformed(why: &str, cause: std::str::Utf8Error) -> Error {
    fault(why).with_source(cause)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::{FormPart, read};

    fn headers(media_type: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(media_type))])
    }

    #[test]
    fn fields_and_files() {
        let body = b"preamble\r\n--X y\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--X y \r\n\
            content-disposition: form-data; filename=\"C:\\x\\\"q%22.txt\"; name=f\r\nContent-Type: text/plain\r\n\r\n\
            one\r\n--X \r\n--X y--\r\nepilogue";
        let parts = read(&headers("multipart/form-data; charset=utf-8; boundary=\"X y\""), body).unwrap();
        let file = Some(("C:\\x\"q\".txt".to_owned(), Some("text/plain".to_owned())));
        assert_eq!(
            parts,
            [
                FormPart { name: "a".to_owned(), file: None, content: b"1" },
                FormPart { name: "f".to_owned(), file, content: b"one\r\n--X " },
            ]
        );
        assert_eq!(
            parts[1].argument().to_string(),
            r#"{"filename":"C:\\x\"q\".txt","content_type":"text/plain","content":"b25lDQotLVgg"}"#
        );
        assert!(read(&headers("multipart/form-data; boundary=X"), b"--X--").unwrap().is_empty());
    }

    #[test]
    fn what_is_no_form() {
        let form = "multipart/form-data; boundary=X";
        for (media_type, body, why) in [
            ("multipart/form-data", &b"--X--"[..], "no `boundary`"),
            (form, b"", "does not occur"),
            (form, b"--X", "not a line of its own"),
            (form, b"--Xx\r\n", "not a line of its own"),
            (form, b"--X\r\nContent-Disposition: form-data; name=a\r\n\r\n1", "in the middle"),
            (form, b"--X\r\n--X--", "does not end"),
            (form, b"--X\r\n\r\n--X--", "does not end"),
            (form, b"--X\r\n\r\n1\r\n--X--", "does not end"),
            (form, b"--X\r\n\r\n\r\n1\r\n--X--", "no name"),
            (form, b"--X\r\nA: b\r\n\r\n1\r\n--X--", "no name"),
            (form, b"--X\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n--X--", "no name"),
            (form, b"--X\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\n1\r\n--X--", "not UTF-8"),
        ] {
            let error = read(&headers(media_type), body).unwrap_err();
            assert!(error.message.contains(why), "{}: {}", String::from_utf8_lossy(body), error.message);
        }
    }
}

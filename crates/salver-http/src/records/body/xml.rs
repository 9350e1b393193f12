//! Parses XML: elements are columns, and the attribute `type` marks values that are not text (`null`, `number`,
//! `boolean`, `array`).

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use salver_formats::json::write_string;
use salver_model::limits::{CHANGES_MAX, XML_DEPTH_MAX, XML_ELEMENTS_MAX};
use salver_model::records::{Field, Record};

/// An element with its content.
#[derive(Debug, Default)]
struct Element {
    name: String,
    kind: Option<String>,
    text: String,
    children: Vec<Element>,
}

/// Parses records, and whether they were an array; `None` when the text is not XML or does not contain records.
pub(super) fn read(text: &str) -> Option<(Vec<Record>, bool)> {
    let root = parse(text)?;
    if root.kind.as_deref() == Some("array") {
        (root.children.len() <= CHANGES_MAX).then_some(())?;
        let records = root.children.into_iter().map(record).collect::<Option<_>>()?;
        return Some((records, true));
    }
    Some((vec![record(root)?], false))
}

/// Parses the root element.
fn parse(text: &str) -> Option<Element> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let (mut root, mut count) = (None, 0);
    loop {
        let event = reader.read_event().ok()?;
        count += usize::from(matches!(event, Event::Start(_) | Event::Empty(_)));
        (count <= XML_ELEMENTS_MAX).then_some(())?;
        let done = match event {
            Event::Start(start) => {
                (open.len() < XML_DEPTH_MAX && root.is_none()).then_some(())?;
                open.push(element(&start)?);
                continue;
            }
            Event::Empty(start) => {
                root.is_none().then_some(())?;
                element(&start)?
            }
            // The reader has checked that the names match.
            Event::End(_) => open.pop()?,
            Event::Text(text) => {
                let text = text.xml10_content();
                match open.last_mut() {
                    Some(element) => element.text.push_str(&text),
                    None if text.trim().is_empty() => {}
                    None => return None,
                }
                continue;
            }
            Event::CData(text) => {
                open.last_mut()?.text.push_str(&text.xml10_content());
                continue;
            }
            Event::GeneralRef(reference) => {
                let element = open.last_mut()?;
                match reference.resolve_char_ref().ok()? {
                    Some(character) => element.text.push(character),
                    None => {
                        element.text.push_str(quick_xml::escape::resolve_predefined_entity(&reference)?);
                    }
                }
                continue;
            }
            Event::Eof => return root.filter(|_| open.is_empty()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => continue,
            // Entity declarations are refused, since they can expand to far more than was sent.
            Event::DocType(_) => return None,
        };
        match open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => root = Some(done),
        }
    }
}

fn element(start: &BytesStart<'_>) -> Option<Element> {
    let name = start.name().into_inner().to_owned();
    let kind = start.try_get_attribute("type").ok()?.map(|attribute| attribute.value.into_owned());
    Some(Element { name, kind, ..Element::default() })
}

/// Converts an element to a record, with its children as columns. Text beside them, or alone, is not a record.
fn record(element: Element) -> Option<Record> {
    element.text.trim().is_empty().then_some(())?;
    (element.children.len() <= CHANGES_MAX).then_some(())?;
    Some(super::merged(element.children.into_iter().map(|child| (child.name.clone(), field(child)))))
}

fn field(element: Element) -> Field {
    match element.kind.as_deref() {
        Some("null") => Field::Null,
        Some("number") => Field::Number(element.text.trim().to_owned()),
        Some("boolean") => Field::Bool(is_true(&element.text)),
        Some("array" | "object") => nested(&element),
        _ if element.children.is_empty() => Field::Text(element.text),
        _ => nested(&element),
    }
}

fn is_true(text: &str) -> bool {
    text.trim_start().starts_with(['1', 't', 'T'])
}

fn nested(element: &Element) -> Field {
    let mut json = Vec::new();
    write(element, &mut json);
    Field::Json(String::from_utf8_lossy(&json).into_owned())
}

/// Writes an element as JSON.
fn write(element: &Element, out: &mut Vec<u8>) {
    let is_array = element.kind.as_deref() == Some("array");
    match element.kind.as_deref() {
        Some("null") => out.extend_from_slice(b"null"),
        Some("boolean") => out.extend_from_slice(if is_true(&element.text) { b"true" } else { b"false" }),
        Some("number") if is_number(element.text.trim()) => out.extend_from_slice(element.text.trim().as_bytes()),
        Some("array" | "object") | None if is_array || !element.children.is_empty() => {
            out.push(if is_array { b'[' } else { b'{' });
            for (index, child) in element.children.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                if !is_array {
                    write_string(&child.name, out);
                    out.push(b':');
                }
                write(child, out);
            }
            out.push(if is_array { b']' } else { b'}' });
        }
        Some("object") => out.extend_from_slice(b"{}"),
        _ => write_string(&element.text, out),
    }
}

fn is_number(text: &str) -> bool {
    !text.starts_with(['{', '[', '"', 'n', 't', 'f']) && super::Reader::whole(text, |reader| reader.skip()).is_some()
}

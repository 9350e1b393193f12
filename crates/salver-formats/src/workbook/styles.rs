//! The styles of a workbook: how its cells are shown. They are collected while rows are written.

use std::collections::HashMap;
use std::io::Write;

use super::xml_text;
use crate::column::Look;

/// Most styles, since spreadsheets hold some 200 number formats. What has none beyond that is text.
const STYLES: usize = 150;
/// Numbers of styles that are always there: plain cells, and the names of the columns.
pub(super) const HEADER: usize = 1;
const FIXED: usize = 2;
/// The first number of a format that is not built in.
const FIRST_CUSTOM: usize = 164;

/// The styles that were needed so far.
pub(super) struct Styles {
    looks: Vec<Look>,
    numbers: HashMap<Look, usize>,
}

impl Styles {
    pub(super) fn new() -> Self {
        Self { looks: Vec::new(), numbers: HashMap::new() }
    }

    /// Returns the number of the style for `look`; `None` if there are too many.
    pub(super) fn number(&mut self, look: Look) -> Option<usize> {
        if look == Look::General {
            return Some(0);
        }
        if let Some(number) = self.numbers.get(&look) {
            return Some(*number);
        }
        if self.looks.len() >= STYLES {
            return None;
        }
        let number = FIXED + self.looks.len();
        self.looks.push(look);
        self.numbers.insert(look, number);
        Some(number)
    }

    /// Writes `xl/styles.xml`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
            <styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">",
        );
        let formats: Vec<Format> = self.looks.iter().map(|look| format_of(*look)).collect();
        let customs = formats.iter().filter(|format| matches!(format, Format::Custom(_))).count();
        if customs > 0 {
            put(out, format_args!("<numFmts count=\"{customs}\">"));
            for (at, format) in formats.iter().enumerate() {
                if let Format::Custom(code) = format {
                    put(out, format_args!("<numFmt numFmtId=\"{}\" formatCode=\"", FIRST_CUSTOM + at));
                    xml_text::content(code.as_bytes(), out);
                    out.extend_from_slice(b"\"/>");
                }
            }
            out.extend_from_slice(b"</numFmts>");
        }
        out.extend_from_slice(
            b"<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>\
            <font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>\
            <fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>\
            <fill><patternFill patternType=\"gray125\"/></fill></fills>\
            <borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
            <cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs>",
        );
        put(out, format_args!("<cellXfs count=\"{}\">", FIXED + formats.len()));
        out.extend_from_slice(
            b"<xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>\
            <xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyFont=\"1\"/>",
        );
        for (at, format) in formats.iter().enumerate() {
            let number = match format {
                Format::BuiltIn(number) => *number,
                Format::Custom(_) => FIRST_CUSTOM + at,
            };
            put(out, format_args!("<xf numFmtId=\"{number}\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\""));
            out.extend_from_slice(b" applyNumberFormat=\"1\"/>");
        }
        out.extend_from_slice(
            b"</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles>\
            </styleSheet>",
        );
    }
}

enum Format {
    BuiltIn(usize),
    Custom(String),
}

fn format_of(look: Look) -> Format {
    let clock = |has_ms: bool| if has_ms { "hh:mm:ss.000" } else { "hh:mm:ss" };
    match look {
        Look::General => Format::BuiltIn(0),
        Look::Whole => Format::BuiltIn(1),
        Look::Literal => Format::BuiltIn(49),
        Look::Places(2) => Format::BuiltIn(2),
        Look::Places(places) => Format::Custom(format!("0.{}", "0".repeat(usize::from(places)))),
        Look::Date => Format::Custom("yyyy\\-mm\\-dd".to_owned()),
        Look::Time { has_ms } => Format::Custom(clock(has_ms).to_owned()),
        Look::Moment { has_ms, offset } => {
            Format::Custom(format!("yyyy\\-mm\\-dd\\ {}{}", clock(has_ms), offset.map_or_else(String::new, shown)))
        }
    }
}

/// Returns an offset in minutes as text of a number format.
fn shown(offset: i32) -> String {
    if offset == 0 {
        return "\"Z\"".to_owned();
    }
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs());
    format!("\"{sign}{:02}:{:02}\"", minutes / 60, minutes % 60)
}

/// Appends formatted text, which can't fail.
pub(super) fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

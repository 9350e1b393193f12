//! Text in the XML of a workbook.

/// Writes text as the content of an element. What XML can't have, and a carriage return, which it would change, is
/// written as `_xHHHH_`, as Excel does; text that looks like that is kept apart from it by `_x005F_`.
pub(super) fn content(text: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let (instead, taken): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            b'"' => (b"&quot;", 1),
            b'\t' | b'\n' => (&[], 0),
            0..0x20 => (&escaped(u16::from(*byte)), 1),
            b'_' if is_escape(&text[at..]) => (b"_x005F_", 1),
            0xef if text[at..].starts_with(&[0xef, 0xbf, 0xbe]) => (b"_xFFFE_", 3),
            0xef if text[at..].starts_with(&[0xef, 0xbf, 0xbf]) => (b"_xFFFF_", 3),
            _ => (&[], 0),
        };
        if taken > 0 {
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(instead);
            copied = at + taken;
        }
        at += taken.max(1);
    }
    out.extend_from_slice(&text[copied..]);
}

/// Returns whether text begins like an escaped character; the `_` that would end it may be that of an escape itself.
fn is_escape(text: &[u8]) -> bool {
    matches!(text, [b'_', b'x', a, b, c, d, ..] if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit))
}

fn escaped(unit: u16) -> [u8; 7] {
    let digit = |shift: u16| b"0123456789ABCDEF"[usize::from(unit >> shift & 15)];
    [b'_', b'x', digit(12), digit(8), digit(4), digit(0), b'_']
}

#[cfg(test)]
mod tests {
    use super::content;

    #[test]
    fn what_xml_can_not_have() {
        for (text, expected) in [
            ("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"),
            ("\0\u{b}\u{1f}\r\n\t", "_x0000__x000B__x001F__x000D_\n\t"),
            ("_x0041_ _x004_ _X0041_ _x00g1_", "_x005F_x0041_ _x004_ _X0041_ _x00g1_"),
            ("_x0041_x0042_", "_x005F_x0041_x005F_x0042_"),
            ("_x0041\u{1}", "_x005F_x0041_x0001_"),
            ("\u{fffe}\u{ffff}\u{fffd}é", "_xFFFE__xFFFF_\u{fffd}é"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            content(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}

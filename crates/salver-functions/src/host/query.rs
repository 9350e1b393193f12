//! Decoding of paths and queries for applications of our own classes: paths are unescaped, and queries split into
//! pairs.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use salver_text::form;

/// Name or value of a query. Escapes may encode any bytes.
pub(super) type Text<'a> = Cow<'a, [u8]>;

/// Query: names and values.
pub(super) type Pairs<'a> = Vec<(Text<'a>, Text<'a>)>;

/// Decodes percent escapes like `%41`; `plus` says whether `+` is a space. Malformed escapes are kept. Zero bytes,
/// which R's texts cannot hold, are removed.
pub(super) fn decode(text: &str, plus: bool) -> Text<'_> {
    let decoded: Text<'_> = if plus { form::bytes(text) } else { percent_decode_str(text).into() };
    match decoded {
        Cow::Owned(bytes) if bytes.contains(&0) => Cow::Owned(bytes.into_iter().filter(|byte| *byte != 0).collect()),
        decoded => decoded,
    }
}

/// Returns the pairs of `a=1&b=2`, except those without a name or a value.
pub(super) fn pairs(query: &str) -> Pairs<'_> {
    let pairs = form::pairs(query).map(|(name, value)| (decode(name, true), decode(value, true)));
    pairs.filter(|(name, value)| !name.is_empty() && !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{decode, pairs};

    #[test]
    fn escapes() {
        for (text, decoded) in [
            ("/a%20b+c", "/a b+c"),
            ("%C3%a9", "é"),
            ("%", "%"),
            ("%4", "%4"),
            ("%4x%", "%4x%"),
            ("%+1", "%+1"),
            ("%2541", "%41"),
            ("a%00b", "ab"),
            ("é", "é"),
        ] {
            assert_eq!(*decode(text, false), *decoded.as_bytes(), "{text}");
        }
        assert_eq!(*decode("%FF+", true), *b"\xff ");
    }

    #[test]
    fn queries() {
        let texts = |query| -> Vec<(String, String)> {
            let text = |bytes: super::Text<'_>| String::from_utf8(bytes.into_owned()).unwrap();
            pairs(query).into_iter().map(|(name, value)| (text(name), text(value))).collect()
        };
        let wanted = [("a", "1"), ("b c", "d=&"), ("a", "2"), ("e", "f==")];
        let wanted: Vec<_> = wanted.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(texts("a=1&b+c=d%3D%26&&x&y=&=z&=&%00=1&g=%00&a=2&e=f=="), wanted);
        assert_eq!(texts(""), []);
    }
}

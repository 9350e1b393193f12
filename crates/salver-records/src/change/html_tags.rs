//! Strips HTML tags from text, like PHP's `strip_tags`: the text between tags stays unchanged. The result is not safe
//! to embed in a page; the page must escape it.

/// Returns the text without tags and comments.
pub(crate) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        // "a < b" is not a tag.
        if tag[1..].starts_with(char::is_whitespace) {
            out.push('<');
            rest = &tag[1..];
            continue;
        }
        rest = &tag[end(tag)..];
    }
    out.push_str(rest);
    out
}

/// Returns the end of the tag that `text` begins with; an unclosed one takes the rest.
fn end(text: &str) -> usize {
    if text.starts_with("<!--") {
        return text.find("-->").map_or(text.len(), |at| at + 3);
    }
    let mut quote = None;
    for (at, c) in text.char_indices().skip(1) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return at + 1,
            (None, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn tags_go_and_text_stays() {
        for (text, expected) in [
            ("<h1>Title</h1> <p>Body</p>", "Title Body"),
            ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("a<a title=\">\" href='<x>'>b</a>c", "abc"),
            ("x<!-- <b> -->y", "xy"),
            ("open <b", "open "),
            ("größe <i>ü</i>", "größe ü"),
            ("<scr<script>ipt>", "ipt>"),
        ] {
            assert_eq!(strip(text), expected, "{text}");
        }
    }
}

//! Sources of an event's key, id or time: `$.user.id`, `$["user id"]` or `header:X-Key`.

use salver_model::spec::Pick;

const HEADER: &str = "header:";

/// Parses a source. The error is the problem with it.
pub(crate) fn parse(text: &str) -> Result<Pick, String> {
    if let Some(header) = text.strip_prefix(HEADER) {
        let header = header.trim();
        return match is_header(header) {
            true => Ok(Pick::Header(header.to_owned())),
            false => Err(format!("`{header}` is not the name of a header")),
        };
    }
    let Some(mut rest) = text.strip_prefix('$') else {
        return Err("it begins neither with `$.` nor with `header:`".to_owned());
    };
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (member, behind) = match rest.strip_prefix('.') {
            Some(rest) => plain(rest)?,
            None => quoted(rest)?,
        };
        members.push(member);
        rest = behind;
    }
    if members.is_empty() { Err("it names no member".to_owned()) } else { Ok(Pick::Member(members)) }
}

/// Renders a source so that [`parse`] reads it back.
pub(crate) fn render(pick: &Pick) -> String {
    match pick {
        Pick::Header(name) => format!("{HEADER}{name}"),
        Pick::Member(members) => {
            let mut out = String::from("$");
            for member in members {
                if member.is_empty() || member.contains(['.', '[', '"', '\\']) {
                    let escaped = member.replace('\\', "\\\\").replace('"', "\\\"");
                    out.push_str(&format!("[\"{escaped}\"]"));
                } else {
                    out.push('.');
                    out.push_str(member);
                }
            }
            out
        }
    }
}

/// Returns whether `text` is a valid header name.
pub(crate) fn is_header(text: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(token)
}

/// Splits off a name up to the next `.` or `[`.
fn plain(text: &str) -> Result<(String, &str), String> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return Err("a name in it is empty".to_owned());
    }
    Ok((name.to_owned(), rest))
}

/// Splits off a name in brackets and quotes.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let wrong = || format!("`{text}` is neither `.name` nor `[\"name\"]`");
    let inside = text.strip_prefix('[').ok_or_else(wrong)?;
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\'')).ok_or_else(wrong)?;
    let mut name = String::new();
    let mut letters = inside.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.push(letters.next().ok_or_else(wrong)?.1),
            _ if letter == quote => {
                let rest = inside[at + 1..].strip_prefix(']').ok_or_else(wrong)?;
                return Ok((name, rest));
            }
            _ => name.push(letter),
        }
    }
    Err(wrong())
}

#[cfg(test)]
mod tests {
    use salver_model::spec::Pick;

    use super::{parse, render};

    #[test]
    fn every_way_to_write_it() {
        let members = |names: &[&str]| Pick::Member(names.iter().map(|name| (*name).to_owned()).collect());
        for (text, pick, again) in [
            ("$.id", members(&["id"]), "$.id"),
            ("$.user.id", members(&["user", "id"]), "$.user.id"),
            (r#"$["a.b"]['c'].d"#, members(&["a.b", "c", "d"]), r#"$["a.b"].c.d"#),
            (r#"$["say \"\\\""]"#, members(&["say \"\\\""]), r#"$["say \"\\\""]"#),
            ("$['']", members(&[""]), r#"$[""]"#),
            ("$.größe x", members(&["größe x"]), "$.größe x"),
            ("header: X-Key", Pick::Header("X-Key".to_owned()), "header:X-Key"),
        ] {
            assert_eq!(parse(text), Ok(pick.clone()), "{text}");
            assert_eq!(render(&pick), again);
            assert_eq!(parse(again), Ok(pick), "{again}");
        }
        for wrong in
            ["", "id", "$", "$id", "$.", "$..a", "$[a]", "$[\"a]", "$[\"a\"b]", "$['\\", "header:", "header:a b"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}

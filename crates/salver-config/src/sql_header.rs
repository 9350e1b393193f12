//! What a file of SQL says of itself, in the comments before its statement:
//!
//! ```sql
//! -- description: Cities whose name begins so.
//! -- param beginning text = A -- the first letters of the name
//! -- param most integer = 10
//! SELECT city FROM uk_cities WHERE city LIKE $beginning || '%' LIMIT $most
//! ```

use salver_model::ParameterType;
use salver_model::spec::ParameterSpec;

/// What the comments say.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SqlHeader {
    /// Description, of one or several lines; empty if there is none.
    pub(crate) description: String,
    /// Parameters, each with the number of its line.
    pub(crate) parameters: Vec<(usize, ParameterSpec)>,
    /// What is wrong, each with the number of its line.
    pub(crate) mistakes: Vec<(usize, String)>,
}

/// Reads the comments at the beginning of a file.
pub(crate) fn read(sql: &str) -> SqlHeader {
    let mut header = SqlHeader::default();
    for (number, line) in sql.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{feff}');
        let Some(comment) = line.strip_prefix("--") else { if line.is_empty() { continue } else { break } };
        let comment = comment.trim();
        if let Some(text) = comment.strip_prefix("description:") {
            if !header.description.is_empty() {
                header.description.push(' ');
            }
            header.description.push_str(text.trim());
        } else if let Some(text) = comment.strip_prefix("param ") {
            match parameter(text) {
                Ok(parameter) => header.parameters.push((number + 1, parameter)),
                Err(message) => header.mistakes.push((number + 1, message)),
            }
        }
    }
    header
}

/// Reads `NAME TYPE = DEFAULT -- DESCRIPTION`.
fn parameter(text: &str) -> Result<ParameterSpec, String> {
    let (text, description) = text.split_once(" -- ").unwrap_or((text, ""));
    let (declared, default) = match text.split_once('=') {
        Some((declared, default)) => (declared, Some(default.trim())),
        None => (text, None),
    };
    let mut words = declared.split_whitespace();
    let name = words.next().unwrap_or_default().trim_start_matches('$').to_owned();
    let kind = match words.next() {
        None => None,
        Some(word) => Some(ParameterType::named(word).ok_or_else(|| {
            let known: Vec<&str> = ParameterType::ALL.iter().map(|(word, _)| *word).collect();
            format!("`{word}` is not a type of parameters, which are {}", known.join(", "))
        })?),
    };
    if let Some(more) = words.next() {
        return Err(format!("`{more}` is not expected behind the type"));
    }
    let is_null = default == Some("null");
    let default = default.filter(|_| !is_null).map(str::to_owned);
    Ok(ParameterSpec { name, kind, default, required: !is_null, description: description.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use salver_model::ParameterType;

    use super::read;

    #[test]
    fn comments_before_the_statement() {
        let header = read(
            "-- description: Cities\n-- anything else\n\n-- description: of a region.\n\
             -- param region text = the north -- a part of the country\n-- param $most integer=10\n\
             -- param since date = null\n-- param other\nSELECT 1 -- param late\n-- param too_late\n",
        );
        assert_eq!(header.description, "Cities of a region.");
        let all: Vec<_> = header
            .parameters
            .iter()
            .map(|(line, own)| (*line, own.name.as_str(), own.kind, own.default.as_deref(), own.required))
            .collect();
        assert_eq!(
            all,
            [
                (5, "region", Some(ParameterType::Text), Some("the north"), true),
                (6, "most", Some(ParameterType::Integer), Some("10"), true),
                (7, "since", Some(ParameterType::Date), None, false),
                (8, "other", None, None, true),
            ]
        );
        assert_eq!(header.parameters[0].1.description, "a part of the country");
        assert_eq!(header.mistakes, []);
    }

    #[test]
    fn mistakes_have_their_lines() {
        let header = read("-- param a int\n-- param b text text\nselect 1");
        let lines: Vec<usize> = header.mistakes.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2]);
        assert!(header.mistakes[0].1.contains("`int` is not a type"), "{:?}", header.mistakes);
    }
}

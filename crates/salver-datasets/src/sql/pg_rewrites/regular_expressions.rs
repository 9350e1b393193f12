//! Regular expressions: those of SQL, which the engine takes for its own, and `.`, which in PostgreSQL also matches a
//! line break.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Function, Value};
use salver_model::Error;

use super::function_names::{arguments, name_of, simple};
use super::{expression, refused, take};
use crate::engine::spelled;

/// Functions whose second argument is a pattern, and the position of their flags.
const FLAGS: [(&str, usize); 7] = [
    ("regexp_like", 2),
    ("regexp_match", 2),
    ("regexp_count", 3),
    ("regexp_instr", 5),
    ("regexp_replace", 3),
    ("regexp_split_to_array", 2),
    ("regexp_substr", 4),
];

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    use BinaryOperator::{PGRegexIMatch, PGRegexMatch, PGRegexNotIMatch, PGRegexNotMatch};
    match expr {
        Expr::SimilarTo { negated, expr: value, pattern, escape_char } => {
            let escape = match escape_char.take() {
                Some(escape) => Expr::Value(escape),
                None => text("\\"),
            };
            let op = if *negated { "!~" } else { "~" };
            let parts = vec![take(value), take(pattern), escape];
            *expr = expression(&format!("(__1 {op} similar_to_escape(__2, __3))"), parts)?;
        }
        Expr::BinaryOp { op: PGRegexMatch | PGRegexNotMatch | PGRegexIMatch | PGRegexNotIMatch, right, .. } => {
            across_lines(right)?;
        }
        // A text in the place of a position is a pattern.
        Expr::Substring { expr: value, substring_from: Some(from), substring_for: None, .. }
            if written(from).is_some() =>
        {
            let mut pattern = take(from);
            across_lines(&mut pattern)?;
            *expr = expression("(regexp_match(__1, __2)[1])", vec![take(value), pattern])?;
        }
        Expr::Function(function) => called(function)?,
        _ => {}
    }
    Ok(())
}

fn called(function: &mut Function) -> Result<(), Box<Error>> {
    let Some(name) = name_of(function) else { return Ok(()) };
    let Some((_, flags)) = FLAGS.iter().find(|(known, _)| *known == name) else { return Ok(()) };
    let Some(mut arguments) = arguments(function) else { return Ok(()) };
    let mut no_flags = false;
    let by_lines = match arguments.get_mut(*flags) {
        None => false,
        Some(flags) => {
            let Some(own) = written(flags) else {
                return Err(refused(format!("`{name}` needs its flags written out"), "write them, as in `'gi'`"));
            };
            if let Some(other) = own.chars().find(|flag| !"gincmsx".contains(*flag)) {
                return Err(refused(
                    format!("a pattern has no flag `{other}` here"),
                    "write it without: `g`, `i`, `n`, `s` and `x` are known",
                ));
            }
            let by_lines = own.contains(['n', 'm']);
            if name != "regexp_split_to_array" {
                // The engine's `m` is one half of PostgreSQL's, and the other half is its default.
                let own: String = own.chars().filter(|flag| !"nmcs".contains(*flag)).collect();
                let own = if by_lines { own + "m" } else { own };
                no_flags = own.is_empty();
                *flags = text(&own);
            }
            by_lines
        }
    };
    if no_flags {
        arguments.truncate(*flags);
    }
    if let Some(pattern) = arguments.get_mut(1) {
        if by_lines || name == "regexp_split_to_array" {
            in_its_words(pattern)?;
        } else {
            across_lines(pattern)?;
        }
    }
    if name == "regexp_replace"
        && let Some(with) = arguments.get_mut(2)
    {
        replacement(with)?;
    }
    *function = simple(&name, arguments);
    Ok(())
}

/// Makes `.` in a pattern match line breaks too.
fn across_lines(pattern: &mut Expr) -> Result<(), Box<Error>> {
    in_its_words(pattern)?;
    match written(pattern) {
        Some(own) if own.contains('.') => *pattern = text(&format!("(?s){own}")),
        Some(_) => {}
        None => {
            let inner = take(pattern);
            *pattern = expression("('(?s)' || __1)", vec![inner])?;
        }
    }
    Ok(())
}

/// Translates a pattern to the engine's syntax.
fn in_its_words(pattern: &mut Expr) -> Result<(), Box<Error>> {
    *pattern = match written(pattern) {
        Some(own) => text(&spelled(&own)),
        None => expression("spelled(__1)", vec![take(pattern)])?,
    };
    Ok(())
}

/// Translates a replacement: a dollar sign has no meaning, and `\&` is the match.
fn replacement(with: &mut Expr) -> Result<(), Box<Error>> {
    match written(with) {
        Some(own) if own.contains("\\\\") => Err(refused(
            "a backslash can't be put in the place of a match",
            "put another character there, and `replace` it",
        )),
        Some(own) if own.contains("\\0") => Err(refused(
            "`\\0` can't be put in the place of a match",
            "write `\\&` for the whole match, and `\\1` to `\\9` for its groups",
        )),
        Some(own) => {
            *with = text(&groups(&own.replace('$', "$$").replace("\\&", "\\0")));
            Ok(())
        }
        None => {
            let inner = take(with);
            *with = expression("replace(replace(__1, '$', '$$'), '\\&', '\\0')", vec![inner])?;
            Ok(())
        }
    }
}

/// Translates references to groups, which have one digit; a digit after that is text.
fn groups(with: &str) -> String {
    let mut made = String::with_capacity(with.len());
    let mut signs = with.chars().peekable();
    while let Some(sign) = signs.next() {
        match (sign, signs.peek()) {
            ('\\', Some(group)) if group.is_ascii_digit() => {
                made.push_str("${");
                made.extend(signs.next());
                made.push('}');
            }
            _ => made.push(sign),
        }
    }
    made
}

fn text(own: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(own.to_owned()))
}

/// Returns the text of a literal.
fn written(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => value.value.clone().into_string(),
        Expr::Nested(inner) => written(inner),
        _ => None,
    }
}

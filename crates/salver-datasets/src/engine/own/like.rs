//! `like` and `ilike` with patterns that may be others in each row: the engine's operators compile each of them, and
//! look at no clock before a batch is done.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::row::RowFunction;

/// `like(text, pattern, escape)`.
pub(in crate::engine) fn like() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| matches(arrays, |c| c);
    function("like", values)
}

/// `ilike(text, pattern, escape)`: letters are alike in upper and lower case.
pub(in crate::engine) fn ilike() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| matches(arrays, lower);
    function("ilike", values)
}

fn function(name: &'static str, values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>) -> ScalarUDF {
    let signature = Signature::any(3, Volatility::Immutable);
    RowFunction { name, signature, returns: |_| Ok(DataType::Boolean), values }.function()
}

/// A letter in lower case; of one that has several there, itself.
fn lower(c: char) -> char {
    let mut lowered = c.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(lowered), None) => lowered,
        _ => c,
    }
}

/// A part of a pattern.
#[derive(Clone, Copy)]
enum Part {
    /// Any characters.
    Any,
    /// One character.
    One,
    This(char),
    /// An escape with nothing behind it.
    Escape,
}

fn matches(arrays: &[ArrayRef], fold: fn(char) -> char) -> Result<ArrayRef> {
    let texts = arrays.iter().map(|array| cast(array, &DataType::Utf8)).collect::<Result<Vec<_>, _>>()?;
    let [texts, patterns, escapes] = texts.as_slice() else {
        return plan_err!("`like` takes a text, a pattern and an escape");
    };
    let (texts, patterns, escapes) =
        (texts.as_string::<i32>(), patterns.as_string::<i32>(), escapes.as_string::<i32>());
    let mut known: Option<(&str, Vec<Part>)> = None;
    let mut found = Vec::with_capacity(texts.len());
    for row in 0..texts.len() {
        if texts.is_null(row) || patterns.is_null(row) {
            found.push(None);
            continue;
        }
        let pattern = patterns.value(row);
        let parts = match &known {
            Some((other, parts)) if *other == pattern => parts,
            _ => &known.insert((pattern, parts(pattern, escapes.value(row).chars().next(), fold))).1,
        };
        match is_match(texts.value(row), parts, fold) {
            Some(is_match) => found.push(Some(is_match)),
            None => return exec_err!("the pattern '{pattern}' ends with its escape"),
        }
    }
    Ok(Arc::new(BooleanArray::from(found)))
}

fn parts(pattern: &str, escape: Option<char>, fold: fn(char) -> char) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        parts.push(match c {
            c if Some(c) == escape => rest.next().map_or(Part::Escape, |c| Part::This(fold(c))),
            '%' => Part::Any,
            '_' => Part::One,
            c => Part::This(fold(c)),
        });
    }
    parts
}

/// Whether a text is as a pattern says; `None` where what is left of the pattern is its escape. Where a character does
/// not fit, the last `%` takes one more; what stands before that need not be looked at again.
fn is_match(text: &str, parts: &[Part], fold: fn(char) -> char) -> Option<bool> {
    let mut rest = text.chars();
    let mut at = 0;
    let mut last: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        match parts.get(at) {
            Some(Part::Any) => {
                at += 1;
                if at == parts.len() {
                    return Some(true);
                }
                last = Some((at, rest.clone()));
                continue;
            }
            Some(Part::Escape) if !rest.as_str().is_empty() => return None,
            _ => {}
        }
        let c = rest.next();
        let fits = match (parts.get(at), c) {
            (None, None) => return Some(true),
            // Where the text ends, it does so for every other way as well.
            (Some(_), None) => return Some(false),
            (Some(Part::One), Some(_)) => true,
            (Some(Part::This(this)), Some(c)) => *this == fold(c),
            _ => false,
        };
        if fits {
            at += 1;
            continue;
        }
        let Some((behind, from)) = &mut last else { return Some(false) };
        from.next();
        (at, rest) = (*behind, from.clone());
    }
}

#[cfg(test)]
mod tests {
    use regex::RegexBuilder;

    use super::*;

    /// The same as a regular expression.
    fn expected(text: &str, pattern: &str, folds: bool) -> bool {
        let mut made = String::from("^");
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                '\\' => made.push_str(&regex::escape(&rest.next().unwrap().to_string())),
                '%' => made.push_str(".*"),
                '_' => made.push('.'),
                c => made.push_str(&regex::escape(&c.to_string())),
            }
        }
        made.push('$');
        let mut builder = RegexBuilder::new(&made);
        builder.dot_matches_new_line(true).case_insensitive(folds).build().unwrap().is_match(text)
    }

    #[test]
    fn patterns_match_as_regular_expressions_do() {
        // Numbers of a simple generator, so that a failure comes again.
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut is_true = 0;
        for _ in 0..40_000 {
            let text: String = (0..next(9)).map(|_| ['a', 'A', 'b', 'é', 'É', '%', '\n'][next(7)]).collect();
            let signs = ["a", "b", "é", "%", "%", "_", "\\%", "\\a", "\n"];
            let pattern: String = (0..next(8)).map(|_| signs[next(9)]).collect();
            for (fold, folds) in [(lower as fn(char) -> char, true), (|c| c, false)] {
                let found = is_match(&text, &parts(&pattern, Some('\\'), fold), fold).unwrap();
                assert_eq!(found, expected(&text, &pattern, folds), "{text:?} like {pattern:?}, {folds}");
                is_true += usize::from(found);
            }
        }
        assert!(is_true > 5_000, "{is_true}");
        let ends = |text: &str| is_match(text, &parts("a\\", Some('\\'), |c| c), |c| c);
        assert_eq!([ends("b"), ends("ab"), ends("a")], [Some(false), None, Some(false)]);
    }
}

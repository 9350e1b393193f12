//! `like` and `ilike` with patterns that are more than a prefix, a suffix or a substring. The engine's operators
//! compile them to regular expressions, one per row, and don't check for cancellation before a batch is complete.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBuilder};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use memchr::memmem::Finder;

use super::text_function::{TextFunction, Texts};

/// `like(text, pattern, escape)`.
pub(in crate::engine) fn like() -> ScalarUDF {
    let values = |texts: &[Texts], rows: usize| matches(texts, rows, None);
    function("like", values)
}

/// `ilike(text, pattern, escape)`: ignores case.
pub(in crate::engine) fn ilike() -> ScalarUDF {
    let values = |texts: &[Texts], rows: usize| matches(texts, rows, Some(lower));
    function("ilike", values)
}

fn function(name: &'static str, values: fn(&[Texts], usize) -> Result<ArrayRef>) -> ScalarUDF {
    let signature = Signature::any(3, Volatility::Immutable);
    TextFunction { name, signature, returns: || DataType::Boolean, values }.function()
}

/// Returns a character in lower case, or unchanged if its lower case has several.
fn lower(c: char) -> char {
    let mut lowered = c.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(lowered), None) => lowered,
        _ => c,
    }
}

/// Mapping of characters before they are compared.
type Fold = fn(char) -> char;

/// A part of a pattern between two `%`.
struct LikePart {
    signs: Vec<Sign>,
    /// Text of a part without wildcards that is compared case-sensitively: it is searched in linear time.
    text: Option<Finder<'static>>,
}

#[derive(Clone, Copy)]
enum Sign {
    /// Any character.
    One,
    This(char),
    /// An escape at the end of the pattern.
    Escape,
}

/// A pattern: its parts, with a `%` between each two.
struct LikePattern {
    parts: Vec<LikePart>,
    fold: Fold,
}

fn matches(texts: &[Texts], rows: usize, fold: Option<Fold>) -> Result<ArrayRef> {
    let [texts, patterns, escapes] = texts else {
        return plan_err!("`like` takes a text, a pattern and an escape");
    };
    let is_same = patterns.is_same && escapes.is_same;
    let mut known: Option<(&str, Option<&str>, LikePattern)> = None;
    let mut found = BooleanBuilder::with_capacity(rows);
    for row in 0..rows {
        let (Some(text), Some(own)) = (texts.get(row), patterns.get(row)) else {
            found.append_null();
            continue;
        };
        let escape = escapes.get(row);
        let pattern = match &known {
            Some((other, with, pattern)) if is_same || (*other == own && *with == escape) => pattern,
            _ => {
                let pattern = LikePattern::of(own, escape.and_then(|escape| escape.chars().next()), fold);
                &known.insert((own, escape, pattern)).2
            }
        };
        match pattern.is_match(text) {
            Some(is_match) => found.append_value(is_match),
            None => return exec_err!("the pattern '{own}' ends with its escape"),
        }
    }
    Ok(Arc::new(found.finish()))
}

impl LikePattern {
    fn of(pattern: &str, escape: Option<char>, fold: Option<Fold>) -> Self {
        let folds = fold.is_some();
        let fold = fold.unwrap_or(|c| c);
        let (mut parts, mut signs) = (Vec::new(), Vec::new());
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                c if Some(c) == escape => signs.push(rest.next().map_or(Sign::Escape, |c| Sign::This(fold(c)))),
                '%' => parts.push(std::mem::take(&mut signs)),
                '_' => signs.push(Sign::One),
                c => signs.push(Sign::This(fold(c))),
            }
        }
        parts.push(signs);
        let part = |signs: Vec<Sign>| {
            let letter = |sign: &Sign| if let Sign::This(c) = sign { Some(*c) } else { None };
            let text: Option<String> = if folds { None } else { signs.iter().map(letter).collect() };
            LikePart { signs, text: text.map(|text| Finder::new(text.as_bytes()).into_owned()) }
        };
        Self { parts: parts.into_iter().map(part).collect(), fold }
    }

    /// Returns whether a text matches the pattern; `None` if the match reaches an escape without a character. Each part
    /// between two `%` is matched at its first occurrence, which leaves the most text to the others.
    fn is_match(&self, text: &str) -> Option<bool> {
        let [first, middle @ .., last] = self.parts.as_slice() else {
            return Some(match self.parts.first() {
                Some(only) => only.at_begin(text, self.fold)?.is_some_and(str::is_empty),
                None => text.is_empty(),
            });
        };
        let Some(mut rest) = first.at_begin(text, self.fold)? else { return Some(false) };
        for part in middle {
            let Some(behind) = part.behind(rest, self.fold)? else { return Some(false) };
            rest = behind;
        }
        last.at_end(rest, self.fold)
    }
}

impl LikePart {
    /// Returns the rest of a text that begins with the part; the inner `None` if it does not. The outer `None` stands
    /// for an escape without a character.
    fn at_begin<'t>(&self, text: &'t str, fold: Fold) -> Option<Option<&'t str>> {
        if let Some(own) = &self.text {
            let begins = text.as_bytes().starts_with(own.needle());
            return Some(begins.then(|| &text[own.needle().len()..]));
        }
        let mut rest = text.chars();
        for sign in &self.signs {
            match (sign, rest.next()) {
                (_, None) => return Some(None),
                (Sign::Escape, Some(_)) => return None,
                (Sign::This(this), Some(c)) if *this != fold(c) => return Some(None),
                _ => {}
            }
        }
        Some(Some(rest.as_str()))
    }

    /// Returns the rest of a text after the first occurrence of the part.
    fn behind<'t>(&self, text: &'t str, fold: Fold) -> Option<Option<&'t str>> {
        if let Some(own) = &self.text {
            return Some(own.find(text.as_bytes()).map(|at| &text[at + own.needle().len()..]));
        }
        let mut rest = text.chars();
        loop {
            if let Some(behind) = self.at_begin(rest.as_str(), fold)? {
                return Some(Some(behind));
            }
            if rest.next().is_none() {
                return Some(None);
            }
        }
    }

    /// Returns whether a text ends with the part.
    fn at_end(&self, text: &str, fold: Fold) -> Option<bool> {
        if let Some(own) = &self.text {
            return Some(text.as_bytes().ends_with(own.needle()));
        }
        if let Some(Sign::Escape) = self.signs.last() {
            return if text.is_empty() { Some(false) } else { None };
        }
        let mut signs = self.signs.iter().rev();
        let mut rest = text.chars();
        let fits = signs.all(|sign| match (sign, rest.next_back()) {
            (Sign::This(this), Some(c)) => *this == fold(c),
            (_, c) => c.is_some(),
        });
        Some(fits)
    }
}

#[cfg(test)]
mod tests {
    use regex::RegexBuilder;

    use super::*;

    /// Evaluates the pattern as a regular expression, for comparison.
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
        // A simple deterministic generator, so that a failure is reproducible.
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
            for fold in [Some(lower as Fold), None] {
                let found = LikePattern::of(&pattern, Some('\\'), fold).is_match(&text).unwrap();
                let expected = expected(&text, &pattern, fold.is_some());
                assert_eq!(found, expected, "{text:?} like {pattern:?}, {}", fold.is_some());
                is_true += usize::from(found);
            }
        }
        assert!(is_true > 5_000, "{is_true}");
        let ends = |pattern: &str, text: &str| LikePattern::of(pattern, Some('\\'), None).is_match(text);
        assert_eq!([ends("a\\", "b"), ends("a\\", "ab"), ends("a\\", "a")], [Some(false), None, Some(false)]);
        assert_eq!([ends("%a\\", "b"), ends("%\\", "")], [None, Some(false)]);
    }
}

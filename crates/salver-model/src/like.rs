//! SQL `LIKE` matching of text in memory: `%` matches any run of characters, `_` one character, `\` escapes.
//!
//! Matching stays cheap for hostile patterns. Each run between two `%` is searched once, from left to right, without
//! backtracking; a run that contains `_` is searched at all places of the text at once, with a bit for each.

use std::collections::HashMap;

/// Compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Prefix of the text.
    first: Run,
    /// Runs behind the prefix, in order, and the suffix of the text; `None` without `%`, where the prefix is the whole
    /// pattern.
    rest: Option<(Vec<Run>, Run)>,
    ignore_case: bool,
}

impl Pattern {
    /// Compiles `pattern`.
    #[must_use]
    pub fn new(pattern: &str, ignore_case: bool) -> Self {
        let lower;
        let pattern = if ignore_case {
            lower = pattern.to_lowercase();
            &lower
        } else {
            pattern
        };
        let mut runs = vec![Vec::new()];
        let mut signs = pattern.chars();
        while let Some(sign) = signs.next() {
            let sign = match sign {
                '%' => {
                    runs.push(Vec::new());
                    continue;
                }
                '_' => None,
                '\\' => Some(signs.next().unwrap_or('\\')),
                other => Some(other),
            };
            if let Some(run) = runs.last_mut() {
                run.push(sign);
            }
        }
        let mut runs = runs.into_iter();
        let first = Run::new(runs.next().unwrap_or_default());
        let last = runs.next_back().map(Run::new);
        let rest = last.map(|last| (runs.filter(|run| !run.is_empty()).map(Run::new).collect(), last));
        Self { first, rest, ignore_case }
    }

    /// Returns whether all of `text` matches the pattern.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        if self.ignore_case { self.matches_as_is(&text.to_lowercase()) } else { self.matches_as_is(text) }
    }

    fn matches_as_is(&self, text: &str) -> bool {
        let Some(mut left) = self.first.at_start(text) else { return false };
        let Some((runs, last)) = &self.rest else { return left.is_empty() };
        for run in runs {
            let Some(behind) = run.find(left) else { return false };
            left = behind;
        }
        last.is_at_end(left)
    }
}

/// Sequence of characters without `%`; `None` matches any character.
#[derive(Clone, Debug)]
struct Run {
    signs: Vec<Option<char>>,
    /// The characters as text, if there is no wildcard.
    literal: Option<String>,
    /// For every character, a bit for each place where it can occur.
    places: HashMap<char, Box<[u64]>>,
    /// The same for any other character.
    any: Box<[u64]>,
}

impl Run {
    fn new(signs: Vec<Option<char>>) -> Self {
        let literal: Option<String> = signs.iter().copied().collect();
        let (mut places, mut any) = (HashMap::new(), vec![0; signs.len().div_ceil(64)].into_boxed_slice());
        if literal.is_none() {
            let bits = |wanted: &dyn Fn(Option<char>) -> bool| {
                let mut bits = vec![0_u64; signs.len().div_ceil(64)];
                for (at, _) in signs.iter().enumerate().filter(|(_, sign)| wanted(**sign)) {
                    bits[at / 64] |= 1 << (at % 64);
                }
                bits.into_boxed_slice()
            };
            any = bits(&|sign| sign.is_none());
            for own in signs.iter().flatten() {
                places.entry(*own).or_insert_with(|| bits(&|sign| sign.is_none_or(|sign| sign == *own)));
            }
        }
        Self { signs, literal, places, any }
    }

    /// Returns the text behind the run, if `text` begins with it.
    fn at_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        if let Some(literal) = &self.literal {
            return text.strip_prefix(literal.as_str());
        }
        let mut given = text.chars();
        let fits = self.signs.iter().all(|sign| given.next().is_some_and(|own| sign.is_none_or(|sign| sign == own)));
        fits.then_some(given.as_str())
    }

    fn is_at_end(&self, text: &str) -> bool {
        if let Some(literal) = &self.literal {
            return text.ends_with(literal.as_str());
        }
        let mut given = text.chars().rev();
        self.signs.iter().rev().all(|sign| given.next().is_some_and(|own| sign.is_none_or(|sign| sign == own)))
    }

    /// Returns the text behind the first occurrence of the run in `text`.
    fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        if let Some(literal) = &self.literal {
            return text.find(literal.as_str()).map(|at| &text[at + literal.len()..]);
        }
        let last = self.signs.len() - 1;
        // A bit for each prefix of the run that matches up to the current character.
        let mut reached = vec![0_u64; self.any.len()];
        for (at, own) in text.char_indices() {
            let here = self.places.get(&own).unwrap_or(&self.any);
            let mut carried = 1;
            for (word, here) in reached.iter_mut().zip(here) {
                let moved = (*word << 1) | carried;
                carried = *word >> 63;
                *word = moved & here;
            }
            if reached[last / 64] >> (last % 64) & 1 == 1 {
                return Some(&text[at + own.len_utf8()..]);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn like(text: &str, pattern: &str) -> bool {
        Pattern::new(pattern, false).matches(text)
    }

    #[test]
    fn patterns() {
        for (text, pattern, expected) in [
            ("draft", "dr%", true),
            ("draft", "%a_t", true),
            ("draft", "draft", true),
            ("draft", "draf", false),
            ("100%", "100\\%", true),
            ("1000", "100\\%", false),
            ("a\\", "a\\", true),
            ("", "%", true),
            ("", "", true),
            ("", "_", false),
            ("aab", "%ab", true),
            ("aa", "a%a", true),
            ("a", "a%a", false),
            ("a", "%a%a%", false),
            ("aXbXc", "%X%c", true),
            ("aXbYc", "%X_Y%", true),
            ("aXbYc", "%X__Y%", false),
            ("größe", "gr__e", true),
            ("größe", "%ö_e", true),
            ("abc", "%%%c", true),
        ] {
            assert_eq!(like(text, pattern), expected, "{text} like {pattern}");
        }
        assert!(Pattern::new("%ÄB_", true).matches("xäbC"));
    }

    #[test]
    fn agrees_with_the_definition() {
        fn slow(text: &[u8], pattern: &[u8]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some((b'%', rest)) => (0..=text.len()).any(|at| slow(&text[at..], rest)),
                Some((sign, rest)) => {
                    text.split_first().is_some_and(|(own, text)| (*sign == b'_' || sign == own) && slow(text, rest))
                }
            }
        }
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let text: String = (0..next(10)).map(|_| ['a', 'b'][next(2) as usize]).collect();
            let pattern: String = (0..next(7)).map(|_| ['a', 'b', '%', '_'][next(4) as usize]).collect();
            assert_eq!(like(&text, &pattern), slow(text.as_bytes(), pattern.as_bytes()), "{text} like {pattern}");
        }
    }

    #[test]
    fn runs_that_almost_fit_everywhere_stay_cheap() {
        // Comparing anew at each place would take 4,000,000,000 steps.
        let text = "a".repeat(1_000_000);
        assert!(!like(&text, &format!("%{}b%", "a".repeat(4_000))));
        assert!(!like(&text, &format!("%_{}b%", "a".repeat(4_000))));
        assert!(!like(&text, &format!("{}b", "%a".repeat(2_000))));
    }
}

//! Parser of PostgreSQL's patterns for dates and times, such as `YYYY-MM-DD HH24:MI`.

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DatetimeElement {
    /// Literal text.
    Text(String),
    /// Unquoted blanks and punctuation: when a text is parsed, others may replace them, or nothing.
    Between(String),
    /// A field of a date or time.
    Field(DatetimeField),
}

/// A field and its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DatetimeField {
    /// Name as in the table, in capitals. `FX` is not a field: when a text is parsed, the rest must match the pattern
    /// exactly.
    pub(super) word: &'static str,
    /// Case of a name.
    pub(super) case: Case,
    /// Whether padding with blanks and zeros is omitted.
    pub(super) bare: bool,
    /// Ordinal suffix such as `th`, with its case.
    pub(super) ordinal: Option<Case>,
}

/// The case of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Upper,
    Lower,
    Title,
}

/// Fields of patterns; of two with a common prefix, the longer comes first.
const WORDS: [&str; 50] = [
    "HH24", "HH12", "HH", "MI", "MS", "MONTH", "MON", "MM", "SSSSS", "SSSS", "SS", "US", "FF1", "FF2", "FF3", "FF4",
    "FF5", "FF6", "A.M.", "P.M.", "AM", "PM", "A.D.", "B.C.", "AD", "BC", "Y,YYY", "YYYY", "YYY", "YY", "Y", "IYYY",
    "IYY", "IY", "IDDD", "IW", "ID", "I", "FX", "DAY", "DDD", "DD", "DY", "D", "CC", "J", "Q", "WW", "W", "RM",
];
/// Fields of zones.
const ZONES: [&str; 4] = ["TZH", "TZM", "TZ", "OF"];

/// The pattern that was parsed last, as most rows have the same.
#[derive(Debug, Default)]
pub(super) struct LastPattern<'p>(Option<(&'p str, Vec<DatetimeElement>)>);

impl<'p> LastPattern<'p> {
    /// Returns the elements of a pattern.
    pub(super) fn elements(&mut self, pattern: &'p str) -> &[DatetimeElement] {
        if self.0.as_ref().is_none_or(|(known, _)| *known != pattern) {
            self.0 = Some((pattern, parse(pattern)));
        }
        self.0.as_ref().map_or(&[], |(_, elements)| elements)
    }
}

/// Returns whether a pattern begins with the name of a month or a day.
fn is_name(pattern: &str) -> bool {
    let begins = |name: &str| pattern.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name));
    begins("mon") || begins("day")
}

/// Parses a pattern.
pub(super) fn parse(pattern: &str) -> Vec<DatetimeElement> {
    let mut parts: Vec<DatetimeElement> = Vec::new();
    let mut rest = pattern;
    let mut bare = false;
    let text = |parts: &mut Vec<DatetimeElement>, c: char| match parts.last_mut() {
        Some(DatetimeElement::Text(text)) => text.push(c),
        _ => parts.push(DatetimeElement::Text(c.to_string())),
    };
    let between = |parts: &mut Vec<DatetimeElement>, c: char| match parts.last_mut() {
        Some(DatetimeElement::Between(signs)) => signs.push(c),
        _ => parts.push(DatetimeElement::Between(c.to_string())),
    };
    while let Some(first) = rest.chars().next() {
        // The prefix has one case, as in PostgreSQL: `Tmonth` is a `T` and a month.
        if let Some(behind) = ["FM", "fm"].iter().find_map(|prefix| rest.strip_prefix(prefix)) {
            (bare, rest) = (true, behind);
            continue;
        }
        if let Some(behind) = ["TM", "tm"].iter().find_map(|prefix| rest.strip_prefix(prefix)) {
            // A translated name has no padding; there is no other language.
            (bare, rest) = (bare || is_name(behind), behind);
            continue;
        }
        if rest.starts_with("\\\"") {
            between(&mut parts, '"');
            rest = &rest[2..];
            continue;
        }
        if first == '"' {
            let mut chars = rest[1..].char_indices();
            let mut end = rest.len();
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        end = at + 2;
                        break;
                    }
                    '\\' => {
                        if let Some((_, escaped)) = chars.next() {
                            text(&mut parts, escaped);
                        }
                    }
                    c => text(&mut parts, c),
                }
            }
            rest = &rest[end..];
            continue;
        }
        let Some(word) = WORDS.iter().chain(&ZONES).find(|word| starts(rest, word)) else {
            match is_between(first) {
                true => between(&mut parts, first),
                false => text(&mut parts, first),
            }
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (written, after) = rest.split_at(word.len());
        let case = match (written.chars().next(), written.chars().nth(1)) {
            (Some(one), _) if one.is_lowercase() => Case::Lower,
            (_, Some(two)) if two.is_lowercase() => Case::Title,
            _ => Case::Upper,
        };
        let ordinal = match &after.as_bytes().get(..2) {
            Some(b"TH") => Some(Case::Upper),
            Some(b"th") => Some(Case::Lower),
            _ => None,
        };
        rest = if ordinal.is_some() { &after[2..] } else { after };
        parts.push(DatetimeElement::Field(DatetimeField { word, case, bare, ordinal }));
        bare = false;
    }
    parts
}

/// Returns whether a character may be replaced by any other separator.
pub(super) fn is_between(c: char) -> bool {
    c.is_ascii_punctuation() || is_blank(c)
}

/// Returns whether a character is a blank.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Returns whether the text starts with a word, ignoring case.
fn starts(text: &str, word: &str) -> bool {
    text.as_bytes().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// Names of the months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Names of the days, beginning with Sunday.
pub(super) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// Numbers of the months in Roman numerals.
pub(super) const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

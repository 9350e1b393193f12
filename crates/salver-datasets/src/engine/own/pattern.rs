//! Patterns of dates and times as PostgreSQL writes them, such as `YYYY-MM-DD HH24:MI`, taken apart.

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text that stands for itself.
    Text(String),
    /// Blanks and signs that are not quoted: where a text is read, others may stand for them, or nothing.
    Between(String),
    /// A field of a date or time, and how it is written.
    Field(Field),
}

/// A field and its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// As in the table, in capitals. `FX` is no field: where a text is read, what follows it is read as it is written.
    pub(super) word: &'static str,
    /// How the letters of a name are.
    pub(super) case: Case,
    /// Without blanks and zeros that fill it up.
    pub(super) bare: bool,
    /// With `th` or the like behind the number.
    pub(super) ordinal: Option<Case>,
}

/// The letters of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Upper,
    Lower,
    Title,
}

/// The words of patterns; of two that begin alike the longer stands first.
const WORDS: [&str; 50] = [
    "HH24", "HH12", "HH", "MI", "MS", "MONTH", "MON", "MM", "SSSSS", "SSSS", "SS", "US", "FF1", "FF2", "FF3", "FF4",
    "FF5", "FF6", "A.M.", "P.M.", "AM", "PM", "A.D.", "B.C.", "AD", "BC", "Y,YYY", "YYYY", "YYY", "YY", "Y", "IYYY",
    "IYY", "IY", "IDDD", "IW", "ID", "I", "FX", "DAY", "DDD", "DD", "DY", "D", "CC", "J", "Q", "WW", "W", "RM",
];
/// Words of zones.
const ZONES: [&str; 4] = ["TZH", "TZM", "TZ", "OF"];

/// Takes a pattern apart.
pub(super) fn parse(pattern: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = pattern;
    let mut bare = false;
    let text = |parts: &mut Vec<Part>, c: char| match parts.last_mut() {
        Some(Part::Text(text)) => text.push(c),
        _ => parts.push(Part::Text(c.to_string())),
    };
    let between = |parts: &mut Vec<Part>, c: char| match parts.last_mut() {
        Some(Part::Between(signs)) => signs.push(c),
        _ => parts.push(Part::Between(c.to_string())),
    };
    while let Some(first) = rest.chars().next() {
        // In one case, as there: `Tmonth` is a `T` and a month.
        if let Some(behind) = ["FM", "fm"].iter().find_map(|prefix| rest.strip_prefix(prefix)) {
            (bare, rest) = (true, behind);
            continue;
        }
        if let Some(behind) = ["TM", "tm"].iter().find_map(|prefix| rest.strip_prefix(prefix)) {
            rest = behind;
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
        parts.push(Part::Field(Field { word, case, bare, ordinal }));
        bare = false;
    }
    parts
}

/// Whether a character may stand between two fields for any other that may.
pub(super) fn is_between(c: char) -> bool {
    c.is_ascii_punctuation() || is_blank(c)
}

/// Whether a character is a blank.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Whether the text starts with a word, in any case.
fn starts(text: &str, word: &str) -> bool {
    text.as_bytes().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// The names of the months.
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
/// The names of the days, from Sunday on.
pub(super) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// The numbers of the months as the Romans write them.
pub(super) const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

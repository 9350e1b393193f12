//! How numbers and dates of a column are written, and their text as the parsers read it: `1.234,5` is `1234.5`, and
//! `31.01.2026` is `2026-01-31`.

use std::borrow::Cow;

use salver_model::spec::{CsvOptions, DateOrder};
use salver_text::calendar::days_in_month;

use crate::infer::{parse_date, parse_timestamp};

/// The marks in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Between whole part and fraction.
    pub(crate) decimal: char,
    /// Between groups of three digits.
    pub(crate) thousands: Option<char>,
}

/// Form of a column's values. What it does not name is written as in ISO 8601 and as parsers expect it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ValueForm {
    /// The marks in numbers, if they are configured or guessed.
    pub(crate) marks: Option<Marks>,
    /// The order of dates, if it is configured or guessed.
    pub(crate) dates: Option<DateOrder>,
}

/// The setting that a value contradicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// The value looks like a number, with other marks.
    Marks(Marks),
    /// The value looks like a date, in another order.
    Dates(DateOrder),
}

impl Misfit {
    /// Returns the form that the value does not have: "a number as `decimal = ","` says".
    pub(crate) fn words(self) -> String {
        match self {
            Self::Dates(order) => format!("a date as `dates = \"{}\"` says", order.word()),
            Self::Marks(Marks { decimal, thousands: None }) => {
                format!("a number as `decimal = \"{decimal}\"` says, without `thousands`")
            }
            Self::Marks(Marks { decimal, thousands: Some(mark) }) => {
                format!("a number as `decimal = \"{decimal}\"` and `thousands = \"{mark}\"` say")
            }
        }
    }
}

impl ValueForm {
    /// Returns the form that the dataset declares.
    pub(crate) fn declared(csv: &CsvOptions) -> Self {
        let decimal = csv.decimal.unwrap_or(if csv.thousands == Some('.') { ',' } else { '.' });
        let is_usual = decimal == '.' && csv.thousands.is_none();
        let marks = (!is_usual).then_some(Marks { decimal, thousands: csv.thousands });
        Self { marks, dates: csv.dates }
    }

    /// Returns whether numbers and dates are written as parsers read them.
    pub(crate) fn is_usual(&self) -> bool {
        self.marks.is_none() && self.dates.is_none()
    }

    /// Returns the text as parsers read it. Text that is neither a number nor a date is returned as it is.
    ///
    /// # Errors
    /// The text looks like a number or a date, in another form.
    pub(crate) fn plain<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Misfit> {
        if let Some(order) = self.dates
            && let Some(date) = DateText::of(text)
        {
            return date.iso(order).ok_or(Misfit::Dates(order));
        }
        match self.marks {
            Some(marks) if is_like_a_number(text, marks) => number(text, marks).ok_or(Misfit::Marks(marks)),
            _ => Ok(Cow::Borrowed(text)),
        }
    }
}

/// Returns whether the text looks like a number with these or other marks.
pub(crate) fn is_like_a_number(text: &str, marks: Marks) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let begins = unsigned.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | ','));
    let is_part = |c: char| {
        c.is_ascii_digit()
            || matches!(c, '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}' | 'e' | 'E' | '+' | '-')
            || Some(c) == marks.thousands
    };
    begins && unsigned.contains(|c: char| c.is_ascii_digit()) && unsigned.chars().all(is_part)
}

/// Returns a number with `.` and without groups.
fn number(text: &str, marks: Marks) -> Option<Cow<'_, str>> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (sign, _) = text.split_at(text.len() - unsigned.len());
    let end = unsigned.find([marks.decimal, 'e', 'E']).unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(end);
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = match marks.thousands.filter(|mark| whole.contains(*mark)) {
        None => Cow::Borrowed(whole),
        Some(mark) => {
            let mut groups = whole.split(mark);
            let is_first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && is_digits(first));
            if !is_first || !groups.all(|group| group.len() == 3 && is_digits(group)) {
                return None;
            }
            Cow::Owned(whole.replace(mark, ""))
        }
    };
    let (fraction, exponent) = match rest.strip_prefix(marks.decimal) {
        Some(tail) => tail.split_at(tail.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    let has_fraction = rest.starts_with(marks.decimal);
    let is_whole = is_digits(&digits) && !(digits.is_empty() && fraction.is_empty());
    if !is_whole || has_fraction && fraction.is_empty() || !is_exponent(exponent) {
        return None;
    }
    let is_as_it_is = matches!(digits, Cow::Borrowed(_)) && (!has_fraction || marks.decimal == '.');
    let point = if has_fraction { "." } else { "" };
    Some(if is_as_it_is {
        Cow::Borrowed(text)
    } else {
        Cow::Owned([sign, &digits, point, fraction, exponent].concat())
    })
}

/// Returns whether the text is empty, or an exponent such as `e-5`.
fn is_exponent(text: &str) -> bool {
    let Some(power) = text.strip_prefix(['e', 'E']) else { return text.is_empty() };
    let digits = power.strip_prefix(['-', '+']).unwrap_or(power);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether the text looks like a date in any order.
pub(crate) fn is_like_a_date(text: &str) -> bool {
    DateText::of(text).is_some()
}

/// Text that looks like a date: three numbers with the same `.`, `/` or `-` between them, of which the first or the
/// last is a year, and a time of day or nothing behind them.
struct DateText<'t> {
    text: &'t str,
    parts: [&'t str; 3],
    mark: char,
    /// Behind the date, as ISO 8601 writes it.
    time: Option<String>,
}

impl<'t> DateText<'t> {
    fn of(text: &'t str) -> Option<Self> {
        // Most text is not a date, and is known by its first characters.
        let first = text.bytes().take(5).take_while(u8::is_ascii_digit).count();
        let mark = char::from(*text.as_bytes().get(first)?);
        if !matches!(first, 1 | 2 | 4) || !matches!(mark, '.' | '/' | '-') {
            return None;
        }
        let (date, time) = match text.find([' ', 'T']) {
            Some(at) => (&text[..at], Some(time_of_day(&text[at + 1..])?)),
            None => (text, None),
        };
        let mut split = date.split(mark);
        let parts = [split.next()?, split.next()?, split.next()?];
        let lengths = parts.map(|part| if part.bytes().all(|byte| byte.is_ascii_digit()) { part.len() } else { 0 });
        let is_date = matches!(lengths, [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]);
        (is_date && split.next().is_none()).then_some(Self { text, parts, mark, time })
    }

    /// Returns the date as ISO 8601 writes it; `None` if it is none in this order.
    fn iso(&self, order: DateOrder) -> Option<Cow<'t, str>> {
        if parse_date(self.text).is_some() || parse_timestamp(self.text).is_some() {
            return Some(Cow::Borrowed(self.text));
        }
        let [first, second, third] = self.parts;
        let is_iso = self.mark == '-' && first.len() == 4;
        let [year, month, day] = match order {
            _ if is_iso => [first, second, third],
            DateOrder::DayFirst => [third, second, first],
            DateOrder::MonthFirst => [third, first, second],
            DateOrder::YearFirst => [first, second, third],
        };
        let (month, day): (u32, u32) = (month.parse().ok()?, day.parse().ok()?);
        if year.len() != 4 || !(1..=days_in_month(year.parse().ok()?, month)).contains(&day) {
            return None;
        }
        let date = format!("{year}-{month:02}-{day:02}");
        Some(Cow::Owned(self.time.as_ref().map_or_else(|| date.clone(), |time| format!("{date}T{time}"))))
    }
}

/// Returns a time of day such as `9:05`, `09:05:30.5+02:00` or `9:05 PM` as ISO 8601 writes it.
fn time_of_day(text: &str) -> Option<String> {
    let (hour, rest) = text.split_once(':')?;
    if !matches!(hour.len(), 1 | 2) || !hour.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hour: u32 = hour.parse().ok()?;
    let lower = rest.to_ascii_lowercase();
    let (hour, rest) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (None, None) => (hour, rest),
        (half, other) if (1..=12).contains(&hour) => {
            let length = half.or(other).map_or(0, |half| half.trim_ascii_end().len());
            (hour % 12 + if other.is_some() { 12 } else { 0 }, &rest[..length])
        }
        _ => return None,
    };
    let time = format!("{hour:02}:{rest}");
    parse_timestamp(&format!("1970-01-01T{time}")).is_some().then_some(time)
}

#[cfg(test)]
mod tests {
    use super::{DateOrder, Marks, Misfit, ValueForm};

    #[test]
    fn numbers() {
        for (decimal, thousands, text, expected) in [
            (',', None, "1,5", Some("1.5")),
            (',', None, "-0,125", Some("-0.125")),
            (',', None, ",5", Some(".5")),
            (',', None, "1,5e-3", Some("1.5e-3")),
            (',', None, "12", Some("12")),
            (',', None, "1.5", None),
            (',', None, "1,", None),
            (',', None, "1,5,6", None),
            (',', None, "1.234,5", None),
            (',', Some('.'), "1.234,5", Some("1234.5")),
            (',', Some('.'), "-1.234.567", Some("-1234567")),
            (',', Some('.'), "1234,5", Some("1234.5")),
            (',', Some('.'), "1.5", None),
            (',', Some('.'), "1234.567", None),
            (',', Some('.'), ".234", None),
            (',', Some('.'), "1,234.5", None),
            (',', Some('\u{a0}'), "1\u{a0}234,5", Some("1234.5")),
            (',', Some(' '), "12 34", None),
            ('.', Some(','), "1,234.5", Some("1234.5")),
            ('.', Some('\''), "1'234", Some("1234")),
            ('.', Some('_'), "1_234.5", Some("1234.5")),
            ('.', None, "1,5", None),
            // Neither a number nor like one.
            (',', None, "a,b", Some("a,b")),
            (',', None, "NaN", Some("NaN")),
            (',', None, "", Some("")),
            (',', None, ",", Some(",")),
        ] {
            let marks = Marks { decimal, thousands };
            let form = ValueForm { marks: Some(marks), dates: None };
            assert_eq!(form.plain(text).as_deref().ok(), expected, "{text}");
        }
    }

    #[test]
    fn dates() {
        use DateOrder::{DayFirst, MonthFirst, YearFirst};
        for (order, text, expected) in [
            (DayFirst, "31.01.2026", Some("2026-01-31")),
            (DayFirst, "1/2/2026", Some("2026-02-01")),
            (DayFirst, "31-01-2026", Some("2026-01-31")),
            (DayFirst, "01/31/2026", None),
            (DayFirst, "29.02.2026", None),
            (DayFirst, "29.02.2024", Some("2024-02-29")),
            (DayFirst, "00.01.2026", None),
            (DayFirst, "31.01.26", None),
            (DayFirst, "2026/01/31", None),
            (DayFirst, "31.01.2026 9:05", Some("2026-01-31T09:05")),
            (DayFirst, "31.01.2026 10:20:30.5", Some("2026-01-31T10:20:30.5")),
            (DayFirst, "31.01.2026T10:20:30Z", Some("2026-01-31T10:20:30Z")),
            (MonthFirst, "01/31/2026", Some("2026-01-31")),
            (MonthFirst, "1/31/2026 12:05 AM", Some("2026-01-31T00:05")),
            (MonthFirst, "1/31/2026 12:05 pm", Some("2026-01-31T12:05")),
            (MonthFirst, "1/31/2026 1:05:09PM", Some("2026-01-31T13:05:09")),
            (MonthFirst, "31/01/2026", None),
            (YearFirst, "2026/1/31", Some("2026-01-31")),
            (YearFirst, "31.01.2026", None),
            // ISO 8601 is read in every order.
            (DayFirst, "2026-01-31", Some("2026-01-31")),
            (MonthFirst, "2026-01-31 10:20", Some("2026-01-31 10:20")),
            // Not like a date.
            (DayFirst, "1.2.3.2026", Some("1.2.3.2026")),
            (DayFirst, "31.01/2026", Some("31.01/2026")),
            (DayFirst, "31.01.2026 noon", Some("31.01.2026 noon")),
            (DayFirst, "31.01.2026 25:00", Some("31.01.2026 25:00")),
            (DayFirst, "1,5", Some("1,5")),
            (DayFirst, "", Some("")),
        ] {
            let form = ValueForm { marks: None, dates: Some(order) };
            let plain = form.plain(text);
            assert_eq!(plain.as_deref().ok(), expected, "{order:?} {text}");
            assert!(!matches!(plain, Err(Misfit::Marks(_))), "{text}");
        }
    }
}

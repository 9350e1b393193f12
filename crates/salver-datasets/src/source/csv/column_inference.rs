//! Infers the type of a column, and the form of its values where it is not declared. A form is guessed only if it is
//! the only one that fits every value, and the values can't mean anything else.

use salver_model::spec::{CsvOptions, DateOrder};

use super::value_form::{Marks, Misfit, ValueForm};
use crate::infer::TextKind;

/// The forms that are tried: decimal commas, decimal points with groups, and dates.
const CANDIDATES: [ValueForm; 10] = [
    numbers(',', None),
    numbers(',', Some('.')),
    numbers(',', Some(' ')),
    numbers(',', Some('\u{a0}')),
    numbers(',', Some('\u{202f}')),
    numbers('.', Some(',')),
    numbers('.', Some('\'')),
    dates(DateOrder::DayFirst),
    dates(DateOrder::MonthFirst),
    dates(DateOrder::YearFirst),
];
/// Decimal commas, and points between thousands.
const POINTS_IN_GROUPS: usize = 1;
const COMMAS: u16 = 0b00_0001_1111;
const POINTS: u16 = 0b00_0110_0000;
const DATES: u16 = 0b11_1000_0000;

const fn numbers(decimal: char, thousands: Option<char>) -> ValueForm {
    ValueForm { marks: Some(Marks { decimal, thousands }), dates: None }
}

const fn dates(order: DateOrder) -> ValueForm {
    ValueForm { marks: None, dates: Some(order) }
}

/// What is told about a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Its values have this form, which was guessed.
    Guessed(ValueForm),
    /// Its values are numbers in several forms with different meanings: it is text.
    AmbiguousNumbers,
    /// Its values are dates in several orders: it is text.
    AmbiguousDates,
}

/// The type of a column, and the form of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inferred {
    pub(super) kind: TextKind,
    pub(super) form: ValueForm,
    pub(super) told: Option<Told>,
    /// Whether its values have decimal commas, also where they are text.
    pub(super) shows_commas: bool,
    /// Whether its values are numbers such as `1.234`, whose points may stand between thousands.
    pub(super) is_undecided: bool,
}

/// A value that contradicts the form that the dataset declares, in a column whose other values don't.
#[derive(Clone, Debug)]
pub(super) struct Contradiction {
    pub(super) line: u64,
    pub(super) value: String,
    pub(super) misfit: Misfit,
}

/// A column, as far as it was read.
#[derive(Clone, Debug)]
pub(super) struct ColumnInference {
    declared: ValueForm,
    /// Kind of the values that have the declared form.
    kind: TextKind,
    contradiction: Option<Contradiction>,
    /// The forms that fit every value so far, as bits.
    alive: u16,
    /// The forms whose marks decide how a value is read, as bits.
    decided: u16,
    kinds: [TextKind; CANDIDATES.len()],
    /// Kind of the values that are read the same in every form that is left.
    shared: TextKind,
    /// Kind of the last of these.
    latest: TextKind,
    /// Whether decimal commas may be guessed: not where commas separate the fields.
    takes_commas: bool,
}

impl ColumnInference {
    /// Begins a column of a file with this delimiter.
    pub(super) fn new(csv: &CsvOptions, delimiter: u8) -> Self {
        let numbers = if csv.decimal.is_none() && csv.thousands.is_none() { COMMAS | POINTS } else { 0 };
        Self {
            declared: ValueForm::declared(csv),
            kind: TextKind::Null,
            contradiction: None,
            alive: numbers | if csv.dates.is_none() { DATES } else { 0 },
            decided: 0,
            kinds: [TextKind::Null; CANDIDATES.len()],
            shared: TextKind::Null,
            latest: TextKind::Null,
            takes_commas: delimiter != b',',
        }
    }

    /// Returns whether no further value can change the result.
    pub(super) fn is_settled(&self) -> bool {
        self.kind == TextKind::Text && self.alive == 0
    }

    /// Adds a value, which is not blank, and the line it is on.
    pub(super) fn see(&mut self, text: &str, line: u64) {
        let text = text.trim_ascii();
        let raw = TextKind::of(text);
        if self.declared.is_usual() {
            self.kind = self.kind.widened(raw);
        } else {
            match self.declared.plain(text) {
                Ok(plain) => self.kind = self.kind.with(&plain),
                Err(misfit) => self.contradict(text, line, misfit),
            }
        }
        if self.alive != 0 {
            self.sift(raw, text);
        }
    }

    fn contradict(&mut self, text: &str, line: u64, misfit: Misfit) {
        match &self.contradiction {
            None => self.contradiction = Some(Contradiction { line, value: text.to_owned(), misfit }),
            // A column of neither numbers nor dates.
            Some(known) if known.misfit != misfit => self.kind = TextKind::Text,
            Some(_) => {}
        }
    }

    /// Removes the candidates that do not fit.
    fn sift(&mut self, raw: TextKind, text: &str) {
        // Most values are of the kind of the one before.
        if raw == self.latest {
            return;
        }
        let fitting = match raw {
            TextKind::Int | TextKind::NotFinite => COMMAS | POINTS,
            TextKind::Float if self.alive & COMMAS == 0 => POINTS,
            TextKind::Date | TextKind::Timestamp { .. } => DATES,
            TextKind::Float | TextKind::Text if may_have_form(text) => {
                (0..CANDIDATES.len()).for_each(|index| self.test(index, text));
                return;
            }
            _ => 0,
        };
        self.alive &= fitting;
        self.shared = self.shared.widened(raw);
        self.latest = raw;
    }

    fn test(&mut self, index: usize, text: &str) {
        let (form, bit) = (CANDIDATES[index], 1 << index);
        if self.alive & bit == 0 {
            return;
        }
        let kind = form.plain(text).map_or(TextKind::Text, |plain| TextKind::of(&plain));
        let is_right = match kind {
            TextKind::Int | TextKind::Float => form.marks.is_some(),
            TextKind::Date | TextKind::Timestamp { .. } => form.dates.is_some(),
            _ => false,
        };
        self.kinds[index] = self.kinds[index].widened(kind);
        if !is_right || self.kinds[index] == TextKind::Text {
            self.alive &= !bit;
        } else if let Some(marks) = form.marks
            && text.contains(marks.decimal)
            && marks.thousands.is_none_or(|mark| text.contains(mark))
        {
            self.decided |= bit;
        }
    }

    /// Returns what the column is.
    ///
    /// # Errors
    /// A value that contradicts the declared form. In a column that is text anyway, it is text like the others.
    pub(super) fn finish(self) -> Result<Inferred, Contradiction> {
        let is_undecided = self.kind == TextKind::Float
            && self.alive & 1 << POINTS_IN_GROUPS != 0
            && self.kinds[POINTS_IN_GROUPS] == TextKind::Int;
        let shows_commas = self.alive & POINTS == 0
            && self
                .kinds
                .iter()
                .enumerate()
                .any(|(index, kind)| self.alive & COMMAS & 1 << index != 0 && *kind == TextKind::Float);
        let own = Inferred { kind: self.kind, form: self.declared, told: None, shows_commas, is_undecided };
        let text = Inferred { kind: TextKind::Text, ..own };
        let own = match self.contradiction.clone().filter(|_| self.kind != TextKind::Text) {
            None => own,
            Some(_) if self.kind == TextKind::Null => text,
            Some(found) => {
                let is_of_dates = matches!(self.kind, TextKind::Date | TextKind::Timestamp { .. });
                if is_of_dates == matches!(found.misfit, Misfit::Dates(_)) && self.kind != TextKind::Bool {
                    return Err(found);
                }
                text
            }
        };
        Ok(if own.kind == TextKind::Text { self.guessed(own) } else { own })
    }

    /// Returns a column of text, with the form that its values have in all probability.
    fn guessed(&self, text: Inferred) -> Inferred {
        let index = self.alive.trailing_zeros() as usize;
        let Some(form) = CANDIDATES.get(index) else { return text };
        let kind = self.kinds[index].widened(self.shared);
        let is_decided = self.decided & 1 << index != 0;
        let told = if form.dates.is_some() {
            if self.alive.count_ones() == 1 { Told::Guessed(*form) } else { Told::AmbiguousDates }
        } else if self.alive & POINTS != 0 && self.alive & COMMAS != 0 {
            Told::AmbiguousNumbers
        } else if is_decided && (self.takes_commas || self.alive & COMMAS == 0) {
            Told::Guessed(*form)
        } else if is_decided || form.marks.is_some_and(|marks| matches!(marks.thousands, Some('.' | ','))) {
            Told::AmbiguousNumbers
        } else {
            // Digits in groups, which may be a telephone number.
            return text;
        };
        let found = Inferred { kind, told: Some(told), ..text };
        match told {
            Told::Guessed(ValueForm { marks, dates }) if kind != TextKind::Text => {
                let form = ValueForm { marks: marks.or(text.form.marks), dates: dates.or(text.form.dates) };
                Inferred { form, ..found }
            }
            Told::Guessed(_) => text,
            _ => Inferred { kind: TextKind::Text, ..found },
        }
    }
}

/// Returns whether the text begins like a number or a date.
fn may_have_form(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.' | ','))
}

/// The form of numbers whose points stand between thousands.
pub(super) const THOUSANDS_POINTS: ValueForm = CANDIDATES[POINTS_IN_GROUPS];

/// Returns what was guessed of the columns, and what was not, with the settings that overrule it.
pub(super) fn notes<'n>(columns: impl Iterator<Item = (&'n str, Told)>) -> Vec<String> {
    let mut notes: Vec<(Told, Vec<&str>)> = Vec::new();
    for (name, told) in columns {
        match notes.iter_mut().find(|(known, _)| *known == told) {
            Some((_, names)) => names.push(name),
            None => notes.push((told, vec![name])),
        }
    }
    notes.into_iter().map(|(told, names)| note(told, &names)).collect()
}

/// Columns that are named in one note.
const NAMED_COLUMNS: usize = 5;

fn note(told: Told, names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED_COLUMNS).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED_COLUMNS {
        shown.push(format!("{} more", names.len() - NAMED_COLUMNS));
    }
    let shown = shown.join(", ");
    let form = match told {
        Told::Guessed(form) => form,
        Told::AmbiguousNumbers => {
            return format!("{shown} as text, of which `decimal` and `thousands` make numbers");
        }
        Told::AmbiguousDates => {
            return format!("{shown} as text, of which `dates = \"dmy\"` or `\"mdy\"` makes dates");
        }
    };
    if let Some(order) = form.dates {
        let (first, other) = match order {
            DateOrder::DayFirst => ("day", DateOrder::MonthFirst),
            DateOrder::MonthFirst => ("month", DateOrder::DayFirst),
            DateOrder::YearFirst => ("year", DateOrder::DayFirst),
        };
        return format!("dates with the {first} first in {shown} (`dates = \"{}\"` says otherwise)", other.word());
    }
    let marks = form.marks.unwrap_or(Marks { decimal: '.', thousands: None });
    let between = match marks.thousands {
        None => String::new(),
        Some(' ' | '\u{a0}' | '\u{202f}') => "spaces between thousands".to_owned(),
        Some(mark) => format!("`{mark}` between thousands"),
    };
    let what = match (marks.decimal, between.is_empty()) {
        (',', true) => "decimal commas".to_owned(),
        (',', false) => format!("decimal commas and {between}"),
        _ => between,
    };
    format!("{what} in {shown} (`decimal = \".\"` leaves them text)")
}

#[cfg(test)]
mod tests {
    use super::{ColumnInference, CsvOptions, DateOrder, note};
    use crate::infer::TextKind;

    fn told(values: &[&str], delimiter: u8) -> (TextKind, String) {
        let mut column = ColumnInference::new(&CsvOptions::default(), delimiter);
        for value in values {
            column.see(value, 1);
        }
        let found = column.finish().unwrap();
        (found.kind, found.told.map(|told| note(told, &["x"])).unwrap_or_default())
    }

    #[test]
    fn what_can_mean_one_thing_is_guessed() {
        let commas = "decimal commas in `x` (`decimal = \".\"` leaves them text)";
        let day = "dates with the day first in `x` (`dates = \"mdy\"` says otherwise)";
        let month = "dates with the month first in `x` (`dates = \"dmy\"` says otherwise)";
        for (values, kind, expected) in [
            (&["1,5", "2", "-3,25"][..], TextKind::Float, commas),
            (&["2", "0,125"], TextKind::Float, commas),
            (
                &["1.234,5", "2"],
                TextKind::Float,
                "decimal commas and `.` between thousands in `x` (`decimal = \".\"` leaves them text)",
            ),
            (
                &["1\u{a0}234,5", "2,5"],
                TextKind::Float,
                "decimal commas and spaces between thousands in `x` (`decimal = \".\"` leaves them text)",
            ),
            (
                &["1,234.5", "1,234"],
                TextKind::Float,
                "`,` between thousands in `x` (`decimal = \".\"` leaves them text)",
            ),
            (&["01.02.2026", "31.01.2026"], TextKind::Date, day),
            (&["1/31/2026", "2/1/2026", "2026-01-05"], TextKind::Date, month),
            (&["31/01/2026 9:05"], TextKind::Timestamp { nanos: false, zoned: false }, day),
        ] {
            assert_eq!(told(values, b';'), (kind, expected.to_owned()), "{values:?}");
        }
        assert_eq!(told(&["1,234.5"], b',').0, TextKind::Float);
    }

    #[test]
    fn what_can_mean_several_things_is_text() {
        let numbers = "`x` as text, of which `decimal` and `thousands` make numbers";
        let dates = "`x` as text, of which `dates = \"dmy\"` or `\"mdy\"` makes dates";
        for (values, expected) in [
            (&["1,234", "5"][..], numbers),
            (&["1,234,567"], numbers),
            (&["1.234.567"], numbers),
            (&["1,5", "1.234"], numbers),
            (&["01/02/2026", "03/04/2026"], dates),
            // Contradictions, codes, and other text.
            (&["31/01/2026", "01/31/2026"], ""),
            (&["30.02.2026"], ""),
            (&["31.01.2026", "soon"], ""),
            (&["31.01.2026", "5"], ""),
            (&["1,5", "1.5"], ""),
            (&["1,5", "n/a"], ""),
            (&["1,5", "007"], ""),
            (&["1,5", "true"], ""),
            (&["1,5,6"], ""),
            (&["1.2.3"], ""),
            (&["555 123"], ""),
            (&["Ann"], ""),
        ] {
            assert_eq!(told(values, b';'), (TextKind::Text, expected.to_owned()), "{values:?}");
        }
        // Where commas separate fields, they stand for themselves in one.
        assert_eq!(told(&["1,5"], b','), (TextKind::Text, numbers.to_owned()));
        // Numbers and dates as ever.
        for (values, kind) in [(&["1.234"][..], TextKind::Float), (&["2026-01-31"], TextKind::Date)] {
            assert_eq!(told(values, b';'), (kind, String::new()));
        }
    }

    #[test]
    fn points_in_groups_are_undecided() {
        let seen = |values: &[&str]| {
            let mut column = ColumnInference::new(&CsvOptions::default(), b';');
            values.iter().for_each(|value| column.see(value, 1));
            let found = column.finish().unwrap();
            (found.is_undecided, found.shows_commas)
        };
        for values in [&["1.234"][..], &["5", "12.345", "-1.000"], &["1.234", "NaN"]] {
            assert_eq!(seen(values), (true, false), "{values:?}");
        }
        for values in [&["1.5"][..], &["1.234", "1.5"], &["0.125"], &["1234.567"], &["5"], &["NaN", "5"], &["1.2e3"]] {
            assert_eq!(seen(values), (false, false), "{values:?}");
        }
        for values in [&["1,5"][..], &["1.234,5"], &["1,5", "1.234"]] {
            assert_eq!(seen(values), (false, true), "{values:?}");
        }
        assert_eq!(seen(&["1,234"]), (false, false));
    }

    #[test]
    fn what_is_declared_is_not_guessed() {
        let csv = CsvOptions { decimal: Some(','), dates: Some(DateOrder::DayFirst), ..CsvOptions::default() };
        for (values, expected) in [
            (&["1,234", "5"][..], Some(TextKind::Float)),
            (&["01/02/2026"], Some(TextKind::Date)),
            (&["1.5"], Some(TextKind::Text)),
            (&["12/31/2026"], Some(TextKind::Text)),
            (&["1.5", "n/a", "2,5"], Some(TextKind::Text)),
            (&["1.5", "2,5"], None),
            (&["2", "1.5"], None),
            (&["12/31/2026", "31/12/2026"], None),
            (&["true", "1.5"], Some(TextKind::Text)),
        ] {
            let mut column = ColumnInference::new(&csv, b';');
            for (line, value) in values.iter().enumerate() {
                column.see(value, line as u64 + 1);
            }
            let found = column.finish();
            assert!(found.as_ref().is_ok_and(|found| found.told.is_none()) || expected.is_none());
            assert_eq!(found.ok().map(|found| found.kind), expected, "{values:?}");
        }
    }
}

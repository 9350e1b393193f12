//! How CSV and TSV files are written: the separators, and the forms of numbers and dates.

/// Quote character of CSV fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `"`, unless the first lines are split better by `'` or without quotes.
    Guessed,
    /// No quotes: every character is part of its field.
    Off,
    /// This character.
    Is(u8),
}

/// Order of day, month and year in dates that are not ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// `31.01.2026`, `31/01/2026`, `31-1-2026`.
    DayFirst,
    /// `01/31/2026`.
    MonthFirst,
    /// `2026/01/31`, `2026.1.31`.
    YearFirst,
}

impl DateOrder {
    /// Every order with its word in the configuration.
    pub const WORDS: [(&'static str, Self); 3] =
        [("dmy", Self::DayFirst), ("mdy", Self::MonthFirst), ("ymd", Self::YearFirst)];

    /// Returns the order's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, order)| *order == self).map_or("", |(word, _)| word)
    }

    /// Returns the order for a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, order)| *order)
    }
}

/// Dialect of CSV and TSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// Field separator; `None` detects it from the first lines (`,` `;` tab `|`), tab for TSV.
    pub delimiter: Option<u8>,
    /// Whether the first row holds the names; `None` detects it from the first rows.
    pub header: Option<bool>,
    /// Quote character; doubled inside quoted fields.
    pub quote: Quote,
    /// Escape character inside quotes, beside the doubled quote.
    pub escape: Option<u8>,
    /// Prefix of comment lines, which are skipped.
    pub comment: Option<u8>,
    /// Number of lines to skip before the header; `None` skips text before a table, such as its title.
    pub skip_rows: Option<usize>,
    /// Unquoted fields that mean null, beside the empty field.
    pub null_tokens: Vec<String>,
    /// Character encoding by its WHATWG label; `None` detects it from a byte order mark, else UTF-8, else windows-1252.
    pub encoding: Option<String>,
    /// Decimal mark, `.` or `,`; `None` tells it from the values.
    pub decimal: Option<char>,
    /// Mark between groups of three digits; `None` for none, unless the values tell one.
    pub thousands: Option<char>,
    /// Order of dates that are not ISO 8601; `None` tells it from the values.
    pub dates: Option<DateOrder>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: None,
            quote: Quote::Guessed,
            escape: None,
            comment: None,
            skip_rows: None,
            null_tokens: Vec::new(),
            encoding: None,
            decimal: None,
            thousands: None,
            dates: None,
        }
    }
}

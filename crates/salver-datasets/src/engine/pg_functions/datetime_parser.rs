//! Parses a text into the fields of a date or time by a pattern, as PostgreSQL does (`formatting.c` there): the values
//! of a field, the separators between two of them, and the number of digits.

use super::datetime_pattern::{DAYS, DatetimeElement, DatetimeField, MONTHS, ROMAN, is_between, is_blank};

/// Parsed fields. 0 counts as missing, as far as dates are concerned.
#[derive(Debug, Default)]
pub(super) struct ParsedFields {
    pub(super) year: i64,
    /// Number of digits of the year in the pattern.
    pub(super) year_digits: usize,
    pub(super) century: i64,
    pub(super) before_christ: bool,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) day_of_year: i64,
    /// Day of the week; Sunday is 1.
    pub(super) weekday: i64,
    pub(super) week: i64,
    pub(super) week_of_month: i64,
    pub(super) julian: i64,
    pub(super) hour: i64,
    /// Whether hours range from 1 to 12.
    pub(super) is_half_day: bool,
    pub(super) afternoon: bool,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) second_of_day: i64,
    pub(super) millis: i64,
    pub(super) micros: i64,
    /// Fractional digits of the second that the time is rounded to.
    pub(super) places: Option<u32>,
    /// Direction of the zone's offset; `None` without a zone.
    pub(super) is_east: Option<bool>,
    pub(super) zone_hours: i64,
    pub(super) zone_minutes: i64,
    /// Whether the date is given by ISO weeks and their years; `None` if no field decides that.
    pub(super) is_by_week: Option<bool>,
}

/// Parses the fields of a text by a pattern; an error describes the problem.
pub(super) fn fields(text: &str, parts: &[DatetimeElement]) -> Result<ParsedFields, String> {
    let mut reader =
        DatetimeParser { fields: ParsedFields::default(), whole: text, rest: text, skipped: 0, is_exact: false };
    for (number, part) in parts.iter().enumerate() {
        if reader.rest.is_empty() {
            break;
        }
        if !reader.is_exact && (number == 0 || matches!(part, DatetimeElement::Field(_))) {
            reader.skip_blanks();
        }
        match part {
            DatetimeElement::Between(signs) => signs.chars().for_each(|_| reader.pass_between()),
            DatetimeElement::Text(text) => text.chars().for_each(|_| reader.pass_text()),
            DatetimeElement::Field(field) => {
                let ends = field.ordinal.is_some() || ends_number(parts.get(number + 1));
                reader.take(*field, ends || field.bare)?;
                if !reader.is_exact {
                    reader.skipped = 0;
                    reader.skip_blanks();
                }
            }
        }
    }
    Ok(reader.fields)
}

/// Returns whether a number before this part ends with its digits, whatever their number.
fn ends_number(next: Option<&DatetimeElement>) -> bool {
    match next {
        Some(DatetimeElement::Text(text)) => !text.starts_with(|c: char| c.is_ascii_digit()),
        Some(DatetimeElement::Field(field)) => !is_number(field.word),
        Some(DatetimeElement::Between(_)) | None => true,
    }
}

fn is_number(word: &str) -> bool {
    let names = [
        "DAY", "DY", "MONTH", "MON", "RM", "AM", "PM", "A.M.", "P.M.", "AD", "BC", "A.D.", "B.C.", "TZ", "TZH", "OF",
        "FX",
    ];
    !names.contains(&word)
}

/// State of the parser.
struct DatetimeParser<'t> {
    fields: ParsedFields,
    whole: &'t str,
    rest: &'t str,
    /// Number of characters that were skipped beyond those of the pattern.
    skipped: i32,
    /// Whether each character of the pattern stands for one of the text, with `FX`.
    is_exact: bool,
}

impl DatetimeParser<'_> {
    fn skip_blanks(&mut self) {
        let rest = self.rest.trim_start_matches(is_blank);
        self.skipped += i32::try_from(self.rest.len() - rest.len()).unwrap_or(i32::MAX);
        self.rest = rest;
    }

    fn pass(&mut self) {
        let length = self.rest.chars().next().map_or(0, char::len_utf8);
        self.rest = &self.rest[length..];
    }

    /// Skips a separator, if there is one.
    fn pass_between(&mut self) {
        if self.is_exact {
            return self.pass();
        }
        self.skipped -= 1;
        if self.rest.starts_with(is_between) {
            self.pass();
            self.skipped += 1;
        }
    }

    /// Skips any character; after skipped blanks, it may already belong to the next field.
    fn pass_text(&mut self) {
        match self.is_exact || self.skipped <= 0 {
            true => self.pass(),
            false => self.skipped -= 1,
        }
    }

    fn take(&mut self, field: DatetimeField, ends: bool) -> Result<(), String> {
        let word = field.word;
        self.count_by(word)?;
        match word {
            "FX" => self.is_exact = true,
            "YYYY" | "IYYY" | "YYY" | "IYY" | "YY" | "IY" | "Y" | "I" => self.year(word, ends)?,
            "Y,YYY" => self.year_with_comma()?,
            "CC" => self.number(word, 2, ends, |fields| &mut fields.century)?,
            "MM" => self.number(word, 2, ends, |fields| &mut fields.month)?,
            "DD" => self.number(word, 2, ends, |fields| &mut fields.day)?,
            "DDD" | "IDDD" => self.number(word, 3, ends, |fields| &mut fields.day_of_year)?,
            "D" => self.number(word, 1, ends, |fields| &mut fields.weekday)?,
            "ID" => {
                self.number(word, 1, ends, |fields| &mut fields.weekday)?;
                self.fields.weekday = if self.fields.weekday >= 7 { 1 } else { self.fields.weekday + 1 };
            }
            "WW" | "IW" => self.number(word, 2, ends, |fields| &mut fields.week)?,
            "W" => self.number(word, 1, ends, |fields| &mut fields.week_of_month)?,
            "J" => self.number(word, 1, ends, |fields| &mut fields.julian)?,
            // The quarter does not determine a day.
            "Q" => drop(self.digits(word, 1, ends)?),
            "HH24" => self.number(word, 2, ends, |fields| &mut fields.hour)?,
            "HH12" | "HH" => {
                self.number(word, 2, ends, |fields| &mut fields.hour)?;
                self.fields.is_half_day = true;
            }
            "MI" => self.number(word, 2, ends, |fields| &mut fields.minute)?,
            "SS" => self.number(word, 2, ends, |fields| &mut fields.second)?,
            "SSSS" | "SSSSS" => self.number(word, word.len(), ends, |fields| &mut fields.second_of_day)?,
            "MS" => self.fraction(word, 3, ends)?,
            "US" => self.fraction(word, 6, ends)?,
            "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => {
                let places = word.as_bytes()[2] - b'0';
                self.fields.places = Some(places.into());
                self.fraction(word, places.into(), ends)?;
            }
            "AM" | "PM" | "A.M." | "P.M." => {
                let names = if word.len() == 2 { ["AM", "PM"] } else { ["A.M.", "P.M."] };
                let is_later = self.name(word, &names)? == 1;
                self.fields.afternoon = same(word, self.fields.afternoon.into(), is_later.into())? != 0;
                self.fields.is_half_day = true;
            }
            "AD" | "BC" | "A.D." | "B.C." => {
                let names = if word.len() == 2 { ["AD", "BC"] } else { ["A.D.", "B.C."] };
                let is_before = self.name(word, &names)? == 1;
                self.fields.before_christ = same(word, self.fields.before_christ.into(), is_before.into())? != 0;
            }
            "MONTH" => self.month(word, &MONTHS)?,
            "MON" => self.month(word, &MONTHS.map(|name| &name[..3]))?,
            "RM" => {
                // The longer of two with a common prefix comes first.
                let backwards: Vec<&str> = ROMAN.iter().rev().copied().collect();
                let month = 12 - self.name(word, &backwards)?;
                self.fields.month = same(word, self.fields.month, month)?;
            }
            "DAY" => self.weekday(word, &DAYS)?,
            "DY" => self.weekday(word, &DAYS.map(|name| &name[..3]))?,
            "TZH" => self.zone_hours(word, ends)?,
            "TZM" => {
                self.fields.is_east.get_or_insert(true);
                self.number(word, 2, ends, |fields| &mut fields.zone_minutes)?;
            }
            other => return Err(format!("`{other}` can be written by `to_char`, and not be read")),
        }
        if field.ordinal.is_some() && is_number(word) {
            self.pass();
            self.pass();
        }
        Ok(())
    }

    /// Refuses ISO weeks and their years beside months and calendar years.
    fn count_by(&mut self, word: &str) -> Result<(), String> {
        let is_by_week = match word {
            "IYYY" | "IYY" | "IY" | "I" | "IDDD" | "IW" | "ID" => true,
            "Y,YYY" | "YYYY" | "YYY" | "YY" | "Y" | "MM" | "MONTH" | "MON" | "RM" | "DD" | "DDD" | "D" | "WW" | "W" => {
                false
            }
            _ => return Ok(()),
        };
        match self.fields.is_by_week.replace(is_by_week) {
            Some(other) if other != is_by_week => Err(format!(
                "`{word}` can't stand beside fields that count in {}",
                if other { "weeks" } else { "months" }
            )),
            _ => Ok(()),
        }
    }

    /// Parses a number of at most `most` characters, or of all its digits if it `ends` with them; returns it with its
    /// length.
    fn digits(&mut self, word: &str, most: usize, ends: bool) -> Result<(i64, usize), String> {
        let wrong = |rest: &str| format!("`{rest}` is not a number for `{word}`");
        let text = self.rest.trim_start_matches(is_blank);
        let blanks = self.rest.len() - text.len();
        let text = match (ends, text.char_indices().nth(most)) {
            (false, Some((end, _))) => &text[..end],
            _ => text,
        };
        if !ends && text.chars().count() < most {
            return Err(format!("`{text}` has fewer than the {most} characters of `{word}`"));
        }
        let sign = usize::from(text.starts_with(['-', '+']));
        let length = sign + text[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if length == sign || (!ends && length < most) {
            return Err(wrong(text));
        }
        let number: i32 =
            text[..length].parse().map_err(|_| format!("`{}` is too large for `{word}`", &text[..length]))?;
        self.rest = &self.rest[blanks + length..];
        Ok((number.into(), blanks + length))
    }

    fn number(
        &mut self,
        word: &str,
        most: usize,
        ends: bool,
        field: fn(&mut ParsedFields) -> &mut i64,
    ) -> Result<(), String> {
        let (number, _) = self.digits(word, most, ends)?;
        let known = field(&mut self.fields);
        *known = same(word, *known, number)?;
        Ok(())
    }

    /// Parses a year of which the pattern may request some digits: with fewer than four it is the year nearest to 2020.
    fn year(&mut self, word: &str, ends: bool) -> Result<(), String> {
        let wanted = word.len();
        let (number, length) = self.digits(word, wanted, ends)?;
        let year = same(word, self.fields.year, number)?;
        self.fields.year_digits = wanted;
        self.fields.year = match year {
            year if wanted == 4 || length >= 4 => year,
            year if year < 70 => year + 2000,
            year if year < 100 => year + 1900,
            year if year < 520 => year + 2000,
            year if year < 1000 => year + 1000,
            year => year,
        };
        Ok(())
    }

    fn year_with_comma(&mut self) -> Result<(), String> {
        let wrong = format!("`{}` is not a number for `Y,YYY`", self.rest);
        let (thousands, rest) = self.rest.split_once(',').ok_or(wrong.clone())?;
        let length = rest.bytes().take(3).take_while(u8::is_ascii_digit).count();
        let thousands: i64 = thousands.trim_start_matches(is_blank).parse().map_err(|_| wrong.clone())?;
        let years: i64 = rest[..length].parse().map_err(|_| wrong)?;
        let year = thousands.saturating_mul(1_000).saturating_add(years);
        self.fields.year = same("Y,YYY", self.fields.year, year)?;
        (self.fields.year_digits, self.rest) = (4, &rest[length..]);
        Ok(())
    }

    /// Parses fractional digits: `25` is a quarter, and so is `250`.
    fn fraction(&mut self, word: &str, places: usize, ends: bool) -> Result<(), String> {
        let (number, length) = self.digits(word, places, ends)?;
        let unit = if word == "MS" { 3 } else { 6 };
        let known = if word == "MS" { &mut self.fields.millis } else { &mut self.fields.micros };
        *known = same(word, *known, number)?.saturating_mul(unit_digits(unit, length));
        Ok(())
    }

    /// Parses one of the names; returns its index.
    fn name(&mut self, word: &str, names: &[&str]) -> Result<i64, String> {
        let is_here = |name: &&str| {
            let start = self.rest.as_bytes().get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        let found = names.iter().position(is_here).ok_or_else(|| format!("`{}` is none for `{word}`", self.rest))?;
        self.rest = &self.rest[names[found].len()..];
        Ok(i64::try_from(found).unwrap_or(0))
    }

    fn month(&mut self, word: &str, names: &[&str]) -> Result<(), String> {
        let month = self.name(word, names)? + 1;
        self.fields.month = same(word, self.fields.month, month)?;
        Ok(())
    }

    fn weekday(&mut self, word: &str, names: &[&str]) -> Result<(), String> {
        let day = self.name(word, names)?;
        self.fields.weekday = same(word, self.fields.weekday, day)? + 1;
        Ok(())
    }

    /// Parses the hours of a zone and their sign, which may have been skipped as a separator.
    fn zone_hours(&mut self, word: &str, ends: bool) -> Result<(), String> {
        let before = self.whole[..self.whole.len() - self.rest.len()].chars().next_back();
        self.fields.is_east = Some(match self.rest.chars().next() {
            Some(sign @ ('+' | '-' | ' ')) => {
                self.pass();
                sign != '-'
            }
            _ => !(self.skipped > 0 && before == Some('-')),
        });
        self.number(word, 2, ends, |fields| &mut fields.zone_hours)
    }
}

/// Returns the value of a field; if it occurred before, the value must be the same.
fn same(word: &str, known: i64, value: i64) -> Result<i64, String> {
    match known == 0 || known == value {
        true => Ok(value),
        false => Err(format!("`{word}` is {value}, and what stands before it says {known}")),
    }
}

/// Returns the value of the last digit of a fraction with this many digits.
fn unit_digits(unit: u32, length: usize) -> i64 {
    10_i64.pow(unit.saturating_sub(u32::try_from(length).unwrap_or(unit)))
}

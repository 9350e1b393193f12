//! Days, times and moments: validated, converted to UTC where the column stores no zone, and formatted.

use salver_model::records::{ColumnInfo, ColumnKind, Field};

use super::{ConversionTarget, Unfit};
use crate::condition::{Far, far_of_postgres, only_noughts_behind};
use crate::dialect::Dialect;
use crate::moment;
use crate::statement::Bind;

impl ConversionTarget<'_> {
    pub(super) fn moment(&self, column: &ColumnInfo, field: &Field) -> Result<Bind, Unfit> {
        let unfit = match column.kind {
            ColumnKind::Date => "invalid date",
            ColumnKind::Time => "invalid time",
            _ => "invalid timestamp",
        };
        let Field::Text(text) = field else { return Err(unfit) };
        let text = text.trim();
        if let Some(far) = self.far(column, text) {
            return Ok(Bind::Text(far));
        }
        if self.keeps_span(column, text) {
            return Ok(Bind::Text(text.to_owned()));
        }
        let laid_out = match column.kind {
            ColumnKind::Date => moment::date(text).ok_or(unfit)?,
            ColumnKind::Time => {
                let clock = moment::time(text, self.dialect == Dialect::Mysql).ok_or(unfit)?;
                let clock =
                    if self.dialect.has_zone(column) { clock } else { moment::clock_in_utc(clock).ok_or(unfit)? };
                self.clock(column, &clock).ok_or(unfit)?
            }
            _ => {
                let (date, clock) = moment::timestamp(text).ok_or(unfit)?;
                if moment::is_laid_out(text) {
                    return Ok(Bind::Text(text.to_owned()));
                }
                let (date, clock) = if self.dialect.has_zone(column) {
                    (date, clock)
                } else {
                    moment::in_utc(&date, clock).ok_or(unfit)?
                };
                format!("{date} {}", self.clock(column, &clock).ok_or(unfit)?)
            }
        };
        // It is a text there, which keeps the form in which it was read.
        let keeps = self.dialect == Dialect::Sqlite && only_noughts_behind(&laid_out, text);
        Ok(Bind::Text(if keeps { text.to_owned() } else { laid_out }))
    }

    /// Returns whether it is a span in a column of times of SQLite, which has no type for them: it is stored and shown.
    fn keeps_span(&self, column: &ColumnInfo, text: &str) -> bool {
        let is_time = self.dialect == Dialect::Sqlite && column.kind == ColumnKind::Time;
        is_time && moment::time(text, false).is_none() && moment::is_long_span(text)
    }

    /// Returns a day or time that only PostgreSQL supports, in its own output format.
    fn far(&self, column: &ColumnInfo, text: &str) -> Option<String> {
        if self.dialect != Dialect::Postgres {
            return None;
        }
        match column.kind {
            ColumnKind::Date if moment::date(text).is_none() => far_of_postgres(Far::Date, text),
            ColumnKind::Time if moment::time(text, false).is_none() => {
                let clock = moment::time(&far_of_postgres(Far::Time, text)?.replacen("24:", "00:", 1), false)?;
                Some(self.clock(column, &clock)?.replacen("00:", "24:", 1))
            }
            ColumnKind::Timestamp if moment::timestamp(text).is_none() => {
                let far = far_of_postgres(Far::Timestamp, text)?;
                let Some((day, rest)) = far.split_once(' ') else { return Some(far) };
                let (rest, era) = rest.strip_suffix(" BC").map_or((rest, ""), |rest| (rest, " BC"));
                Some(format!("{day} {}{era}", self.clock(column, &moment::time(rest, false)?)?))
            }
            _ => None,
        }
    }

    /// Returns the time in the column's form; `None` when the column would round it or shift it to another zone.
    fn clock(&self, column: &ColumnInfo, clock: &moment::Clock) -> Option<String> {
        if clock.fraction.len() > self.fraction_digits(column.own_type()) {
            return None;
        }
        if self.dialect.has_zone(column) {
            return Some(format!("{}{}", clock.digits(), clock.zone));
        }
        clock.is_utc().then(|| clock.digits())
    }

    /// Returns the number of fractional digits that a column of this type keeps.
    fn fraction_digits(&self, native: &str) -> usize {
        let told = native.split_once('(').and_then(|(_, rest)| rest.split_once(')')).and_then(|(n, _)| n.parse().ok());
        match self.dialect {
            Dialect::Sqlite => 9,
            Dialect::Postgres => told.unwrap_or(6),
            Dialect::Mysql => told.unwrap_or(0),
        }
    }
}

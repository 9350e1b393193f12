//! Masks of columns as SQL. Every constant is written into the text: a mask is the operator's, and where it stands in a
//! statement no order of bound values has to be kept.

use salver_model::mask::{FLOAT_BOUND, Mask, MaskExpression, MaskPart, MaskedKind, SINGLE_BOUND, Step, TruncUnit};
use salver_model::records::{ColumnInfo, ColumnKind};
use salver_model::spec::DatabaseKind;
use salver_model::{Code, Error, Result, Value};

use super::{Dialect, type_name};

/// A date and a date with a time, as texts in ISO 8601. A time with an offset is no such text: it is of another day in
/// UTC.
const DATE: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
const MOMENT: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}[^-+]*$";
/// The same as patterns of SQLite's `GLOB`.
const DATE_GLOB: &str = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
const MOMENT_GLOB: &str = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]*";

/// Returns the kind of a column, as masks tell columns apart.
#[must_use]
pub fn masked_kind(database: DatabaseKind, column: &ColumnInfo) -> MaskedKind {
    kind(Dialect::of(database), column)
}

fn kind(dialect: Dialect, column: &ColumnInfo) -> MaskedKind {
    let own = type_name(column.own_type());
    let is = |names: &[&str]| dialect != Dialect::Postgres || names.contains(&own);
    match column.kind {
        ColumnKind::Varchar | ColumnKind::Clob if dialect.is_plain_text(column) && column.words.is_empty() => {
            MaskedKind::Text
        }
        ColumnKind::Boolean => MaskedKind::Boolean,
        ColumnKind::Integer | ColumnKind::BigInt
            if is(&["smallint", "integer", "bigint"]) && !(dialect == Dialect::Mysql && own.starts_with("bit")) =>
        {
            MaskedKind::Integer
        }
        ColumnKind::Float | ColumnKind::Double if is(&["real", "double precision"]) => MaskedKind::Float,
        ColumnKind::Decimal if dialect == Dialect::Sqlite => MaskedKind::Float,
        ColumnKind::Decimal if is(&["numeric"]) => MaskedKind::Decimal(column.scale),
        // SQLite has texts.
        ColumnKind::Date if is(&["date"]) => MaskedKind::Date,
        ColumnKind::Timestamp if is_timestamp(dialect, column) => MaskedKind::Timestamp,
        _ => MaskedKind::Other,
    }
}

fn is_timestamp(dialect: Dialect, column: &ColumnInfo) -> bool {
    dialect != Dialect::Postgres || column.own_type().starts_with("timestamp")
}

impl Dialect {
    /// Appends the masked value of the column, from the table called `alias`, which has the column's type.
    ///
    /// # Errors
    /// `Config` when the mask does not fit the column.
    pub(crate) fn masked(self, column: &ColumnInfo, mask: &Mask, alias: &str, text: &mut String) -> Result<()> {
        let kind = kind(self, column);
        if let Some(why) = mask.misfit(kind) {
            let source = Error::new(Code::Config, format!("`{}` can't be masked: {why}", column.name));
            return Err(Error::new(Code::Config, "an access rule of the table is wrong")
                .with_hint("the log of the server has the reason")
                .with_source(source));
        }
        let mut own = String::new();
        self.reference(column, alias, &mut own);
        let masked = match mask.expression() {
            MaskExpression::Constant(value) => self.constant(value, kind, column),
            MaskExpression::Text(parts) => self.text(parts, &own),
            MaskExpression::Floor(step) => match kind {
                MaskedKind::Integer => self.whole_floor(*step, &own, column),
                MaskedKind::Decimal(_) => self.decimal_floor(*step, &own, column),
                _ => self.float_floor(*step, &own, column.kind),
            },
            MaskExpression::Trunc(unit) => match kind {
                MaskedKind::Date | MaskedKind::Timestamp if self != Self::Sqlite => self.trunc(*unit, &own, column),
                _ => self.text_trunc(*unit, &own),
            },
        };
        text.push('(');
        text.push_str(&masked);
        text.push(')');
        if self == Self::Postgres {
            text.push_str("::");
            text.push_str(postgres_type(column, kind));
        }
        Ok(())
    }

    /// Returns a text literal, which nothing in it can end.
    fn mask_literal(self, text: &str) -> String {
        match self {
            Self::Sqlite => format!("'{}'", text.replace('\'', "''")),
            // In this notation a backslash means the same in every session.
            Self::Postgres => format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            // What a backslash means is a setting of the server.
            Self::Mysql => {
                let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
                format!("_utf8mb4 x'{digits}'")
            }
        }
    }

    fn constant(self, value: &Value, kind: MaskedKind, column: &ColumnInfo) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Bool(value) if self == Self::Postgres => value.to_string(),
            Value::Bool(value) => u8::from(*value).to_string(),
            Value::Text(text) => match (self, kind) {
                (Self::Postgres, MaskedKind::Timestamp) if self.has_zone(column) => {
                    self.mask_literal(&format!("{text}+00"))
                }
                (Self::Mysql, MaskedKind::Date) => format!("DATE'{text}'"),
                (Self::Mysql, MaskedKind::Timestamp) => format!("TIMESTAMP'{text}'"),
                _ => self.mask_literal(text),
            },
            Value::Int(number) if kind == MaskedKind::Float && self == Self::Sqlite => format!("{number}.0"),
            number if kind == MaskedKind::Float && self == Self::Mysql => format!("{number}e0"),
            number => number.to_string(),
        }
    }

    fn text(self, parts: &[MaskPart], own: &str) -> String {
        let part = |part: &MaskPart| match (part, self) {
            (MaskPart::Text(text), _) => self.mask_literal(text),
            (MaskPart::Left(count), Self::Sqlite) => format!("substr({own}, 1, {count})"),
            (MaskPart::Right(0), Self::Sqlite) => "''".to_owned(),
            (MaskPart::Right(count), Self::Sqlite) => format!("substr({own}, -{count})"),
            (MaskPart::Left(count), Self::Postgres) => format!("left({own}::text, {count})"),
            (MaskPart::Right(count), Self::Postgres) => format!("right({own}::text, {count})"),
            (MaskPart::Left(count), Self::Mysql) => format!("LEFT({own}, {count})"),
            (MaskPart::Right(count), Self::Mysql) => format!("RIGHT({own}, {count})"),
        };
        let parts: Vec<String> = parts.iter().map(part).collect();
        match self {
            // A column of any type can have bytes, which are no characters.
            Self::Sqlite => format!("CASE WHEN typeof({own}) = 'text' THEN {} END", parts.join(" || ")),
            Self::Postgres => parts.join(" || "),
            Self::Mysql => format!("CONCAT({})", parts.join(", ")),
        }
    }

    fn whole_floor(self, step: Step, own: &str, column: &ColumnInfo) -> String {
        let step = step.unscaled();
        match self {
            // An overflow would be a float.
            Self::Sqlite => {
                let floor = format!("{own} - (({own} % {step}) + {step}) % {step}");
                format!("CASE WHEN typeof({own}) = 'integer' AND typeof({floor}) = 'integer' THEN {floor} END")
            }
            Self::Postgres => {
                let floor = format!("{own}::numeric - mod(mod({own}::numeric, {step}) + {step}, {step})");
                let least = match type_name(column.own_type()) {
                    "smallint" => i64::from(i16::MIN),
                    "integer" => i64::from(i32::MIN),
                    _ => i64::MIN,
                };
                format!("CASE WHEN {floor} >= {least} THEN {floor} END")
            }
            Self::Mysql => {
                let whole = format!("CAST({own} AS DECIMAL(30,0))");
                let floor = format!("{whole} - MOD(MOD({whole}, {step}) + {step}, {step})");
                if column.native.contains("unsigned") {
                    return format!("CAST({floor} AS UNSIGNED)");
                }
                let least = if column.kind == ColumnKind::Integer { i64::from(i32::MIN) } else { i64::MIN };
                format!("CASE WHEN {floor} >= {least} THEN CAST({floor} AS SIGNED) END")
            }
        }
    }

    fn decimal_floor(self, step: Step, own: &str, column: &ColumnInfo) -> String {
        let step = decimal(step);
        let floor = match self {
            Self::Mysql => format!("{own} - MOD(MOD({own}, {step}) + {step}, {step})"),
            _ => format!("{own} - mod(mod({own}, {step}) + {step}, {step})"),
        };
        let (Some(precision), Some(scale)) = (column.precision, column.scale) else {
            // The digits of the value itself would stay behind the point, as noughts.
            return if self == Self::Postgres { format!("trim_scale({floor})") } else { floor };
        };
        // What has more digits than the column is no value of it.
        let bound = format!("1{}", "0".repeat(precision.saturating_sub(scale) as usize));
        let floor = format!("CASE WHEN abs({floor}) < {bound} THEN {floor} END");
        if self == Self::Mysql { format!("CAST({floor} AS DECIMAL({precision},{scale}))") } else { floor }
    }

    fn float_floor(self, step: Step, own: &str, kind: ColumnKind) -> String {
        let single = kind == ColumnKind::Float && self != Self::Sqlite;
        let bound = if single { SINGLE_BOUND } else { FLOAT_BOUND };
        match self {
            Self::Sqlite => {
                let step = if step.scale() == 0 { format!("{}.0", decimal(step)) } else { decimal(step) };
                let parts = format!("({own} / {step})");
                // Beyond 2^52 every float is whole.
                let floor = format!(
                    "CASE WHEN abs({parts}) >= 4503599627370496.0 THEN {parts} \
                     ELSE CAST({parts} AS INTEGER) - ({parts} < CAST({parts} AS INTEGER)) END"
                );
                format!(
                    "CASE WHEN typeof({own}) IN ('real', 'integer') AND abs({own}) < {bound:e} \
                     THEN ({floor}) * {step} + 0.0 END"
                )
            }
            Self::Postgres => {
                let (own, step) = (format!("{own}::float8"), format!("{}::float8", decimal(step)));
                format!("CASE WHEN abs({own}) < {bound:e}::float8 THEN floor({own} / {step}) * {step} + 0::float8 END")
            }
            Self::Mysql => {
                let step = format!("{}e0", decimal(step));
                format!("CASE WHEN ABS({own}) < {bound:e} THEN FLOOR({own} / {step}) * {step} + 0e0 END")
            }
        }
    }

    fn trunc(self, unit: TruncUnit, own: &str, column: &ColumnInfo) -> String {
        let word = unit.word();
        if self == Self::Postgres {
            let trunc = match (column.kind, self.has_zone(column)) {
                (ColumnKind::Date, _) => format!("date_trunc('{word}', {own}::timestamp)"),
                (_, true) => format!("date_trunc('{word}', {own} AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'"),
                (_, false) => format!("date_trunc('{word}', {own})"),
            };
            return format!("CASE WHEN isfinite({own}) THEN {trunc} END");
        }
        let date = match unit {
            TruncUnit::Year => "%Y-01-01",
            TruncUnit::Month => "%Y-%m-01",
            TruncUnit::Day | TruncUnit::Hour => "%Y-%m-%d",
        };
        if column.kind == ColumnKind::Date {
            return format!("CAST(DATE_FORMAT({own}, '{date}') AS DATE)");
        }
        let hour = if unit == TruncUnit::Hour { "%H" } else { "00" };
        // As many digits behind the seconds as the column has.
        let digits = column.native.split_once('(').and_then(|(_, rest)| rest.split(')').next());
        let digits = digits.filter(|digits| digits.len() == 1 && digits.as_bytes()[0].is_ascii_digit()).unwrap_or("0");
        format!("CAST(DATE_FORMAT({own}, '{date} {hour}:00:00') AS DATETIME({digits}))")
    }

    /// Truncates dates and times that are texts in ISO 8601; other texts become null.
    fn text_trunc(self, unit: TruncUnit, own: &str) -> String {
        let own = if self == Self::Postgres { format!("{own}::text") } else { own.to_owned() };
        let put = |parts: &[String]| match self {
            Self::Mysql => format!("CONCAT({})", parts.join(", ")),
            _ => parts.join(" || "),
        };
        let (kept, rest) = match unit {
            TruncUnit::Year => (4, "-01-01"),
            TruncUnit::Month => (7, "-01"),
            TruncUnit::Day => (10, ""),
            TruncUnit::Hour => (13, ":00:00"),
        };
        let begin = [format!("substr({own}, 1, {kept})"), format!("'{rest}'")];
        let (date, moment) = match unit {
            TruncUnit::Hour => ("NULL".to_owned(), put(&begin)),
            _ => {
                let clock = [format!("substr({own}, 11, 1)"), "'00:00:00'".to_owned()];
                (put(&begin), put(&[begin.clone(), clock].concat()))
            }
        };
        let is = |pattern: &str| match self {
            Self::Postgres => format!("{own} ~ '{pattern}'"),
            _ => format!("{own} REGEXP '{pattern}'"),
        };
        match self {
            Self::Sqlite => format!(
                "CASE WHEN typeof({own}) <> 'text' THEN NULL WHEN {own} GLOB '{DATE_GLOB}' THEN {date} \
                 WHEN {own} GLOB '{MOMENT_GLOB}' AND substr({own}, 17) NOT GLOB '*[-+]*' THEN {moment} END"
            ),
            _ => format!("CASE WHEN {} THEN {date} WHEN {} THEN {moment} END", is(DATE), is(MOMENT)),
        }
    }
}

/// Returns the digits of a step.
fn decimal(step: Step) -> String {
    let (digits, scale) = (step.unscaled().to_string(), usize::from(step.scale()));
    if scale == 0 {
        return digits;
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{whole}.{fraction}")
}

/// Returns the type that masked values are cast to: the column's own, without its length, which a cast would cut texts
/// to.
fn postgres_type(column: &ColumnInfo, kind: MaskedKind) -> &str {
    match (kind, type_name(column.own_type())) {
        (MaskedKind::Text, "citext") => column.own_type(),
        (MaskedKind::Text, _) => "text",
        _ => column.own_type(),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite::types::Value;
    use salver_model::Mask;
    use salver_model::records::{ColumnInfo, ColumnKind};

    use crate::dialect::Dialect;

    fn column(kind: ColumnKind, native: &str) -> ColumnInfo {
        ColumnInfo {
            name: "c".to_owned(),
            real_name: "c".to_owned(),
            kind,
            native: native.to_owned(),
            base: None,
            compared: None,
            length: None,
            precision: None,
            scale: None,
            nullable: true,
            has_default: false,
            auto_increment: false,
            generated: false,
            ordered: true,
            words: Vec::new(),
            comment: None,
        }
    }

    fn sql(dialect: Dialect, mask: &str, kind: ColumnKind, native: &str) -> String {
        let mut text = String::new();
        dialect.masked(&column(kind, native), &Mask::parse("c", mask).unwrap(), "m", &mut text).unwrap();
        text
    }

    /// Computes the mask of a literal in SQLite.
    fn sqlite(mask: &str, kind: ColumnKind, value: &str) -> Value {
        let masked = sql(Dialect::Sqlite, mask, kind, "");
        let text = format!("select {masked} from (select {value} as c) as m");
        Connection::open_in_memory().unwrap().query_row(&text, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn in_sqlite() {
        let text = |text: &str| Value::Text(text.to_owned());
        let clob = ColumnKind::Clob;
        assert_eq!(sqlite("left(c, 1) || '''*'", clob, "'Ĝoé😀'"), text("Ĝ'*"));
        assert_eq!(sqlite("right(c, 2)", clob, "'Ĝoé😀'"), text("é😀"));
        assert_eq!(sqlite("right(c, 9) || right(c, 0)", clob, "'ab'"), text("ab"));
        assert_eq!(sqlite("left(c, 1)", clob, "x'ffee'"), Value::Null);
        assert_eq!(sqlite("left(c, 1) || 'x'", clob, "null"), Value::Null);
        let whole = ColumnKind::Integer;
        assert_eq!(sqlite("floor(c, 10)", whole, "17"), Value::Integer(10));
        assert_eq!(sqlite("floor(c, 10)", whole, "-3"), Value::Integer(-10));
        assert_eq!(sqlite("floor(c, 10)", whole, "-9223372036854775808"), Value::Null);
        assert_eq!(sqlite("floor(c, 10)", whole, "17.5"), Value::Null);
        assert_eq!(sqlite("floor(c, 10)", whole, "'17'"), Value::Null);
        let real = ColumnKind::Double;
        assert_eq!(sqlite("floor(c, 0.5)", real, "0.74"), Value::Real(0.5));
        assert_eq!(sqlite("floor(c, 0.5)", real, "-0.1"), Value::Real(-0.5));
        assert_eq!(sqlite("floor(c, 10)", real, "1e20"), Value::Real(1e20));
        assert_eq!(sqlite("floor(c, 10)", real, "-9e999"), Value::Null);
        for kind in [ColumnKind::Date, ColumnKind::Timestamp, clob] {
            assert_eq!(sqlite("trunc(c, 'year')", kind, "'2024-02-29'"), text("2024-01-01"));
            assert_eq!(sqlite("trunc(c, 'month')", kind, "'2024-02-29 01:30:00'"), text("2024-02-01 00:00:00"));
            assert_eq!(sqlite("trunc(c, 'day')", kind, "'2024-02-29T01:30:00.25Z'"), text("2024-02-29T00:00:00"));
            for not in ["'2024-02-29T01:30:00+02:00'", "'2024-02-29x'", "'24-02-29'", "1709164800", "null"] {
                assert_eq!(sqlite("trunc(c, 'day')", kind, not), Value::Null, "{not}");
            }
        }
        assert_eq!(sqlite("trunc(c, 'hour')", clob, "'2024-02-29 01:30:00'"), text("2024-02-29 01:00:00"));
        assert_eq!(sqlite("trunc(c, 'hour')", clob, "'2024-02-29'"), Value::Null);
    }

    #[test]
    fn constants_stay_in_their_quotes() {
        let of = |dialect: Dialect, mask: &str| sql(dialect, mask, ColumnKind::Clob, "text");
        let mask = "'it''s \\'";
        assert_eq!(of(Dialect::Sqlite, mask), "('it''s \\')");
        assert_eq!(of(Dialect::Postgres, mask), "(E'it''s \\\\')::text");
        assert_eq!(of(Dialect::Mysql, mask), "(_utf8mb4 x'69742773205c')");
        assert_eq!(of(Dialect::Postgres, "null"), "(NULL)::text");
    }

    #[test]
    fn a_cast_cuts_nothing_off() {
        let of = |native: &str| sql(Dialect::Postgres, "left(c, 1) || '***'", ColumnKind::Varchar, native);
        assert_eq!(of("character varying(2)"), "(left(m.\"c\"::text, 1) || E'***')::text");
        assert_eq!(of("citext"), "(left(m.\"c\"::text, 1) || E'***')::citext");
    }
}

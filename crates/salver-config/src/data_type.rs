//! Names of column types: friendly ones (`int`, `text`, `timestamp("ms", "UTC")`) and Arrow's own (`Int64`, `Utf8`),
//! parsed and rendered.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use salver_model::limits::TYPE_DEPTH_MAX;

/// Types without parameters, with every name; the first name of a type is the one that is rendered.
const PLAIN: &[(&str, DataType)] = &[
    ("text", DataType::Utf8),
    ("string", DataType::Utf8),
    ("utf8", DataType::Utf8),
    ("varchar", DataType::Utf8),
    ("largeutf8", DataType::LargeUtf8),
    ("utf8view", DataType::Utf8View),
    ("bool", DataType::Boolean),
    ("boolean", DataType::Boolean),
    ("int", DataType::Int64),
    ("int64", DataType::Int64),
    ("bigint", DataType::Int64),
    ("integer", DataType::Int64),
    ("int32", DataType::Int32),
    ("int16", DataType::Int16),
    ("smallint", DataType::Int16),
    ("int8", DataType::Int8),
    ("tinyint", DataType::Int8),
    ("uint64", DataType::UInt64),
    ("uint32", DataType::UInt32),
    ("uint16", DataType::UInt16),
    ("uint8", DataType::UInt8),
    ("float", DataType::Float64),
    ("float64", DataType::Float64),
    ("double", DataType::Float64),
    ("float32", DataType::Float32),
    ("real", DataType::Float32),
    ("float16", DataType::Float16),
    ("date", DataType::Date32),
    ("date32", DataType::Date32),
    ("date64", DataType::Date64),
    ("binary", DataType::Binary),
    ("bytes", DataType::Binary),
    ("largebinary", DataType::LargeBinary),
    ("binaryview", DataType::BinaryView),
    ("null", DataType::Null),
];

/// Types with parameters, as in the reference.
const SHAPES: &[&str] = &[
    "timestamp",
    "timestamp(\"ms\")",
    "timestamp(\"us\", \"UTC\")",
    "time",
    "time(\"ms\")",
    "duration(\"s\")",
    "interval",
    "decimal(10, 2)",
    "list(int)",
    "struct(lat float, lng float)",
];

/// Parses a type. The error has the problem and the alternatives.
///
/// # Errors
/// Returns an error when `text` does not name a type.
pub fn parse(text: &str) -> Result<DataType, String> {
    let mut parser = Parser { rest: text };
    let data_type = parser.data_type(0)?;
    parser.skip();
    if parser.rest.is_empty() { Ok(data_type) } else { Err(format!("`{}` is left over", parser.rest)) }
}

/// Returns every name of a type, for suggestions and the reference.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    PLAIN.iter().map(|(name, _)| *name).chain(SHAPES.iter().copied())
}

/// Renders a type so that [`parse`] reads it back.
#[must_use]
pub fn render(data_type: &DataType) -> String {
    if let Some((name, _)) = PLAIN.iter().find(|(_, plain)| plain == data_type) {
        return (*name).to_owned();
    }
    match data_type {
        DataType::Timestamp(TimeUnit::Microsecond, None) => "timestamp".to_owned(),
        DataType::Timestamp(unit, None) => format!("timestamp(\"{}\")", unit_name(*unit)),
        DataType::Timestamp(unit, Some(zone)) => format!("timestamp(\"{}\", \"{zone}\")", unit_name(*unit)),
        DataType::Time32(unit) | DataType::Time64(unit) => format!("time(\"{}\")", unit_name(*unit)),
        DataType::Duration(unit) => format!("duration(\"{}\")", unit_name(*unit)),
        DataType::Interval(_) => "interval".to_owned(),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            format!("decimal({precision}, {scale})")
        }
        DataType::List(item) => format!("list({})", render(item.data_type())),
        DataType::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{} {}", field.name(), render(field.data_type()))).collect();
            format!("struct({})", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn data_type(&mut self, depth: usize) -> Result<DataType, String> {
        if depth > TYPE_DEPTH_MAX {
            return Err(format!("types nest at most {TYPE_DEPTH_MAX} deep"));
        }
        let word = self.word();
        let lower = word.to_ascii_lowercase();
        if let Some((_, plain)) = PLAIN.iter().find(|(name, _)| *name == lower) {
            return Ok(plain.clone());
        }
        match lower.as_str() {
            "timestamp" | "datetime" | "timestamptz" => self.timestamp(&lower),
            "time" | "time32" | "time64" => self.time(),
            "duration" => Ok(DataType::Duration(self.unit_argument()?.unwrap_or(TimeUnit::Microsecond))),
            "interval" => Ok(DataType::Interval(IntervalUnit::MonthDayNano)),
            "decimal" | "numeric" | "decimal128" | "decimal256" => self.decimal(),
            "list" | "array" => {
                self.expect('(')?;
                let item = self.data_type(depth + 1)?;
                self.expect(')')?;
                Ok(DataType::List(Arc::new(Field::new_list_field(item, true))))
            }
            "struct" => self.fields(depth),
            "" => Err("a type is missing".to_owned()),
            _ => {
                let hint = salver_model::suggest::nearest(&lower, names());
                Err(hint.map_or_else(
                    || format!("there is no type `{word}`"),
                    |near| format!("there is no type `{word}`; did you mean `{near}`?"),
                ))
            }
        }
    }

    fn timestamp(&mut self, word: &str) -> Result<DataType, String> {
        let mut unit = TimeUnit::Microsecond;
        let mut zone = (word == "timestamptz").then(|| Arc::from("UTC"));
        if self.accept('(') {
            unit = self.unit()?;
            if self.accept(',') {
                zone = match self.word() {
                    "None" | "null" => None,
                    // Arrow's own spelling, `Some("UTC")`.
                    "Some" => {
                        self.expect('(')?;
                        let zone = self.quoted();
                        self.expect(')')?;
                        zone
                    }
                    "" => self.quoted(),
                    bare => Some(bare.to_owned()),
                }
                .map(Arc::from);
            }
            self.expect(')')?;
        }
        Ok(DataType::Timestamp(unit, zone))
    }

    fn time(&mut self) -> Result<DataType, String> {
        Ok(match self.unit_argument()?.unwrap_or(TimeUnit::Microsecond) {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(unit),
            unit => DataType::Time64(unit),
        })
    }

    fn decimal(&mut self) -> Result<DataType, String> {
        self.expect('(')?;
        let precision: u8 = self.number()?;
        let scale: i8 = if self.accept(',') { self.number()? } else { 0 };
        self.expect(')')?;
        match precision {
            1..=38 if scale.unsigned_abs() <= precision => Ok(DataType::Decimal128(precision, scale)),
            39..=76 if scale.unsigned_abs() <= precision => Ok(DataType::Decimal256(precision, scale)),
            1..=76 => Err(format!("the scale {scale} is larger than the precision {precision}")),
            _ => Err(format!("the precision is 1 to 76, not {precision}")),
        }
    }

    fn fields(&mut self, depth: usize) -> Result<DataType, String> {
        self.expect('(')?;
        let mut fields = Vec::new();
        loop {
            let name = match self.quoted() {
                Some(quoted) => quoted,
                None => self.word().to_owned(),
            };
            if name.is_empty() {
                return Err("a field of the struct has no name; write struct(name type, ...)".to_owned());
            }
            fields.push(Field::new(name, self.data_type(depth + 1)?, true));
            if !self.accept(',') {
                break;
            }
        }
        self.expect(')')?;
        Ok(DataType::Struct(Fields::from(fields)))
    }

    fn unit_argument(&mut self) -> Result<Option<TimeUnit>, String> {
        if !self.accept('(') {
            return Ok(None);
        }
        let unit = self.unit()?;
        self.expect(')')?;
        Ok(Some(unit))
    }

    fn unit(&mut self) -> Result<TimeUnit, String> {
        let unit = match self.quoted() {
            Some(quoted) => quoted,
            None => self.word().to_owned(),
        };
        match unit.to_ascii_lowercase().as_str() {
            "s" | "second" => Ok(TimeUnit::Second),
            "ms" | "millisecond" => Ok(TimeUnit::Millisecond),
            "us" | "microsecond" | "µs" => Ok(TimeUnit::Microsecond),
            "ns" | "nanosecond" => Ok(TimeUnit::Nanosecond),
            _ => Err(format!("`{unit}` is not a unit of time; there is \"s\", \"ms\", \"us\", \"ns\"")),
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().map_err(|_| format!("a small number is missing before `{rest}`"))
    }

    fn quoted(&mut self) -> Option<String> {
        self.skip();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (inside, rest) = self.rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(inside.to_owned())
    }
}

impl<'a> Parser<'a> {
    fn word(&mut self) -> &'a str {
        self.skip();
        let end =
            self.rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '+')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn accept(&mut self, c: char) -> bool {
        self.skip();
        let found = self.rest.strip_prefix(c);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.accept(c) {
            return Ok(());
        }
        let found = if self.rest.is_empty() { "the end".to_owned() } else { format!("`{}`", self.rest) };
        Err(format!("`{c}` is missing before {found}"))
    }
}

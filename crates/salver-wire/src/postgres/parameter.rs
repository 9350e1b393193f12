//! Values of parameters, from the bytes of clients: as text, or in the binary form of their type (its `recv` function
//! in PostgreSQL's sources).

use bytes::Buf;
use salver_model::{ParameterType, TypedValue, Value};
use salver_text::calendar::date_of;

use super::message::{Bind, Format};
use super::refusal::{NOT_SUPPORTED, Refusal};
use salver_model::pg_type::{Scalar, UNSPECIFIED};

/// Days from 1970 to 2000, from which PostgreSQL counts.
const EPOCH_DAYS: i64 = 10_957;
/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;
/// Bytes of the beginning of a binary `numeric`.
const NUMERIC_HEAD_BYTES: usize = 8;
/// Largest number of decimals that a binary `numeric` can have.
const NUMERIC_SCALE_BOUND: u16 = 0x3fff;

/// A type that a client can give a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientType {
    Scalar(Scalar),
    Uuid,
    /// JSON with a version before it, in binary.
    Jsonb,
}

impl ClientType {
    /// Returns the type of this number; `None` if it says nothing of the type.
    ///
    /// # Errors
    /// `0A000` for a type that no parameter can have.
    pub(super) fn of(oid: u32) -> Result<Option<Self>, Refusal> {
        use Scalar as S;
        const SCALARS: [S; 15] = [
            S::Bool,
            S::Int2,
            S::Int4,
            S::Int8,
            S::Float4,
            S::Float8,
            S::Numeric,
            S::Text,
            S::Bytea,
            S::Date,
            S::Time,
            S::Timestamp,
            S::TimestampTz,
            S::Interval,
            S::Json,
        ];
        if UNSPECIFIED.contains(&oid) {
            return Ok(None);
        }
        if oid == S::Bytea.oid() {
            return Err(Refusal::new(NOT_SUPPORTED, "parameters of the type `bytea` are not supported")
                .with_hint("send the bytes as hexadecimal text, with `decode($1, 'hex')`"));
        }
        Ok(Some(match oid {
            2950 => Self::Uuid,
            3802 => Self::Jsonb,
            // `bpchar`, `varchar`, `name`, `char`.
            1042 | 1043 | 19 | 18 => Self::Scalar(S::Text),
            // `oid`.
            26 => Self::Scalar(S::Int8),
            other => match SCALARS.into_iter().find(|scalar| scalar.oid() == other) {
                Some(scalar) => Self::Scalar(scalar),
                None => {
                    let message = format!("parameters of the type with the number {other} are not supported");
                    return Err(Refusal::new(NOT_SUPPORTED, message).with_hint("send the value as text"));
                }
            },
        }))
    }

    /// Returns what a statement takes it for.
    pub(super) fn kind(self) -> ParameterType {
        match self {
            Self::Scalar(scalar) => match scalar {
                Scalar::Bool => ParameterType::Boolean,
                Scalar::Int2 | Scalar::Int4 | Scalar::Int8 => ParameterType::Integer,
                Scalar::Float4 | Scalar::Float8 | Scalar::Numeric => ParameterType::Number,
                Scalar::Date => ParameterType::Date,
                Scalar::Timestamp => ParameterType::Timestamp,
                // As texts these are read by what they are compared with, a zone with its times.
                Scalar::TimestampTz | Scalar::Text | Scalar::Bytea | Scalar::Time | Scalar::Interval | Scalar::Json => {
                    ParameterType::Text
                }
            },
            Self::Uuid | Self::Jsonb => ParameterType::Text,
        }
    }
}

/// Returns the number of the type that a client is told for a parameter.
pub(super) fn oid(kind: ParameterType) -> u32 {
    let scalar = match kind {
        ParameterType::Text => Scalar::Text,
        ParameterType::Integer => Scalar::Int8,
        ParameterType::Number => Scalar::Float8,
        ParameterType::Boolean => Scalar::Bool,
        ParameterType::Date => Scalar::Date,
        ParameterType::Timestamp => Scalar::Timestamp,
    };
    scalar.oid()
}

/// Reads the values of a portal for parameters of these types: what the client said, and what the statement tells.
///
/// # Errors
/// `08P01` for another number of values, and `22P02` or `22P03` for what is no value of its type.
pub(super) fn values(bind: &Bind, types: &[(u32, ParameterType)]) -> Result<Vec<TypedValue>, Refusal> {
    if !bind.formats.fit(bind.values.len()) {
        let message = format!(
            "bind message has another number of parameter formats than of its {} parameters",
            bind.values.len()
        );
        return Err(Refusal::new("08P01", message));
    }
    if bind.values.len() != types.len() {
        let message = format!(
            "bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
            bind.values.len(),
            bind.statement,
            types.len()
        );
        return Err(Refusal::new("08P01", message));
    }
    let given = bind.values.iter().zip(types).enumerate();
    let typed = given.map(|(at, (bytes, (oid, told)))| {
        let said = ClientType::of(*oid)?;
        let kind = said.map_or(*told, ClientType::kind);
        // Who says no type goes by what the server told.
        let written = said.unwrap_or(ClientType::Scalar(scalar_of(*told)));
        let value = bytes.as_ref().map(|bytes| match bind.formats.at(at) {
            Format::Text => text(bytes, kind, at),
            Format::Binary => binary(bytes, written).ok_or_else(|| {
                Refusal::new("22P03", format!("incorrect binary data format in bind parameter {}", at + 1))
            }),
        });
        Ok(TypedValue { name: (at + 1).to_string(), kind, value: value.transpose()? })
    });
    typed.collect()
}

fn scalar_of(kind: ParameterType) -> Scalar {
    match kind {
        ParameterType::Text => Scalar::Text,
        ParameterType::Integer => Scalar::Int8,
        ParameterType::Number => Scalar::Float8,
        ParameterType::Boolean => Scalar::Bool,
        ParameterType::Date => Scalar::Date,
        ParameterType::Timestamp => Scalar::Timestamp,
    }
}

/// Reads a value as text.
fn text(bytes: &[u8], kind: ParameterType, at: usize) -> Result<Value, Refusal> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Refusal::new("22021", "invalid byte sequence for encoding \"UTF8\""))?;
    if text.contains('\0') {
        return Err(Refusal::new("22021", "invalid byte sequence for encoding \"UTF8\": 0x00"));
    }
    let trimmed = text.trim();
    let value = match kind {
        ParameterType::Text => Some(Value::Text(text.to_owned())),
        ParameterType::Boolean => boolean(trimmed).map(Value::Bool),
        ParameterType::Number if is_no_number(trimmed) => trimmed.parse().ok().map(Value::Float),
        // Years before 1, which this type does not read.
        ParameterType::Date | ParameterType::Timestamp => {
            kind.parse(trimmed).or_else(|| Some(Value::Text(trimmed.to_owned())))
        }
        ParameterType::Integer | ParameterType::Number => kind.parse(trimmed),
    };
    value.ok_or_else(|| {
        let message = format!("invalid input syntax for parameter {}, which is a {}: \"{text}\"", at + 1, kind.word());
        Refusal::new("22P02", message).with_hint(format!("send {}", kind.example()))
    })
}

/// Returns whether a text is that of a float which is no number: `NaN`, `inf` and the like.
fn is_no_number(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-']);
    ["nan", "inf", "infinity"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads a boolean, of which any beginning will do.
fn boolean(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let is = |word: &str| !text.is_empty() && word.starts_with(&text);
    match text.as_str() {
        "1" | "on" => Some(true),
        "0" | "off" | "of" => Some(false),
        "o" => None,
        _ if is("true") || is("yes") => Some(true),
        _ if is("false") || is("no") => Some(false),
        _ => None,
    }
}

/// Reads a value in binary; `None` if it is none of the type.
fn binary(bytes: &[u8], written: ClientType) -> Option<Value> {
    let whole = |bytes: &[u8]| std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(str::to_owned);
    Some(match written {
        ClientType::Uuid => {
            let digits: String = <[u8; 16]>::try_from(bytes).ok()?.iter().map(|byte| format!("{byte:02x}")).collect();
            let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
            Value::Text(parts.join("-"))
        }
        ClientType::Jsonb => Value::Text(whole(bytes.strip_prefix(&[1])?)?),
        ClientType::Scalar(scalar) => match scalar {
            Scalar::Bool => Value::Bool(<[u8; 1]>::try_from(bytes).ok()? != [0]),
            Scalar::Int2 => Value::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
            Scalar::Int4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
            // A client that was told of eight bytes may still send the four of its own type.
            Scalar::Int8 if bytes.len() == 4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
            Scalar::Int8 => Value::Int(i64::from_be_bytes(bytes.try_into().ok()?)),
            Scalar::Float4 => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
            Scalar::Float8 => Value::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
            Scalar::Numeric => numeric(bytes)?,
            Scalar::Text | Scalar::Json => Value::Text(whole(bytes)?),
            Scalar::Bytea => {
                let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
                Value::Text(["\\x".to_owned()].into_iter().chain(digits).collect())
            }
            Scalar::Date => Value::Text(date(i32::from_be_bytes(bytes.try_into().ok()?).into())),
            Scalar::Time => Value::Text(time(i64::from_be_bytes(bytes.try_into().ok()?))),
            Scalar::Timestamp | Scalar::TimestampTz => {
                let us = i64::from_be_bytes(bytes.try_into().ok()?);
                let zone = if scalar == Scalar::TimestampTz { "+00:00" } else { "" };
                Value::Text(format!("{} {}{zone}", date(us.div_euclid(DAY_US)), time(us.rem_euclid(DAY_US))))
            }
            Scalar::Interval => interval(bytes)?,
        },
    })
}

/// Returns a date by its days since 2000.
fn date(days: i64) -> String {
    let (year, month, day) = date_of(days + EPOCH_DAYS);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns a time of day by its microseconds.
fn time(us: i64) -> String {
    let seconds = us / 1_000_000;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match us % 1_000_000 {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        fraction => format!("{hour:02}:{minute:02}:{second:02}.{fraction:06}"),
    }
}

fn interval(bytes: &[u8]) -> Option<Value> {
    let mut rest = bytes;
    let (us, days, months) = (rest.try_get_i64().ok()?, rest.try_get_i32().ok()?, rest.try_get_i32().ok()?);
    rest.is_empty().then(|| Value::Text(format!("{months} months {days} days {us} microseconds")))
}

/// Reads a `numeric` (`numeric_recv` in `src/backend/utils/adt/numeric.c`).
fn numeric(bytes: &[u8]) -> Option<Value> {
    let mut rest = bytes;
    if rest.len() < NUMERIC_HEAD_BYTES {
        return None;
    }
    let (count, weight, sign, scale) = (rest.get_u16(), rest.get_i16(), rest.get_u16(), rest.get_u16());
    match sign {
        0xc000 => return Some(Value::Float(f64::NAN)),
        0xd000 => return Some(Value::Float(f64::INFINITY)),
        0xf000 => return Some(Value::Float(f64::NEG_INFINITY)),
        0 | 0x4000 => {}
        _ => return None,
    }
    if rest.len() != 2 * usize::from(count) || scale > NUMERIC_SCALE_BOUND {
        return None;
    }
    let groups: Vec<u16> = (0..count).map(|_| rest.get_u16()).collect();
    if groups.iter().any(|group| *group > 9_999) {
        return None;
    }
    let group =
        |at: i32| usize::try_from(i32::from(weight) - at).ok().and_then(|at| groups.get(at)).copied().unwrap_or(0);
    let mut text = if sign == 0x4000 { "-".to_owned() } else { String::new() };
    text.push_str(&group(i32::from(weight).max(0)).to_string());
    (0..i32::from(weight).max(0)).rev().for_each(|at| text.push_str(&format!("{:04}", group(at))));
    if scale > 0 {
        let fraction: String = (0..i32::from(scale.div_ceil(4))).map(|at| format!("{:04}", group(-1 - at))).collect();
        text.push('.');
        text.push_str(&fraction[..usize::from(scale)]);
    }
    Value::exact_number(&text)
}

#[cfg(test)]
mod tests {
    use salver_model::{ParameterType, Value};

    use super::{ClientType, binary, boolean, text};
    use salver_model::pg_type::Scalar;

    fn read(bytes: &[u8], scalar: Scalar) -> Option<Value> {
        binary(bytes, ClientType::Scalar(scalar))
    }

    #[test]
    fn binary_values() {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        assert_eq!(read(&[0, 7], Scalar::Int2), Some(Value::Int(7)));
        assert_eq!(read(&[0, 0, 7], Scalar::Int2), None);
        assert_eq!(read(&(-1_i32).to_be_bytes(), Scalar::Date), text("1999-12-31"));
        assert_eq!(read(&(-1_i64).to_be_bytes(), Scalar::Timestamp), text("1999-12-31 23:59:59.999999"));
        assert_eq!(read(&[0, 255], Scalar::Bytea), text("\\x00ff"));
        assert_eq!(binary(&[0x11; 16], ClientType::Uuid), text("11111111-1111-1111-1111-111111111111"));
        assert_eq!(binary(b"\x01{}", ClientType::Jsonb), text("{}"));
        let numeric = |words: &[u16]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            read(&bytes, Scalar::Numeric)
        };
        assert_eq!(numeric(&[3, 1, 0, 4, 1, 2345, 6789]), Some(Value::Float(12345.6789)));
        assert_eq!(numeric(&[1, 0xffff, 0x4000, 2, 100]), Some(Value::Float(-0.01)));
        assert_eq!(numeric(&[0, 0, 0, 0]), Some(Value::Int(0)));
        assert_eq!(numeric(&[1, 1, 0, 0, 1]), Some(Value::Int(10_000)));
        assert_eq!(numeric(&[1, 0, 0, 0, 10_000]), None);
        assert_eq!(numeric(&[2, 0, 0, 0, 1]), None);
    }

    #[test]
    fn texts_of_values() {
        for (value, wanted) in [("t", Some(true)), ("OFF", Some(false)), ("o", None), ("", None), ("yess", None)] {
            assert_eq!(boolean(value), wanted, "{value}");
        }
        assert_eq!(text(b" 7 ", ParameterType::Integer, 0).unwrap(), Value::Int(7));
        assert_eq!(text(b"x", ParameterType::Integer, 0).unwrap_err().state, "22P02");
        assert_eq!(text(b"a\0", ParameterType::Text, 0).unwrap_err().state, "22021");
        assert!(ClientType::of(0).unwrap().is_none() && ClientType::of(4_000).is_err());
    }
}

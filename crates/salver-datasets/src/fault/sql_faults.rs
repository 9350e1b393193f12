//! What is wrong with a statement, by the words of the engine's messages: it has no other way to say most of it.

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};
use salver_model::SqlFault;

/// Words of messages and what they tell. The first that a message has counts, so that longer ones come first.
const WORDS: [(&str, SqlFault); 71] = [
    ("Invalid function ", SqlFault::UnknownFunction),
    ("Invalid qualifier ", SqlFault::UnknownTable),
    // Places of columns and lists of names.
    ("Cannot find column with position", SqlFault::InvalidReference),
    ("Order by column out of bounds", SqlFault::InvalidReference),
    ("names given as column alias", SqlFault::InvalidReference),
    ("For SELECT DISTINCT, ORDER BY", SqlFault::InvalidReference),
    ("SELECT DISTINCT ON expressions must match", SqlFault::InvalidReference),
    ("specified more than once", SqlFault::DuplicateAlias),
    // Aggregates.
    ("must appear in the GROUP BY", SqlFault::Grouping),
    ("must be in GROUP BY", SqlFault::Grouping),
    ("Aggregate functions are not allowed", SqlFault::Grouping),
    ("Aggregate function calls cannot be nested", SqlFault::Grouping),
    ("Window functions are not allowed", SqlFault::Window),
    ("The window ", SqlFault::UnknownObject),
    ("Unsupported SQL type", SqlFault::UnknownObject),
    // Operators that do not take such values.
    ("Cannot coerce arithmetic expression", SqlFault::UnknownFunction),
    ("Cannot infer common argument type for logical", SqlFault::TypeMismatch),
    ("Cannot infer common argument type for comparison", SqlFault::UnknownFunction),
    ("Cannot infer common argument type", SqlFault::UnknownFunction),
    ("There isn't a common type to coerce", SqlFault::UnknownFunction),
    ("Unary operator 'NOT' requires", SqlFault::TypeMismatch),
    ("Unary operator ", SqlFault::UnknownFunction),
    ("non-boolean predicate", SqlFault::TypeMismatch),
    ("can only be applied to array", SqlFault::UnknownFunction),
    ("Cannot access field at argument", SqlFault::TypeMismatch),
    ("is not Struct, Map, or Null", SqlFault::TypeMismatch),
    ("Can not find compatible types to compare", SqlFault::UnknownFunction),
    // Limits.
    ("LIMIT must be >=", SqlFault::NegativeLimit),
    ("OFFSET must be >=", SqlFault::NegativeOffset),
    ("to be an integer or null, but got Utf8", SqlFault::InvalidText),
    ("Expected LIMIT to be an integer", SqlFault::TypeMismatch),
    ("Expected OFFSET to be an integer", SqlFault::TypeMismatch),
    // Values.
    ("` is not JSON", SqlFault::InvalidText),
    ("subquery returned more than one row", SqlFault::ManyRows),
    ("division by zero", SqlFault::DivisionByZero),
    ("` can't read '", SqlFault::InvalidTime),
    ("Error parsing timestamp", SqlFault::InvalidTime),
    ("error parsing date", SqlFault::InvalidTime),
    ("Invalid input syntax for type interval", SqlFault::InvalidTime),
    ("Invalid Interval Expression", SqlFault::InvalidTime),
    ("date out of range", SqlFault::TimeOutOfRange),
    ("interval out of range", SqlFault::TimeOutOfRange),
    ("interval is out of range", SqlFault::TimeOutOfRange),
    ("timestamp out of range", SqlFault::TimeOutOfRange),
    ("Month value ", SqlFault::TimeOutOfRange),
    ("Day value ", SqlFault::TimeOutOfRange),
    ("Unable to parse date from", SqlFault::TimeOutOfRange),
    ("is out of range", SqlFault::OutOfRange),
    ("is too large to store in a Decimal", SqlFault::OutOfRange),
    ("out of the range of", SqlFault::OutOfRange),
    ("Can't cast value ", SqlFault::OutOfRange),
    ("Cannot cast to Decimal", SqlFault::OutOfRange),
    ("overflow", SqlFault::OutOfRange),
    ("Overflow", SqlFault::OutOfRange),
    ("regular expression", SqlFault::InvalidPattern),
    ("regex parse error", SqlFault::InvalidPattern),
    ("Unsupported date_trunc granularity", SqlFault::InvalidArgument),
    ("a time has no field", SqlFault::InvalidArgument),
    ("there is no time zone", SqlFault::InvalidArgument),
    ("Step cannot be zero", SqlFault::InvalidArgument),
    ("invalid Unicode scalar value", SqlFault::InvalidArgument),
    ("step can't be 0", SqlFault::InvalidArgument),
    ("field position must not be zero", SqlFault::InvalidArgument),
    ("Failed to decode value using", SqlFault::InvalidArgument),
    ("is not a hexadecimal digit", SqlFault::InvalidArgument),
    ("negative count not allowed", SqlFault::InvalidSubstring),
    ("overlay start position", SqlFault::InvalidSubstring),
    ("cannot take square root", SqlFault::InvalidPower),
    ("raised to a negative power", SqlFault::InvalidPower),
    ("ends with its escape", SqlFault::InvalidEscape),
    ("factorial of a negative number", SqlFault::OutOfRange),
];

/// Types of times in the engine's messages about casts.
const TIMES: [&str; 3] = ["Date", "Time", "Interval"];

/// Returns what is wrong with the statement that failed with this error, if that is known.
pub(super) fn of(error: &DataFusionError) -> Option<SqlFault> {
    match error.find_root() {
        DataFusionError::SchemaError(schema, _) => Some(match &**schema {
            // A column of a table that the query does not name.
            SchemaError::FieldNotFound { field, valid_fields }
                if field.relation.is_some() && !valid_fields.iter().any(|own| own.relation == field.relation) =>
            {
                SqlFault::UnknownTable
            }
            SchemaError::FieldNotFound { .. } => SqlFault::UnknownColumn,
            SchemaError::AmbiguousReference { .. } => SqlFault::AmbiguousColumn,
            SchemaError::DuplicateQualifiedField { .. } | SchemaError::DuplicateUnqualifiedField { .. } => {
                SqlFault::DuplicateAlias
            }
        }),
        DataFusionError::ArrowError(error, _) => match &**error {
            ArrowError::DivideByZero => Some(SqlFault::DivisionByZero),
            ArrowError::ArithmeticOverflow(_) => Some(SqlFault::OutOfRange),
            other => of_message(&other.to_string()),
        },
        DataFusionError::NotImplemented(message) => Some(of_message(message).unwrap_or(SqlFault::Unsupported)),
        DataFusionError::ResourcesExhausted(_) | DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => None,
        other => of_message(&other.to_string()),
    }
}

/// Returns what a message tells. Texts that it quotes are not looked at where they could say anything.
fn of_message(message: &str) -> Option<SqlFault> {
    let cast = ["Cannot cast string '", "Cannot cast value '"].iter().find_map(|begin| message.split_once(begin));
    if let Some((_, rest)) = cast {
        // The text may have quotes itself; what it was to be stands behind the last.
        let (text, wanted) = rest.rsplit_once("' to ")?;
        return Some(of_cast(text, wanted));
    }
    let known = WORDS.iter().find(|(words, _)| message.contains(words)).map(|(_, fault)| *fault)?;
    match known {
        SqlFault::InvalidTime => {
            let text = message.split('\'').nth(1).unwrap_or_default();
            Some(if is_written_time(text) { SqlFault::TimeOutOfRange } else { known })
        }
        other => Some(other),
    }
}

/// Returns what is wrong with a text that can't be cast.
fn of_cast(text: &str, wanted: &str) -> SqlFault {
    let text = text.trim();
    if TIMES.iter().any(|of| wanted.contains(of)) {
        return if is_written_time(text) { SqlFault::TimeOutOfRange } else { SqlFault::InvalidTime };
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let wants_number = ["Int", "Decimal", "Float"].iter().any(|of| wanted.contains(of));
    if is_whole && wants_number { SqlFault::OutOfRange } else { SqlFault::InvalidText }
}

/// Returns whether a text is written as a date or a time, so that only its numbers can be wrong.
fn is_written_time(text: &str) -> bool {
    let is_shape = |shape: &str| {
        text.len() >= shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                sign => byte == sign,
            })
    };
    is_shape("0000-00-00") || is_shape("00:00")
}

#[cfg(test)]
mod tests {
    use super::{SqlFault, of_message};

    #[test]
    fn casts_tell_what_the_text_lacks() {
        for (message, fault) in [
            ("Cannot cast string 'a' to value of Int64 type", SqlFault::InvalidText),
            ("Cast error: Cannot cast string '3000000000' to value of Int32 type", SqlFault::OutOfRange),
            ("Cannot cast string '1.5' to value of Int32 type", SqlFault::InvalidText),
            ("Cannot cast string 'a' to 'b' to value of Boolean type", SqlFault::InvalidText),
            ("Cannot cast value 'x' to value of Boolean type", SqlFault::InvalidText),
            ("Cannot cast string 'overflow' to value of Date32 type", SqlFault::InvalidTime),
            ("Cannot cast string '2024-13-01' to value of Date32 type", SqlFault::TimeOutOfRange),
            ("Cannot cast string '25:00' to value of Time64(ns) type", SqlFault::TimeOutOfRange),
            ("Error parsing timestamp from 'x': timestamp must contain at least 10 characters", SqlFault::InvalidTime),
            ("Error parsing timestamp from '2024-01-01 25:00:00': error parsing time", SqlFault::TimeOutOfRange),
            ("Can't cast value 40000 to type Int16", SqlFault::OutOfRange),
            ("LIMIT must be >= 0, '-1' was provided", SqlFault::NegativeLimit),
            ("OFFSET must be >=0, '-1' was provided", SqlFault::NegativeOffset),
            ("Scalar subquery returned more than one row", SqlFault::ManyRows),
        ] {
            assert_eq!(of_message(message), Some(fault), "{message}");
        }
        assert_eq!(of_message("the statement is odd"), None);
    }
}

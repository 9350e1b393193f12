//! The kinds of values. Values of two kinds never compare equal (`1` is not `"1"`) and are ordered by their kinds
//! (<https://docs.arango.ai/arangodb/stable/aql/fundamentals/type-and-value-order/>).

use arrow::datatypes::DataType;
use salver_model::Value;

/// The kinds except null, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueKind {
    /// Booleans.
    Bool,
    /// Numbers, of any width.
    Number,
    /// Text, and types that documents show as text: dates, times, bytes.
    Text,
    /// Lists.
    List,
    /// Objects.
    Object,
}

impl ValueKind {
    /// Returns the kind that documents show for a column of this type; `None` where it varies from row to row.
    pub(super) fn of_column(data_type: &DataType) -> Option<Self> {
        use DataType as D;
        Some(match data_type {
            D::Boolean => Self::Bool,
            number if number.is_numeric() => Self::Number,
            D::Utf8 | D::LargeUtf8 | D::Utf8View => Self::Text,
            D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => Self::Text,
            D::Date32
            | D::Date64
            | D::Time32(_)
            | D::Time64(_)
            | D::Timestamp(..)
            | D::Duration(_)
            | D::Interval(_) => Self::Text,
            D::List(_) | D::LargeList(_) | D::ListView(_) | D::LargeListView(_) | D::FixedSizeList(..) => Self::List,
            D::Struct(_) | D::Map(..) => Self::Object,
            D::Dictionary(_, values) => return Self::of_column(values),
            D::RunEndEncoded(_, values) => return Self::of_column(values.data_type()),
            _ => return None,
        })
    }

    /// Returns the kind of a query's value; `None` for null, which is less than any other value.
    pub(super) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(_) => Some(Self::Bool),
            // A bare value is a number with more digits than a float has.
            Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Bare(_) => Some(Self::Number),
            Value::Text(_) => Some(Self::Text),
            Value::Null => None,
        }
    }
}

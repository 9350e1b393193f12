//! The scalar types of the schema, and the Arrow column types that they represent.

use arrow::datatypes::DataType;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Boolean,
    Int,
    Int64,
    Float,
    String,
    Date,
    Timestamp,
    Time,
    Decimal,
    Binary,
    Json,
}

impl Scalar {
    pub(crate) const ALL: [Self; 11] = [
        Self::Boolean,
        Self::Int,
        Self::Int64,
        Self::Float,
        Self::String,
        Self::Date,
        Self::Timestamp,
        Self::Time,
        Self::Decimal,
        Self::Binary,
        Self::Json,
    ];

    /// Returns the scalar for a column type that is neither a struct nor a list.
    pub(crate) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => Self::Int,
            DataType::Int64 | DataType::UInt32 | DataType::UInt64 => Self::Int64,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::Float,
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Duration(_)
            | DataType::Interval(_) => Self::String,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Timestamp(..) => Self::Timestamp,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
                Self::Decimal
            }
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                Self::Binary
            }
            DataType::Dictionary(_, value) => Self::of(value),
            DataType::RunEndEncoded(_, value) => Self::of(value.data_type()),
            _ => Self::Json,
        }
    }

    /// Returns the name in the schema.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "Boolean",
            Self::Int => "Int",
            Self::Int64 => "Int64",
            Self::Float => "Float",
            Self::String => "String",
            Self::Date => "Date",
            Self::Timestamp => "Timestamp",
            Self::Time => "Time",
            Self::Decimal => "Decimal",
            Self::Binary => "Binary",
            Self::Json => "JSON",
        }
    }

    /// Returns a description, for types that GraphQL does not define.
    pub(crate) fn description(self) -> Option<&'static str> {
        match self {
            Self::Boolean | Self::Int | Self::Float | Self::String => None,
            Self::Int64 => Some("A whole number of up to 64 bits, written as a JSON number with every digit."),
            Self::Date => Some("A date, like `2026-01-31`."),
            Self::Timestamp => {
                Some("A date and time, like `2026-01-31T12:00:00`, with a zone where the column has one.")
            }
            Self::Time => Some("A time of day, like `12:00:00`."),
            Self::Decimal => Some("A decimal number with every digit."),
            Self::Binary => Some("Bytes, in hexadecimal, like `1f8b`."),
            Self::Json => Some("Any JSON value."),
        }
    }

    /// Returns whether sums and means are defined.
    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Self::Int | Self::Int64 | Self::Float | Self::Decimal)
    }

    /// Returns whether values are ordered, so that minimum and maximum are defined.
    pub(crate) fn is_ordered(self) -> bool {
        !matches!(self, Self::Boolean | Self::Binary | Self::Json)
    }

    /// Returns whether values can be grouped by and compared for equality.
    pub(crate) fn is_comparable(self) -> bool {
        self != Self::Json
    }
}

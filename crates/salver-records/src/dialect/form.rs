//! The binary form in which PostgreSQL sends a column, so that its values go straight into Arrow.

use arrow::datatypes::DataType;

use super::type_name;

/// The binary form of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// Digits in base ten thousand.
    Numeric,
    /// Days since 2000.
    Date,
    /// Microseconds since 2000.
    Timestamp,
    /// A timestamp as text, of a type that is not known by its name.
    TimestampText,
    /// Sixteen bytes that become text.
    Uuid,
    /// Text, or a type with the same binary form.
    Text,
    Bytes,
}

impl Form {
    /// Returns the form of a column that becomes `data_type`, when its native type is called `native`, and the cast
    /// that ensures it. A type without a form of its own is cast.
    pub(crate) fn of(data_type: &DataType, native: &str) -> (Self, &'static str) {
        let base = type_name(native);
        let zone = native.rsplit(' ').take(3).collect::<Vec<_>>();
        match data_type {
            DataType::Boolean if base == "boolean" => (Self::Bool, ""),
            DataType::Boolean => (Self::Bool, "::text::boolean"),
            DataType::Int32 if base == "smallint" => (Self::Int2, ""),
            DataType::Int32 if base == "integer" => (Self::Int4, ""),
            DataType::Int32 => (Self::Int4, "::integer"),
            DataType::Int64 if base == "bigint" => (Self::Int8, ""),
            DataType::Int64 => (Self::Int8, "::bigint"),
            DataType::Float32 if base == "real" => (Self::Float4, ""),
            DataType::Float32 => (Self::Float4, "::real"),
            DataType::Float64 if base == "double precision" => (Self::Float8, ""),
            DataType::Float64 => (Self::Float8, "::double precision"),
            DataType::Decimal128(..) | DataType::Decimal256(..) if base == "numeric" => (Self::Numeric, ""),
            DataType::Decimal128(..) | DataType::Decimal256(..) => (Self::Numeric, "::numeric"),
            DataType::Date32 if base == "date" => (Self::Date, ""),
            DataType::Date32 => (Self::Date, "::date"),
            DataType::Timestamp(..)
                if base == "timestamp"
                    || base.starts_with("timestamp with")
                    || zone[..] == ["zone", "time", "with"] =>
            {
                (Self::Timestamp, "")
            }
            DataType::Timestamp(..) => (Self::TimestampText, "::text"),
            DataType::Binary if base == "bytea" => (Self::Bytes, ""),
            DataType::Binary => (Self::Bytes, "::text::bytea"),
            _ if matches!(base, "text" | "character varying" | "json") => (Self::Text, ""),
            _ if base == "uuid" => (Self::Uuid, ""),
            _ => (Self::Text, "::text"),
        }
    }

    /// Returns the form of a key column, whose values must be written back as literals, and its cast.
    pub(crate) fn of_key(native: &str) -> (Self, &'static str) {
        match native {
            "smallint" => (Self::Int2, ""),
            "integer" => (Self::Int4, ""),
            "bigint" => (Self::Int8, ""),
            _ => (Self::Text, "::text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, TimeUnit};

    use super::Form;

    #[test]
    fn by_name() {
        let time = DataType::Timestamp(TimeUnit::Microsecond, None);
        let of = |data_type: &DataType, native| Form::of(data_type, native);
        for native in [
            "timestamp without time zone",
            "timestamp(3) without time zone",
            "timestamp with time zone",
            "timestamp(6) with time zone",
        ] {
            assert_eq!(of(&time, native), (Form::Timestamp, ""), "{native}");
        }
        assert_eq!(of(&time, "my_moment"), (Form::TimestampText, "::text"));
        assert_eq!(of(&DataType::Utf8, "character varying(20)"), (Form::Text, ""));
        assert_eq!(of(&DataType::Utf8, "character(20)"), (Form::Text, "::text"));
        assert_eq!(of(&DataType::Utf8, "integer[]"), (Form::Text, "::text"));
        assert_eq!(of(&DataType::Utf8, "character varying(20)[]"), (Form::Text, "::text"));
        assert_eq!(of(&DataType::Int64, "oid"), (Form::Int8, "::bigint"));
        assert_eq!(of(&DataType::Decimal128(10, 2), "numeric(10,2)"), (Form::Numeric, ""));
        assert_eq!(Form::of_key("character varying(20)"), (Form::Text, "::text"));
    }
}

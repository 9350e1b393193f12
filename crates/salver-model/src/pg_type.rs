//! PostgreSQL's types of Arrow's, for its protocol and its catalog, by the numbers of its catalog `pg_type`
//! (`src/include/catalog/pg_type.dat` in the sources of PostgreSQL 16).

use arrow::datatypes::{DataType, Field};

/// A type of the columns of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgType {
    /// Number of the type.
    pub oid: u32,
    /// Bytes of a value; negative where they vary.
    pub size: i16,
    /// Precision and scale of a `numeric`; -1 for all other types.
    pub modifier: i32,
    /// How values are written.
    pub scalar: Scalar,
    /// Whether a value is an array of such.
    pub is_array: bool,
}

/// How a single value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `boolean`.
    Bool,
    /// `smallint`.
    Int2,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `real`.
    Float4,
    /// `double precision`.
    Float8,
    /// `numeric`.
    Numeric,
    /// `text`.
    Text,
    /// `bytea`.
    Bytea,
    /// `date`.
    Date,
    /// `time`.
    Time,
    /// `timestamp`.
    Timestamp,
    /// `timestamp with time zone`.
    TimestampTz,
    /// `interval`.
    Interval,
    /// `json`.
    Json,
    /// `oid`, the number of something in the system catalog.
    Oid,
}

/// Key of the metadata of a column that has the name which PostgreSQL gives it, where it is another. Only rows for
/// PostgreSQL's clients have it.
pub const PG_NAME: &str = "salver.pg_name";

/// Key of the metadata of a column whose integers without sign are numbers of the system catalog. Only rows for
/// PostgreSQL's clients have it.
pub const PG_OIDS: &str = "salver.pg_oids";

/// Number of `unknown`: the client leaves the type to the server.
pub const UNSPECIFIED: [u32; 2] = [0, 705];

impl Scalar {
    /// Returns the numbers of the type and of its arrays, and the bytes of a value.
    const fn row(self) -> (u32, u32, i16) {
        match self {
            Self::Bool => (16, 1000, 1),
            Self::Int2 => (21, 1005, 2),
            Self::Int4 => (23, 1007, 4),
            Self::Int8 => (20, 1016, 8),
            Self::Float4 => (700, 1021, 4),
            Self::Float8 => (701, 1022, 8),
            Self::Numeric => (1700, 1231, -1),
            Self::Text => (25, 1009, -1),
            Self::Bytea => (17, 1001, -1),
            Self::Date => (1082, 1182, 4),
            Self::Time => (1083, 1183, 8),
            Self::Timestamp => (1114, 1115, 8),
            Self::TimestampTz => (1184, 1185, 8),
            Self::Interval => (1186, 1187, 16),
            Self::Json => (114, 199, -1),
            Self::Oid => (26, 1028, 4),
        }
    }

    /// Returns the number of the type.
    #[must_use]
    pub const fn oid(self) -> u32 {
        self.row().0
    }

    /// Returns the number of the type of its arrays.
    #[must_use]
    pub const fn array_oid(self) -> u32 {
        self.row().1
    }

    /// Returns its name in SQL.
    #[must_use]
    pub const fn sql_name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Int2 => "smallint",
            Self::Int4 => "integer",
            Self::Int8 => "bigint",
            Self::Float4 => "real",
            Self::Float8 => "double precision",
            Self::Numeric => "numeric",
            Self::Text => "text",
            Self::Bytea => "bytea",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::TimestampTz => "timestamp with time zone",
            Self::Interval => "interval",
            Self::Json => "json",
            Self::Oid => "oid",
        }
    }
}

impl PgType {
    /// Returns the type of single values.
    #[must_use]
    pub fn of_scalar(scalar: Scalar) -> Self {
        let (oid, _, size) = scalar.row();
        Self { oid, size, modifier: -1, scalar, is_array: false }
    }

    /// Returns the type in which the values of a column are written.
    #[must_use]
    pub fn of_field(field: &Field) -> Self {
        let own = Self::of(field.data_type());
        if !field.metadata().contains_key(PG_OIDS) {
            return own;
        }
        let (oid, array_oid, size) = Scalar::Oid.row();
        let (oid, size) = if own.is_array { (array_oid, -1) } else { (oid, size) };
        Self { oid, size, modifier: -1, scalar: Scalar::Oid, is_array: own.is_array }
    }

    /// Returns the type in which the values of an Arrow type are written. Values that have parts of several types, and
    /// lists of lists, which need not be rectangular, are JSON.
    #[must_use]
    pub fn of(data_type: &DataType) -> Self {
        use DataType as D;
        match data_type {
            D::Dictionary(_, values) => Self::of(values),
            D::RunEndEncoded(_, values) => Self::of(values.data_type()),
            D::List(field) | D::LargeList(field) | D::FixedSizeList(field, _) => match Self::of(field.data_type()) {
                Self { scalar: Scalar::Json, .. } | Self { is_array: true, .. } => Self::of_scalar(Scalar::Json),
                element => {
                    let (_, oid, _) = element.scalar.row();
                    Self { oid, size: -1, is_array: true, ..element }
                }
            },
            D::Decimal32(precision, scale)
            | D::Decimal64(precision, scale)
            | D::Decimal128(precision, scale)
            | D::Decimal256(precision, scale) => {
                Self { modifier: modifier(*precision, *scale), ..Self::of_scalar(Scalar::Numeric) }
            }
            other => Self::of_scalar(scalar(other)),
        }
    }
}

/// Returns how values of a type without parts are written.
fn scalar(data_type: &DataType) -> Scalar {
    use DataType as D;
    match data_type {
        D::Boolean => Scalar::Bool,
        D::Int8 | D::UInt8 | D::Int16 => Scalar::Int2,
        D::UInt16 | D::Int32 => Scalar::Int4,
        D::UInt32 | D::Int64 => Scalar::Int8,
        D::UInt64 => Scalar::Numeric,
        D::Float16 | D::Float32 => Scalar::Float4,
        D::Float64 => Scalar::Float8,
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => Scalar::Bytea,
        D::Date32 => Scalar::Date,
        D::Time32(_) | D::Time64(_) => Scalar::Time,
        D::Date64 | D::Timestamp(_, None) => Scalar::Timestamp,
        D::Timestamp(_, Some(_)) => Scalar::TimestampTz,
        D::Duration(_) | D::Interval(_) => Scalar::Interval,
        D::Struct(_) | D::Map(..) | D::Union(..) | D::ListView(_) | D::LargeListView(_) => Scalar::Json,
        _ => Scalar::Text,
    }
}

/// Returns the modifier of a `numeric` with these digits, of which `scale` stand behind the point. A `numeric` has up
/// to 1,000 digits, and Arrow's decimals fewer.
fn modifier(precision: u8, scale: i8) -> i32 {
    u8::try_from(scale).map_or(-1, |scale| (i32::from(precision) << 16 | i32::from(scale)) + 4)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Field, Fields, TimeUnit};

    use super::{PG_OIDS, PgType};

    #[test]
    fn types_have_the_numbers_of_the_catalog() {
        let list = |of: DataType| DataType::List(Arc::new(Field::new_list_field(of, true)));
        let record = DataType::Struct(Fields::from(vec![Field::new("a", DataType::Int32, true)]));
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        for (data_type, oid) in [
            (DataType::Null, 25),
            (DataType::Boolean, 16),
            (DataType::UInt8, 21),
            (DataType::UInt32, 20),
            (DataType::UInt64, 1700),
            (DataType::Float16, 700),
            (DataType::Decimal128(12, 2), 1700),
            (DataType::Utf8View, 25),
            (DataType::FixedSizeBinary(3), 17),
            (DataType::Date64, 1114),
            (DataType::Timestamp(TimeUnit::Second, Some("Europe/Rome".into())), 1184),
            (DataType::Duration(TimeUnit::Second), 1186),
            (coded.clone(), 25),
            (list(DataType::Int64), 1016),
            (list(coded), 1009),
            (list(list(DataType::Int64)), 114),
            (list(record.clone()), 114),
            (record, 114),
        ] {
            assert_eq!(PgType::of(&data_type).oid, oid, "{data_type}");
        }
        assert_eq!(PgType::of(&DataType::Decimal128(12, 2)).modifier, (12 << 16 | 2) + 4);
        assert_eq!(PgType::of(&DataType::Decimal128(12, -2)).modifier, -1);
        let field = Field::new("a", list(DataType::UInt32), true);
        assert_eq!(PgType::of_field(&field).oid, 1016);
        let numbers = field.with_metadata([(PG_OIDS.to_owned(), String::new())].into());
        assert_eq!((PgType::of_field(&numbers).oid, PgType::of_field(&numbers).size), (1028, -1));
    }
}

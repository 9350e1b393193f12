//! Parameters of statements with PostgreSQL's types, and their values, as its clients send them.

use arrow::datatypes::DataType;

use crate::pg_type::{PgType, Scalar};

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PgParameter {
    /// Type of a single value.
    pub element: Element,
    /// Whether a value is an array of such.
    pub is_array: bool,
}

/// Type of a single value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A type that columns can have, too.
    Of(Scalar),
    /// `uuid`, which is text here.
    Uuid,
    /// `jsonb`, which is text here.
    Jsonb,
}

impl Element {
    /// Every type.
    pub const ALL: [Self; 18] = [
        Self::Of(Scalar::Bool),
        Self::Of(Scalar::Int2),
        Self::Of(Scalar::Int4),
        Self::Of(Scalar::Int8),
        Self::Of(Scalar::Float4),
        Self::Of(Scalar::Float8),
        Self::Of(Scalar::Numeric),
        Self::Of(Scalar::Text),
        Self::Of(Scalar::Bytea),
        Self::Of(Scalar::Date),
        Self::Of(Scalar::Time),
        Self::Of(Scalar::Timestamp),
        Self::Of(Scalar::TimestampTz),
        Self::Of(Scalar::Interval),
        Self::Of(Scalar::Json),
        Self::Of(Scalar::Oid),
        Self::Uuid,
        Self::Jsonb,
    ];

    /// Returns the number of the type.
    #[must_use]
    pub const fn oid(self) -> u32 {
        match self {
            Self::Of(scalar) => scalar.oid(),
            Self::Uuid => 2950,
            Self::Jsonb => 3802,
        }
    }

    /// Returns the number of the type of its arrays.
    #[must_use]
    pub const fn array_oid(self) -> u32 {
        match self {
            Self::Of(scalar) => scalar.array_oid(),
            Self::Uuid => 2951,
            Self::Jsonb => 3807,
        }
    }

    /// Returns its name in SQL, as errors have it.
    #[must_use]
    pub const fn sql_name(self) -> &'static str {
        match self {
            Self::Of(scalar) => scalar.sql_name(),
            Self::Uuid => "uuid",
            Self::Jsonb => "jsonb",
        }
    }
}

impl PgParameter {
    /// Text, which everything is whose type nothing tells.
    pub const TEXT: Self = Self::of_scalar(Scalar::Text);

    /// Returns the type of single values.
    #[must_use]
    pub const fn of_scalar(scalar: Scalar) -> Self {
        Self { element: Element::Of(scalar), is_array: false }
    }

    /// Returns the type with this number; `None` if no parameter can have it. Texts of other types are texts.
    #[must_use]
    pub fn of_oid(oid: u32) -> Option<Self> {
        let text = Element::Of(Scalar::Text);
        let (element, is_array) = match oid {
            // `"char"`, `name`, `bpchar`, `varchar`, and arrays of them.
            18 | 19 | 1042 | 1043 => (text, false),
            1002 | 1003 | 1014 | 1015 => (text, true),
            other => {
                let of = |own: &&Element| own.oid() == other || own.array_oid() == other;
                let element = *Element::ALL.iter().find(of)?;
                (element, element.array_oid() == other)
            }
        };
        Some(Self { element, is_array })
    }

    /// Returns the type of a parameter that is compared with values of an Arrow type, or stands for one.
    #[must_use]
    pub fn of(data_type: &DataType) -> Self {
        let PgType { scalar, is_array, .. } = PgType::of(data_type);
        Self { element: Element::Of(scalar), is_array }
    }

    /// Returns the number of the type.
    #[must_use]
    pub const fn oid(self) -> u32 {
        if self.is_array { self.element.array_oid() } else { self.element.oid() }
    }
}

/// A single value. Days and microseconds count from 1970.
#[derive(Clone, Debug, PartialEq)]
pub enum PgDatum {
    /// `boolean`.
    Bool(bool),
    /// An integer, or an `oid`, in the range of its type.
    Int(i64),
    /// `real` or `double precision`.
    Float(f64),
    /// `numeric`: a sign, digits, and digits behind a point.
    Digits(String),
    /// Text, `json`, or `uuid`.
    Text(String),
    /// `bytea`.
    Bytes(Vec<u8>),
    /// `date`.
    Days(i32),
    /// `time`, `timestamp`, or `timestamp with time zone`.
    Micros(i64),
    /// `interval`.
    Interval {
        /// Months.
        months: i32,
        /// Days.
        days: i32,
        /// Microseconds.
        micros: i64,
    },
}

impl PgDatum {
    /// Returns the memory for it beside itself, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Digits(text) | Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// What a parameter has.
#[derive(Clone, Debug, PartialEq)]
pub enum PgContent {
    /// A single value.
    One(PgDatum),
    /// The elements of an array; `None` is null.
    Array(Vec<Option<PgDatum>>),
}

/// Value of a parameter, with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct PgValue {
    /// Type of the parameter.
    pub kind: PgParameter,
    /// Value; `None` for null.
    pub content: Option<PgContent>,
}

impl PgValue {
    /// Returns the memory for it, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let beside = match &self.content {
            None => 0,
            Some(PgContent::One(datum)) => datum.bytes(),
            Some(PgContent::Array(elements)) => {
                let texts: usize = elements.iter().flatten().map(PgDatum::bytes).sum();
                texts + elements.len() * size_of::<Option<PgDatum>>()
            }
        };
        size_of::<Self>() + beside
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::DataType;

    use super::{Element, PgParameter, Scalar};

    #[test]
    fn types_have_their_numbers() {
        for element in Element::ALL {
            for is_array in [false, true] {
                let own = PgParameter { element, is_array };
                assert_eq!(PgParameter::of_oid(own.oid()), Some(own));
            }
        }
        assert_eq!(PgParameter::of_oid(1043), Some(PgParameter::TEXT));
        assert_eq!(PgParameter::of_oid(26), Some(PgParameter::of_scalar(Scalar::Oid)));
        assert_eq!(PgParameter::of_oid(600), None);
        assert_eq!(PgParameter::of(&DataType::Decimal256(76, 3)).oid(), 1700);
        assert_eq!(PgParameter::of(&DataType::new_list(DataType::Int32, true)).oid(), 1007);
    }
}

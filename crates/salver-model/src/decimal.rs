//! The type of decimals whose precision nobody declared.

use arrow::datatypes::DataType;

/// What a column of a database is whose decimals may have any number of digits: the widest type there is, with 46
/// digits before the point and 30 behind it. A value with more can't be one, and is an error. As text it is written
/// without the zeros that nobody put there.
pub const UNDECLARED_DECIMAL: DataType = DataType::Decimal256(76, 30);

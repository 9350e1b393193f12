//! The type of decimals without a declared precision.

use arrow::datatypes::DataType;

/// Type of a database column whose decimals may have any number of digits: the widest type there is, with 46 digits
/// before the point and 30 behind it. A value with more digits is an error. Text output omits trailing zeros.
pub const UNDECLARED_DECIMAL: DataType = DataType::Decimal256(76, 30);

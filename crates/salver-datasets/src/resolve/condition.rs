//! The checked filter of a query: columns are located, literals converted.

use std::sync::{Arc, OnceLock};

use ahash::AHashSet;
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result};

use super::ResolvedColumn;
use crate::engine::one_of_each;
use crate::literal::{self, Literal};

/// Upper bound of the cost of looking a value up in a list, in tests.
const LIST_TESTS: usize = 8;

/// A condition over located columns.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// The same for every row; `None` is null.
    Always(Option<bool>),
    /// All of them.
    And(Vec<Condition>),
    /// Any of them.
    Or(Vec<Condition>),
    /// Not.
    Not(Box<Condition>),
    /// A test of one column.
    Test(ResolvedColumn, Test),
}

impl Condition {
    /// Returns the most tests that it makes of a row.
    pub(crate) fn tests(&self) -> u64 {
        match self {
            Self::Always(_) => 0,
            Self::And(conditions) | Self::Or(conditions) => conditions.iter().map(Self::tests).sum(),
            Self::Not(condition) => condition.tests(),
            Self::Test(_, Test::In(list)) => list.values.len().min(LIST_TESTS) as u64,
            Self::Test(..) => 1,
        }
    }
}

/// A test of one value.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// The value is null.
    IsNull,
    /// This result, or null if the value is null.
    Known(bool),
    /// The value compares so with this value of its type.
    Compare(Comparison, ArrayRef),
    /// The value equals one of these values of its type.
    In(Arc<OneOf>),
    /// The value matches this pattern, which has its type.
    Like(ArrayRef, bool),
}

/// The values of an `in` list, with a hash set if the list is long.
#[derive(Debug)]
pub(crate) struct OneOf {
    /// The values.
    pub(crate) values: ArrayRef,
    set: OnceLock<AHashSet<Box<[u8]>>>,
}

impl OneOf {
    fn new(values: ArrayRef) -> Self {
        Self { values, set: OnceLock::new() }
    }

    /// Returns for each value of `column` whether it is in the list; the column has the type of the list.
    pub(crate) fn members(&self, column: &ArrayRef) -> Result<Vec<bool>, ArrowError> {
        let converter = RowConverter::new(vec![SortField::new(column.data_type().clone())])?;
        let set = match self.set.get() {
            Some(set) => set,
            None => {
                let rows = converter.convert_columns(&[one_of_each(&self.values)])?;
                self.set.get_or_init(|| rows.iter().map(|row| Box::from(row.as_ref())).collect())
            }
        };
        let rows = converter.convert_columns(&[one_of_each(column)])?;
        Ok(rows.iter().map(|row| set.contains(row.as_ref())).collect())
    }
}

/// Checks a filter; `locate` finds its columns.
pub(crate) fn resolve(filter: &Filter, locate: &dyn Fn(&ColumnPath) -> Result<ResolvedColumn>) -> Result<Condition> {
    filter.check_size()?;
    walk(filter, locate)
}

fn walk(filter: &Filter, locate: &dyn Fn(&ColumnPath) -> Result<ResolvedColumn>) -> Result<Condition> {
    let all = |filters: &[Filter]| filters.iter().map(|inner| walk(inner, locate)).collect::<Result<Vec<_>>>();
    Ok(match filter {
        Filter::And(filters) => match all(filters)? {
            conditions if conditions.is_empty() => Condition::Always(Some(true)),
            conditions => Condition::And(conditions),
        },
        Filter::Or(filters) => match all(filters)? {
            conditions if conditions.is_empty() => Condition::Always(Some(false)),
            conditions => Condition::Or(conditions),
        },
        Filter::Not(inner) => Condition::Not(Box::new(walk(inner, locate)?)),
        Filter::IsNull { column } => Condition::Test(locate(column)?, Test::IsNull),
        Filter::Compare { column, op, value } => {
            let place = locate(column)?;
            match literal::convert(place.field.data_type(), *op, value, column)? {
                Literal::Scalar(op, scalar) => Condition::Test(place, Test::Compare(op, scalar)),
                Literal::Constant(known) => Condition::Test(place, Test::Known(known)),
                Literal::Null => Condition::Always(None),
            }
        }
        Filter::In { column, values } => one_of(column, values, locate(column)?)?,
        Filter::Like { column, pattern, ignore_case } => like(column, pattern, *ignore_case, locate(column)?)?,
    })
}

fn one_of(column: &ColumnPath, values: &[salver_model::Value], place: ResolvedColumn) -> Result<Condition> {
    if values.is_empty() {
        return Ok(Condition::Always(Some(false)));
    }
    let (list, has_null) = literal::convert_list(place.field.data_type(), values, column)?;
    let found = match list {
        None => Condition::Test(place, Test::Known(false)),
        Some(one) if one.len() == 1 => Condition::Test(place, Test::Compare(Comparison::Eq, one)),
        Some(list) => Condition::Test(place, Test::In(Arc::new(OneOf::new(list)))),
    };
    Ok(if has_null { Condition::Or(vec![found, Condition::Always(None)]) } else { found })
}

fn like(column: &ColumnPath, pattern: &str, ignore_case: bool, place: ResolvedColumn) -> Result<Condition> {
    let strings = match place.field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    if matches!(strings, DataType::Null) {
        return Ok(Condition::Always(None));
    }
    if !strings.is_string() {
        let message = format!("`{column}` is {strings}, and `like` compares text");
        return Err(Error::new(Code::InvalidFilter, message).with_hint("compare it with `=`, `<` or `>`"));
    }
    let pattern = literal::string(strings, pattern);
    Ok(Condition::Test(place, Test::Like(pattern, ignore_case)))
}

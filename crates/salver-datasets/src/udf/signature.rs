//! The SQL signature of a user function: the parameters that take columns, their types, and the type of the result.

use arrow::array::ArrayRef;
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use salver_model::functions::{ColumnKind, Endpoint, Parameter, ParameterKind};
use salver_model::{Code, Error, Result};

/// The SQL signature of a function.
#[derive(Clone, Debug)]
pub(super) struct SqlSignature {
    parameters: Vec<(String, ParameterKind)>,
    /// Number of parameters that are required.
    required: usize,
    pub(super) result: ColumnKind,
    pub(super) pure: bool,
}

impl SqlSignature {
    /// Returns the signature of a function, or the reason why it can't be called in SQL.
    pub(super) fn of(endpoint: &Endpoint) -> std::result::Result<Self, String> {
        if endpoint.takes_request {
            return Err("it takes the request, and there is none".to_owned());
        }
        // The parameters of a vectorized function are declared as columns, or as lists.
        let kind = |kind| if endpoint.vectorized && kind == ParameterKind::Object { ParameterKind::Any } else { kind };
        let takes_values = |own: &&Parameter| {
            let is_plain = !matches!(kind(own.kind), ParameterKind::Object | ParameterKind::Bytes);
            is_plain && (endpoint.vectorized || !own.list) && !own.name.starts_with("**")
        };
        let usable = endpoint.parameters.iter().take_while(takes_values).count();
        let (usable, beyond) = endpoint.parameters.split_at(usable);
        if let (Some(first), true) = (beyond.first(), beyond.iter().any(|own| own.required)) {
            return Err(format!("its parameter `{}` takes no plain value", first.name));
        }
        let result = match kind(endpoint.result) {
            ParameterKind::Boolean => ColumnKind::Boolean,
            ParameterKind::Integer => ColumnKind::Integer,
            ParameterKind::Number | ParameterKind::Any => ColumnKind::Number,
            ParameterKind::Text => ColumnKind::Text,
            ParameterKind::Object | ParameterKind::Bytes => return Err("it gives no plain value".to_owned()),
        };
        Ok(Self {
            parameters: usable.iter().map(|own| (own.name.clone(), kind(own.kind))).collect(),
            required: usable.iter().rposition(|own| own.required).map_or(0, |last| last + 1),
            result,
            pure: endpoint.pure,
        })
    }

    /// Checks the number and the types of the arguments.
    ///
    /// # Errors
    /// `InvalidSql` that names the expected arguments.
    pub(super) fn check(&self, name: &str, types: &[DataType]) -> Result<()> {
        let count = self.parameters.len();
        if types.len() < self.required || types.len() > count {
            let takes =
                if self.required == count { format!("{count}") } else { format!("{} to {count}", self.required) };
            let names: Vec<_> = self.parameters.iter().map(|(name, _)| format!("`{name}`")).collect();
            let message = format!("`{name}` takes {takes} arguments, and {} are given", types.len());
            return Err(Error::new(Code::InvalidSql, message)
                .with_hint_if((count > 0).then(|| format!("they are {}", names.join(", ")))));
        }
        for ((parameter, kind), given) in self.parameters.iter().zip(types) {
            if target(*kind, given).is_none() {
                let message = format!("`{name}` takes {} for `{parameter}`, and {given} is given", words(*kind));
                return Err(
                    Error::new(Code::InvalidSql, message).with_hint("`cast(... as ...)` makes another type of it")
                );
            }
        }
        Ok(())
    }

    /// Casts the argument for parameter number `index` to the type that the function takes.
    ///
    /// # Errors
    /// A value that can't be cast.
    pub(super) fn column(&self, index: usize, given: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
        let kind = self.parameters.get(index).map_or(ParameterKind::Any, |(_, kind)| *kind);
        let target = target(kind, given.data_type()).unwrap_or(ColumnKind::Number);
        cast_with_options(given, &target.data_type(), &CastOptions { safe: false, ..CastOptions::default() })
    }
}

/// Returns the type to which an argument of type `given` is cast for a parameter of this kind; `None` if it can't be.
fn target(kind: ParameterKind, given: &DataType) -> Option<ColumnKind> {
    let own = of_type(given);
    let target = match (kind, own) {
        (ParameterKind::Boolean, Some(ColumnKind::Boolean)) | (ParameterKind::Boolean, None) => ColumnKind::Boolean,
        (ParameterKind::Integer, Some(ColumnKind::Integer) | None) => ColumnKind::Integer,
        (ParameterKind::Number, Some(ColumnKind::Integer | ColumnKind::Number) | None) => ColumnKind::Number,
        (ParameterKind::Text, Some(ColumnKind::Text) | None) => ColumnKind::Text,
        (ParameterKind::Any, own) => own.unwrap_or(ColumnKind::Number),
        _ => return None,
    };
    // Of the types that are not scalar, only the null type is accepted.
    (own.is_some() || *given == DataType::Null).then_some(target).filter(|own| can_cast_types(given, &own.data_type()))
}

/// Returns the kind of column that a type is passed as; `None` for the null type and types that are not scalar.
fn of_type(given: &DataType) -> Option<ColumnKind> {
    match given {
        DataType::Boolean => Some(ColumnKind::Boolean),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnKind::Text),
        DataType::Dictionary(_, values) => of_type(values),
        given if given.is_integer() => Some(ColumnKind::Integer),
        given if given.is_numeric() => Some(ColumnKind::Number),
        given if given.is_temporal() => Some(ColumnKind::Text),
        _ => None,
    }
}

fn words(kind: ParameterKind) -> &'static str {
    match kind {
        ParameterKind::Boolean => "true or false",
        ParameterKind::Integer => "a whole number",
        ParameterKind::Number => "a number",
        ParameterKind::Text => "a text",
        ParameterKind::Any | ParameterKind::Object | ParameterKind::Bytes => "a plain value",
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, TimeUnit};
    use salver_model::functions::{ColumnKind, Endpoint, Parameter, ParameterKind};

    use super::{SqlSignature, target};

    fn parameter(name: &str, kind: ParameterKind, list: bool, required: bool) -> Parameter {
        Parameter { name: name.to_owned(), kind, list, required, ..Parameter::default() }
    }

    #[test]
    fn what_can_stand_in_sql() {
        let shape = |parameters: Vec<Parameter>, vectorized| {
            SqlSignature::of(&Endpoint { parameters, vectorized, ..Endpoint::default() }).map(|shape| shape.required)
        };
        let n = || parameter("n", ParameterKind::Integer, false, true);
        let rows = |required| parameter("rows", ParameterKind::Object, true, required);
        assert_eq!(shape(vec![], false), Ok(0));
        assert_eq!(shape(vec![n(), rows(false)], false), Ok(1));
        assert_eq!(shape(vec![n(), rows(true)], false), Err("its parameter `rows` takes no plain value".to_owned()));
        assert_eq!(shape(vec![n(), rows(true)], true), Ok(2));
        let result = |result| SqlSignature::of(&Endpoint { result, ..Endpoint::default() }).map(|shape| shape.result);
        assert_eq!(result(ParameterKind::Any), Ok(ColumnKind::Number));
        assert_eq!(result(ParameterKind::Text), Ok(ColumnKind::Text));
        assert!(result(ParameterKind::Object).is_err());
    }

    #[test]
    fn what_columns_become() {
        let stamp = DataType::Timestamp(TimeUnit::Millisecond, None);
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        for (kind, given, becomes) in [
            (ParameterKind::Any, DataType::Int8, Some(ColumnKind::Integer)),
            (ParameterKind::Any, DataType::Decimal128(9, 2), Some(ColumnKind::Number)),
            (ParameterKind::Any, stamp.clone(), Some(ColumnKind::Text)),
            (ParameterKind::Any, DataType::Binary, None),
            (ParameterKind::Any, DataType::Null, Some(ColumnKind::Number)),
            (ParameterKind::Number, DataType::Int64, Some(ColumnKind::Number)),
            (ParameterKind::Integer, DataType::Float64, None),
            (ParameterKind::Integer, DataType::Null, Some(ColumnKind::Integer)),
            (ParameterKind::Text, dictionary, Some(ColumnKind::Text)),
            (ParameterKind::Text, DataType::Int64, None),
            (ParameterKind::Boolean, DataType::Binary, None),
        ] {
            assert_eq!(target(kind, &given), becomes, "{kind:?} {given}");
        }
    }
}

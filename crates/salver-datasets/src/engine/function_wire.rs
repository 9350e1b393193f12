//! Functions in plans for other processes. A plan names its functions; this says for each of ours what another process
//! of the same version makes it of. What can't be said is refused, so that no other function is taken for it.
//!
//! A function that a session knows goes by its name alone. Rules put others into plans, often under the name of an
//! operator, and some wrap another function.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Result, not_impl_err};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{AggregateUDF, Operator, ScalarUDF, WindowUDF};

use super::function_bounds::{self, Allowance, Bounds};
use super::{list_items, only_value, pg_functions, pg_semantics};

/// Operators that integers are computed with.
const OPERATORS: [Operator; 4] = [Operator::Plus, Operator::Minus, Operator::Multiply, Operator::Divide];

/// First byte of what is said of a function.
mod tag {
    pub(super) const NAMED: u8 = b'n';
    pub(super) const LISTED: u8 = b'l';
    pub(super) const OPERATORS: u8 = b'o';
    pub(super) const JOINED: u8 = b'j';
    pub(super) const AVERAGE: u8 = b'a';
    pub(super) const BOUNDED_BY_TABLE: u8 = b't';
    pub(super) const BOUNDED_BY_TEXT: u8 = b'x';
    pub(super) const BOUNDED_BY_SUM: u8 = b's';
    pub(super) const OVER_WINDOWS: u8 = b'w';
}

/// The functions of a session, and those that only plans have.
#[derive(Debug)]
pub(crate) struct FunctionWire {
    scalar: HashMap<String, Arc<ScalarUDF>>,
    aggregates: HashMap<String, Arc<AggregateUDF>>,
    windows: HashMap<String, Arc<WindowUDF>>,
    unnamed: Vec<ScalarUDF>,
    unnamed_aggregates: Vec<Arc<AggregateUDF>>,
    allowance: Arc<Allowance>,
}

impl FunctionWire {
    /// Returns the functions of a session, whose results are accounted to this allowance.
    pub(crate) fn of(session: &SessionState, allowance: Arc<Allowance>) -> Self {
        let mut unnamed = vec![list_items::each_row(), only_value::the_only_value()];
        unnamed.extend(function_bounds::unnamed());
        unnamed.extend(pg_semantics::unnamed());
        unnamed.extend(pg_functions::unnamed());
        let mut unnamed_aggregates = pg_semantics::unnamed_aggregates();
        unnamed_aggregates.push(Arc::new(only_value::only_value()));
        Self {
            scalar: session.scalar_functions().clone(),
            aggregates: session.aggregate_functions().clone(),
            windows: session.window_functions().clone(),
            unnamed,
            unnamed_aggregates,
            allowance,
        }
    }

    /// Says what a function is; nothing if its name says it.
    ///
    /// # Errors
    /// For a function that another process can't make, such as one of user code.
    pub(crate) fn encode(&self, function: &ScalarUDF, out: &mut Vec<u8>) -> Result<()> {
        if self.scalar.get(function.name()).is_some_and(|known| **known == *function) {
            return Ok(());
        }
        self.describe(function, out)
    }

    fn describe(&self, function: &ScalarUDF, out: &mut Vec<u8>) -> Result<()> {
        if let Some(operators) = pg_semantics::chained(function) {
            out.push(tag::OPERATORS);
            for operator in operators {
                match OPERATORS.iter().position(|known| known == operator) {
                    Some(place) => out.push(place as u8),
                    None => return unknown(function.name()),
                }
            }
            return Ok(());
        }
        if let Some(count) = function_bounds::joined(function).and_then(|count| u16::try_from(count).ok()) {
            out.push(tag::JOINED);
            out.extend(count.to_be_bytes());
            return Ok(());
        }
        if let Some(to) = pg_semantics::averaged(function) {
            let (bits, precision, scale) = match to {
                DataType::Decimal128(precision, scale) => (0, *precision, *scale),
                DataType::Decimal256(precision, scale) => (1, *precision, *scale),
                _ => return unknown(function.name()),
            };
            out.extend([tag::AVERAGE, bits, precision, scale.cast_unsigned()]);
            return Ok(());
        }
        if let Some((bounds, inner)) = function_bounds::unbounded(function) {
            out.push(match bounds {
                Bounds::Table => tag::BOUNDED_BY_TABLE,
                Bounds::Text => tag::BOUNDED_BY_TEXT,
                Bounds::Sum => tag::BOUNDED_BY_SUM,
            });
            return self.describe_inner(inner, out);
        }
        match self.unnamed.iter().position(|known| known == function).and_then(|place| u8::try_from(place).ok()) {
            Some(place) => {
                out.extend([tag::LISTED, place]);
                Ok(())
            }
            None => unknown(function.name()),
        }
    }

    fn describe_inner(&self, inner: &ScalarUDF, out: &mut Vec<u8>) -> Result<()> {
        if self.scalar.get(inner.name()).is_some_and(|known| **known == *inner) {
            out.push(tag::NAMED);
            out.extend(inner.name().as_bytes());
            return Ok(());
        }
        self.describe(inner, out)
    }

    /// Makes a function of what was said of it.
    ///
    /// # Errors
    /// For what another version said.
    pub(crate) fn decode(&self, name: &str, said: &[u8]) -> Result<Arc<ScalarUDF>> {
        let bounded = |bounds: Bounds, inner: &[u8]| {
            Ok(function_bounds::bounded(&self.decode(name, inner)?, bounds, &self.allowance))
        };
        match said {
            [tag::NAMED, inner @ ..] => {
                let known = std::str::from_utf8(inner).ok().and_then(|inner| self.scalar.get(inner));
                known.map_or_else(|| unknown(name), |known| Ok(Arc::clone(known)))
            }
            [tag::LISTED, place] => match self.unnamed.get(usize::from(*place)) {
                Some(known) => Ok(Arc::new(known.clone())),
                None => unknown(name),
            },
            [tag::OPERATORS, places @ ..] => {
                let operators = places.iter().map(|place| OPERATORS.get(usize::from(*place)).copied());
                match operators.collect::<Option<Vec<_>>>() {
                    Some(operators) => Ok(Arc::new(pg_semantics::chain(operators))),
                    None => unknown(name),
                }
            }
            [tag::JOINED, high, low] => {
                let count = u16::from_be_bytes([*high, *low]);
                Ok(Arc::new(function_bounds::concatenation(usize::from(count))))
            }
            [tag::AVERAGE, bits, precision, scale] => {
                let (precision, scale) = (*precision, scale.cast_signed());
                let to = match bits {
                    0 => DataType::Decimal128(precision, scale),
                    _ => DataType::Decimal256(precision, scale),
                };
                Ok(Arc::new(pg_semantics::of_sum_to(to)))
            }
            [tag::BOUNDED_BY_TABLE, inner @ ..] => bounded(Bounds::Table, inner),
            [tag::BOUNDED_BY_TEXT, inner @ ..] => bounded(Bounds::Text, inner),
            [tag::BOUNDED_BY_SUM, inner @ ..] => bounded(Bounds::Sum, inner),
            _ => unknown(name),
        }
    }

    /// Says what an aggregate is; nothing if its name says it.
    ///
    /// # Errors
    /// For an aggregate that another process can't make.
    pub(crate) fn encode_aggregate(&self, function: &AggregateUDF, out: &mut Vec<u8>) -> Result<()> {
        if self.is_named(function) {
            return Ok(());
        }
        self.describe_aggregate(function, out)
    }

    fn is_named(&self, function: &AggregateUDF) -> bool {
        self.aggregates.get(function.name()).is_some_and(|known| **known == *function)
    }

    fn describe_aggregate(&self, function: &AggregateUDF, out: &mut Vec<u8>) -> Result<()> {
        if self.is_named(function) {
            out.push(tag::NAMED);
            out.extend(function.name().as_bytes());
            return Ok(());
        }
        if let Some(inner) = pg_semantics::slid(function) {
            out.push(tag::OVER_WINDOWS);
            return self.describe_aggregate(inner, out);
        }
        let place = self.unnamed_aggregates.iter().position(|known| **known == *function);
        match place.and_then(|place| u8::try_from(place).ok()) {
            Some(place) => {
                out.extend([tag::LISTED, place]);
                Ok(())
            }
            None => unknown(function.name()),
        }
    }

    /// Makes an aggregate of what was said of it.
    ///
    /// # Errors
    /// For what another version said.
    pub(crate) fn decode_aggregate(&self, name: &str, said: &[u8]) -> Result<Arc<AggregateUDF>> {
        match said {
            [tag::NAMED, inner @ ..] => {
                let known = std::str::from_utf8(inner).ok().and_then(|inner| self.aggregates.get(inner));
                known.map_or_else(|| unknown(name), |known| Ok(Arc::clone(known)))
            }
            [tag::OVER_WINDOWS, inner @ ..] => {
                let over = pg_semantics::over_windows(&self.decode_aggregate(name, inner)?);
                over.map_or_else(|| unknown(name), Ok)
            }
            [tag::LISTED, place] => match self.unnamed_aggregates.get(usize::from(*place)) {
                Some(known) => Ok(Arc::clone(known)),
                None => unknown(name),
            },
            _ => unknown(name),
        }
    }

    /// Checks that a window function goes by its name.
    ///
    /// # Errors
    /// If another has this name.
    pub(crate) fn check_window(&self, function: &WindowUDF) -> Result<()> {
        match self.windows.get(function.name()) {
            Some(known) if **known == *function => Ok(()),
            _ => unknown(function.name()),
        }
    }
}

fn unknown<T>(name: &str) -> Result<T> {
    not_impl_err!("executors do not have the function `{name}`")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use datafusion::execution::memory_pool::UnboundedMemoryPool;
    use datafusion::execution::session_state::SessionStateBuilder;

    use super::*;

    fn wire() -> FunctionWire {
        let mut session = SessionStateBuilder::new().with_default_features().build();
        pg_semantics::register(&mut session).unwrap();
        pg_functions::register(&mut session).unwrap();
        let allowance = Allowance::new(&(Arc::new(UnboundedMemoryPool::default()) as _), 1 << 30);
        function_bounds::bound_all(&mut session, &allowance).unwrap();
        FunctionWire::of(&session, allowance)
    }

    fn round_trip(wire: &FunctionWire, function: &ScalarUDF) {
        let mut said = Vec::new();
        wire.encode(function, &mut said).unwrap();
        let made = match said.as_slice() {
            [] => Arc::clone(&wire.scalar[function.name()]),
            said => wire.decode(function.name(), said).unwrap(),
        };
        assert_eq!(*made, *function);
    }

    #[test]
    fn every_function_comes_back_as_itself() {
        let wire = wire();
        wire.scalar.values().for_each(|function| round_trip(&wire, function));
        wire.unnamed.iter().for_each(|function| round_trip(&wire, function));
        let chain = pg_semantics::chain(vec![Operator::Plus, Operator::Divide, Operator::Multiply, Operator::Minus]);
        round_trip(&wire, &chain);
        round_trip(&wire, &pg_semantics::of_sum_to(DataType::Decimal128(38, 16)));
        round_trip(&wire, &pg_semantics::of_sum_to(DataType::Decimal256(50, -2)));
        let joined = Arc::new(function_bounds::concatenation(3));
        for bounds in [Bounds::Text, Bounds::Sum] {
            let bounded = function_bounds::bounded(&joined, bounds, &wire.allowance);
            let mut said = Vec::new();
            wire.encode(&bounded, &mut said).unwrap();
            let made = wire.decode("||", &said).unwrap();
            assert_eq!(function_bounds::unbounded(&made).unwrap().0, bounds);
            assert_eq!(*made, *bounded);
        }
        let like = function_bounds::bounded(&Arc::new(pg_functions::like()), Bounds::Table, &wire.allowance);
        round_trip(&wire, &like);
    }

    #[test]
    fn aggregates_come_back_as_themselves() {
        let wire = wire();
        let sliding = pg_semantics::over_windows(&pg_semantics::avg()).unwrap();
        // Under other names there may be what ours replaced.
        let named = wire.aggregates.iter().filter(|(name, own)| name.as_str() == own.name()).map(|(_, own)| own);
        for function in named.chain(&wire.unnamed_aggregates).chain([&sliding]) {
            let mut said = Vec::new();
            wire.encode_aggregate(function, &mut said).unwrap();
            if !said.is_empty() {
                assert_eq!(wire.decode_aggregate(function.name(), &said).unwrap(), *function);
            }
        }
    }

    /// Some functions equal all others of their name.
    #[test]
    fn functions_without_a_name_are_told_apart() {
        let wire = wire();
        for (place, function) in wire.unnamed.iter().enumerate() {
            assert_eq!(wire.unnamed.iter().position(|other| other == function), Some(place), "{}", function.name());
        }
        let names: BTreeSet<_> = wire.unnamed.iter().map(ScalarUDF::name).collect();
        assert!(names.len() > 20, "{names:?}");
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let wire = wire();
        let other = ScalarUDF::new_from_impl(datafusion::functions::math::abs::AbsFunc::new()).with_aliases(["b"]);
        assert!(wire.encode(&other, &mut Vec::new()).is_err());
        for said in [&b""[..], b"z", b"l", b"l\xff", b"o\x09", b"nothing", b"tx"] {
            assert!(wire.decode("f", said).is_err(), "{said:?}");
            assert!(wire.decode_aggregate("f", said).is_err(), "{said:?}");
        }
    }
}

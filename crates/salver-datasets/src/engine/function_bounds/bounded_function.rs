//! Wrapper that bounds a function. The size of the result is estimated and reserved before a call, and expensive calls
//! are split into pieces of a few rows, so that cancellation takes effect soon.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{ExprSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, StructFieldMapping,
};
use salver_model::limits::{CALL_STEPS_MAX, FOLDED_BYTES_MAX};

use super::growth_table::{FunctionBounds, Growth};
use super::result_memory::{Allowance, shown, too_large};
use super::value_size::{ArgumentSize, Measured, held_bytes, scalar_bytes};
use crate::engine::QueryWork;

/// Bytes that are produced, or steps that are taken, between two checks for cancellation.
const PIECE_BYTES: u64 = 8 * 1024 * 1024;
/// About a twentieth of a second.
const PIECE_STEPS: u64 = 50_000_000;

/// Maximum steps for one row during planning.
const PLANNED_STEPS: u64 = 1_000_000;

/// Function that bounds an expression that a call was simplified to, given the types of its columns.
pub(super) type Within = fn(Expr, &SimplifyContext, &Arc<Allowance>) -> Result<Expr>;

/// A bounded function. In every other respect it behaves as the wrapped one.
pub(crate) struct Bounded {
    inner: Arc<ScalarUDF>,
    bounds: FunctionBounds,
    allowance: Arc<Allowance>,
    within: Within,
}

impl Bounded {
    pub(super) fn new(
        inner: Arc<ScalarUDF>,
        bounds: FunctionBounds,
        allowance: &Arc<Allowance>,
        within: Within,
    ) -> Self {
        Self { inner, bounds, allowance: Arc::clone(allowance), within }
    }

    /// Returns the wrapped function.
    #[cfg(feature = "ballista")]
    pub(super) fn inner(&self) -> &Arc<ScalarUDF> {
        &self.inner
    }

    /// Returns the bound on the size of its results.
    #[cfg(feature = "ballista")]
    pub(super) fn growth_bound(&self) -> Growth {
        self.bounds.growth
    }

    /// Returns whether the wrapped function is a `T`.
    pub(super) fn holds<T: ScalarUDFImpl>(&self) -> bool {
        self.inner.inner().is::<T>()
    }

    /// Returns the maximum size of the result for one row.
    fn growth(&self, cells: &[ArgumentSize]) -> u64 {
        match self.bounds.growth {
            Growth::None | Growth::Bounded => super::growth_table::sum(cells),
            Growth::Grows(most) | Growth::Varies(most) => most(cells),
        }
    }

    fn steps(&self, cells: &[ArgumentSize]) -> u64 {
        self.bounds.steps.map_or(0, |steps| steps(cells))
    }

    /// Returns whether a call is small for all of its rows, so that no estimate per row is needed.
    fn is_small(&self, measured: &[Measured], rows: usize) -> bool {
        if matches!(self.bounds.growth, Growth::Varies(_)) {
            return false;
        }
        let most: Vec<ArgumentSize> = measured.iter().map(Measured::most).collect();
        let rows = rows as u64;
        self.growth(&most).saturating_mul(rows) <= self.allowance.small_bytes()
            && self.steps(&most).saturating_mul(rows) <= PIECE_STEPS
    }

    /// Returns whether no estimate is needed: the result is about as large as the columns, and no constant is large
    /// when repeated for every row.
    fn is_plain(&self, args: &ScalarFunctionArgs) -> bool {
        if self.bounds.steps.is_some() || !matches!(self.bounds.growth, Growth::None | Growth::Bounded) {
            return false;
        }
        let mut scalars = 0;
        for arg in &args.args {
            match arg {
                ColumnarValue::Scalar(value) => scalars += scalar_bytes(value),
                ColumnarValue::Array(array) if shares_values(array.data_type()) => return false,
                ColumnarValue::Array(_) => {}
            }
        }
        scalars.saturating_mul(args.number_rows as u64) <= self.allowance.small_bytes()
    }

    /// Calls the function for a few rows at a time.
    fn by_pieces(&self, args: &ScalarFunctionArgs, measured: &[Measured]) -> Result<ColumnarValue> {
        let work = QueryWork::of(&args.config_options);
        let all_scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        // A call with constants only is evaluated once.
        let rows = if all_scalar { args.number_rows.min(1) } else { args.number_rows };
        let reserved = self.allowance.reserve(self.name(), 0)?;
        let (mut made, mut done, mut total) = (Vec::new(), 0, 0);
        while done < rows || (rows == 0 && made.is_empty()) {
            work.check()?;
            let (count, bytes) = self.piece(measured, done, rows, &work)?;
            // A call needs its working memory beside its result.
            self.allowance.resize(&reserved, bytes.saturating_mul(2).saturating_add(total))?;
            let given = self.inner.invoke_with_args(part(args, done, count, all_scalar))?;
            done += count;
            if all_scalar {
                drop(reserved);
                return Ok(given);
            }
            let given = given.into_array(count)?;
            total += held_bytes(&given);
            self.check_batch(total)?;
            made.push(given);
            if rows == 0 {
                break;
            }
        }
        let array = match made.as_slice() {
            [only] => ArrayRef::clone(only),
            several => {
                self.allowance.resize(&reserved, total.saturating_mul(2))?;
                concat(&several.iter().map(|array| &**array).collect::<Vec<_>>())?
            }
        };
        drop(reserved);
        Ok(ColumnarValue::Array(array))
    }

    /// Returns the number of rows from `start` on to compute together, and the maximum size of their result.
    fn piece(&self, measured: &[Measured], start: usize, rows: usize, work: &QueryWork) -> Result<(usize, u64)> {
        let (mut bytes, mut steps, mut count) = (0_u64, 0_u64, 0);
        let mut cells = Vec::with_capacity(measured.len());
        for row in start..rows {
            cells.clear();
            cells.extend(measured.iter().map(|argument| argument.cell(row)));
            let (given, cost) = (self.growth(&cells), self.steps(&cells));
            self.check_value(given, cost, work)?;
            if count > 0 && (bytes.saturating_add(given) > PIECE_BYTES || steps.saturating_add(cost) > PIECE_STEPS) {
                break;
            }
            bytes = bytes.saturating_add(given);
            steps = steps.saturating_add(cost);
            count += 1;
        }
        Ok((count, bytes))
    }

    fn check_value(&self, bytes: u64, steps: u64, work: &QueryWork) -> Result<()> {
        // A value that is folded during planning stays in the plan, and takes the planner's time.
        let (most, steps_max) = match work.is_planned() {
            true => (self.allowance.value_bytes_max(), CALL_STEPS_MAX),
            false => (FOLDED_BYTES_MAX, PLANNED_STEPS),
        };
        let name = self.name();
        if bytes > most {
            let message = format!("`{name}` may give a value of {}, and {} is the most", shown(bytes), shown(most));
            return Err(too_large(message));
        }
        if steps > steps_max {
            let message = format!("`{name}` would take about {steps} steps for one row, and {steps_max} is the most");
            return Err(too_large(message));
        }
        Ok(())
    }

    fn check_batch(&self, bytes: u64) -> Result<()> {
        let most = self.allowance.column_bytes_max();
        if bytes > most {
            let name = self.name();
            let message = format!("`{name}` gives more than {} for the rows of one batch", shown(most));
            return Err(too_large(message));
        }
        Ok(())
    }

    /// Accounts the result to the memory of queries. A large constant is expanded to all rows at once, because a
    /// consumer would do so without a bound.
    fn account(&self, given: ColumnarValue, rows: usize, options: &ConfigOptions) -> Result<ColumnarValue> {
        match given {
            ColumnarValue::Array(array) => Ok(ColumnarValue::Array(self.allowance.account(self.name(), array)?)),
            ColumnarValue::Scalar(value) => {
                let bytes = scalar_bytes(&value);
                if bytes <= FOLDED_BYTES_MAX || !QueryWork::of(options).is_planned() {
                    return Ok(ColumnarValue::Scalar(value));
                }
                self.check_batch(bytes.saturating_mul(rows as u64))?;
                let reserved = self.allowance.reserve(self.name(), bytes.saturating_mul(rows as u64))?;
                let array = value.to_array_of_size(rows)?;
                drop((value, reserved));
                Ok(ColumnarValue::Array(self.allowance.account(self.name(), array)?))
            }
        }
    }
}

/// Returns the arguments for `count` rows from `start` on.
fn part(args: &ScalarFunctionArgs, start: usize, count: usize, all_scalar: bool) -> ScalarFunctionArgs {
    let cut = |arg: &ColumnarValue| match arg {
        ColumnarValue::Array(array) if array.len() != count => ColumnarValue::Array(array.slice(start, count)),
        other => other.clone(),
    };
    ScalarFunctionArgs {
        args: args.args.iter().map(cut).collect(),
        arg_fields: args.arg_fields.clone(),
        number_rows: if all_scalar { args.number_rows } else { count },
        return_field: Arc::clone(&args.return_field),
        config_options: Arc::clone(&args.config_options),
    }
}

/// Returns whether rows of this type may share their bytes, so that a column takes less memory than the sum of its
/// rows.
pub(super) fn shares_values(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8View
        | DataType::BinaryView
        | DataType::Dictionary(_, _)
        | DataType::RunEndEncoded(_, _)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => true,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => shares_values(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| shares_values(field.data_type())),
        _ => false,
    }
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        #[expect(deprecated)]
        self.inner.display_name(args)
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let updated = self.inner.inner().with_updated_config(config)?;
        Some(ScalarUDF::new_from_impl(Self::new(Arc::new(updated), self.bounds, &self.allowance, self.within)))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn is_nullable(&self, args: &[Expr], schema: &dyn ExprSchema) -> bool {
        #[expect(deprecated)]
        self.inner.is_nullable(args, schema)
    }

    fn is_strict(&self) -> bool {
        self.inner.is_strict()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (rows, options) = (args.number_rows, Arc::clone(&args.config_options));
        if self.is_plain(&args) {
            let given = self.inner.invoke_with_args(args)?;
            return self.account(given, rows, &options);
        }
        // The second argument of functions with a step count is a pattern, or a text or list like the first.
        let is_pattern = |index: usize| index == 1 && self.bounds.steps.is_some();
        let measured = args.args.iter().enumerate().map(|(index, arg)| Measured::of(arg, is_pattern(index)));
        let measured = measured.collect::<Result<Vec<_>>>()?;
        let given = if self.is_small(&measured, rows) {
            self.inner.invoke_with_args(args)?
        } else {
            self.by_pieces(&args, &measured)?
        };
        self.account(given, rows, &options)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(match self.inner.simplify(args, info)? {
            ExprSimplifyResult::Simplified(expr) => {
                ExprSimplifyResult::Simplified((self.within)(expr, info, &self.allowance)?)
            }
            original => original,
        })
    }

    fn preimage(&self, args: &[Expr], lit_expr: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        self.inner.preimage(args, lit_expr, info)
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(args)
    }

    fn evaluate_bounds(&self, input: &[&Interval]) -> Result<Interval> {
        self.inner.evaluate_bounds(input)
    }

    fn propagate_constraints(&self, interval: &Interval, inputs: &[&Interval]) -> Result<Option<Vec<Interval>>> {
        self.inner.propagate_constraints(interval, inputs)
    }

    fn struct_field_mapping(
        &self,
        literal_args: &[Option<datafusion::common::ScalarValue>],
    ) -> Option<StructFieldMapping> {
        self.inner.struct_field_mapping(literal_args)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.placement(args)
    }
}

impl fmt::Debug for Bounded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}

impl PartialEq for Bounded {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Eq for Bounded {}

impl Hash for Bounded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

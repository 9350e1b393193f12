//! A user function as a scalar function of the engine.
//!
//! The engine calls scalar functions synchronously on one of its threads, wherever an expression may stand. It supports
//! asynchronous functions (`AsyncScalarUDF`, DataFusion 55) only in the select list and in conditions. So a call blocks
//! its thread, inside `block_in_place`, until the worker has answered.

use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use futures::future::{Either, select};
use salver_model::Error;
use salver_model::functions::{ColumnsCall, Interface};
use salver_model::ports::Functions;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::FunctionEndpoint;
use super::signature::SqlSignature;

/// Rows of the first call. Later calls are sized by how long the calls before took: large enough to amortize the round
/// trip to the worker, small enough not to run into the call's timeout.
const ROWS_FIRST: usize = 256;
/// After a faster call, the next one has four times as many rows.
const QUICK: Duration = Duration::from_millis(25);
/// After a slower call, the next one has a quarter of the rows.
const SLOW: Duration = Duration::from_millis(500);

/// A user function, registered for one statement.
#[derive(Debug)]
pub(super) struct Called {
    name: String,
    file: Arc<dyn Functions>,
    interface: Arc<Interface>,
    endpoint: usize,
    shape: SqlSignature,
    signature: Signature,
    /// Closed when the statement is cancelled.
    alive: watch::Receiver<()>,
    /// Number of rows of the next call.
    rows: AtomicUsize,
}

impl Called {
    pub(super) fn new(
        name: String,
        found: &FunctionEndpoint<'_>,
        shape: SqlSignature,
        alive: watch::Receiver<()>,
    ) -> Self {
        let volatility = if shape.pure { Volatility::Immutable } else { Volatility::Volatile };
        // `return_field_from_args` checks the argument types, with better error messages.
        let signature = Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], volatility);
        Self {
            name,
            file: Arc::clone(found.file),
            interface: Arc::clone(&found.interface),
            endpoint: found.endpoint,
            shape,
            signature,
            alive,
            rows: AtomicUsize::new(ROWS_FIRST),
        }
    }

    /// Calls the function for all rows, batch by batch.
    fn call(&self, columns: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let mut parts: Vec<ArrayRef> = Vec::new();
        let mut done = 0;
        while done < rows {
            let count = self.rows.load(Ordering::Relaxed).min(rows - done);
            let began = Instant::now();
            let columns = columns.iter().map(|column| column.slice(done, count)).collect();
            parts.push(self.wait(columns, count)?);
            done += count;
            match began.elapsed() {
                quick if quick < QUICK => self.rows.fetch_max(count.saturating_mul(4), Ordering::Relaxed),
                slow if slow > SLOW => self.rows.fetch_min((count / 4).max(1), Ordering::Relaxed),
                _ => count,
            };
        }
        match parts.as_slice() {
            [] => Ok(arrow::array::new_empty_array(&self.shape.result.data_type())),
            [only] => Ok(Arc::clone(only)),
            parts => Ok(concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>())?),
        }
    }

    /// Waits for one call, or until the statement is cancelled.
    fn wait(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<ArrayRef> {
        let (endpoint, interface) = (self.endpoint, Arc::clone(&self.interface));
        let call =
            self.file.call_columns(ColumnsCall { endpoint, interface, rows, columns, result: self.shape.result });
        let mut alive = self.alive.clone();
        let left = async move { while alive.changed().await.is_ok() {} };
        let runtime = Handle::try_current().map_err(|error| ours(Error::internal("no runtime").with_source(error)))?;
        let done = tokio::task::block_in_place(|| {
            runtime.block_on(async {
                match select(call, pin!(left)).await {
                    Either::Left((done, _)) => done,
                    Either::Right(_) => Err(Error::internal("the query was stopped before its end")),
                }
            })
        });
        let column = done.map_err(ours)?;
        if column.len() == rows && *column.data_type() == self.shape.result.data_type() {
            return Ok(column);
        }
        Err(ours(Error::internal(format!("`{}` gave another column than was asked for", self.name))))
    }
}

impl ScalarUDFImpl for Called {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.shape.result.data_type())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<DataType> = arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        self.shape.check(&self.name, &types).map_err(ours)?;
        Ok(Arc::new(Field::new(&self.name, self.shape.result.data_type(), true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = |argument: &ColumnarValue| matches!(argument, ColumnarValue::Scalar(_));
        // A pure function of constants needs one call for all rows.
        let one = self.shape.pure && arguments.args.iter().all(is_scalar);
        let rows = if one { 1 } else { arguments.number_rows };
        let columns = arguments.args.iter().enumerate();
        let columns = columns.map(|(index, argument)| Ok(self.shape.column(index, &argument.to_array(rows)?)?));
        let column = self.call(&columns.collect::<Result<Vec<_>>>()?, rows)?;
        if one {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&column, 0)?));
        }
        Ok(ColumnarValue::Array(column))
    }
}

fn ours(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl PartialEq for Called {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.endpoint == other.endpoint
            && Arc::ptr_eq(&self.interface, &other.interface)
            && Arc::ptr_eq(&self.file, &other.file)
    }
}

impl Eq for Called {}

impl Hash for Called {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.endpoint).hash(state);
    }
}

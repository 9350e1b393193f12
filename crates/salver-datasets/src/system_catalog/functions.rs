//! The functions that clients call with the system catalog
//! (<https://www.postgresql.org/docs/15/functions-info.html>).

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::types::Int32Type;
use arrow::array::{Array, ArrayRef, ListArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};

use super::tables::SystemTables;
use super::{oids, pg_types};
use crate::engine::{CATALOG, SCHEMA};

/// What the server is, as clients read it: they find out from it which statements they can send.
const VERSION: &str = concat!("PostgreSQL 15.18 (Salver ", env!("CARGO_PKG_VERSION"), ")");

/// Functions that say nothing here, because there is nothing to say, with the type of their null.
const SILENT: [(&str, DataType); 26] = [
    ("obj_description", DataType::Utf8),
    ("col_description", DataType::Utf8),
    ("shobj_description", DataType::Utf8),
    ("pg_get_constraintdef", DataType::Utf8),
    ("pg_get_expr", DataType::Utf8),
    ("pg_get_functiondef", DataType::Utf8),
    ("pg_get_function_arguments", DataType::Utf8),
    ("pg_get_function_identity_arguments", DataType::Utf8),
    ("pg_get_function_result", DataType::Utf8),
    ("pg_get_indexdef", DataType::Utf8),
    ("pg_get_partkeydef", DataType::Utf8),
    ("pg_get_ruledef", DataType::Utf8),
    ("pg_get_serial_sequence", DataType::Utf8),
    ("pg_get_statisticsobjdef_columns", DataType::Utf8),
    ("pg_get_triggerdef", DataType::Utf8),
    ("pg_get_viewdef", DataType::Utf8),
    ("pg_tablespace_location", DataType::Utf8),
    ("inet_server_addr", DataType::Utf8),
    ("inet_client_addr", DataType::Utf8),
    ("pg_advisory_unlock_all", DataType::Utf8),
    ("pg_relation_size", DataType::Int64),
    ("pg_table_size", DataType::Int64),
    ("pg_total_relation_size", DataType::Int64),
    ("pg_database_size", DataType::Int64),
    ("pg_stat_get_numscans", DataType::Int64),
    ("txid_current", DataType::Int64),
];

/// Functions that ask whether something may be done or seen, which a statement about the catalog has found out before:
/// it sees nothing else.
const ALWAYS: [&str; 14] = [
    "has_any_column_privilege",
    "has_column_privilege",
    "has_database_privilege",
    "has_function_privilege",
    "has_schema_privilege",
    "has_sequence_privilege",
    "has_table_privilege",
    "pg_has_role",
    "pg_function_is_visible",
    "pg_is_in_recovery",
    "pg_opclass_is_visible",
    "pg_operator_is_visible",
    "pg_table_is_visible",
    "pg_type_is_visible",
];

/// Registers the functions in the session of a statement about these tables.
pub(crate) fn register(state: &mut SessionState, tables: &SystemTables) -> Result<()> {
    let text = |value: &str| ScalarValue::Utf8(Some(value.to_owned()));
    let mut functions: Vec<ScalarUDF> = Vec::new();
    functions.extend(SILENT.map(|(name, data_type)| constant(name, data_type, ScalarValue::Null)));
    functions.extend(ALWAYS.map(|name| constant(name, DataType::Boolean, ScalarValue::Boolean(Some(true)))));
    for (name, value) in [
        ("current_database", CATALOG),
        ("current_catalog", CATALOG),
        ("current_schema", SCHEMA),
        ("current_user", "salver"),
        ("session_user", "salver"),
        ("user", "salver"),
        ("pg_get_userbyid", "salver"),
        ("pg_encoding_to_char", "UTF8"),
        ("version", VERSION),
    ] {
        functions.push(constant(name, DataType::Utf8, text(value)));
    }
    functions.push(constant("pg_backend_pid", DataType::Int32, ScalarValue::Int32(Some(1))));
    let path = ["pg_catalog", SCHEMA].map(|name| Some(name.to_owned()));
    let path: ArrayRef = Arc::new(StringArray::from(path.to_vec()));
    let path = ScalarValue::List(Arc::new(ListArray::new(
        Arc::new(arrow::datatypes::Field::new_list_field(DataType::Utf8, true)),
        arrow::buffer::OffsetBuffer::from_lengths([path.len()]),
        path,
        None,
    )));
    functions.push(constant("current_schemas", path.data_type(), path));
    functions.push(named("format_type", type_names()));
    let relations = tables.relations.names().map(|(number, name)| (number, name.to_owned()));
    functions.push(named("salver_regclass", relations.collect()));
    for function in functions {
        state.register_udf(Arc::new(function))?;
    }
    Ok(())
}

fn type_names() -> Vec<(i32, String)> {
    pg_types::all().iter().map(|row| (row.oid, row.sql_name.to_owned())).collect()
}

/// Returns a function that takes any arguments.
fn of_anything(name: &'static str, returned: Returned) -> ScalarUDF {
    let any = TypeSignature::OneOf(vec![TypeSignature::Nullary, TypeSignature::VariadicAny]);
    ScalarUDF::from(CatalogFunction { name, returned, signature: Signature::new(any, Volatility::Stable) })
}

/// Returns a function that returns the same for all arguments.
fn constant(name: &'static str, data_type: DataType, value: ScalarValue) -> ScalarUDF {
    of_anything(name, Returned::Constant(data_type, value))
}

/// Returns a function that returns the name of a number, which is its first argument.
fn named(name: &'static str, mut names: Vec<(i32, String)>) -> ScalarUDF {
    names.sort();
    of_anything(name, Returned::NameOf(names))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CatalogFunction {
    name: &'static str,
    returned: Returned,
    signature: Signature,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Returned {
    Constant(DataType, ScalarValue),
    /// By number, in order.
    NameOf(Vec<(i32, String)>),
}

impl ScalarUDFImpl for CatalogFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match &self.returned {
            Returned::Constant(data_type, _) => data_type.clone(),
            Returned::NameOf(_) => DataType::Utf8,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &self.returned {
            Returned::Constant(data_type, value) => Ok(ColumnarValue::Scalar(value.cast_to(data_type)?)),
            Returned::NameOf(names) => {
                let Some(first) = args.args.first() else { return Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None))) };
                let numbers = cast(&first.to_array(args.number_rows)?, &DataType::Int32)?;
                let numbers = numbers.as_primitive::<Int32Type>();
                let name = |number: i32| {
                    let known =
                        names.binary_search_by_key(&number, |(own, _)| *own).ok().map(|at| names[at].1.as_str());
                    known.or_else(|| oids::system_name(number)).map_or_else(|| number.to_string(), str::to_owned)
                };
                let found: StringArray = numbers.iter().map(|number| number.map(name)).collect();
                Ok(ColumnarValue::Array(Arc::new(found)))
            }
        }
    }
}

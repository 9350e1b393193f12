//! The functions that clients call with the system catalog
//! (<https://www.postgresql.org/docs/15/functions-info.html>).

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::types::Int32Type;
use arrow::array::{Array, ArrayRef, ListArray, PrimitiveArray, StringArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};

use super::settings::SETTINGS;
use super::tables::SystemTables;
use super::{oids, pg_types};
use crate::engine::{CATALOG, SCHEMA};

/// What the server is, as clients read it: they find out from it which statements they can send.
const VERSION: &str = concat!("PostgreSQL 15.18 (Salver ", env!("CARGO_PKG_VERSION"), ")");

/// Functions that say nothing here, because there is nothing to say, with the type of their null.
const SILENT: [(&str, DataType); 28] = [
    ("pg_get_function_sqlbody", DataType::Utf8),
    ("pg_size_pretty", DataType::Utf8),
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
const ALWAYS: [&str; 23] = [
    "pg_conversion_is_visible",
    "pg_opfamily_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible",
    "pg_ts_dict_is_visible",
    "pg_ts_parser_is_visible",
    "pg_ts_template_is_visible",
    "has_any_column_privilege",
    "has_column_privilege",
    "has_database_privilege",
    "has_function_privilege",
    "has_schema_privilege",
    "has_sequence_privilege",
    "has_table_privilege",
    "pg_has_role",
    "pg_collation_is_visible",
    "pg_function_is_visible",
    "pg_is_in_recovery",
    "pg_opclass_is_visible",
    "pg_operator_is_visible",
    "pg_relation_is_publishable",
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
        ("getdatabaseencoding", "UTF8"),
        ("version", VERSION),
    ] {
        functions.push(constant(name, DataType::Utf8, text(value)));
    }
    functions.push(constant("pg_backend_pid", DataType::Int32, ScalarValue::Int32(Some(1))));
    let path = ["pg_catalog", SCHEMA].map(|name| Some(name.to_owned()));
    let path: ArrayRef = Arc::new(StringArray::from(path.to_vec()));
    let path = ScalarValue::List(Arc::new(ListArray::new(
        Arc::new(Field::new_list_field(DataType::Utf8, true)),
        arrow::buffer::OffsetBuffer::from_lengths([path.len()]),
        path,
        None,
    )));
    functions.push(constant("current_schemas", path.data_type(), path));
    // It is called for the columns of keys, of which there are none.
    let pair = ["x", "n"].map(|name| Field::new(name, DataType::Int32, true));
    functions.push(constant("_pg_expandarray", DataType::Struct(pair.to_vec().into()), ScalarValue::Null));
    // The number of UTF-8.
    functions.push(constant("pg_char_to_encoding", DataType::Int32, ScalarValue::Int32(Some(6))));
    functions.push(constant("pg_my_temp_schema", DataType::Int32, ScalarValue::Int32(Some(0))));
    functions.push(constant("pg_is_other_temp_schema", DataType::Boolean, ScalarValue::Boolean(Some(false))));
    functions.push(of_anything("format_type", Returned::TypeName));
    functions.push(of_anything("set_config", Returned::Argument(1)));
    let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    functions.push(of_anything("current_setting", Returned::TextOf(settings.to_vec())));
    let number = |name: &str, number: i32| (name.to_owned(), number.to_string());
    let types = pg_types::all().iter().flat_map(|row| [number(row.name, row.oid), number(row.sql_name, row.oid)]);
    functions.push(of_anything("salver_to_regtype", Returned::TextOf(types.collect())));
    let classes = tables.relations.names().map(|(oid, name)| number(name, oid));
    functions.push(of_anything("salver_to_regclass", Returned::TextOf(classes.collect())));
    let relations = tables.relations.names().map(|(number, name)| (number, name.to_owned()));
    functions.push(named("salver_regclass", relations.collect()));
    for function in functions {
        state.register_udf(Arc::new(function))?;
    }
    Ok(())
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
    /// By text in lower case.
    TextOf(Vec<(String, String)>),
    /// The argument at this place.
    Argument(usize),
    /// The name of a type, by its number and its modifier.
    TypeName,
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
            Returned::NameOf(_) | Returned::TextOf(_) | Returned::Argument(_) | Returned::TypeName => DataType::Utf8,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &self.returned {
            Returned::Constant(data_type, value) => Ok(ColumnarValue::Scalar(value.cast_to(data_type)?)),
            Returned::NameOf(names) => {
                let numbers = numbers(&args, 0)?;
                let name = |number: i32| {
                    let known = names.binary_search_by_key(&number, |(own, _)| *own).ok();
                    let known = known.map(|at| names[at].1.as_str()).or_else(|| oids::system_name(number));
                    known.map_or_else(|| number.to_string(), str::to_owned)
                };
                Ok(texts(numbers.iter().map(|number| number.map(name))))
            }
            Returned::TextOf(known) => {
                let asked = argument(&args, 0, &DataType::Utf8)?;
                let find = |text: &str| {
                    let text = text.trim_start_matches("public.").to_lowercase();
                    known.iter().find(|(name, _)| *name == text).map(|(_, value)| value.clone())
                };
                Ok(texts(asked.as_string::<i32>().iter().map(|text| text.and_then(find))))
            }
            Returned::Argument(place) => Ok(ColumnarValue::Array(argument(&args, *place, &DataType::Utf8)?)),
            Returned::TypeName => {
                let (types, modifiers) = (numbers(&args, 0)?, numbers(&args, 1)?);
                let name = |(oid, modifier): (Option<i32>, Option<i32>)| Some(type_name(oid?, modifier.unwrap_or(-1)));
                Ok(texts(types.iter().zip(modifiers.iter()).map(name)))
            }
        }
    }
}

/// Returns an argument as an array of this type; nulls for one that was not given.
fn argument(args: &ScalarFunctionArgs, place: usize, data_type: &DataType) -> Result<ArrayRef> {
    match args.args.get(place) {
        Some(given) => Ok(cast(&given.to_array(args.number_rows)?, data_type)?),
        None => Ok(new_null_array(data_type, args.number_rows)),
    }
}

fn numbers(args: &ScalarFunctionArgs, place: usize) -> Result<PrimitiveArray<Int32Type>> {
    Ok(argument(args, place, &DataType::Int32)?.as_primitive::<Int32Type>().clone())
}

fn texts(values: impl Iterator<Item = Option<String>>) -> ColumnarValue {
    ColumnarValue::Array(Arc::new(values.collect::<StringArray>()))
}

/// Returns the name of a type in SQL, with its precision and scale.
fn type_name(oid: i32, modifier: i32) -> String {
    let row = pg_types::all().iter().find(|row| row.oid == oid);
    let name = row.map_or_else(|| "???".to_owned(), |row| row.sql_name.to_owned());
    match modifier.checked_sub(4).filter(|digits| *digits >= 0 && name == "numeric") {
        Some(digits) => format!("{name}({},{})", digits >> 16, digits & 0xffff),
        None => name,
    }
}

//! Rewrites a statement about the system catalog so that the engine understands it: names of its schema, casts to and
//! from its numbers, and operators and collations that are named with their schema.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Array, ArrayElemTypeDef, BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, ObjectName, ObjectNamePart, Query, SelectItem,
    SetExpr, Statement, TableAlias, TableFactor, Value, VisitMut, VisitorMut, visit_expressions, visit_relations,
};
use salver_model::{Code, Error, Result, SqlFault};

use super::tables::SystemTables;
use super::{definitions, oids, pg_types};

/// Name of the schema of the system catalog.
pub(super) const SCHEMA: &str = "pg_catalog";
/// Name of the schema of its views in the words of the standard.
const INFORMATION_SCHEMA: &str = "information_schema";
/// Functions that SQL writes without parentheses, and that the planner would take for columns.
const BARE: [&str; 5] = ["current_catalog", "current_schema", "current_user", "session_user", "user"];

/// Rewrites a statement about these tables.
///
/// # Errors
/// `InvalidSql` for the number of something that there is not.
pub(super) fn rewrite(statement: &mut Statement, tables: &SystemTables) -> Result<()> {
    let is_own = |relation: &ObjectName| {
        let name = last(relation).unwrap_or_default();
        relation.0.first().and_then(ObjectNamePart::as_ident).is_some_and(is_system_schema)
            || definitions::columns(&name).is_some()
    };
    let reads_catalog = visit_relations(statement, |relation| match is_own(relation) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_break();
    match VisitMut::visit(statement, &mut Rewriter { tables, reads_catalog }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(*error),
    }
}

/// Column of `pg_publication_rel`, which has no rows.
const OF_NO_ROW: &str = "prattrs";

/// Returns whether a query is computed for each row of a table that has none, so that nobody sees its value: psql
/// counts along the columns of publications with one that the engine can't plan.
fn is_for_no_row(query: &Query) -> bool {
    let names_it = |expr: &Expr| match expr {
        Expr::Identifier(name) => name.value == OF_NO_ROW,
        Expr::CompoundIdentifier(parts) => parts.last().is_some_and(|name| name.value == OF_NO_ROW),
        _ => false,
    };
    visit_expressions(query, |expr| if names_it(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        .is_break()
}

struct Rewriter<'t> {
    tables: &'t SystemTables,
    /// Whether the statement reads one of the catalog's tables. Another one only calls functions that are known here.
    reads_catalog: bool,
}

impl VisitorMut for Rewriter<'_> {
    type Break = Box<Error>;

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<Box<Error>> {
        without_schema(relation);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Box<Error>> {
        information_view(table);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Box<Error>> {
        match self.expression(expr) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Rewriter<'_> {
    fn expression(&self, expr: &mut Expr) -> Result<(), Box<Error>> {
        match expr {
            // Every list of the catalog is null, and so is an array that is made of one.
            Expr::Function(function) if self.reads_catalog && is_array_of_list(function) => {
                *expr = Expr::value(Value::Null)
            }
            Expr::Function(function) => {
                without_schema(&mut function.name);
                if let Some(known) = of_search_path(function) {
                    *expr = known;
                    return Ok(());
                }
                // Functions that look a number up give it as text.
                if let Some(name @ ("to_regtype" | "to_regclass")) = last(&function.name).as_deref() {
                    function.name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(format!("salver_{name}")))]);
                    let looked_up = std::mem::replace(expr, Expr::value(Value::Null));
                    *expr = to(looked_up, DataType::Int(None));
                }
            }
            Expr::CompoundIdentifier(parts) if parts.len() > 2 && is_system_schema(&parts[0]) => {
                parts.remove(0);
            }
            Expr::Subquery(query) if self.reads_catalog && is_for_no_row(query) => *expr = Expr::value(Value::Null),
            Expr::Subquery(query) if self.reads_catalog => one_value(query),
            Expr::Collate { expr: inner, .. } if self.reads_catalog => {
                *expr = std::mem::replace(inner, Expr::value(Value::Null))
            }
            Expr::Identifier(name) if name.quote_style.is_none() => {
                let name = name.value.to_lowercase();
                if BARE.contains(&name.as_str()) {
                    *expr = call(&name, Vec::new());
                }
            }
            Expr::BinaryOp { left, op, right } => {
                operator(op);
                if self.reads_catalog
                    && matches!(op, BinaryOperator::Eq | BinaryOperator::NotEq)
                    && is_array_literal(right)
                {
                    let inner = std::mem::replace(&mut **left, Expr::value(Value::Null));
                    **left = to(inner, DataType::Text);
                }
                // Functions are names here, and numbers there, of which 0 is that of none.
                if is_function_of_type(left) && matches!(&**right, Expr::Value(value) if is_zero(&value.value)) {
                    **right = Expr::value(Value::SingleQuotedString("-".to_owned()));
                }
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. }
                if self.reads_catalog && !matches!(**right, Expr::Subquery(_)) =>
            {
                let take = |part: &mut Box<Expr>| std::mem::replace(&mut **part, Expr::value(Value::Null));
                *expr = call("array_has", vec![take(right), take(left)]);
            }
            Expr::Cast { expr: inner, data_type, .. } => {
                plain_type(data_type);
                let kind = match &*data_type {
                    DataType::Regclass => "regclass".to_owned(),
                    DataType::Custom(name, _) => last(name).unwrap_or_default(),
                    _ => return Ok(()),
                };
                let inner = std::mem::replace(&mut **inner, Expr::value(Value::Null));
                *expr = self.cast(&kind, inner, data_type)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns a cast to a type that only the catalog has.
    fn cast(&self, kind: &str, inner: Expr, data_type: &DataType) -> Result<Expr, Box<Error>> {
        let literal = match &inner {
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        let number = |found: Option<i32>, what: &str, name: &str| {
            let found = found.or_else(|| name.parse().ok());
            found
                .map(|number| Expr::value(Value::Number(number.to_string(), false)))
                .ok_or_else(|| Box::new(unknown(what, name)))
        };
        Ok(match (kind, literal) {
            ("regclass", Some(name)) => {
                let bare = bare_name(&name);
                let found = self.tables.relations.number(&bare).or_else(|| oids::of_system(&bare));
                number(found, "relation", &bare)?
            }
            ("regclass", None) => call("salver_regclass", vec![inner]),
            ("regtype", Some(name)) => {
                let bare = bare_name(&name);
                number(pg_types::named(&bare).map(|row| row.oid), "type", &bare)?
            }
            ("regtype", None) => call("format_type", vec![inner]),
            ("regproc" | "regprocedure", Some(name)) => {
                let bare = bare_name(&name);
                let is_known = bare == "-" || pg_types::is_function(&bare);
                if !is_known {
                    return Err(Box::new(unknown("function", &bare)));
                }
                Expr::value(Value::SingleQuotedString(bare))
            }
            ("regnamespace", Some(name)) => number(oids::of_schema(&bare_name(&name)), "schema", &name)?,
            ("regrole", Some(_)) => Expr::value(Value::Number(oids::OWNER.to_string(), false)),
            ("oid" | "xid" | "cid" | "int4", _) => to(inner, DataType::Int(None)),
            ("int2", _) => to(inner, DataType::SmallInt(None)),
            ("int8", _) => to(inner, DataType::BigInt(None)),
            ("bool", _) => to(inner, DataType::Boolean),
            (
                "name" | "char" | "text" | "regproc" | "regprocedure" | "regnamespace" | "regrole" | "aclitem"
                | "pg_node_tree",
                _,
            ) => to(inner, DataType::Text),
            _ => to(inner, data_type.clone()),
        })
    }
}

/// Returns whether an expression is a column of `pg_type` that has functions.
fn is_function_of_type(expr: &Expr) -> bool {
    let column = match expr {
        Expr::Identifier(column) => Some(column),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    column.is_some_and(|column| {
        ["typinput", "typoutput", "typreceive", "typsend"].iter().any(|own| column.value.eq_ignore_ascii_case(own))
    })
}

fn is_zero(value: &Value) -> bool {
    matches!(value, Value::Number(number, _) if number == "0")
}

/// Returns the error for something that the catalog has not.
fn unknown(what: &str, name: &str) -> Error {
    let fault = match what {
        "relation" => SqlFault::UnknownTable,
        "function" => SqlFault::UnknownFunction,
        _ => SqlFault::UnknownObject,
    };
    Error::new(Code::InvalidSql, format!("{what} \"{name}\" does not exist")).with_sql_fault(fault)
}

/// Returns a null without a type.
pub(super) fn null() -> Expr {
    Expr::value(Value::Null)
}

pub(super) fn to(inner: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: datafusion::sql::sqlparser::ast::CastKind::DoubleColon,
        expr: Box::new(inner),
        data_type,
        array: false,
        format: None,
    }
}

/// Returns the schemas of the search path as an array, or how many they are: the engine makes series of their places,
/// for which it must know both.
fn of_search_path(function: &Function) -> Option<Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let first = match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(first)) => first,
        _ => return None,
    };
    match (last(&function.name)?.as_str(), first) {
        ("current_schemas", Expr::Value(value)) => {
            let all: &[&str] = if value.value == Value::Boolean(false) { &["public"] } else { &[SCHEMA, "public"] };
            let elem = all.iter().map(|name| Expr::value(Value::SingleQuotedString((*name).to_owned()))).collect();
            Some(Expr::Array(Array { elem, named: true }))
        }
        ("array_upper", Expr::Array(array)) => Some(Expr::value(Value::Number(array.elem.len().to_string(), false))),
        _ => None,
    }
}

fn is_system_schema(name: &Ident) -> bool {
    name.value == SCHEMA || name.value.eq_ignore_ascii_case(INFORMATION_SCHEMA)
}

/// Names a view of `information_schema` as the catalog has it, and as the statement calls it.
fn information_view(table: &mut TableFactor) {
    let TableFactor::Table { name, alias, .. } = table else { return };
    let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
    let [.., schema, view] = parts.as_slice() else { return };
    if !schema.value.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
        return;
    }
    let called = view.value.to_lowercase();
    let own = format!("{}{called}", definitions::INFORMATION_PREFIX);
    if definitions::columns(&own).is_none() {
        return;
    }
    *name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(own))]);
    if alias.is_none() {
        let columns = Vec::new();
        *alias = Some(TableAlias { explicit: true, name: Ident::new(called), columns, at: None });
    }
}

/// Takes the schema of the catalog away from a name. A function that only `information_schema` has is ours, too.
fn without_schema(name: &mut ObjectName) {
    let parts: Vec<&str> =
        name.0.iter().filter_map(ObjectNamePart::as_ident).map(|ident| ident.value.as_str()).collect();
    if matches!(parts.as_slice(), [SCHEMA, _, ..] | ["information_schema", "_pg_expandarray"]) {
        name.0.remove(0);
    }
}

/// Has the engine take the one value of a subquery, of which it is not known that it has one row at most: the largest
/// of one is that one.
fn one_value(query: &mut Query) {
    let has_more = query.limit_clause.is_some() || query.with.is_some();
    let SetExpr::Select(select) = &mut *query.body else { return };
    let has_groups = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    let is_from_nothing = select.from.is_empty() || select.distinct.is_some();
    let [item] = select.projection.as_mut_slice() else { return };
    let (SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }) = item else { return };
    if has_more || has_groups || is_from_nothing || is_aggregate(value) {
        return;
    }
    let inner = std::mem::replace(value, Expr::value(Value::Null));
    *value = call("max", vec![inner]);
    query.order_by = None;
}

pub(super) fn is_aggregate(value: &Expr) -> bool {
    let Expr::Function(function) = value else { return false };
    let name = last(&function.name).unwrap_or_default();
    matches!(
        name.as_str(),
        "array_agg"
            | "avg"
            | "bool_and"
            | "bool_or"
            | "count"
            | "every"
            | "json_agg"
            | "jsonb_agg"
            | "max"
            | "min"
            | "string_agg"
            | "sum"
    )
}

/// Returns whether a function is `ARRAY(SELECT ... FROM unnest(...))`.
fn is_array_of_list(function: &Function) -> bool {
    let FunctionArguments::Subquery(query) = &function.args else { return false };
    let SetExpr::Select(select) = &*query.body else { return false };
    let unnests = |table: &TableFactor| match table {
        TableFactor::UNNEST { .. } => true,
        TableFactor::Table { name, args: Some(_), .. } => last(name).as_deref() == Some("unnest"),
        TableFactor::Function { name, .. } => last(name).as_deref() == Some("unnest"),
        _ => false,
    };
    select.from.iter().any(|from| unnests(&from.relation))
}

/// Returns whether an expression is a text that is meant as an array.
fn is_array_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value)
        if matches!(&value.value, Value::SingleQuotedString(text) if text.starts_with('{') && text.ends_with('}')))
}

/// Takes the schema of the catalog away from a type, and from that of the elements of an array.
fn plain_type(data_type: &mut DataType) {
    match data_type {
        DataType::Custom(name, _) => {
            without_schema(name);
            let known = match last(name).as_deref() {
                Some("text") => DataType::Text,
                Some("int4") => DataType::Int(None),
                Some("int8") => DataType::BigInt(None),
                Some("int2") => DataType::SmallInt(None),
                Some("bool") => DataType::Boolean,
                Some("oidvector") => array_of(DataType::Int(None)),
                Some("int2vector") => array_of(DataType::SmallInt(None)),
                _ => return,
            };
            *data_type = known;
        }
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
            plain_type(element);
            if let DataType::Custom(name, _) = &**element {
                **element = match last(name).as_deref() {
                    Some("oid" | "regtype" | "regclass") => DataType::Int(None),
                    _ => DataType::Text,
                };
            }
        }
        _ => {}
    }
}

pub(super) fn array_of(element: DataType) -> DataType {
    DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(element), None))
}

/// Writes an operator that is named with its schema as itself.
fn operator(op: &mut BinaryOperator) {
    let BinaryOperator::PGCustomBinaryOperator(name) = op else { return };
    *op = match name.last().map(String::as_str) {
        Some("~") => BinaryOperator::PGRegexMatch,
        Some("~*") => BinaryOperator::PGRegexIMatch,
        Some("!~") => BinaryOperator::PGRegexNotMatch,
        Some("!~*") => BinaryOperator::PGRegexNotIMatch,
        Some("=") => BinaryOperator::Eq,
        Some("<>") => BinaryOperator::NotEq,
        Some("~~") => BinaryOperator::PGLikeMatch,
        Some("!~~") => BinaryOperator::PGNotLikeMatch,
        _ => return,
    };
}

pub(super) fn last(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(ObjectNamePart::as_ident).map(|ident| match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    })
}

/// Returns the last part of a name that is written as text, with its quotes and schema.
fn bare_name(text: &str) -> String {
    let text = text.strip_prefix("pg_catalog.").or_else(|| text.strip_prefix("public.")).unwrap_or(text);
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => text.to_owned(),
    }
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let arguments = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)));
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

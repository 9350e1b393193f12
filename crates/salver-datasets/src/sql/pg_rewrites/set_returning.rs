//! Set-returning functions. In a projection each of their rows becomes a row, as does each element of `unnest`; in
//! `from` they may reference columns of the tables before them.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, ObjectName, ObjectNamePart, SelectItem, SetExpr, TableAlias,
    TableAliasColumnDef, TableFactor, Value, Visit, Visitor,
};
use salver_model::Error;

use super::function_names::{arguments, name_of};
use super::json_kind::normal;
use super::outside_subqueries::outside_queries;
use super::{expression, quoted, refused, take};
use crate::sql::identifier_case::fold;

/// Set-returning functions, and the functions that return the same rows as a list.
const LISTS: [(&str, &str); 10] = [
    ("generate_series", "generate_series"),
    ("string_to_table", "string_to_array"),
    ("regexp_split_to_table", "regexp_split_to_array"),
    ("json_array_elements", "json_elements"),
    ("jsonb_array_elements", "json_elements"),
    ("json_array_elements_text", "json_elements_text"),
    ("jsonb_array_elements_text", "json_elements_text"),
    ("json_object_keys", "json_keys"),
    ("jsonb_object_keys", "json_keys"),
    ("generate_subscripts", "generate_subscripts"),
];
/// Functions whose rows are members of objects, and the functions that return the values as a list.
const MEMBERS: [(&str, &str); 4] = [
    ("json_each", "json_values"),
    ("jsonb_each", "json_values"),
    ("json_each_text", "json_values_text"),
    ("jsonb_each_text", "json_values_text"),
];

/// Returns the function that returns the rows of another as a list.
pub(super) fn list_of(name: &str) -> Option<&'static str> {
    LISTS.iter().find(|(theirs, _)| *theirs == name).map(|(_, list)| *list)
}

/// Rewrites a column of a projection to return a row for each row of its function.
pub(super) fn in_columns(item: &mut SelectItem) -> Result<(), Box<Error>> {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return Ok(()) };
    outside_queries(expr, &mut |expr| {
        let Expr::Function(function) = expr else { return Ok(()) };
        let Some(name) = name_of(function) else { return Ok(()) };
        // Rows of rows equal the elements of a nested list: `unnest(generate_series(1, 3))` is the same as one of them.
        if name == "unnest"
            && let Some([Expr::Function(inner)]) = arguments(function).as_deref()
            && name_of(inner).as_deref() == Some("unnest")
        {
            *expr = Expr::Function(inner.clone());
            return Ok(());
        }
        if let Some(list) = list_of(&name) {
            *expr = expression("unnest(__1)", vec![items(&name, list, function)?])?;
        } else if MEMBERS.iter().any(|(theirs, _)| *theirs == name) {
            return Err(refused(
                format!("`{name}` has two columns, and stands in `from`"),
                format!("write `select key, value from t, {name}(t.x)`"),
            ));
        }
        Ok(())
    })
}

/// Returns the call for the list of a function's rows.
fn items(name: &str, list: &str, function: &Function) -> Result<Expr, Box<Error>> {
    let Some(arguments) = arguments(function) else {
        return Err(refused(format!("`{}` takes values only", function.name), "write its arguments in their order"));
    };
    of(name, list, arguments)
}

fn of(name: &str, list: &str, mut arguments: Vec<Expr>) -> Result<Expr, Box<Error>> {
    if list == "generate_subscripts" {
        return expression("\"generate_series\"(1, array_length(__1))", arguments);
    }
    // The parts of `jsonb` have the normal form of the whole.
    if let ([document], true) = (arguments.as_mut_slice(), name.starts_with("jsonb_")) {
        *document = normal(take(document));
    }
    let places: Vec<String> = (1..=arguments.len()).map(|number| format!("__{number}")).collect();
    // The name is quoted, so that it is not rewritten again, unless a pattern is to be translated.
    let quote = if list == "regexp_split_to_array" { "" } else { "\"" };
    expression(&format!("{quote}{list}{quote}({})", places.join(", ")), arguments)
}

/// Rewrites a table function to a lateral subquery if it references columns of the tables before it, or if the engine
/// has it as a list only.
pub(super) fn in_from(factor: &mut TableFactor) -> Result<(), Box<Error>> {
    if let Some(members) = members(factor)? {
        *factor = members;
        return Ok(());
    }
    let (lists, alias, name, ordinality) = match factor {
        TableFactor::UNNEST { array_exprs, alias, with_ordinality, with_offset: false, .. } => {
            if !*with_ordinality && !array_exprs.iter().any(names_columns) {
                if let [_] = array_exprs.as_slice() {
                    named_by_table(alias);
                }
                return Ok(());
            }
            (array_exprs.clone(), alias.clone(), "unnest".to_owned(), *with_ordinality)
        }
        TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
            let Some(found) = rows(name, &args.args, *with_ordinality)? else {
                if name.to_string().eq_ignore_ascii_case("generate_series") {
                    named_by_table(alias);
                }
                return Ok(());
            };
            (vec![found], alias.clone(), name.to_string(), *with_ordinality)
        }
        TableFactor::Function { name, args, alias, with_ordinality, .. } => {
            let values = values(args).unwrap_or_default();
            if name.to_string().eq_ignore_ascii_case("unnest") && !values.is_empty() {
                (values, alias.clone(), name.to_string(), *with_ordinality)
            } else {
                let Some(found) = rows(name, args, true)? else { return Ok(()) };
                (vec![found], alias.clone(), name.to_string(), *with_ordinality)
            }
        }
        _ => return Ok(()),
    };
    *factor = table(lists, alias, &name.to_lowercase(), ordinality)?;
    Ok(())
}

/// Gives the only column of a table the table's name if it has none.
fn named_by_table(alias: &mut Option<TableAlias>) {
    if let Some(alias) = alias.as_mut().filter(|alias| alias.columns.is_empty()) {
        alias.columns = vec![TableAliasColumnDef { name: alias.name.clone(), data_type: None }];
    }
}

/// Returns the list of a table function that must be rewritten.
fn rows(name: &ObjectName, args: &[FunctionArg], always: bool) -> Result<Option<Expr>, Box<Error>> {
    let [ObjectNamePart::Identifier(name)] = name.0.as_slice() else { return Ok(None) };
    let name = fold(name);
    // As a value, `range` is a list.
    let Some(list) = list_of(&name).or((name == "range").then_some("range")) else { return Ok(None) };
    let Some(values) = values(args) else { return Ok(None) };
    if !always && matches!(&*name, "generate_series" | "range") && values.iter().all(is_number) {
        return Ok(None);
    }
    of(&name, list, values).map(Some)
}

/// Returns the members of an object as a table of keys and values; `None` for any other table.
fn members(factor: &TableFactor) -> Result<Option<TableFactor>, Box<Error>> {
    let (name, args, alias, ordinality) = match factor {
        TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
            (name, &args.args, alias, *with_ordinality)
        }
        TableFactor::Function { name, args, alias, with_ordinality, .. } => (name, args, alias, *with_ordinality),
        _ => return Ok(None),
    };
    let [ObjectNamePart::Identifier(own)] = name.0.as_slice() else { return Ok(None) };
    let own = fold(own);
    let Some((name, list)) = MEMBERS.iter().find(|(theirs, _)| *theirs == own) else { return Ok(None) };
    let Some([document]) = values(args).and_then(|values| <[Expr; 1]>::try_from(values).ok()) else {
        return Err(refused(format!("`{name}` takes one document"), format!("write `{name}(x)`")));
    };
    if ordinality {
        let hint = "count them: `select row_number() over () as n, key, value from ...`";
        return Err(refused(format!("`{name}` has no `with ordinality`"), hint));
    }
    let mut alias = alias.clone().unwrap_or_else(|| TableAlias {
        explicit: true,
        name: quoted(name),
        columns: Vec::new(),
        at: None,
    });
    for column in ["key", "value"].into_iter().skip(alias.columns.len()) {
        alias.columns.push(TableAliasColumnDef { name: quoted(column), data_type: None });
    }
    let lists = vec![of(name, "json_keys", vec![document.clone()])?, of(name, list, vec![document])?];
    table(lists, Some(alias), name, false).map(Some)
}

fn values(args: &[FunctionArg]) -> Option<Vec<Expr>> {
    let value = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    args.iter().map(value).collect()
}

/// Creates `lateral (select unnest(list) as x) as u`.
fn table(lists: Vec<Expr>, alias: Option<TableAlias>, name: &str, ordinality: bool) -> Result<TableFactor, Box<Error>> {
    let own = alias.as_ref().map_or_else(|| name.to_owned(), |alias| fold(&alias.name));
    let given: Vec<String> = alias.iter().flat_map(|alias| &alias.columns).map(|column| fold(&column.name)).collect();
    let mut columns: Vec<(Expr, String)> = Vec::with_capacity(lists.len() + 1);
    let longest = lists.first().cloned();
    let several = lists.len() > 1;
    for list in lists {
        let number = columns.len();
        let unnamed = match name {
            "range" => "value".to_owned(),
            _ if several || alias.is_none() => name.to_owned(),
            _ => own.clone(),
        };
        let unnamed = if number > 0 { format!("{unnamed}_{number}") } else { unnamed };
        columns.push((expression("unnest(__1)", vec![list])?, given.get(number).cloned().unwrap_or(unnamed)));
    }
    if ordinality {
        let (Some(list), false) = (longest, several) else {
            return Err(refused("`with ordinality` counts the items of one list", "unnest one list"));
        };
        let numbers = expression("unnest(\"generate_series\"(1, array_length(__1)))", vec![list])?;
        columns.push((numbers, given.get(1).cloned().unwrap_or_else(|| "ordinality".to_owned())));
    }
    let items = columns.into_iter().map(|(expr, name)| SelectItem::ExprWithAlias { expr, alias: quoted(&name) });
    let made = expression("(select 1)", Vec::new())?;
    let Expr::Subquery(mut subquery) = made else {
        return Err(Box::new(Error::internal("a rewriting is not a query")));
    };
    if let SetExpr::Select(select) = &mut *subquery.body {
        select.projection = items.collect();
    }
    let alias = TableAlias { explicit: true, name: quoted(&own), columns: Vec::new(), at: None };
    Ok(TableFactor::Derived { lateral: true, subquery, alias: Some(alias), sample: None })
}

/// Returns whether an expression is a numeric literal.
fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => matches!(value.value, Value::Number(..)),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_number(expr),
        _ => false,
    }
}

/// Returns whether an expression references a column.
pub(super) fn names_columns(expr: &Expr) -> bool {
    expr.visit(&mut Columns).is_break()
}

struct Columns;

impl Visitor for Columns {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

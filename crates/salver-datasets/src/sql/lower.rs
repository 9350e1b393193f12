//! Lowers statements that are no more than a query of one dataset to that query. Any statement whose meaning might
//! differ is left to the engine, so the result is `None` and never an error.

mod condition;

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, GroupByExpr,
    Ident, LimitClause, ObjectNamePart, OrderByKind, Query as SqlQuery, Select, SelectFlavor, SelectItem, SetExpr,
    Statement, TableFactor, Value as SqlValue, WildcardAdditionalOptions,
};
use salver_model::ports::{Table, Tables};
use salver_model::{Batches, Item, Query, Result, Rows, Sort, SqlQuery as SqlStatement};

use super::identifier_case::{Known, fold};
use crate::dataset::Dataset;
use crate::restricted::RestrictedTable;

/// Name of a count without a name.
const COUNT: &str = "count(*)";

/// A statement as a query of one dataset.
pub(super) struct Lowered {
    table: Arc<dyn Table>,
    query: Query,
    /// Name of the only column, if it counts rows; `None` if that has no name.
    count: Option<Option<String>>,
    /// Name of a count without a name.
    count_name: &'static str,
}

impl Lowered {
    /// Returns the dataset.
    pub(super) fn table(&self) -> &Arc<dyn Table> {
        &self.table
    }

    /// Runs the query if that takes microseconds only.
    pub(super) fn at_once(&self) -> Option<Result<Rows>> {
        Some(self.table.read(&self.query).ready()?.and_then(|rows| self.finish(rows)))
    }

    /// Gives the columns the names that the client of a statement expects.
    pub(super) fn named_for(self, query: &SqlStatement) -> Self {
        if query.sees_system_catalog { Self { count_name: "count", ..self } } else { self }
    }

    /// Returns whether the dataset accepts the query; if not, the engine reports the error better.
    pub(super) fn is_sound(&self) -> bool {
        crate::resolve::resolve(&self.query, self.table.describe()).is_ok()
    }

    /// Runs the query.
    pub(super) async fn read(&self) -> Result<Rows> {
        self.finish(self.table.read(&self.query).await?)
    }

    fn finish(&self, rows: Rows) -> Result<Rows> {
        let rows = Rows { next: None, ..rows };
        let (Some(name), Some(total)) = (&self.count, rows.total) else { return Ok(rows) };
        let name = name.as_deref().unwrap_or(self.count_name);
        let schema = Arc::new(Schema::new(vec![Field::new(name, DataType::Int64, false)]));
        let count = Int64Array::from(vec![i64::try_from(total).unwrap_or(i64::MAX)]);
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(count)]).map_err(crate::fault::arrow)?;
        Ok(Rows { schema, batches: Batches::Ready(vec![batch]), total: None, ..rows })
    }
}

/// The only table of a statement.
struct Scope<'a> {
    schema: &'a Schema,
    columns: Known,
    /// Qualifier of its columns.
    qualifier: String,
}

impl Scope<'_> {
    /// Returns the field that a name refers to.
    fn field(&self, expr: &Expr) -> Option<&Field> {
        let ident = match expr {
            Expr::Identifier(ident) => ident,
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [qualifier, ident] if fold(qualifier) == self.qualifier => ident,
                _ => return None,
            },
            Expr::Nested(inner) => return self.field(inner),
            _ => return None,
        };
        self.named(ident)
    }

    fn named(&self, ident: &Ident) -> Option<&Field> {
        let name = self.columns.resolve(ident);
        self.schema.fields().iter().find(|field| *field.name() == name).map(|field| &**field)
    }
}

/// Lowers a statement.
pub(super) fn lower(statement: &Statement, tables: &dyn Tables) -> Option<Lowered> {
    let Statement::Query(query) = statement else { return None };
    let SqlQuery {
        with: None,
        body,
        order_by,
        limit_clause,
        fetch: None,
        locks,
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators,
    } = &**query
    else {
        return None;
    };
    let SetExpr::Select(select) = &**body else { return None };
    if !locks.is_empty() || !pipe_operators.is_empty() {
        return None;
    }
    let (projection, from, selection) = plain(select)?;
    // `select from t` has rows without columns.
    if projection.is_empty() {
        return None;
    }
    let (table, qualifier) = only_table(from, tables)?;
    let about = table.describe();
    let mut columns = Known::default();
    about.schema.fields().iter().for_each(|field| columns.add(field.name()));
    let scope = Scope { schema: &about.schema, columns, qualifier };
    let filter = match selection {
        Some(selection) => Some(condition::filter(selection, &scope)?),
        None => None,
    };
    let (offset, limit) = page(limit_clause.as_ref())?;
    if let Some(name) = counted(projection) {
        if order_by.is_some() || offset != 0 || limit.is_some_and(|limit| limit == 0) {
            return None;
        }
        let query = Query { filter, limit: Some(0), count: true, ..Query::default() };
        return Some(Lowered { query, count: Some(name), count_name: COUNT, table: Arc::clone(&table) });
    }
    let items = items(projection, &scope)?;
    let sort = match order_by.as_ref().map(|order| (&order.kind, &order.interpolate)) {
        None => Vec::new(),
        Some((OrderByKind::Expressions(keys), None)) => {
            keys.iter().map(|key| sort(key, &items, &scope)).collect::<Option<_>>()?
        }
        Some(_) => return None,
    };
    let query = Query { items, filter, sort, offset, limit, ..Query::default() };
    Some(Lowered { query, count: None, count_name: COUNT, table: Arc::clone(&table) })
}

type Plain<'a> = (&'a [SelectItem], &'a TableFactor, Option<&'a Expr>);

/// Returns the parts of a `SELECT ... FROM one_table WHERE ...` that has nothing else.
fn plain(select: &Select) -> Option<Plain<'_>> {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct: None | Some(Distinct::All),
        select_modifiers: None,
        top: None,
        top_before_distinct: _,
        projection,
        exclude: None,
        into: None,
        from,
        lateral_views,
        prewhere: None,
        selection,
        connect_by,
        group_by: GroupByExpr::Expressions(group, modifiers),
        cluster_by,
        distribute_by,
        sort_by,
        having: None,
        named_window,
        qualify: None,
        window_before_qualify: _,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    } = select
    else {
        return None;
    };
    let nothing_else = optimizer_hints.is_empty()
        && lateral_views.is_empty()
        && connect_by.is_empty()
        && group.is_empty()
        && modifiers.is_empty()
        && cluster_by.is_empty()
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && named_window.is_empty();
    match from.as_slice() {
        [from] if nothing_else && from.joins.is_empty() => Some((projection, &from.relation, selection.as_ref())),
        _ => None,
    }
}

/// Returns the dataset, and the qualifier of its columns.
fn only_table(factor: &TableFactor, tables: &dyn Tables) -> Option<(Arc<dyn Table>, String)> {
    let TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_hints,
    } = factor
    else {
        return None;
    };
    if !with_hints.is_empty() || !partitions.is_empty() || !index_hints.is_empty() {
        return None;
    }
    let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() else { return None };
    let table = match tables.table(&ident.value).ok()? {
        Some(table) => table,
        None if ident.quote_style.is_some() => return None,
        None => tables.table(&ident.value.to_lowercase()).ok()??,
    };
    let restricted = table.as_any().downcast_ref::<RestrictedTable>();
    if !table.as_any().is::<Dataset>() && restricted.and_then(RestrictedTable::dataset).is_none() {
        return None;
    }
    let qualifier = match alias {
        None => table.describe().name.as_str().to_owned(),
        Some(alias) if alias.columns.is_empty() && alias.at.is_none() => fold(&alias.name),
        Some(_) => return None,
    };
    Some((table, qualifier))
}

/// Returns the name of the column, if it has one, if the projection is only `count(*)`.
fn counted(projection: &[SelectItem]) -> Option<Option<String>> {
    let (expr, name) = match projection {
        [SelectItem::UnnamedExpr(expr)] => (expr, None),
        [SelectItem::ExprWithAlias { expr, alias }] => (expr, Some(fold(alias))),
        _ => return None,
    };
    let Expr::Function(Function {
        name: function,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group,
    }) = expr
    else {
        return None;
    };
    let counts = function.to_string().eq_ignore_ascii_case("count")
        && clauses.is_empty()
        && within_group.is_empty()
        && matches!(args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]);
    counts.then_some(name)
}

fn items(projection: &[SelectItem], scope: &Scope<'_>) -> Option<Vec<Item>> {
    if let [SelectItem::Wildcard(options)] = projection {
        return is_plain(options).then(Vec::new);
    }
    let mut items: Vec<Item> = Vec::with_capacity(projection.len());
    for item in projection {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expr) => (expr, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(fold(alias))),
            _ => return None,
        };
        let column = scope.field(expr)?.name();
        let name = alias.unwrap_or_else(|| column.clone());
        // The engine reports duplicate names.
        if items.iter().any(|other| other.name() == name) {
            return None;
        }
        items.push(Item::Column { path: column.as_str().into(), name });
    }
    Some(items)
}

fn is_plain(options: &WildcardAdditionalOptions) -> bool {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike: None,
        opt_exclude: None,
        opt_except: None,
        opt_replace: None,
        opt_rename: None,
        opt_alias: None,
    } = options
    else {
        return false;
    };
    true
}

fn sort(key: &datafusion::sql::sqlparser::ast::OrderByExpr, items: &[Item], scope: &Scope<'_>) -> Option<Sort> {
    if key.with_fill.is_some() {
        return None;
    }
    let column = match &key.expr {
        // A name in the projection takes precedence over a column of the table.
        Expr::Identifier(ident) => {
            let name = fold(ident);
            let aliased = items.iter().find_map(|item| match item {
                Item::Column { path, name: as_name } if *as_name == name => Some(path.clone()),
                _ => None,
            });
            match aliased {
                Some(path) => path,
                None => scope.named(ident)?.name().as_str().into(),
            }
        }
        other => scope.field(other)?.name().as_str().into(),
    };
    let field = scope.schema.field_with_name(&column.column).ok()?;
    if !crate::resolve::is_sortable(field.data_type()) {
        return None;
    }
    let descending = key.options.asc == Some(false);
    Some(Sort { column, descending, nulls_first: key.options.nulls_first.unwrap_or(descending) })
}

fn page(clause: Option<&LimitClause>) -> Option<(u64, Option<u64>)> {
    let number = |expr: &Expr| -> Option<u64> {
        match expr {
            Expr::Value(value) => match &value.value {
                SqlValue::Number(digits, false) => digits.parse().ok().filter(|n| i64::try_from(*n).is_ok()),
                _ => None,
            },
            _ => None,
        }
    };
    match clause {
        None => Some((0, None)),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            let limit = match limit {
                Some(limit) => Some(number(limit)?),
                None => None,
            };
            let offset = match offset {
                Some(offset) => number(&offset.value)?,
                None => 0,
            };
            Some((offset, limit))
        }
        Some(_) => None,
    }
}

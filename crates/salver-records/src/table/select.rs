//! Compiles a query to one statement.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use salver_model::records::{ColumnKind, TableInfo};
use salver_model::{AggregateFunction, Code, ColumnPath, Description, Error, Item, Query, Result, Sort};

use super::compare::Operand;
use super::{RowRules, WHOLE_ROWS, column, keyset, stored_value};
use crate::condition::{begin, push};
use crate::dialect::{Averaged, Dialect, Sql, is_untyped, type_name};
use crate::statement::Read;

/// The statement of a query, and the shape of its result.
#[derive(Clone, Debug)]
pub(super) struct Selected {
    /// Reads the rows.
    pub(super) rows: Read,
    /// Counts all matching rows, if requested.
    pub(super) total: Option<Read>,
    /// The columns of the result.
    pub(super) schema: SchemaRef,
    /// The fetched columns: those of the result, followed by those that the next page's cursor needs.
    pub(super) fetched: SchemaRef,
    /// The total order; empty when the query has none.
    pub(super) keys: Vec<keyset::OrderKey>,
    /// Whether one extra row is fetched, with its keys, to tell whether there is a next page.
    pub(super) paged: bool,
}

/// The context of one query.
pub(super) struct SelectContext<'a> {
    pub(super) dialect: Dialect,
    pub(super) info: &'a TableInfo,
    pub(super) about: &'a Description,
    /// Whether columns that make numbers of texts have nothing but texts where rows are ordered by them, so that an
    /// index can give the order.
    pub(super) orders_texts: bool,
}

/// One column of the result.
struct Output {
    name: String,
    operand: Operand,
    aggregate: bool,
}

/// Returns whether rows of the table come in an order that ends with its key. A whole table is not paged, so that it
/// comes in its own order, which costs nothing.
pub(super) fn is_ordered(query: &Query) -> bool {
    let unordered = query.limit.is_none() && query.sort.is_empty() && query.after.is_none();
    !(query.is_grouped() || query.distinct || unordered)
}

/// Compiles `query`; `rules` always hold.
///
/// # Errors
/// Those of the port.
pub(super) fn select(ground: &SelectContext<'_>, rules: &RowRules, query: &Query) -> Result<Selected> {
    let SelectContext { dialect, info, about, .. } = *ground;
    let outputs = ground.outputs(query)?;
    let grouped = query.is_grouped();
    let keys = if is_ordered(query) { ground.keys(query)? } else { Vec::new() };
    let paged = query.limit.is_some_and(|limit| limit <= WHOLE_ROWS) && !keys.is_empty() && !info.key_assumed;
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    // PostgreSQL sorts distinct rows only by fetched expressions, which may be casts to text; it can sort groups by
    // any.
    let by_group = query.distinct && !grouped && dialect == Dialect::Postgres;
    if query.distinct && !by_group {
        sql.push("DISTINCT ");
    }
    let mut fetched: Vec<Operand> = outputs.iter().map(|output| output.operand.clone()).collect();
    let keys: Vec<keyset::OrderKey> = keys
        .into_iter()
        .map(|(operand, descending, nulls_first)| {
            let position = fetched.len();
            if paged && operand.is_stored(dialect) {
                fetched.extend(stored_value::fetched(&operand));
            } else if paged {
                fetched.push(operand.clone());
            }
            let is_primary = ground.is_primary(&operand);
            keyset::OrderKey { operand, descending, nulls_first, is_primary, position }
        })
        .collect();
    let mut first = true;
    for operand in &fetched {
        sql.separate(&mut first, ", ");
        push_fetched(operand, grouped || query.distinct, &mut sql);
    }
    sql.push(" FROM ").name(&info.real_name);
    let base = sql.text.find(" FROM ").unwrap_or(0);
    let before_binds = sql.binds.len();
    let mut first = true;
    rules.push(&info.name, &mut sql, &mut first)?;
    if let Some(own) = &query.filter {
        own.check_size()?;
        begin(&mut sql, &mut first);
        push(own, &|path| ground.locate(path, Code::InvalidFilter), &mut sql)?;
    }
    if by_group {
        push_groups(outputs.iter().map(|output| output.operand.clone()).collect(), &mut sql);
    }
    ground.group(query, grouped, &mut sql)?;
    if let Some(having) = &query.having {
        having.check_size()?;
        sql.push(" HAVING ");
        push(having, &|path| ground.output(path, &outputs, Code::InvalidFilter), &mut sql)?;
    }
    let total = query.count.then(|| count(&sql, base, before_binds, grouped || query.distinct));
    keyset::push_after(query, about, &keys, (grouped || query.distinct, info.key_assumed), &mut sql)?;
    ground.order(query, &outputs, &keys, &mut sql)?;
    push_page(query, paged, &mut sql);
    let field = |operand: &Operand, name: &str| Field::new(name, operand.data_type.clone(), true);
    let schema = Arc::new(Schema::new(outputs.iter().map(|o| field(&o.operand, &o.name)).collect::<Vec<_>>()));
    // Columns after the outputs are not shown, but named in errors.
    let hidden = fetched.iter().skip(outputs.len()).map(|operand| operand.name.as_str());
    let names = outputs.iter().map(|output| output.name.as_str()).chain(hidden);
    let fetched_fields: Vec<Field> = fetched.iter().zip(names).map(|(operand, name)| field(operand, name)).collect();
    let kinds = fetched.iter().map(|operand| column::kind(&operand.data_type)).collect();
    let rows = Read { sql: sql.text.into(), binds: sql.binds, kinds, point: false };
    Ok(Selected { rows, total, schema, fetched: Arc::new(Schema::new(fetched_fields)), keys, paged })
}

/// Wraps the statement so far in a count.
fn count(sql: &Sql, base: usize, binds_before: usize, wrapped: bool) -> Read {
    let text = if wrapped {
        format!("SELECT COUNT(*) FROM ({}) AS counted", sql.text)
    } else {
        format!("SELECT COUNT(*){}", &sql.text[base..])
    };
    debug_assert_eq!(binds_before, 0, "nothing before FROM is bound");
    Read { sql: text.into(), binds: sql.binds.clone(), kinds: Arc::new([ColumnKind::BigInt]), point: false }
}

/// Appends the limit, with one extra row that tells whether there is a next page.
fn push_page(query: &Query, paged: bool, sql: &mut Sql) {
    let most = i64::MAX as u64;
    let limit = query.limit.map(|limit| limit.saturating_add(u64::from(paged && limit > 0)).min(most));
    if limit.is_none() && query.offset == 0 {
        return;
    }
    let limit = limit.unwrap_or(most);
    sql.push(&format!(" LIMIT {limit}"));
    if query.offset > 0 {
        sql.push(&format!(" OFFSET {}", query.offset.min(most)));
    }
}

/// Appends the operand with the cast that the driver needs.
fn push_fetched(operand: &Operand, by_bytes: bool, sql: &mut Sql) {
    let cast = match operand.data_type {
        DataType::Utf8 if by_bytes => return operand.push_ordered(sql),
        DataType::Utf8
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Date32
        | DataType::Timestamp(..)
            if sql.dialect == Dialect::Postgres =>
        {
            "::text"
        }
        _ => "",
    };
    sql.push("(").push(&operand.fetched()).push(")").push(cast);
}

impl SelectContext<'_> {
    /// Returns the column that a path names.
    pub(super) fn locate(&self, path: &ColumnPath, code: Code) -> Result<Operand> {
        let name = path.to_string();
        let Some(index) = self.info.column(&name) else {
            let names = self.info.columns.iter().map(|column| column.name.as_str());
            if path.fields.is_empty() || self.info.column(&path.column).is_none() {
                return Err(Error::unknown_column(code, &path.column, self.about.name.as_str(), names));
            }
            return Err(Error::new(code, format!("`{}` has no fields", path.column)));
        };
        let own = &self.info.columns[index];
        let mut sql = Sql::new(self.dialect);
        if own.kind == ColumnKind::Geometry && self.dialect != Dialect::Sqlite {
            sql.push("ST_AsText(").name(&own.real_name).push(")");
        } else {
            // A bare name in an order would be the output of that name, which may be its text.
            if self.dialect == Dialect::Postgres {
                sql.name(&self.info.real_name).push(".");
            }
            sql.name(&own.real_name);
            // Its text has a currency sign.
            sql.push(if own.own_type() == "money" && self.dialect == Dialect::Postgres { "::numeric" } else { "" });
        }
        let data_type = self.about.schema.field(index).data_type().clone();
        let plain = ["character varying", "text", "varchar", "char", "citext", "name", "nvarchar"];
        let native = type_name(own.own_type()).to_ascii_lowercase();
        let plain_text = data_type == DataType::Utf8
            && matches!(own.kind, ColumnKind::Varchar | ColumnKind::Clob)
            && !native.ends_with("[]")
            && plain.iter().any(|start| native.starts_with(start));
        let numbers = column::makes_numbers(self.dialect, own);
        let untyped =
            numbers || self.dialect == Dialect::Sqlite && data_type == DataType::Utf8 && is_untyped(&own.native);
        let peculiar = column::peculiar(self.dialect, own);
        Ok(Operand { sql: sql.text, data_type, name, plain_text, beginning: false, untyped, numbers, peculiar })
    }

    /// Returns the column that rows are ordered by.
    fn sorted(&self, path: &ColumnPath) -> Result<Operand> {
        let own = self.locate(path, Code::InvalidSort)?;
        let is_text = own.numbers && self.orders_texts;
        Ok(if is_text { Operand { untyped: false, numbers: false, ..own } } else { own })
    }

    /// Returns whether the column may have a text longer than MySQL's sort prefix.
    fn is_long(&self, operand: &Operand) -> bool {
        /// Each character has up to four bytes.
        const SHORT_CHARS: u32 = 250;
        let column = self.info.column(&operand.name).map(|index| &self.info.columns[index]);
        operand.data_type == DataType::Utf8
            && column.is_none_or(|column| match column.kind {
                ColumnKind::Varchar => column.length.is_some_and(|length| length > SHORT_CHARS),
                ColumnKind::Clob | ColumnKind::Json | ColumnKind::Geometry => true,
                _ => false,
            })
    }

    fn outputs(&self, query: &Query) -> Result<Vec<Output>> {
        let column = |path: &ColumnPath, name: String| {
            Ok(Output { operand: self.locate(path, Code::InvalidColumn)?, name, aggregate: false })
        };
        if query.items.is_empty() {
            let whole: Vec<ColumnPath> = if query.is_grouped() {
                query.group.clone()
            } else {
                self.info.columns.iter().map(|own| ColumnPath::column(own.name.as_str())).collect()
            };
            return whole.iter().map(|path| column(path, path.to_string())).collect();
        }
        let one = |item: &Item| match item {
            Item::Column { path, name } => {
                if query.is_grouped() && !query.group.contains(path) {
                    let message = format!("`{path}` is neither grouped by nor in an aggregate");
                    return Err(Error::new(Code::InvalidColumn, message)
                        .with_hint(format!("group by `{path}`, or ask for `min({path})` or another aggregate of it")));
                }
                column(path, name.clone())
            }
            Item::Aggregate { aggregate, name } => {
                let operand = self.aggregate(aggregate.function, aggregate.column.as_ref())?;
                Ok(Output { operand, name: name.clone(), aggregate: true })
            }
        };
        query.items.iter().map(one).collect()
    }

    fn aggregate(&self, function: AggregateFunction, path: Option<&ColumnPath>) -> Result<Operand> {
        use AggregateFunction::{Avg, Count, CountDistinct, Max, Min, Sum};
        let word = function.name();
        let Some(path) = path else {
            if function != Count {
                return Err(Error::new(Code::InvalidRequest, format!("`{word}` needs a column")));
            }
            let (sql, name) = ("COUNT(*)".to_owned(), "count".to_owned());
            return Ok(Operand::computed(sql, DataType::Int64, name));
        };
        let operand = self.locate(path, Code::InvalidColumn)?;
        let numeric = operand.data_type.is_numeric();
        if (matches!(function, Sum | Avg) && !numeric) || operand.data_type == DataType::Binary && function != Count {
            let message = format!("`{word}` does not work on `{path}`, which is {}", operand.data_type);
            return Err(
                Error::new(Code::InvalidColumn, message).with_hint("choose another column or another aggregate")
            );
        }
        let mut inner = Sql::new(self.dialect);
        operand.push_ordered(&mut inner);
        let mut inner = inner.text;
        // The minimum of a `BIT` column comes as decimal digits but is declared as bits.
        let is_bits =
            self.info.column(&operand.name).is_some_and(|own| self.info.columns[own].native.starts_with("bit"));
        if self.dialect == Dialect::Mysql && is_bits && matches!(function, Min | Max) {
            inner.push_str(" + 0");
        }
        let float = matches!(operand.data_type, DataType::Float32 | DataType::Float64);
        let (sql, data_type) = match (function, self.dialect) {
            (Count, _) => (format!("COUNT({})", operand.sql), DataType::Int64),
            (CountDistinct, _) => (format!("COUNT(DISTINCT {inner})"), DataType::Int64),
            (Avg, dialect) => {
                let what = match operand.data_type {
                    _ if is_bits => Averaged::Bits,
                    DataType::Decimal128(precision, _) | DataType::Decimal256(precision, _) => {
                        Averaged::Exact(u32::from(precision))
                    }
                    _ if float => Averaged::Floats,
                    _ => Averaged::Exact(0),
                };
                (dialect.average(&inner, what), DataType::Float64)
            }
            (Sum, Dialect::Postgres) if float => (format!("SUM(({inner})::float8)"), DataType::Float64),
            (Sum, _) if float => (format!("SUM({inner})"), DataType::Float64),
            (Sum, dialect) => match (&operand.data_type, dialect) {
                (DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale), _) => {
                    (format!("SUM({inner})"), column::sum_of_decimals(self.dialect, *precision, *scale))
                }
                (_, Dialect::Postgres) => (format!("SUM({inner})::bigint"), DataType::Int64),
                // A decimal; one that is no 64-bit integer is an error when it is decoded, where a cast would truncate
                // it.
                (_, Dialect::Mysql | Dialect::Sqlite) => (format!("SUM({inner})"), DataType::Int64),
            },
            // PostgreSQL has no minimum of booleans.
            (Min, Dialect::Postgres) if operand.data_type == DataType::Boolean => {
                (format!("BOOL_AND({inner})"), DataType::Boolean)
            }
            (Max, Dialect::Postgres) if operand.data_type == DataType::Boolean => {
                (format!("BOOL_OR({inner})"), DataType::Boolean)
            }
            (Min, _) => (format!("MIN({inner})"), operand.data_type.clone()),
            (Max, _) => (format!("MAX({inner})"), operand.data_type.clone()),
        };
        let peculiar = operand.peculiar.filter(|_| matches!(function, Min | Max));
        Ok(Operand { peculiar, ..Operand::computed(sql, data_type, format!("{word}({path})")) })
    }

    /// Returns the output called `path`, or of that column.
    fn output(&self, path: &ColumnPath, outputs: &[Output], code: Code) -> Result<Operand> {
        let name = path.to_string();
        let by_name = outputs.iter().find(|output| output.name == name);
        let by_column = || outputs.iter().find(|output| !output.aggregate && output.operand.name == name);
        by_name.or_else(by_column).map(|output| output.operand.clone()).ok_or_else(|| {
            let names = outputs.iter().map(|output| output.name.as_str());
            Error::new(code, format!("`{name}` is not a column of the answer"))
                .with_hint_if(salver_model::suggest::hint(&name, names))
        })
    }

    fn group(&self, query: &Query, grouped: bool, sql: &mut Sql) -> Result<()> {
        if !grouped || query.group.is_empty() {
            return Ok(());
        }
        let groups = query.group.iter().map(|path| self.locate(path, Code::InvalidColumn));
        push_groups(groups.collect::<Result<_>>()?, sql);
        Ok(())
    }

    fn is_primary(&self, operand: &Operand) -> bool {
        self.info.key.iter().any(|index| self.info.columns[*index].name == operand.name)
    }

    /// Returns the order followed by the primary key, which makes it total; empty where there is no key.
    fn keys(&self, query: &Query) -> Result<Vec<(Operand, bool, bool)>> {
        let mut keys: Vec<(Operand, bool, bool)> = Vec::new();
        let mut add = |mut operand: Operand, descending, nulls_first| {
            operand.beginning = self.dialect == Dialect::Mysql && self.is_long(&operand);
            if !keys.iter().any(|(other, _, _)| other.name == operand.name) {
                keys.push((operand, descending, nulls_first));
            }
        };
        for Sort { column, descending, nulls_first } in &query.sort {
            add(sortable(self.sorted(column)?)?, *descending, *nulls_first);
        }
        if self.info.key.is_empty() {
            return Ok(Vec::new());
        }
        for index in &self.info.key {
            let path = ColumnPath::column(self.info.columns[*index].name.as_str());
            let own = self.sorted(&path)?;
            // Where different keys compare equal, a tie-breaker follows.
            let apart = self.apart(&own);
            add(own, false, false);
            apart.into_iter().for_each(|apart| add(apart, false, false));
        }
        Ok(keys)
    }

    /// Returns a tie-breaker for different values of a key column that the operand compares as equal: booleans that are
    /// different numbers, and in SQLite a number, a text and bytes that look alike.
    fn apart(&self, own: &Operand) -> Option<Operand> {
        let operand = |sql: String, data_type| Operand::computed(sql, data_type, format!("{} as it is", own.name));
        match (&own.data_type, self.dialect) {
            (DataType::Boolean, Dialect::Mysql) => Some(operand(format!("{} + 0", own.sql), DataType::Int64)),
            (DataType::Boolean, Dialect::Sqlite) => Some(operand(own.sql.clone(), DataType::Int64)),
            (DataType::Binary, Dialect::Sqlite) => Some(operand(format!("typeof({})", own.sql), DataType::Utf8)),
            _ if own.untyped => Some(operand(format!("typeof({})", own.sql), DataType::Utf8)),
            _ => None,
        }
    }

    fn order(&self, query: &Query, outputs: &[Output], keys: &[keyset::OrderKey], sql: &mut Sql) -> Result<()> {
        let mut order: Vec<(Operand, bool, bool)> = Vec::new();
        if keys.is_empty() {
            for Sort { column, descending, nulls_first } in &query.sort {
                let operand = if query.is_grouped() || query.distinct {
                    self.output(column, outputs, Code::InvalidSort)?
                } else {
                    self.locate(column, Code::InvalidSort)?
                };
                order.push((sortable(operand)?, *descending, *nulls_first));
            }
            if query.is_grouped() || query.distinct {
                // Groups have no key: the columns of the result break ties.
                order.extend(outputs.iter().map(|output| (output.operand.clone(), false, false)));
                order.retain(|(operand, _, _)| operand.data_type != DataType::Binary);
            }
        } else {
            order.extend(keys.iter().map(|key| (key.operand.clone(), key.descending, key.nulls_first)));
        }
        if query.distinct && query.is_grouped() && self.dialect == Dialect::Postgres {
            // Here only fetched expressions can be sorted by.
            for (operand, ..) in &mut order {
                let at = outputs.iter().position(|output| output.operand.name == operand.name).unwrap_or(0);
                *operand = Operand::computed((at + 1).to_string(), DataType::Int64, operand.name.clone());
            }
        }
        let mut first = true;
        for (operand, descending, nulls_first) in &order {
            sql.push(if first { " ORDER BY " } else { ", " });
            first = false;
            push_key(operand, *descending, *nulls_first, sql);
        }
        Ok(())
    }
}

fn push_groups(groups: Vec<Operand>, sql: &mut Sql) {
    sql.push(" GROUP BY ");
    let mut first = true;
    for operand in groups {
        sql.separate(&mut first, ", ");
        operand.push_ordered(sql);
    }
}

fn sortable(operand: Operand) -> Result<Operand> {
    if operand.data_type == DataType::Binary {
        return Err(Error::new(Code::InvalidSort, format!("`{}` is binary and has no order", operand.name))
            .with_hint("sort by another column"));
    }
    Ok(operand)
}

fn push_key(operand: &Operand, descending: bool, nulls_first: bool, sql: &mut Sql) {
    if sql.dialect == Dialect::Mysql {
        // MySQL has no NULLS FIRST: nulls sort lowest.
        if nulls_first == descending {
            sql.push("(").push(&operand.sql).push(if nulls_first { ") IS NULL DESC, " } else { ") IS NULL, " });
        }
        operand.push_ordered(sql);
        sql.push(if descending { " DESC" } else { "" });
        return;
    }
    operand.push_ordered(sql);
    sql.push(if descending { " DESC" } else { "" });
    // Written only where it differs from the system's default, so that an index in that order can be used.
    let own = if sql.dialect == Dialect::Sqlite { !descending } else { descending };
    if own != nulls_first {
        sql.push(if nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
    }
}

//! Keyset pagination: the next page begins after the values of the last row, so that it costs the same as the first
//! one, and rows inserted or deleted before it shift nothing. The cursor is an opaque token that includes the order it
//! is for.

use salver_model::cursor::Cursor;
use salver_model::records::TableInfo;
use salver_model::version::Version;
use salver_model::{Code, Error, Result, Value};

use super::order::{By, Sort, expression};
use crate::cell::Cell;
use crate::condition::{ConditionContext, Mark};
use crate::dialect::Sql;
use crate::json::base64;
use crate::statement::Bind;

/// The end of the last page: a value for each key of the order, `None` for null.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct After {
    values: Vec<Option<Bind>>,
}

/// Prefixes of text and bytes in a token.
const TEXT: &str = "t";
const BYTES: &str = "b";

impl After {
    /// Decodes a token; the empty one begins at the first page.
    ///
    /// # Errors
    /// `InvalidCursor` when it is not a token, or for another table or order.
    pub(crate) fn read(token: &str, table: &TableInfo, order: &[Sort<'_>]) -> Result<Option<Self>> {
        if token.is_empty() {
            return Ok(None);
        }
        let cursor = Cursor::decode(token)?;
        if cursor.query != fingerprint(table, order) || cursor.values.len() != order.len() {
            return Err(Error::new(Code::InvalidCursor, "`after` is for another table or order")
                .with_hint("ask for the table and `order` of the page before, or begin with an empty `after`"));
        }
        let values = cursor.values.iter().map(bind).collect::<Option<Vec<_>>>();
        let values = values.ok_or_else(|| Error::new(Code::InvalidCursor, "`after` has a value that is none"))?;
        Ok(Some(Self { values }))
    }

    /// Appends the predicate for rows after it.
    pub(crate) fn write(
        &self,
        ground: &ConditionContext<'_>,
        table: &TableInfo,
        alias: &str,
        order: &[Sort<'_>],
        sql: &mut Sql,
    ) -> Result<()> {
        let mut open = 0;
        if let ([first, _, ..], [Some(value), ..]) = (order, self.values.as_slice())
            && !(first.descending && first.nullable())
        {
            // Redundant, but an index scan can start at it.
            side(ground, (table, alias), first, Some(value), Side::From, sql)?;
            sql.push(" AND ");
        }
        for (at, (sort, value)) in order.iter().zip(&self.values).enumerate() {
            sql.push("(");
            open += 1;
            side(ground, (table, alias), sort, value.as_ref(), Side::Behind, sql)?;
            if at + 1 < order.len() {
                sql.push(" OR (");
                open += 1;
                side(ground, (table, alias), sort, value.as_ref(), Side::Same, sql)?;
                sql.push(" AND ");
            }
        }
        sql.push(&")".repeat(open));
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Behind,
    Same,
    /// After the value, or equal to it.
    From,
}

/// Appends the predicate that the sort's value is after `value`, or equal. Null is smaller than all.
fn side(
    ground: &ConditionContext<'_>,
    (table, alias): (&TableInfo, &str),
    sort: &Sort<'_>,
    value: Option<&Bind>,
    side: Side,
    sql: &mut Sql,
) -> Result<()> {
    let [is_null, is_value] = sql.dialect.null_tests(sort.column);
    let sign = match (value, side, sort.descending) {
        (None, Side::Same, _) => is_null,
        (None, Side::Behind | Side::From, false) => is_value,
        (None, Side::Behind | Side::From, true) => {
            sql.push("1=0");
            return Ok(());
        }
        (_, Side::From, false) => " >= ",
        (_, Side::From, true) => " <= ",
        (_, Side::Same, _) => " = ",
        (_, Side::Behind, false) => " > ",
        (_, Side::Behind, true) => " < ",
    };
    let nulls_too = side == Side::Behind && sort.descending && sort.nullable();
    sql.push(if nulls_too { "(" } else { "" });
    let mark = Mark::of(sql.dialect, sort.column);
    expression(ground, table, alias, (sort, mark.sorted), sql)?;
    sql.push(sign);
    if let Some(value) = value {
        mark.push(sort.column, value.clone(), sql);
    }
    if nulls_too {
        sql.push(" OR ");
        expression(ground, table, alias, (sort, mark.sorted), sql)?;
        sql.push(is_null).push(")");
    }
    Ok(())
}

/// Returns which keys of an order belong to the primary key.
pub(crate) fn primary(table: &TableInfo, order: &[Sort<'_>]) -> Vec<usize> {
    let is_primary = |sort: &Sort<'_>| matches!(sort.by, By::Own(index) if table.key.contains(&index));
    (0..order.len()).filter(|at| is_primary(&order[*at])).collect()
}

/// Returns a hash that ties a token to its table and order.
pub(crate) fn fingerprint(table: &TableInfo, order: &[Sort<'_>]) -> u64 {
    let keys: Vec<(String, bool)> = order
        .iter()
        .map(|sort| match sort.by {
            By::Own(index) => (table.columns[index].name.clone(), sort.descending),
            By::Related(path) => (path.join("."), sort.descending),
        })
        .collect();
    // The number is the version of the values' encoding.
    Version::of(&(&table.name, keys, 2_u8)).0
}

/// Returns the token after a row whose order has these values.
pub(crate) fn token(fingerprint: u64, values: &[Cell<'_>]) -> String {
    let values = values.iter().map(|cell| value(*cell)).collect();
    Cursor { version: Version(0), query: fingerprint, position: 0, values }.encode()
}

/// Encodes a value for the token.
fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Bool(value) => Value::Bool(value),
        Cell::Int(value) => Value::Int(value),
        Cell::UInt(value) => Value::UInt(value),
        Cell::Float(value) => Value::Float(value),
        Cell::Single(value) => Value::Float(f64::from(value)),
        Cell::Text(value) => Value::Text(format!("{TEXT}{value}")),
        Cell::Bytes(value) => {
            let mut out = BYTES.as_bytes().to_vec();
            base64::encode(value, &mut out);
            Value::Text(String::from_utf8_lossy(&out).into_owned())
        }
    }
}

/// Decodes a value of a token for the database; the inner option is `None` for null.
fn bind(value: &Value) -> Option<Option<Bind>> {
    Some(Some(match value {
        Value::Null => return Some(None),
        Value::Bool(value) => Bind::Bool(*value),
        Value::Int(value) => Bind::Int(*value),
        // The statement casts it to a number.
        Value::UInt(value) => Bind::Text(value.to_string()),
        Value::Float(value) => Bind::Float(*value),
        Value::Text(text) | Value::Bare(text) => match text.strip_prefix(TEXT) {
            Some(text) => Bind::Text(text.to_owned()),
            None => Bind::Bytes(base64::decode(text.strip_prefix(BYTES)?)?),
        },
    }))
}

/// Returns the error for a page that would end at a row with null in its primary key, which nothing distinguishes from
/// others. SQLite allows nulls in primary keys.
pub(crate) fn null_key(table: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("rows of `{table}` have null in their primary key and can't be paged"))
        .with_hint("give them keys, or page by number: `page` for records, `offset` for tables")
}

/// Checks whether a table's rows can be paged: the order must end with a key that the database keeps unique, since rows
/// with equal keys would be passed over, and with none that is hidden, because tokens would contain its values.
///
/// # Errors
/// `InvalidRequest`
pub(crate) fn pageable(ground: &ConditionContext<'_>, table: &TableInfo) -> Result<()> {
    if !ground.scope.access.is_keyed(ground.operation, table) {
        return Err(Error::new(Code::InvalidRequest, format!("`{}` can't be paged with `after`", table.name))
            .with_hint("it has no primary key; use `page`"));
    }
    if table.key_assumed {
        return Err(Error::new(Code::InvalidRequest, format!("`{}` can't be paged with `after`", table.name))
            .with_hint("no unique key makes sure that its rows are different; use `page`"));
    }
    Ok(())
}

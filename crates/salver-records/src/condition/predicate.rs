//! The one compiler of filters to SQL: whoever asks, a condition becomes SQL here. What differs between those who ask
//! is said of the left side of each comparison: how its text compares, and what a value is there.

use salver_model::{ColumnPath, Comparison, Filter, Result, Value};

use crate::dialect::like::{ILIKE, glob};
use crate::dialect::{Dialect, Sql, chain, sign};
use crate::statement::Bind;

/// What a condition compares: a column or another expression, as somebody reads its values.
pub(crate) trait Comparand {
    /// Returns its expression, and how it compares.
    fn side(&self, dialect: Dialect) -> Side<'_>;

    /// Reads a value that is compared by `op`.
    ///
    /// # Errors
    /// `InvalidValue` where a value that can't be read is not just equal to none.
    fn literal(&self, dialect: Dialect, op: Comparison, value: &Value) -> Result<Literal>;

    /// Returns its text for `LIKE`; `None` when it can't match.
    ///
    /// # Errors
    /// `InvalidFilter` where only text may be searched.
    fn searched(&self, dialect: Dialect, pattern: &str) -> Result<Option<String>>;

    /// Appends the placeholder of a value that is compared with the expression.
    fn place(&self, bind: &Bind, sql: &mut Sql);
}

/// The left side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    /// The expression as the database stores it, which may be null.
    pub(crate) bare: &'a str,
    /// The expression in the form that compares with placed values.
    pub(crate) sql: &'a str,
    /// The tests for null and for not null.
    pub(crate) null_tests: [&'static str; 2],
    /// How its values compare.
    pub(crate) manner: Manner,
    /// How `LIKE` compares.
    pub(crate) order: TextOrder,
}

/// How text compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextOrder {
    /// By the column's collation in the database.
    Collation,
    /// By its bytes, the same in every database and in a file.
    Bytes,
}

/// How the values of an expression compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As the database compares values of the type.
    Native,
    /// As the database compares values of the type, which is MySQL's `year`: numbers below a hundred would be years of
    /// two digits.
    Year,
    /// As bytes, whatever SQLite stores.
    Blob,
    /// Booleans that are numbers, of which any but zero is true. SQLite's texts among them are neither true nor false
    /// if `numbers_only`, and the numbers have their own order.
    Truth { numbers_only: bool },
    /// Text by its bytes.
    Text {
        /// Whether equality begins with the column's own, for which there may be an index; the bytes are then compared
        /// in few rows.
        indexed: bool,
        /// Whether SQLite's bytes are found by the text that they are shown as, and sort after all texts; else what is
        /// no text compares as one.
        shown: bool,
        /// Whether only a prefix is compared: MySQL sorts by the first 1,024 bytes of a text.
        beginning: bool,
        /// Whether SQLite has numbers among the texts, for texts that are numbers.
        numbers: bool,
        /// Whether it is a SQLite column of dates, which keeps such numbers: a text that is compared with it becomes
        /// one, too, and would come before all dates that are texts.
        dates: bool,
    },
}

/// A value, read for a comparison with an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    /// Null, with which every comparison is null.
    Null,
    /// A value.
    Is(Bind),
    /// Stored values that are shown alike; only for equality.
    Any(Vec<Bind>),
    /// A value, and others that are shown alike, which are neither less nor greater; only for order.
    Alike(Bind, Vec<Bind>),
    /// A text in a SQLite column of bytes, and the bytes that it stands for.
    Stored(String, Option<Vec<u8>>),
    /// A value between this one and the next that the type can represent.
    Past(Bind),
    /// A number below every value of the type.
    Below,
    /// A number above every value of the type.
    Above,
    /// What no value of the type equals, precedes or follows.
    Never,
}

/// Longest list that is compared twice, so that an index can be used.
const LISTED_TWICE: usize = 100;

/// The prefix by which MySQL is sure to sort.
const BEGINNING: &str = ", 1000)";

/// Appends the filter, whose columns `locate` finds.
///
/// # Errors
/// Those of `locate`, and of what it finds.
pub(crate) fn push<C: Comparand>(
    filter: &Filter,
    locate: &dyn Fn(&ColumnPath) -> Result<C>,
    sql: &mut Sql,
) -> Result<()> {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => {
            let and = matches!(filter, Filter::And(_));
            let (word, empty) = if and { (" AND ", "1=1") } else { (" OR ", "1=0") };
            let any = chain(parts, word, sql, &mut |part, sql| push(part, locate, sql).map(|()| true))?;
            sql.push(if any { "" } else { empty });
        }
        Filter::Not(inner) => {
            sql.push("(NOT (");
            push(inner, locate, sql)?;
            sql.push("))");
        }
        Filter::Compare { column, op, value } => {
            let operand = locate(column)?;
            compare(&operand, *op, &operand.literal(sql.dialect, *op, value)?, sql);
        }
        Filter::In { column, values } => one_of(&locate(column)?, values, sql)?,
        Filter::Like { column, pattern, ignore_case } => like(&locate(column)?, pattern, *ignore_case, sql)?,
        Filter::IsNull { column } => {
            let operand = locate(column)?;
            let side = operand.side(sql.dialect);
            sql.push("(").push(side.bare).push(side.null_tests[0]).push(")");
        }
    }
    Ok(())
}

/// Appends one comparison.
pub(crate) fn compare<C: Comparand>(operand: &C, op: Comparison, literal: &Literal, sql: &mut Sql) {
    use Comparison::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let side = operand.side(sql.dialect);
    match (literal, op) {
        // Null, and not false, so that its negation is not true either.
        (Literal::Null, _) if sql.dialect == Dialect::Postgres => drop(sql.push("(NULL::boolean)")),
        (Literal::Null, _) => drop(sql.push("(NULL)")),
        (Literal::Never, _) | (Literal::Past(_), Eq | NotEq) => constant(&side, op == NotEq, sql),
        (Literal::Above, Lt | LtEq | NotEq) | (Literal::Below, Gt | GtEq | NotEq) => constant(&side, true, sql),
        (Literal::Above | Literal::Below, _) => constant(&side, false, sql),
        (Literal::Past(bind), _) => ordered(operand, if matches!(op, Lt | LtEq) { LtEq } else { Gt }, bind, sql),
        (Literal::Is(bind), Lt | LtEq | Gt | GtEq) => ordered(operand, op, bind, sql),
        (Literal::Is(bind), _) => equal(operand, std::slice::from_ref(bind), op == NotEq, sql),
        (Literal::Any(binds), _) => equal(operand, binds, op == NotEq, sql),
        (Literal::Alike(main, others), _) => ordered_alike(operand, op, (main, others), sql),
        (Literal::Stored(text, bytes), _) => stored(&side, op, (text, bytes.as_deref()), sql),
    }
}

/// Appends what is the same for every value; null stays null.
pub(super) fn constant(side: &Side<'_>, holds: bool, sql: &mut Sql) {
    let [is_null, is_value] = side.null_tests;
    sql.push("(").push(side.bare);
    sql.push(if holds { is_value } else { is_null }).push(if holds { " OR NULL)" } else { " AND NULL)" });
}

/// Appends a comparison by order.
fn ordered<C: Comparand>(operand: &C, op: Comparison, bind: &Bind, sql: &mut Sql) {
    let side = operand.side(sql.dialect);
    if matches!(side.manner, Manner::Text { dates: true, .. }) && is_number(bind) {
        // Without an affinity the value stays the text that it is.
        sql.push("(CASE WHEN typeof(").push(side.sql).push(") = 'text' THEN +").push(side.sql);
        sql.push(" COLLATE BINARY").push(sign(op)).bind(bind.clone()).push(" ELSE ");
        push_ordered(side.sql, side.manner, sql);
        sql.push(sign(op)).bind_again().push(" END)");
        return;
    }
    if side.manner == Manner::Year && is_short_year(bind) {
        return operand.place(bind, sql.push("(").push(side.sql).push(" + 0)").push(sign(op)));
    }
    push_ordered(side.sql, side.manner, sql);
    match side.manner {
        Manner::Text { beginning, .. } => push_bytes_of(bind, beginning, sql.push(sign(op))),
        _ => operand.place(bind, sql.push(sign(op))),
    }
}

/// Appends a comparison by order in which what is shown as the value is equal to it, however it sorts.
fn ordered_alike<C: Comparand>(operand: &C, op: Comparison, (main, others): (&Bind, &[Bind]), sql: &mut Sql) {
    let excludes = matches!(op, Comparison::Lt | Comparison::Gt);
    sql.push("(");
    ordered(operand, op, main, sql);
    sql.push(if excludes { " AND " } else { " OR " });
    equal(operand, others, excludes, sql);
    sql.push(")");
}

/// Appends that the operand equals one of the values; or, `negated`, that it equals none.
fn equal<C: Comparand>(operand: &C, binds: &[Bind], negated: bool, sql: &mut Sql) {
    let side = operand.side(sql.dialect);
    let place = &mut |bind: &Bind, sql: &mut Sql| operand.place(bind, sql);
    match side.manner {
        Manner::Truth { numbers_only } => {
            sql.push(if negated { "(NOT (" } else { "((" });
            truths(&side, numbers_only, binds, place, sql);
            sql.push("))");
        }
        Manner::Text { indexed, shown, beginning, numbers, .. } => {
            sql.push("(");
            let is_found = !numbers || !binds.iter().any(is_fraction);
            if indexed && is_found && !negated && binds.len() <= LISTED_TWICE {
                let with_bytes = shown || numbers;
                let own = &mut |bind: &Bind, sql: &mut Sql| {
                    if with_bytes { push_shown(bind, sql) } else { operand.place(bind, sql) }
                };
                among(binds, (negated, with_bytes), own, sql.push(side.sql));
                sql.push(" AND ");
            }
            push_ordered(side.sql, side.manner, sql);
            let bytes = &mut |bind: &Bind, sql: &mut Sql| {
                if shown { push_shown(bind, sql) } else { push_bytes_of(bind, beginning, sql) }
            };
            among(binds, (negated, shown), bytes, sql);
            sql.push(")");
        }
        Manner::Year if binds.iter().any(is_short_year) => {
            among(binds, (negated, false), place, sql.push("(").push(side.sql).push(" + 0)"));
        }
        Manner::Native | Manner::Year | Manner::Blob => {
            push_ordered(side.sql, side.manner, sql);
            among(binds, (negated, false), place, sql);
        }
    }
}

/// Returns whether MySQL takes a number for a year of two digits.
pub(super) fn is_short_year(bind: &Bind) -> bool {
    let number = match bind {
        Bind::Int(value) => return (1..100).contains(value),
        Bind::Float(value) => *value,
        Bind::Text(text) => text.parse().unwrap_or_default(),
        _ => return false,
    };
    number > 0.0 && number < 100.0
}

/// Returns whether SQLite may make a number of a text.
fn is_number(bind: &Bind) -> bool {
    matches!(bind, Bind::Text(text) if text.trim().parse::<f64>().is_ok())
}

/// Returns whether a text is a number with a fraction or an exponent, or one that is infinite: SQLite's float for it
/// may be another one than that whose text it is.
fn is_fraction(bind: &Bind) -> bool {
    matches!(bind, Bind::Text(text) if text.parse::<f64>().is_ok() && text.parse::<i64>().is_err())
}

/// Appends a value.
type Place<'p> = dyn FnMut(&Bind, &mut Sql) + 'p;

/// Appends ` = ` and the value, or ` IN ` and a list if there are several, or each is `several`.
pub(super) fn among(binds: &[Bind], (negated, several): (bool, bool), place: &mut Place<'_>, sql: &mut Sql) {
    if let ([bind], false) = (binds, several) {
        return place(bind, sql.push(if negated { " <> " } else { " = " }));
    }
    sql.push(if negated { " NOT IN (" } else { " IN (" });
    let mut first = true;
    for bind in binds {
        place(bind, sql.separate(&mut first, ", "));
    }
    sql.push(")");
}

fn truths(side: &Side<'_>, numbers_only: bool, binds: &[Bind], place: &mut Place<'_>, sql: &mut Sql) {
    let own = side.sql;
    let mut first = true;
    for bind in binds {
        sql.separate(&mut first, " OR ");
        match bind {
            Bind::Bool(true) => {
                // Two ranges, for which an index can be used.
                sql.push("(").push(own).push(" < 0 OR ").push(own).push(" > 0)");
                if numbers_only && sql.dialect == Dialect::Sqlite {
                    // Texts sort after numbers; for null it must not be false.
                    sql.push(" AND typeof(").push(own).push(") IN ('integer', 'null')");
                }
            }
            Bind::Bool(false) => drop(sql.push(own).push(" = 0")),
            other => place(other, sql.push(own).push(" = ")),
        }
    }
}

/// Compares SQLite's bytes with bytes, and the text among them, as PHP-CRUD-API writes base64, with text.
fn stored(side: &Side<'_>, op: Comparison, (text, bytes): (&str, Option<&[u8]>), sql: &mut Sql) {
    let own = side.sql;
    let negated = op == Comparison::NotEq;
    let sign = if negated { " = " } else { sign(op) };
    sql.push(if negated { "(NOT (" } else { "((" });
    push_as_text(own, sql);
    // For null it must not be false, whose negation would be true.
    sql.push(sign).bind(Bind::Text(text.to_owned())).push(" AND typeof(").push(own).push(") IN ('text', 'null')");
    if let Some(bytes) = bytes {
        sql.push(" OR ").push(own).push(sign).bind(Bind::Bytes(bytes.to_vec()));
        sql.push(" AND typeof(").push(own).push(") IN ('blob', 'null')");
    }
    sql.push("))");
}

/// Appends the values that SQLite may store and that are shown as this text: the text, and its bytes.
fn push_shown(bind: &Bind, sql: &mut Sql) {
    sql.bind(bind.clone()).push(", CAST(").bind_again().push(" AS BLOB)");
}

/// Appends the expression in the form with the order and equality of its manner.
pub(crate) fn push_ordered(own: &str, manner: Manner, sql: &mut Sql) {
    match (manner, sql.dialect) {
        (Manner::Blob, Dialect::Sqlite) => sql.push("CAST(").push(own).push(" AS BLOB)"),
        (Manner::Truth { numbers_only: false }, _) => sql.push("(").push(own).push(" <> 0)"),
        (Manner::Text { shown: true, .. }, Dialect::Sqlite) => sql.push(own).push(" COLLATE BINARY"),
        (Manner::Text { .. }, Dialect::Sqlite) => push_as_text(own, sql),
        (Manner::Text { .. }, Dialect::Postgres) => sql.push("(").push(own).push(")::text COLLATE \"C\""),
        (Manner::Text { beginning, .. }, Dialect::Mysql) => {
            sql.push(if beginning { "LEFT(" } else { "" });
            sql.push("CAST(CONVERT(").push(own).push(" USING utf8mb4) AS BINARY)");
            sql.push(if beginning { BEGINNING } else { "" })
        }
        (Manner::Native | Manner::Year | Manner::Blob | Manner::Truth { .. }, _) => sql.push(own),
    };
}

fn push_as_text<'s>(own: &str, sql: &'s mut Sql) -> &'s mut Sql {
    sql.push("CAST(").push(own).push(" AS TEXT) COLLATE BINARY")
}

/// Appends the placeholder of a text that is compared by its bytes.
pub(super) fn push_bytes_of(bind: &Bind, beginning: bool, sql: &mut Sql) {
    match sql.dialect {
        Dialect::Sqlite => sql.bind(bind.clone()),
        Dialect::Postgres => sql.bind(bind.clone()).push("::text"),
        Dialect::Mysql => {
            sql.push(if beginning { "LEFT(CAST(" } else { "CAST(" }).bind(bind.clone()).push(" AS BINARY)");
            sql.push(if beginning { BEGINNING } else { "" })
        }
    };
}

fn one_of<C: Comparand>(operand: &C, values: &[Value], sql: &mut Sql) -> Result<()> {
    let dialect = sql.dialect;
    let literal = |value| operand.literal(dialect, Comparison::Eq, value);
    let literals = values.iter().map(literal).collect::<Result<Vec<_>>>()?;
    if literals.iter().any(|literal| matches!(literal, Literal::Stored(..))) {
        return chain(&literals, " OR ", sql, &mut |literal, sql| {
            compare(operand, Comparison::Eq, literal, sql);
            Ok(true)
        })
        .map(drop);
    }
    let mut binds = Vec::with_capacity(literals.len());
    for literal in literals {
        match literal {
            Literal::Null => binds.push(Bind::Null),
            Literal::Is(bind) => binds.push(bind),
            Literal::Any(several) => binds.extend(several),
            _ => {}
        }
    }
    if values.is_empty() {
        sql.push("1=0");
    } else if binds.is_empty() {
        constant(&operand.side(dialect), false, sql);
    } else {
        equal(operand, &binds, false, sql);
    }
    Ok(())
}

/// Appends `LIKE`, with the requested case sensitivity unless the database's collation decides.
fn like<C: Comparand>(operand: &C, pattern: &str, ignore_case: bool, sql: &mut Sql) -> Result<()> {
    let side = operand.side(sql.dialect);
    // No text of PostgreSQL contains NUL, and none may be sent.
    let is_sendable = sql.dialect != Dialect::Postgres || !pattern.contains('\0');
    let Some(own) = operand.searched(sql.dialect, pattern)?.filter(|_| is_sendable) else {
        constant(&side, false, sql);
        return Ok(());
    };
    let bind = |pattern: &str| Bind::Text(pattern.to_owned());
    sql.push("(");
    match (side.order, sql.dialect, ignore_case) {
        (TextOrder::Collation, dialect, _) => {
            sql.push(&own).push(" LIKE ").bind(bind(pattern)).push(dialect.like_escape());
        }
        (_, Dialect::Postgres, _) => {
            // A case-insensitive type or collation is overridden; the database's collation knows the case of non-ASCII
            // letters.
            let word = if ignore_case { "::text COLLATE \"default\" ILIKE " } else { "::text COLLATE \"C\" LIKE " };
            sql.push("(").push(&own).push(")").push(word).bind(bind(pattern)).push("::text");
        }
        // SQLite's LIKE ignores case for ASCII only; GLOB is case-sensitive.
        (_, Dialect::Sqlite, false) => drop(sql.push(&own).push(" GLOB ").bind(bind(&glob(pattern)))),
        (_, Dialect::Sqlite, true) => {
            sql.push(ILIKE).push("(CAST(").push(&own).push(" AS TEXT), ").bind(bind(pattern)).push(")");
        }
        (_, Dialect::Mysql, false) => {
            sql.push("CONVERT(").push(&own).push(" USING utf8mb4) COLLATE utf8mb4_bin LIKE ").bind(bind(pattern));
        }
        (_, Dialect::Mysql, true) => {
            sql.push("LOWER(CONVERT(").push(&own).push(" USING utf8mb4)) COLLATE utf8mb4_bin LIKE LOWER(");
            sql.bind(bind(pattern)).push(")");
        }
    }
    sql.push(")");
    Ok(())
}

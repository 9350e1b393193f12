//! How a column is written: what stands around the placeholder of its value.

use salver_model::records::{ColumnInfo, ColumnKind};

use super::decimal::push_decimal;
use super::{Dialect, is_untyped};
use crate::dialect::Sql;
use crate::statement::Bind;

/// The function of our connections to SQLite that gives the first of two values where the second is shown alike, else
/// the second.
pub(crate) const KEPT: &str = "salver_kept";

/// Digits before the point of a decimal that has thirty behind it.
const DECIMAL_WHOLE_MAX: usize = 35;

impl Dialect {
    /// Appends the value of a column, as it stands in `VALUES (...)` and behind `SET column =`.
    pub(crate) fn store(self, column: &ColumnInfo, srid: u32, bind: Bind, sql: &mut Sql) {
        if self == Self::Mysql && column.native == "bit(64)" {
            // As text it would be its letters.
            sql.push("CAST(").bind(bind).push(" AS UNSIGNED)");
            return;
        }
        if column.kind != ColumnKind::Geometry || self == Self::Sqlite {
            sql.bind(bind);
            return;
        }
        sql.push("ST_GeomFromText(").bind(bind).push(", ").push(itoa::Buffer::new().format(srid));
        if self == Self::Mysql {
            // MySQL takes the axes in the order the reference system defines, MariaDB and PostGIS always longitude
            // first. Only MySQL 8 reads this comment.
            sql.push("/*!80000 , 'axis-order=long-lat'*/");
        }
        sql.push(")");
    }

    /// Appends the value of a column as it stands behind `SET column =`.
    pub(crate) fn replace(self, column: &ColumnInfo, srid: u32, bind: Bind, sql: &mut Sql) {
        if self.keeps(column) {
            sql.push(KEPT).push("(").name(&column.real_name).push(", ").bind(bind).push(")");
        } else {
            self.store(column, srid, bind, sql);
        }
    }

    /// Whether values of the column may be shown alike and are not the same: SQLite has text among bytes, where
    /// PHP-CRUD-API writes base64 as it comes, and bytes in a column without a type. What comes back as it is shown
    /// leaves them what they are.
    pub(crate) fn keeps(self, column: &ColumnInfo) -> bool {
        self == Self::Sqlite && (column.kind.is_binary() || is_untyped(&column.native))
    }

    /// Appends `column + value`, as it stands behind `SET column =`. A sum that its column can't hold is an error of
    /// the statement in each of the systems.
    pub(crate) fn add(self, column: &ColumnInfo, bind: Bind, sql: &mut Sql) {
        let decimal = column.kind == ColumnKind::Decimal;
        match self {
            Self::Sqlite => add_in_sqlite(column, &bind, sql),
            // Text would turn the sum into a float in MySQL.
            Self::Mysql if decimal => {
                sql.name(&column.real_name).push(" + ");
                let digits = |text: &str| text.bytes().take_while(|byte| *byte != b'.').count();
                if matches!(&bind, Bind::Text(text) if digits(text) > DECIMAL_WHOLE_MAX) {
                    push_decimal(bind, sql);
                } else {
                    sql.push("CAST(").bind(bind).push(" AS DECIMAL(65,30))");
                }
            }
            Self::Mysql if matches!(bind, Bind::Text(_)) => {
                sql.name(&column.real_name).push(" + CAST(").bind(bind).push(" AS UNSIGNED)");
            }
            // No number is added to an `oid`, which is one without a sign.
            Self::Postgres if column.own_type() == "oid" => {
                sql.push("(").name(&column.real_name).push("::bigint + ").bind(bind).push(")::oid");
            }
            // Text is read as a number by the column's type.
            Self::Mysql | Self::Postgres => {
                sql.name(&column.real_name).push(" + ").bind(bind);
            }
        }
    }

    /// Appends `RETURNING` with a list that `list` writes. MySQL has no such clause, but MariaDB has it for inserts,
    /// and only MariaDB reads this comment.
    pub(crate) fn returning(self, sql: &mut Sql, list: impl FnOnce(&mut Sql)) {
        if self == Self::Mysql {
            let start = sql.text.len();
            sql.push(" /*M!100500 RETURNING ");
            let inside = sql.text.len();
            list(sql);
            // A name that would end the comment is not worth the risk.
            if sql.text[inside..].contains("*/") {
                sql.text.truncate(start);
            } else {
                sql.push("*/");
            }
        } else {
            sql.push(" RETURNING ");
            list(sql);
        }
    }

    /// Appends what keeps the rows of a select from changing until the transaction ends.
    pub(crate) fn lock(self, sql: &mut String) {
        // SQLite has one writer, and the program is it.
        if self != Self::Sqlite {
            sql.push_str(" FOR UPDATE");
        }
    }
}

/// Digits of a decimal that a float keeps.
const FLOAT_DIGITS: u32 = 15;

/// SQLite makes a float of a sum of whole numbers that is too large, and an infinite one of floats, and does not look
/// at the digits of decimals. `abs` of the least number is the one function that fails by its value; its argument names
/// the column, so that it is not computed beforehand.
fn add_in_sqlite(column: &ColumnInfo, bind: &Bind, sql: &mut Sql) {
    let name = &column.real_name;
    let sum = |sql: &mut Sql| {
        // Decimals are added as floats; rounding keeps their digits what they look like.
        let round = column.scale.filter(|scale| column.kind == ColumnKind::Decimal && *scale > 0);
        sql.push(if round.is_some() { "round(" } else { "(" }).name(name).push(" + ").bind(bind.clone());
        if let Some(scale) = round {
            sql.push(", ").push(itoa::Buffer::new().format(scale));
        }
        sql.push(")");
    };
    sql.push("CASE WHEN ");
    match column.kind {
        ColumnKind::Integer | ColumnKind::BigInt => {
            sql.push("typeof(").name(name).push(") = 'integer' AND typeof(");
            sum(sql);
            sql.push(") = 'real'");
        }
        ColumnKind::Decimal => {
            let scale = column.scale.unwrap_or(0);
            // With more digits behind the point no sum is sure to be exact, and none is refused for it.
            let exact = if scale > 10 { FLOAT_DIGITS } else { FLOAT_DIGITS - scale };
            sql.push("(typeof(");
            sum(sql);
            sql.push(") = 'real' AND abs(");
            sum(sql);
            sql.push(") >= 1e").push(itoa::Buffer::new().format(exact)).push(")");
            if let Some(precision) = column.precision {
                sql.push(" OR abs(");
                sum(sql);
                sql.push(") >= 1e").push(itoa::Buffer::new().format(precision.saturating_sub(scale)));
            }
        }
        // A text is no number, though SQLite takes it for nought.
        _ if is_untyped(&column.native) => {
            sql.push("typeof(").name(name).push(") IN ('text', 'blob') OR typeof(").name(name);
            sql.push(") = 'integer' AND typeof(").bind(bind.clone()).push(") = 'integer' AND typeof(");
            sum(sql);
            sql.push(") = 'real' OR abs(");
            sum(sql);
            sql.push(") = 9e999 AND abs(").name(name).push(") < 9e999");
        }
        _ => {
            sql.push("abs(");
            sum(sql);
            sql.push(") = 9e999 AND abs(").name(name).push(") < 9e999");
        }
    }
    sql.push(" THEN abs(-9223372036854775807 - length(typeof(").name(name).push(")) / length(typeof(");
    sql.name(name).push("))) ELSE ");
    sum(sql);
    sql.push(" END");
}

//! The expression that stores a column's value: the text around its placeholder.

use salver_model::records::{ColumnInfo, ColumnKind};

use super::decimal::push_decimal;
use super::{Dialect, is_untyped};
use crate::dialect::Sql;
use crate::statement::Bind;

/// The SQL function, registered on SQLite connections, that returns the first of two values where both are shown alike,
/// else the second.
pub(crate) const KEPT: &str = "salver_kept";

/// Most digits before the point of a decimal with thirty decimal places.
const WHOLE_DIGITS: usize = 35;

impl Dialect {
    /// Appends the value of a column, for `VALUES (...)` and `SET column =`.
    pub(crate) fn store(self, column: &ColumnInfo, srid: u32, bind: Bind, sql: &mut Sql) {
        if self == Self::Mysql && column.native == "bit(64)" {
            // As text, its characters would become the bits.
            sql.push("CAST(").bind(bind).push(" AS UNSIGNED)");
            return;
        }
        if column.kind != ColumnKind::Geometry || self == Self::Sqlite {
            sql.bind(bind);
            return;
        }
        sql.push("ST_GeomFromText(").bind(bind).push(", ").push(itoa::Buffer::new().format(srid));
        if self == Self::Mysql {
            // MySQL takes the axes in the order of the spatial reference system, MariaDB and PostGIS always longitude
            // first. Only MySQL 8 reads this comment.
            sql.push("/*!80000 , 'axis-order=long-lat'*/");
        }
        sql.push(")");
    }

    /// Appends a value that was written to a column, to be compared with it.
    pub(crate) fn written(self, column: &ColumnInfo, bind: Bind, sql: &mut Sql) {
        // MySQL would compare text with numbers as floats, with few digits.
        if self != Self::Mysql || !column.kind.is_numeric() {
            sql.bind(bind);
        } else if matches!(bind, Bind::Back { .. } | Bind::BackOr { .. }) && column.kind == ColumnKind::Decimal {
            sql.push("CAST(").bind(bind).push(" AS DECIMAL(65,");
            sql.push(itoa::Buffer::new().format(column.scale.unwrap_or(0))).push("))");
        } else {
            push_decimal(bind, sql);
        }
    }

    /// Appends the value of a column for `SET column =`.
    pub(crate) fn replace(self, column: &ColumnInfo, srid: u32, bind: Bind, sql: &mut Sql) {
        if self.keeps(column) {
            sql.push(KEPT).push("(").name(&column.real_name).push(", ").bind(bind).push(")");
        } else {
            self.store(column, srid, bind, sql);
        }
    }

    /// Returns whether different values of the column may be shown alike: SQLite may have text among bytes, where
    /// PHP-CRUD-API writes base64 unchanged, and bytes in a column without a type. A value that is written back as it
    /// was shown leaves them unchanged.
    pub(crate) fn keeps(self, column: &ColumnInfo) -> bool {
        self == Self::Sqlite && (column.kind.is_binary() || is_untyped(&column.native))
    }

    /// Appends `column + value`, for `SET column =`. A sum that its column can't hold is an error of the statement in
    /// each of the systems.
    pub(crate) fn add(self, column: &ColumnInfo, bind: Bind, sql: &mut Sql) {
        let decimal = column.kind == ColumnKind::Decimal;
        match self {
            Self::Sqlite => add_in_sqlite(column, &bind, sql),
            // Text would turn the sum into a float in MySQL.
            Self::Mysql if decimal => {
                sql.name(&column.real_name).push(" + ");
                let digits = |text: &str| text.bytes().take_while(|byte| *byte != b'.').count();
                if matches!(&bind, Bind::Text(text) if digits(text) > WHOLE_DIGITS) {
                    push_decimal(bind, sql);
                } else {
                    sql.push("CAST(").bind(bind).push(" AS DECIMAL(65,30))");
                }
            }
            Self::Mysql if matches!(bind, Bind::Text(_)) => {
                sql.name(&column.real_name).push(" + CAST(").bind(bind).push(" AS UNSIGNED)");
            }
            // PostgreSQL has no addition for `oid`, which is unsigned.
            Self::Postgres if column.own_type() == "oid" => {
                sql.push("(").name(&column.real_name).push("::bigint + ").bind(bind).push(")::oid");
            }
            // Text is parsed as a number by the column's type.
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

    /// Appends the clause that locks the selected rows until the transaction ends.
    pub(crate) fn lock(self, sql: &mut String) {
        // SQLite has one writer, which is this program.
        if self != Self::Sqlite {
            sql.push_str(" FOR UPDATE");
        }
    }
}

/// Significant decimal digits that a float keeps.
const FLOAT_DIGITS: u32 = 15;

/// Appends a sum for SQLite that fails on overflow. SQLite turns an overflowing integer sum into a float, and an
/// overflowing float sum into infinity, and does not check the digits of decimals. `abs` of the smallest integer is the
/// one function that fails at run time; its argument names the column, so that it is not evaluated beforehand.
fn add_in_sqlite(column: &ColumnInfo, bind: &Bind, sql: &mut Sql) {
    let name = &column.real_name;
    let sum = |sql: &mut Sql| {
        // Decimals are added as floats; rounding restores their digits.
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
            // With more decimal places no sum is sure to be exact, and none is rejected for it.
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
        // A text is not a number, though SQLite treats it as zero.
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

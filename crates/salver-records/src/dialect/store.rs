//! How a column is written: what stands around the placeholder of its value.

use salver_model::records::{ColumnInfo, ColumnKind};

use super::Dialect;
use crate::dialect::Sql;
use crate::statement::Bind;

impl Dialect {
    /// Appends the value of a column, as it stands in `VALUES (...)` and behind `SET column =`.
    pub(crate) fn store(self, column: &ColumnInfo, srid: u32, bind: Bind, sql: &mut Sql) {
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

    /// Appends `column + value`, as it stands behind `SET column =`.
    pub(crate) fn add(self, column: &ColumnInfo, bind: Bind, sql: &mut Sql) {
        let decimal = column.kind == ColumnKind::Decimal;
        // SQLite adds decimals as floats; rounding keeps their digits what they look like.
        let round = column.scale.filter(|_| decimal && self == Self::Sqlite);
        if round.is_some() {
            sql.push("round(");
        }
        sql.name(&column.real_name).push(" + ");
        match self {
            // Text would turn the sum into a float in MySQL.
            Self::Mysql if decimal => sql.push("CAST(").bind(bind).push(" AS DECIMAL(65,30))"),
            // Text in the other two is read as a number by the column's type.
            _ => sql.bind(bind),
        };
        if let Some(scale) = round {
            sql.push(", ").push(itoa::Buffer::new().format(scale)).push(")");
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

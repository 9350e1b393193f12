//! One column of a list of groups: a grouped column, or an aggregate.

use salver_model::records::{ColumnInfo, ColumnKind, TableInfo};
use salver_model::{AggregateFunction, Code, Error, Result};

use super::super::root_rows::ALIAS;
use crate::condition::Operand;
use crate::dialect::{Averaged, Dialect, type_name};
use crate::json::JsonForm;
use crate::scope::Scope;

/// A column of the result.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its name, and the column whose comparison semantics it has.
    pub(super) column: ColumnInfo,
    /// The bare expression.
    pub(super) bare: String,
    /// The expression in the select list.
    pub(super) selected: String,
    /// The kind as which the driver returns it.
    pub(super) kind: ColumnKind,
    /// Its JSON form.
    pub(super) form: JsonForm,
    pub(super) is_group: bool,
}

impl Item {
    /// Creates a grouped column.
    pub(super) fn group(scope: &Scope<'_>, table: &TableInfo, column: &ColumnInfo) -> Self {
        let operand = Operand::column(scope.dialect, column, ALIAS);
        // The type may have no equality in the database; its text is compared.
        let bare = if operand.is_by_text() { operand.text().to_owned() } else { bare(scope.dialect, column) };
        let (before, behind) = if operand.is_by_text() { ("", "") } else { scope.dialect.selected(column) };
        Self {
            selected: format!("{before}{bare}{behind}"),
            bare,
            kind: column.kind,
            form: JsonForm::of(scope.spec(), table, column),
            is_group: true,
            column: column.clone(),
        }
    }

    /// Creates an aggregate over a column, or over rows.
    ///
    /// # Errors
    /// `InvalidRequest` when the function does not apply to such a column.
    pub(super) fn aggregate(
        dialect: Dialect,
        name: &str,
        function: AggregateFunction,
        column: Option<&ColumnInfo>,
    ) -> Result<Self> {
        let Some(column) = column else {
            if function != AggregateFunction::Count {
                return Err(Error::new(Code::InvalidRequest, format!("`{}` needs a column", function.name())));
            }
            return Ok(count(name, "COUNT(*)".to_owned()));
        };
        let of = bare(dialect, column);
        match function {
            AggregateFunction::Count => Ok(count(name, format!("COUNT({of})"))),
            AggregateFunction::CountDistinct => {
                let text = Operand::column(dialect, column, ALIAS);
                Ok(count(name, format!("COUNT(DISTINCT {})", text.text())))
            }
            // PostgreSQL's object identifiers are not numbers to calculate with.
            AggregateFunction::Sum | AggregateFunction::Avg
                if !column.kind.is_numeric() || column.own_type() == "oid" =>
            {
                Err(unfit(function, column))
            }
            AggregateFunction::Sum => Ok(sum(dialect, name, column, &of)),
            AggregateFunction::Avg => {
                let of = numeric(dialect, column, of);
                let what = match column.kind {
                    ColumnKind::Float | ColumnKind::Double => Averaged::Floats,
                    _ if column.native.starts_with("bit") => Averaged::Bits,
                    _ => Averaged::Exact(column.precision.unwrap_or_default()),
                };
                Ok(computed(name, ColumnKind::Double, dialect.average(&of, what)))
            }
            AggregateFunction::Min | AggregateFunction::Max => extreme(dialect, name, function, column),
        }
    }
}

fn bare(dialect: Dialect, column: &ColumnInfo) -> String {
    let mut bare = String::new();
    dialect.reference(column, ALIAS, &mut bare);
    bare
}

/// Casts PostgreSQL's `money` to a number: its text has a currency sign, and it compares with no number.
fn numeric(dialect: Dialect, column: &ColumnInfo, of: String) -> String {
    if dialect == Dialect::Postgres && column.own_type() == "money" { of + "::numeric" } else { of }
}

fn unfit(function: AggregateFunction, column: &ColumnInfo) -> Error {
    let word = function.name();
    Error::new(Code::InvalidRequest, format!("`{word}` is not for `{}`, of type {}", column.name, column.kind.word()))
}

/// Creates a column that belongs to no table.
fn computed(name: &str, kind: ColumnKind, bare: String) -> Item {
    let column = ColumnInfo {
        name: name.to_owned(),
        real_name: String::new(),
        kind,
        native: "text".to_owned(),
        length: None,
        precision: None,
        scale: None,
        nullable: true,
        has_default: false,
        auto_increment: false,
        generated: false,
        ordered: true,
        base: None,
        compared: None,
        words: Vec::new(),
        comment: None,
    };
    Item { column, selected: bare.clone(), bare, kind, form: JsonForm::Plain, is_group: false }
}

fn count(name: &str, bare: String) -> Item {
    let mut item = computed(name, ColumnKind::BigInt, bare);
    item.column.nullable = false;
    item
}

fn sum(dialect: Dialect, name: &str, column: &ColumnInfo, of: &str) -> Item {
    match (column.kind, dialect) {
        (ColumnKind::Decimal, _) => {
            let of = numeric(dialect, column, of.to_owned());
            let mut item = computed(name, exact(dialect), format!("SUM({of})"));
            item.kind = ColumnKind::Decimal;
            item.form = JsonForm::Decimal(column.scale);
            item.selected += if dialect == Dialect::Postgres { "::text" } else { "" };
            item
        }
        (ColumnKind::Float | ColumnKind::Double, Dialect::Postgres) => {
            computed(name, ColumnKind::Double, format!("SUM({of}::double precision)"))
        }
        (ColumnKind::Float | ColumnKind::Double, _) => computed(name, ColumnKind::Double, format!("SUM({of})")),
        _ => {
            // Wider than any integer type, so that it is returned as digits.
            let mut item = computed(name, ColumnKind::BigInt, format!("SUM({of})"));
            item.kind = ColumnKind::Decimal;
            item.form = JsonForm::Digits;
            item.selected = match dialect {
                Dialect::Sqlite => item.selected,
                Dialect::Postgres => format!("SUM({of})::text"),
                Dialect::Mysql => format!("CAST(SUM({of}) AS CHAR)"),
            };
            item
        }
    }
}

/// Returns the kind of computed decimals for comparisons: SQLite has none.
fn exact(dialect: Dialect) -> ColumnKind {
    if dialect == Dialect::Sqlite { ColumnKind::Double } else { ColumnKind::Decimal }
}

fn extreme(dialect: Dialect, name: &str, function: AggregateFunction, column: &ColumnInfo) -> Result<Item> {
    let operand = Operand::column(dialect, column, ALIAS);
    let word = if function == AggregateFunction::Min { "MIN" } else { "MAX" };
    let mut item = match (column.kind, dialect) {
        (ColumnKind::Geometry | ColumnKind::Json | ColumnKind::Varbinary | ColumnKind::Blob, _) => {
            return Err(unfit(function, column));
        }
        (ColumnKind::Boolean, Dialect::Postgres) => {
            let word = if function == AggregateFunction::Min { "bool_and" } else { "bool_or" };
            computed(name, ColumnKind::Boolean, format!("{word}({})", operand.text()))
        }
        (ColumnKind::Uuid, Dialect::Postgres) => {
            computed(name, ColumnKind::Varchar, format!("{word}({}::text)", operand.text()))
        }
        // PostgreSQL can sort more types than it has `min` for.
        (ColumnKind::Varchar | ColumnKind::Clob, Dialect::Postgres) if !has_extremes(column) => {
            let (own, direction) = (operand.text(), if word == "MIN" { "" } else { " DESC" });
            let all = format!("array_agg({own} ORDER BY {own}{direction}) FILTER (WHERE {own} IS NOT NULL)");
            computed(name, column.kind, format!("({all})[1]"))
        }
        // The minimum of a `BIT` column comes as decimal digits but is declared as bits.
        (_, Dialect::Mysql) if column.native.starts_with("bit") => {
            computed(name, column.kind, format!("{word}({} + 0)", operand.text()))
        }
        (ColumnKind::Decimal, _) => {
            let of = numeric(dialect, column, operand.text().to_owned());
            computed(name, exact(dialect), format!("{word}({of})"))
        }
        (kind, _) => computed(name, kind, format!("{word}({})", operand.text())),
    };
    item.column.compared.clone_from(&column.compared);
    if dialect.has_zone(column) || dialect.is_year(column) || column.own_type() == "oid" {
        // It is compared as values of its type are.
        item.column.native = column.own_type().to_owned();
    }
    item.kind = if column.kind == ColumnKind::Uuid { ColumnKind::Varchar } else { column.kind };
    if column.kind == ColumnKind::Decimal {
        item.form = JsonForm::Decimal(column.scale);
    }
    if dialect == Dialect::Postgres && column.kind != ColumnKind::Uuid {
        // In the form of the column's own values.
        let (before, behind) = dialect.selected(column);
        item.selected = format!("{before}{}{behind}", item.bare);
    }
    Ok(item)
}

/// Returns whether PostgreSQL has `min` and `max` for a text column, or one that is shown as text.
fn has_extremes(column: &ColumnInfo) -> bool {
    const HAVE: [&str; 12] = [
        "text",
        "character varying",
        "character",
        "name",
        "citext",
        "interval",
        "inet",
        "cidr",
        "\"char\"",
        "pg_lsn",
        "int2vector",
        "oidvector",
    ];
    let own = type_name(column.own_type());
    !column.ordered || !column.words.is_empty() || own.ends_with("[]") || HAVE.contains(&own)
}

//! Names of columns as PostgreSQL's clients expect them (`FigureColname` in `src/backend/parser/parse_target.c` of
//! PostgreSQL's sources). They stand in the metadata of the columns, which that protocol alone reads: every other door
//! keeps the engine's names.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    AccessExpr, ArrayElemTypeDef, DataType, ExactNumberInfo, Expr, Function, Ident, ObjectName, ObjectNamePart, Query,
    Select, SelectItem, SetExpr, Statement, TableFactor, TimezoneInfo, TrimWhereField,
};
use salver_model::pg_type::{PG_NAME, PG_OIDS};

/// Name of a column that has none.
const NAMELESS: &str = "?column?";

/// The names of the columns of a statement, as far as its text tells them.
#[derive(Debug, Default)]
pub(crate) struct PgNames {
    /// Those before the first `*`.
    first: Vec<String>,
    /// Whether there is a `*`.
    has_star: bool,
    /// Those after the last `*`.
    last: Vec<String>,
    /// Whether the statement is about the system catalog: lists of integers without sign are lists of its numbers.
    has_numbers: bool,
}

impl PgNames {
    /// Returns the names of the columns of a statement as it was written.
    pub(crate) fn of(statement: &Statement) -> Self {
        match statement {
            Statement::Query(query) => Self::of_query(query),
            _ => Self { has_star: true, ..Self::default() },
        }
    }

    fn of_query(query: &Query) -> Self {
        match leftmost(&query.body) {
            Some(select) => Self::of_select(select),
            None => Self { has_star: true, ..Self::default() },
        }
    }

    fn of_select(select: &Select) -> Self {
        if let ([SelectItem::Wildcard(_)], [from]) = (select.projection.as_slice(), select.from.as_slice())
            && let TableFactor::Derived { subquery, alias, .. } = &from.relation
            && from.joins.is_empty()
            && alias.as_ref().is_none_or(|alias| alias.columns.is_empty())
        {
            return Self::of_query(subquery);
        }
        let mut names = Self::default();
        for item in &select.projection {
            let name = match item {
                SelectItem::UnnamedExpr(expr) => figured_name(expr),
                SelectItem::ExprWithAlias { alias, .. } => fold(alias),
                _ => {
                    names.has_star = true;
                    names.last.clear();
                    continue;
                }
            };
            if names.has_star { names.last.push(name) } else { names.first.push(name) }
        }
        names
    }

    /// Returns the names of the columns of a statement about the system catalog.
    pub(crate) fn about_catalog(self) -> Self {
        Self { has_numbers: true, ..self }
    }

    /// Returns the columns with what PostgreSQL calls them and takes them for, where that differs.
    pub(crate) fn told(&self, schema: &SchemaRef) -> SchemaRef {
        let named = self.named(schema);
        if !self.has_numbers || !named.fields().iter().any(|field| has_numbers(field)) {
            return named;
        }
        let fields = named.fields().iter().map(|field| match has_numbers(field) {
            true => with_metadata(field, PG_OIDS, String::new()),
            false => Arc::clone(field),
        });
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), named.metadata().clone()))
    }

    /// Returns the columns with their names in PostgreSQL where these differ.
    fn named(&self, schema: &SchemaRef) -> SchemaRef {
        let count = schema.fields().len();
        let behind = count.checked_sub(self.last.len()).filter(|behind| *behind >= self.first.len());
        // Other columns than were written are those of an extension of the dialect.
        let Some(behind) = behind.filter(|behind| self.has_star || *behind == self.first.len()) else {
            return Arc::clone(schema);
        };
        let name = |at: usize| match at.checked_sub(behind) {
            Some(at) => self.last.get(at),
            None => self.first.get(at),
        };
        let fields = schema.fields().iter().enumerate().map(|(at, field)| match name(at) {
            // Names of columns that are written in another case are those of the table.
            Some(name) if !name.eq_ignore_ascii_case(field.name()) => with_metadata(field, PG_NAME, name.clone()),
            _ => Arc::clone(field),
        });
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
    }
}

fn with_metadata(field: &Arc<Field>, key: &str, value: String) -> Arc<Field> {
    let mut metadata = field.metadata().clone();
    metadata.insert(key.to_owned(), value);
    Arc::new(Field::clone(field).with_metadata(metadata))
}

/// Returns whether a column has lists of integers without sign.
fn has_numbers(field: &Field) -> bool {
    matches!(field.data_type(), ArrowType::List(of) | ArrowType::LargeList(of) if *of.data_type() == ArrowType::UInt32)
}

/// Returns the first of the queries that a set operation combines, which names the columns.
fn leftmost(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => leftmost(&query.body),
        SetExpr::SetOperation { left, .. } => leftmost(left),
        _ => None,
    }
}

/// Returns a name as it is meant: in lower case, unless it is in quotes.
pub(crate) fn fold(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// Returns the name of an expression without an alias.
pub(crate) fn figured_name(expr: &Expr) -> String {
    name(expr).map_or_else(|| NAMELESS.to_owned(), |(name, _)| name)
}

/// Returns the name of an expression, and whether it is more than that of a type or of a `case`, which give way to a
/// name inside of them.
fn name(expr: &Expr) -> Option<(String, bool)> {
    let strong = |name: &str| Some((name.to_owned(), true));
    match expr {
        Expr::Identifier(ident) => Some((fold(ident), true)),
        Expr::CompoundIdentifier(parts) => parts.last().map(|ident| (fold(ident), true)),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(ident)) => Some((fold(ident), true)),
                _ => None,
            });
            field.or_else(|| name(root))
        }
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => name(inner),
        Expr::Cast { expr, data_type, .. } => weak(name(expr), || of_type(data_type)),
        Expr::TypedString(typed) => Some((of_type(&typed.data_type), false)),
        Expr::Interval(_) => Some(("interval".to_owned(), false)),
        Expr::Case { else_result, .. } => {
            weak(else_result.as_ref().and_then(|otherwise| name(otherwise)), || "case".to_owned())
        }
        Expr::Function(Function { name, .. }) => last(name).map(|name| (name, true)),
        Expr::Exists { negated: false, .. } => strong("exists"),
        Expr::Subquery(query) => {
            let names = PgNames::of_query(query);
            names.first.into_iter().next().map(|name| (name, true))
        }
        Expr::Array(_) => strong("array"),
        Expr::Tuple(_) => strong("row"),
        Expr::Extract { .. } => strong("extract"),
        Expr::Position { .. } => strong("position"),
        Expr::Substring { shorthand, .. } => strong(if *shorthand { "substr" } else { "substring" }),
        Expr::Overlay { .. } => strong("overlay"),
        Expr::Ceil { .. } => strong("ceil"),
        Expr::Floor { .. } => strong("floor"),
        Expr::AtTimeZone { .. } => strong("timezone"),
        Expr::GroupingSets(_) => strong("grouping"),
        Expr::Trim { trim_where, .. } => strong(match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            Some(TrimWhereField::Both) | None => "btrim",
        }),
        _ => None,
    }
}

/// Returns the name of what is inside, or else one that gives way to others.
fn weak(inside: Option<(String, bool)>, own: impl FnOnce() -> String) -> Option<(String, bool)> {
    inside.filter(|(_, is_strong)| *is_strong).or_else(|| Some((own(), false)))
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(ObjectNamePart::as_ident).map(fold)
}

/// Returns the name of a type in the catalog.
fn of_type(data_type: &DataType) -> String {
    use TimezoneInfo::{Tz, WithTimeZone};
    let name = match data_type {
        DataType::Array(of) => match of {
            ArrayElemTypeDef::SquareBracket(element, _)
            | ArrayElemTypeDef::AngleBracket(element)
            | ArrayElemTypeDef::Parenthesis(element) => return of_type(element),
            ArrayElemTypeDef::None => "array",
        },
        DataType::Custom(name, _) => return last(name).unwrap_or_default(),
        DataType::SmallInt(_) | DataType::Int2(_) => "int2",
        DataType::Int(_) | DataType::Integer(_) | DataType::Int4(_) => "int4",
        DataType::BigInt(_) | DataType::Int8(_) => "int8",
        DataType::Real | DataType::Float4 => "float4",
        DataType::Float(ExactNumberInfo::Precision(digits)) if *digits <= 24 => "float4",
        DataType::Float(_) | DataType::Float8 | DataType::Double(_) | DataType::DoublePrecision => "float8",
        DataType::Numeric(_) | DataType::Decimal(_) | DataType::Dec(_) => "numeric",
        DataType::Bool | DataType::Boolean => "bool",
        DataType::Character(_) | DataType::Char(_) => "bpchar",
        DataType::CharacterVarying(_) | DataType::CharVarying(_) | DataType::Varchar(_) => "varchar",
        DataType::Timestamp(_, Tz | WithTimeZone) => "timestamptz",
        DataType::Timestamp(..) => "timestamp",
        DataType::Time(_, Tz | WithTimeZone) => "timetz",
        DataType::Time(..) => "time",
        DataType::Interval { .. } => "interval",
        DataType::BitVarying(_) | DataType::VarBit(_) => "varbit",
        DataType::Bit(_) => "bit",
        other => return other.to_string().to_lowercase(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Field, Schema};
    use salver_model::pg_type::PG_NAME;

    use datafusion::sql::sqlparser::ast::Statement;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::PgNames;

    fn parsed(text: &str) -> Statement {
        Parser::parse_sql(&PostgreSqlDialect {}, text).unwrap().pop().unwrap()
    }

    fn names(text: &str) -> Vec<String> {
        let PgNames { first, last, .. } = PgNames::of(&parsed(text));
        first.into_iter().chain(last).collect()
    }

    /// Expressions with the names that PostgreSQL 15 gives them.
    const EXPRESSIONS: [(&str, &str); 69] = [
        ("count(*)", "count"),
        ("1", "?column?"),
        ("true", "?column?"),
        ("'a'", "?column?"),
        ("$1", "?column?"),
        ("-1", "?column?"),
        ("id + 1", "?column?"),
        ("id", "id"),
        ("ID", "id"),
        ("\"ID\"", "ID"),
        ("p.id", "id"),
        ("(id)", "id"),
        ("id as \"X\"", "X"),
        ("id as X", "x"),
        ("max(id)", "max"),
        ("PG_CATALOG.upper(name)", "upper"),
        ("sum(id) over ()", "sum"),
        ("id::text", "id"),
        ("id::int4::text", "id"),
        ("1::text", "text"),
        ("(1)::int", "int4"),
        ("1::bigint", "int8"),
        ("1::smallint", "int2"),
        ("1::float", "float8"),
        ("1::float(3)", "float4"),
        ("1::real", "float4"),
        ("1::double precision", "float8"),
        ("1::decimal(3,1)", "numeric"),
        ("'a'::char(3)", "bpchar"),
        ("'a'::varchar(3)", "varchar"),
        ("'1'::bool", "bool"),
        ("'x'::bytea", "bytea"),
        ("'{}'::jsonb", "jsonb"),
        ("'{1}'::int[]", "int4"),
        ("date '2024-01-01'", "date"),
        ("interval '1 day'", "interval"),
        ("cast(null as timestamp with time zone)", "timestamptz"),
        ("case when true then id end", "case"),
        ("case when true then 1 else id end", "id"),
        ("case when true then 1 else 2::int8 end", "case"),
        ("coalesce(1, 2)", "coalesce"),
        ("nullif(1, 2)", "nullif"),
        ("greatest(1, 2)", "greatest"),
        ("least(1, 2)::int8", "least"),
        ("exists(select 1)", "exists"),
        ("not exists(select 1)", "?column?"),
        ("array[1]", "array"),
        ("array(select 1)", "array"),
        ("(array[1, 2])[1]", "array"),
        ("row(1, 2)", "row"),
        ("(1, 2)", "row"),
        ("(select 1)", "?column?"),
        ("(select max(id) from people)", "max"),
        ("(select id as x from people limit 1)", "x"),
        ("extract(year from born)", "extract"),
        ("position('a' in name)", "position"),
        ("substring(name from 1)", "substring"),
        ("trim(name)", "btrim"),
        ("trim(leading 'x' from name)", "ltrim"),
        ("overlay(name placing 'x' from 1)", "overlay"),
        ("born at time zone 'utc'", "timezone"),
        ("ceil(1.5)", "ceil"),
        ("floor(1.5)::int", "floor"),
        ("current_date", "current_date"),
        ("current_timestamp", "current_timestamp"),
        ("name is null", "?column?"),
        ("name like 'x'", "?column?"),
        ("1 in (1)", "?column?"),
        ("1 between 1 and 2", "?column?"),
    ];

    #[test]
    fn expressions_have_their_names() {
        for (expr, wanted) in EXPRESSIONS {
            assert_eq!(names(&format!("SELECT {expr} FROM people p")), [wanted], "{expr}");
        }
    }

    #[test]
    fn names_stand_where_columns_do() {
        assert_eq!(names("SELECT 1 UNION SELECT 2 AS b"), ["?column?"]);
        assert_eq!(names("SELECT * FROM (SELECT count(*), 1 FROM t) s"), ["count", "?column?"]);
        let schema = |names: &[&str]| {
            Arc::new(Schema::new(names.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect::<Vec<_>>()))
        };
        let told = |text: &str, columns: &[&str]| -> Vec<String> {
            let told = PgNames::of(&parsed(text)).told(&schema(columns));
            let name = |field: &Arc<Field>| field.metadata().get(PG_NAME).unwrap_or(field.name()).clone();
            told.fields().iter().map(name).collect()
        };
        assert_eq!(told("SELECT 1, *, count(*) FROM t", &["Int64(1)", "a", "b", "c"]), ["?column?", "a", "b", "count"]);
        assert_eq!(told("SELECT *, 1, * FROM t", &["a", "Int64(1)", "a:1"]), ["a", "Int64(1)", "a:1"]);
        assert_eq!(told("SELECT id, ID FROM t", &["Id", "Id:1"]), ["Id", "id"]);
        assert_eq!(told("SELECT 1 FROM t", &["a", "b"]), ["a", "b"]);
        assert_eq!(told("SHOW TABLES", &["a", "b"]), ["a", "b"]);
    }
}

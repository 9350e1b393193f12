//! Names of types as programs write them: with their schema or in quotes, as in `x::"pg_catalog"."int4"`, and arrays by
//! their names in the catalog (`_int4`). They become the types that the parser reads.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, DataType, Expr, ObjectName, ObjectNamePart, Statement, TypedString, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::parser::Parser;

use super::grammar::Grammar;

/// Schema of the types.
const SCHEMA: &str = "pg_catalog";
/// Types that are text.
const TEXTS: [&str; 2] = ["bpchar", "name"];

/// Replaces the names of types in a statement.
pub(super) fn write_plainly(statement: &mut Statement) {
    let _ = statement.visit(&mut Namer);
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) = expr {
            rename(data_type);
        }
        ControlFlow::Continue(())
    }
}

fn rename(data_type: &mut DataType) {
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => rename(element),
        DataType::Custom(name, arguments) => {
            if let Some(plain) = plain(name, arguments) {
                *data_type = plain;
            }
        }
        _ => {}
    }
}

/// Returns the type of this name; `None` if it is none that is written otherwise.
fn plain(name: &ObjectName, arguments: &[String]) -> Option<DataType> {
    let (last, above) = name.0.split_last()?;
    let last = last.as_ident()?;
    let is_of_catalog =
        |part: &ObjectNamePart| part.as_ident().is_some_and(|part| part.value.eq_ignore_ascii_case(SCHEMA));
    let is_known = match above {
        [] => {
            last.quote_style.is_some()
                || last.value.starts_with('_')
                || TEXTS.iter().any(|own| last.value.eq_ignore_ascii_case(own))
        }
        [schema] => is_of_catalog(schema),
        _ => false,
    };
    if !is_known {
        return None;
    }
    let own = last.value.to_ascii_lowercase();
    let (own, is_array) = own.strip_prefix('_').map_or((own.as_str(), false), |element| (element, true));
    // In quotes, this is the type of one byte, which is text here.
    let is_text = TEXTS.contains(&own) || own == "char" && last.quote_style.is_some();
    let element = if is_text { DataType::Text } else { read(own, arguments)? };
    Some(if is_array { DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(element), None)) } else { element })
}

/// Reads a type by its bare name.
fn read(name: &str, arguments: &[String]) -> Option<DataType> {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let words = if arguments.is_empty() { name.to_owned() } else { format!("{name}({})", arguments.join(",")) };
    let grammar = Grammar::default();
    let mut parser = Parser::new(&grammar).try_with_sql(&words).ok().filter(|_| is_bare)?;
    parser.parse_data_type().ok().filter(|read| !matches!(read, DataType::Custom(..)))
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn types_have_their_plain_names() {
        for (written, wanted) in [
            ("x::\"pg_catalog\".\"int4\"", "x::INT4"),
            ("x::pg_catalog.numeric(4,2)", "x::NUMERIC(4,2)"),
            ("x::pg_catalog.varchar(2)", "x::VARCHAR(2)"),
            ("x::\"int8\"", "x::INT8"),
            ("x::_int4", "x::INT4[]"),
            ("x::pg_catalog._text", "x::TEXT[]"),
            ("x::pg_catalog.bool[]", "x::BOOL[]"),
            ("x::name", "x::TEXT"),
            ("x::\"char\"", "x::TEXT"),
            ("x::pg_catalog.oid", "x::pg_catalog.oid"),
            ("x::nope", "x::nope"),
        ] {
            let statement = parse::parse_open(&format!("SELECT {written} FROM t")).unwrap().to_string();
            assert_eq!(statement, format!("SELECT {wanted} FROM t"), "{written}");
        }
    }
}

//! Text literals beside numbers: `'10'` has no type of its own in PostgreSQL, and is the number 10 if the other
//! branches of a `case` or `union` are numbers. The engine would cast the numbers to text.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, cast};

use super::super::common_type;
use super::{TypeOf, typed_literals};

fn is_written(expr: &Expr) -> bool {
    typed_literals::written(expr).is_some()
}

/// Returns the type of the numbers if all other expressions are text literals.
fn numbers<'e>(mut parts: impl Iterator<Item = &'e Expr>, type_of: TypeOf<'_>) -> Option<DataType> {
    let (mut found, mut has_text) = (None, false);
    let fits = parts.all(|part| match part {
        part if is_written(part) => {
            has_text = true;
            true
        }
        part => match type_of(part) {
            Some(DataType::Null) => true,
            Some(own) if own.is_numeric() => {
                found.get_or_insert(own);
                true
            }
            _ => false,
        },
    });
    found.filter(|_| fits && has_text)
}

/// Replaces such literals in a `case` by numbers; returns whether there were any.
pub(super) fn case(case: Case, type_of: TypeOf<'_>) -> (Case, bool) {
    let results = case.when_then_expr.iter().map(|(_, then)| &**then).chain(case.else_expr.as_deref());
    let Some(to) = numbers(results, type_of) else { return (case, false) };
    // The literal gets a decimal type wide enough for its own digits.
    let to = match to {
        DataType::Decimal128(_, scale) => DataType::Decimal128(38, scale),
        to => to,
    };
    let read = |part: Expr| Box::new(if is_written(&part) { cast(part, to.clone()) } else { part });
    let Case { expr, when_then_expr, else_expr } = case;
    let when_then_expr = when_then_expr.into_iter().map(|(when, then)| (when, read(*then))).collect();
    (Case { expr, when_then_expr, else_expr: else_expr.map(|other| read(*other)) }, true)
}

/// Gives such literals in the inputs of a union the type of the others; returns `None` if there are none.
pub(super) fn union(inputs: &[Arc<LogicalPlan>]) -> Result<Option<Vec<Arc<LogicalPlan>>>> {
    let width = inputs.first().map_or(0, |input| input.schema().fields().len());
    let mut changed: Option<Vec<Arc<LogicalPlan>>> = None;
    for column in 0..width {
        let own = |input: &Arc<LogicalPlan>| input.schema().fields().get(column).map(|field| field.data_type().clone());
        let is_text = |input: &Arc<LogicalPlan>| projected(input, column).is_some_and(is_written);
        let others = inputs.iter().filter(|input| !is_text(input)).map(own);
        let Some(types) = others.collect::<Option<Vec<_>>>() else { continue };
        let to = common_type::of(&types).or_else(|| types.iter().find(|own| !own.is_null()).cloned());
        let is_read = |own: &DataType| own.is_numeric() || typed_literals::is_read(own);
        let Some(to) = to.filter(|to| is_read(to) && types.iter().all(|own| own.is_null() || is_read(own))) else {
            continue;
        };
        let inputs = changed.get_or_insert_with(|| inputs.to_vec());
        for input in inputs.iter_mut().filter(|input| is_text(input)) {
            let LogicalPlan::Projection(projection) = &**input else { continue };
            let mut exprs = projection.expr.clone();
            let (table, name) = exprs[column].qualified_name();
            let literal = exprs[column].clone().unalias();
            // A decimal has the digits of both.
            let read = match typed_literals::written(&literal) {
                Some(text) if typed_literals::is_read(&to) => typed_literals::read_as(text, &to)?,
                _ => None,
            };
            exprs[column] = read.unwrap_or_else(|| cast(literal, to.clone())).alias_qualified(table, name);
            *input = Arc::new(LogicalPlan::Projection(Projection::try_new(exprs, Arc::clone(&projection.input))?));
        }
    }
    Ok(changed)
}

fn projected(input: &LogicalPlan, column: usize) -> Option<&Expr> {
    let LogicalPlan::Projection(projection) = input else { return None };
    let expr = projection.expr.get(column)?;
    Some(match expr {
        Expr::Alias(alias) => &alias.expr,
        expr => expr,
    })
}

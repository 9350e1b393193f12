//! `nullif(a, b)` and `case a when b`, which compare as `a = b` does. The engine would cast both to one type, which
//! differs from that in which an operator compares them, and `nullif` would return a value of it; of floats, one
//! without the sign of its zero. And a quoted literal
//! that is compared with columns and with further quoted literals: it is a text beside the latter.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Between, Case, InList, ScalarFunction};
use datafusion::logical_expr::{Expr, cast, lit, not};
use datafusion::scalar::ScalarValue;

use super::{TypeOf, has_columns, intervals, typed_literals};

/// Most parts of an expression that is copied for each comparison.
const COPIED_PARTS: usize = 16;

/// Writes the comparisons of such an expression as operators, and gives each of them to `compared`.
pub(super) fn written_out(
    expr: Expr,
    type_of: TypeOf<'_>,
    compared: &dyn Fn(Expr) -> Result<Expr>,
) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "nullif" => match args.as_slice() {
            [one, other] if (differ(one, other, type_of) || is_float(one, type_of)) && is_small(one)? => {
                let to = promoted(type_of(one).as_ref(), type_of(other).as_ref());
                let kept = to.map_or_else(|| one.clone(), |to| cast(one.clone(), to));
                let typed = if is_text(&kept) { other } else { &kept };
                let own = type_of(typed).unwrap_or(DataType::Null);
                let equal = Box::new(compared(one.clone().eq(other.clone()))?);
                let null = Box::new(lit(ScalarValue::try_from(&own)?));
                let when_then_expr = vec![(equal, null)];
                Transformed::yes(Expr::Case(Case { expr: None, when_then_expr, else_expr: Some(Box::new(kept)) }))
            }
            _ => Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args })),
        },
        Expr::Case(Case { expr: Some(base), when_then_expr, else_expr })
            if when_then_expr.iter().any(|(when, _)| differ(&base, when, type_of)) && is_small(&base)? =>
        {
            let branches = when_then_expr.into_iter().map(|(when, then)| {
                let equal = compared((*base).clone().eq(*when))?;
                Ok((Box::new(equal), then))
            });
            let when_then_expr = branches.collect::<Result<_>>()?;
            Transformed::yes(Expr::Case(Case { expr: None, when_then_expr, else_expr }))
        }
        // Two literals are texts beside each other, whatever else is compared.
        Expr::Between(Between { expr, negated, low, high }) if is_text(&expr) && (is_text(&low) != is_text(&high)) => {
            let (above, below) = (compared((*expr).clone().gt_eq(*low))?, compared(expr.lt_eq(*high))?);
            Transformed::yes(stated(above.and(below), negated))
        }
        Expr::InList(InList { expr, list, negated }) if is_text(&expr) && are_of_several_types(&list, type_of) => {
            let within = |list| compared(Expr::InList(InList { expr: expr.clone(), list, negated: false }));
            let all = by_type(list, type_of).into_iter().map(within).collect::<Result<Vec<_>>>()?;
            Transformed::yes(stated(all.into_iter().reduce(Expr::or).unwrap_or_else(|| lit(false)), negated))
        }
        other => Transformed::no(other),
    })
}

/// Returns whether [`by_type`] would take a list apart.
fn are_of_several_types(list: &[Expr], type_of: TypeOf<'_>) -> bool {
    let Some(first) = list.iter().find(|item| has_columns(item)) else { return false };
    let own = type_of(first);
    list.iter().any(|item| !has_columns(item) || type_of(item) != own)
}

/// Returns the items of a list with which a quoted literal is compared as a value of one type: the constants together,
/// and what is computed from columns by its type.
fn by_type(list: Vec<Expr>, type_of: TypeOf<'_>) -> Vec<Vec<Expr>> {
    let (values, constants): (Vec<Expr>, Vec<Expr>) = list.into_iter().partition(has_columns);
    let mut groups: Vec<(Option<DataType>, Vec<Expr>)> = Vec::new();
    for value in values {
        let own = type_of(&value);
        match groups.iter_mut().find(|(other, _)| *other == own) {
            Some((_, values)) => values.push(value),
            None => groups.push((own, vec![value])),
        }
    }
    let constants = (!constants.is_empty()).then_some(constants);
    constants.into_iter().chain(groups.into_iter().map(|(_, values)| values)).collect()
}

fn is_text(expr: &Expr) -> bool {
    typed_literals::written(expr).is_some()
}

fn stated(condition: Expr, negated: bool) -> Expr {
    if negated { not(condition) } else { condition }
}

fn is_float(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    type_of(expr).is_some_and(|own| own.is_floating())
}

/// Returns whether two values have different types, or one whose values are equal in several forms.
fn differ(one: &Expr, other: &Expr, type_of: TypeOf<'_>) -> bool {
    match (type_of(one), type_of(other)) {
        (Some(one), Some(other)) if one.is_null() || other.is_null() => false,
        // A quoted interval is one beside it.
        (Some(one), Some(other)) if intervals::are_held(&one) || intervals::are_held(&other) => true,
        // A text literal takes the type of the other.
        (Some(one), Some(other)) if one.is_string() || other.is_string() => false,
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

/// Returns the type of the first operand where `=` casts that, as there is no such operator for the two types.
fn promoted(one: Option<&DataType>, other: Option<&DataType>) -> Option<DataType> {
    let (one, other) = (one?, other?);
    if one.is_integer() && other.is_decimal() {
        let digits = match one.primitive_width() {
            Some(1 | 2) => 5,
            Some(4) => 10,
            _ => 20,
        };
        return Some(DataType::Decimal128(digits, 0));
    }
    let is_exact = |own: &DataType| own.is_integer() || own.is_decimal();
    (is_exact(one) && other.is_floating()).then_some(DataType::Float64)
}

/// Returns whether an expression has few parts, and the same value each time.
fn is_small(expr: &Expr) -> Result<bool> {
    let mut parts = 0;
    expr.apply(|_| {
        parts += 1;
        Ok(if parts > COPIED_PARTS { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(parts <= COPIED_PARTS && !expr.is_volatile())
}

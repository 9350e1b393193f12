//! Operators on JSON: `->` and `#>` return JSON, `->>` and `#>>` text; those of `jsonb` find, compare, concatenate and
//! leave out. All become functions of texts. The operands are still as they were written, since their form tells
//! whether they are JSON.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};
use salver_model::Error;

use super::function_names::{is_quoted, name_of, simple};
use super::json_kind::{Kind, are_concatenated, bare, kind, of_function};
use super::{expression, refused, take};

/// Rewrites an operation before its operands.
pub(super) fn before(expr: &mut Expr) -> Result<(), Box<Error>> {
    use BinaryOperator as Op;
    match expr {
        Expr::BinaryOp { op: Op::Arrow | Op::LongArrow, .. } => steps(expr),
        Expr::BinaryOp { left, op, right } => {
            let Some(words) = words(left, op, right)? else { return Ok(()) };
            let parts = vec![bare(take(left)), bare(take(right))];
            *expr = expression(words, parts)?;
        }
        Expr::Function(function) if of_function(function) == Some(Kind::Normal) => {
            // Documents have an order of their own.
            match name_of(function).as_deref() {
                Some("greatest") => function.name = simple("jsonb_greatest", Vec::new()).name,
                Some("least") => function.name = simple("jsonb_least", Vec::new()).name,
                _ => {}
            }
        }
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) if are_compared(left, right) => {
            [left, right].into_iter().try_for_each(|side| compared(side))?;
        }
        Expr::InList { expr: own, list, .. } if list.iter().any(|other| are_compared(own, other)) => {
            list.iter_mut().chain([&mut **own]).try_for_each(compared)?;
        }
        _ => {}
    }
    Ok(())
}

/// Rewrites steps one after the other, as in `x -> 'a' -> 0 ->> 'b'`, to one search.
fn steps(expr: &mut Expr) {
    let mut behind = Vec::new();
    let mut is_text = false;
    let mut document = take(expr);
    loop {
        match document {
            Expr::BinaryOp { left, op: BinaryOperator::LongArrow, right } if behind.is_empty() => {
                is_text = true;
                behind.push(*right);
                document = *left;
            }
            Expr::BinaryOp { left, op: BinaryOperator::Arrow, right } => {
                behind.push(*right);
                document = *left;
            }
            Expr::Nested(inner) if matches!(*inner, Expr::BinaryOp { op: BinaryOperator::Arrow, .. }) => {
                document = *inner;
            }
            _ => break,
        }
    }
    let is_normal = kind(&document) == Some(Kind::Normal);
    let name = match (is_normal, is_text) {
        (false, false) => "json_step",
        (false, true) => "json_step_text",
        (true, false) => "jsonb_step",
        (true, true) => "jsonb_step_text",
    };
    behind.push(bare(document));
    behind.reverse();
    *expr = Expr::Function(simple(name, behind));
}

/// Returns what an operation is in functions; `None` for one that is not of JSON.
fn words(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Option<&'static str>, Box<Error>> {
    use BinaryOperator as Op;
    let is_normal = || kind(left) == Some(Kind::Normal);
    let is_json = || kind(left).is_some() || kind(right).is_some();
    Ok(Some(match op {
        Op::HashArrow if is_normal() => "jsonb_path(__1, __2)",
        Op::HashArrow => "json_path(__1, __2)",
        Op::HashLongArrow if is_normal() => "jsonb_path_text(__1, __2)",
        Op::HashLongArrow => "json_path_text(__1, __2)",
        Op::HashMinus => "jsonb_delete_path(__1, __2)",
        Op::Question => "jsonb_has(__1, __2)",
        Op::QuestionPipe => "jsonb_has_any(__1, __2)",
        Op::QuestionAnd => "jsonb_has_all(__1, __2)",
        Op::AtArrow if is_json() => "jsonb_contains(__1, __2)",
        Op::ArrowAt if is_json() => "jsonb_contains(__2, __1)",
        Op::StringConcat if are_concatenated(left, right) => "jsonb_concat(__1, __2)",
        Op::Minus if kind(left).is_some() => "jsonb_minus(__1, __2)",
        Op::AtQuestion => {
            return Err(refused(
                "there are no paths of SQL in JSON here",
                "write its steps, as in `x->'a'->>'b' = 'c'`, `x ? 'a'` or `x @> '{\"a\": 1}'`",
            ));
        }
        op if are_compared(left, right) => match op {
            // Equal documents have equal texts, by which joins look them up.
            Op::Eq => "jsonb_key(__1) = jsonb_key(__2)",
            Op::NotEq => "jsonb_key(__1) <> jsonb_key(__2)",
            Op::Lt => "jsonb_order(__1, __2) < 0",
            Op::LtEq => "jsonb_order(__1, __2) <= 0",
            Op::Gt => "jsonb_order(__1, __2) > 0",
            Op::GtEq => "jsonb_order(__1, __2) >= 0",
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// Returns whether two expressions are documents to compare: `jsonb`, beside which a literal is one.
fn are_compared(left: &Expr, right: &Expr) -> bool {
    let is_normal = |expr| kind(expr) == Some(Kind::Normal);
    let may_be = |expr| kind(expr).is_some() || is_quoted(expr);
    is_normal(left) && may_be(right) || is_normal(right) && may_be(left)
}

/// Rewrites a document to the text by which it is compared.
fn compared(expr: &mut Expr) -> Result<(), Box<Error>> {
    let document = bare(take(expr));
    *expr = expression("jsonb_key(__1)", vec![document])?;
    Ok(())
}

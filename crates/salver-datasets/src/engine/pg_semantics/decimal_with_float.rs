//! Decimals beside floats are coerced to floats, as in PostgreSQL; the engine would coerce both to decimals of fifteen
//! digits. Quotients of decimals have at least sixteen fractional digits.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, ScalarUDF, cast};
use datafusion::optimizer::AnalyzerRule;

use super::super::pg_functions;
use super::decimal_to_float::floated;
use super::{
    call, datetime_operators, decimal_comparison, decimal_division, equal_types, equalities, float32_comparison,
    in_subquery, intervals, is_comparison, multiset_operators, operands, rewritten, set_operations, text_casts,
    time_unit_comparison, typed_literals, untyped_literals, window_arguments,
};

/// Analyzer rule that runs before type coercion.
#[derive(Debug)]
pub(in crate::engine) struct Mixed;

impl AnalyzerRule for Mixed {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &mixed, &|plan, _| {
            let plan = equal_types::joined(set_operations::in_common_types(plan)?);
            multiset_operators::counted(in_subquery::decided(plan)?)
        })
    }

    fn name(&self) -> &'static str {
        "mixed_numbers"
    }
}

/// Functions whose arguments are not coerced to a common type.
const APART: [&str; 8] =
    ["concat", "concat_ws", "format", "json_build_array", "json_build_object", "named_struct", "row", "struct"];

fn is_decimal(data_type: &DataType) -> bool {
    data_type.is_decimal()
}

fn mixed(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let type_of = |part: &Expr| part.get_type(schema).ok();
    let expr = equalities::written_out(expr, &type_of, &|equal| Ok(mixed(equal, schema)?.data))?;
    let expr = expr
        .transform_data(|expr| typed_literals::typed(expr, &type_of))?
        .transform_data(|expr| Ok(intervals::beside_durations(expr, &type_of)))?
        .transform_data(|expr| Ok(intervals::summed(expr, &type_of)))?
        .transform_data(|expr| equal_types::member(expr, &type_of))?
        .transform_data(|expr| window_arguments::typed(expr, &type_of))?;
    let expr = expr
        .transform_data(|expr| text_casts::written(expr, &type_of))?
        .transform_data(|expr| Ok(time_unit_comparison::compared(expr, &type_of)))?;
    let expr = expr.transform_data(|expr| Ok(decimal_comparison::compared(expr, &type_of)))?;
    let expr = expr.transform_data(|expr| Ok(float32_comparison::compared(expr, &type_of)))?;
    expr.transform_data(|expr| numbers(expr, &type_of))
}

fn numbers(expr: Expr, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> Result<Transformed<Expr>> {
    // Most expressions have no decimals, so their types need not be computed.
    let is_mixed = |parts: &[&Expr]| {
        let types: Vec<Option<DataType>> = parts.iter().map(|part| type_of(part)).collect();
        let any = |test: &dyn Fn(&DataType) -> bool| types.iter().flatten().any(test);
        any(&is_decimal) && any(&DataType::is_floating)
    };
    let float = |part: Expr| if type_of(&part).as_ref().is_some_and(is_decimal) { floated(part) } else { part };
    Ok(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_numeric(op) => {
            if is_mixed(&[&left, &right]) {
                let (left, right) = (Box::new(float(*left)), Box::new(float(*right)));
                return Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right })));
            }
            let exact = |part: &Expr| type_of(part).is_some_and(|own| own.is_integer() || is_decimal(&own));
            let divides = op == Operator::Divide
                && exact(&left)
                && exact(&right)
                && [&left, &right].iter().any(|part| type_of(part).as_ref().is_some_and(is_decimal));
            if divides {
                return Ok(Transformed::yes(call(decimal_division::function(), vec![*left, *right])));
            }
            Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))
        }
        expr @ (Expr::Between(_) | Expr::InList(_)) if is_mixed(&operands::of(&expr)) => {
            Transformed::yes(operands::each(expr, &float))
        }
        Expr::Case(case) => {
            let (case, changed) = untyped_literals::case(case, type_of);
            let mixed = mixed_case(case, &is_mixed, &float);
            if changed { Transformed::yes(mixed.data) } else { mixed }
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if !APART.contains(&func.name()) && is_mixed(&args.iter().collect::<Vec<_>>()) =>
        {
            let args = args.into_iter().map(&float).collect();
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) => called(func, args, type_of),
        other => Transformed::no(other),
    })
}

fn called(func: Arc<ScalarUDF>, args: Vec<Expr>, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> Transformed<Expr> {
    // The result type depends on a literal number of digits, and must not change when it is computed later.
    if func.name() == "round" && args.len() == 2 {
        let call = Expr::ScalarFunction(ScalarFunction { func, args });
        return match type_of(&call) {
            Some(to) if is_decimal(&to) => Transformed::yes(cast(call, to)),
            _ => Transformed::no(call),
        };
    }
    if func.name() == "character_length" && args.iter().any(|arg| type_of(arg).is_some_and(|own| own.is_binary())) {
        return Transformed::yes(call(pg_functions::octet_length(), args));
    }
    if let Some(args) = datetime_operators::intervals(func.name(), &args, type_of) {
        return Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }));
    }
    match datetime_operators::called(func.name(), &args, type_of) {
        None => Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args })),
        Some((args, to)) => {
            let call = Expr::ScalarFunction(ScalarFunction { func, args });
            Transformed::yes(match to {
                Some(to) => cast(call, to),
                None => call,
            })
        }
    }
}

fn mixed_case(case: Case, is_mixed: &dyn Fn(&[&Expr]) -> bool, float: &dyn Fn(Expr) -> Expr) -> Transformed<Expr> {
    let Case { mut expr, mut when_then_expr, mut else_expr } = case;
    let mut changed = false;
    let results: Vec<&Expr> = when_then_expr.iter().map(|(_, then)| &**then).chain(else_expr.as_deref()).collect();
    if is_mixed(&results) {
        changed = true;
        when_then_expr = when_then_expr.into_iter().map(|(when, then)| (when, Box::new(float(*then)))).collect();
        else_expr = else_expr.map(|other| Box::new(float(*other)));
    }
    if let Some(base) = &expr {
        let compared: Vec<&Expr> = when_then_expr.iter().map(|(when, _)| &**when).chain([&**base]).collect();
        if is_mixed(&compared) {
            changed = true;
            when_then_expr = when_then_expr.into_iter().map(|(when, then)| (Box::new(float(*when)), then)).collect();
            expr = expr.map(|base| Box::new(float(*base)));
        }
    }
    let case = Expr::Case(Case { expr, when_then_expr, else_expr });
    if changed { Transformed::yes(case) } else { Transformed::no(case) }
}

fn is_numeric(op: Operator) -> bool {
    op.is_numerical_operators() || is_comparison(op)
}

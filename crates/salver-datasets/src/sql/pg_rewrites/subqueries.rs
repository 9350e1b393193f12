//! Subqueries in expressions: `any` and `all`, `in` with rows, and the first row of a query.

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, ExactNumberInfo, Expr, Function, FunctionArguments, LimitClause,
    OrderByKind, Query, SelectItem, SetExpr, UnaryOperator, Value, ValueWithSpan,
};
use salver_model::Error;
use salver_model::limits::SQL_UNTYPED_ELEMENTS_MAX;

use super::derived_tables::{ROWS, put, value};
use super::function_names::is_quoted;
use super::outside_subqueries::outside_queries;
use super::query_arrays::array;
use super::row_comparison::{row, same_width};
use super::row_wise::is_plain;
use super::{array_literals, casts, expression, refused, take};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    from_values(expr)?;
    match expr {
        Expr::AnyOp { .. } | Expr::AllOp { .. } => any_or_all(expr)?,
        Expr::InSubquery { expr: value, subquery, negated } => {
            let Some(columns) = row(value).map(<[Expr]>::to_vec) else { return Ok(()) };
            let (query, negated) = (subquery.clone(), *negated);
            *expr = row_in(columns, &query, negated)?;
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } if is_row_in(inner) => {
            *expr = take(innermost(inner));
            if let Expr::InSubquery { negated, .. } = expr {
                *negated = !*negated;
            }
            return rewrite(expr);
        }
        // Here false and null differ.
        Expr::UnaryOp { op: UnaryOperator::Not, .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::Case { .. } => outside_queries(expr, &mut row_as_value)?,
        Expr::Subquery(query) if has_no_columns(query) => {
            let instead = "name the column whose value it stands for";
            return Err(refused("a subquery that stands for a value must have a column", instead));
        }
        Expr::Subquery(query) => first(query),
        Expr::Exists { .. } => exists(expr)?,
        Expr::Function(function) if matches!(function.args, FunctionArguments::Subquery(_)) => {
            if !function.name.to_string().eq_ignore_ascii_case("array") {
                return Ok(());
            }
            if let FunctionArguments::Subquery(query) = &mut function.args {
                let query = query.clone();
                *expr = array(query)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Rewrites `(values (1), (2))` in an expression to `(select * from (values (1), (2)) as r)`, as the engine knows no
/// lists there.
fn from_values(expr: &mut Expr) -> Result<(), Box<Error>> {
    let query = match expr {
        Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => subquery,
        Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } => match &mut **right {
            Expr::Subquery(subquery) => subquery,
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    if !matches!(*query.body, SetExpr::Values(_)) {
        return Ok(());
    }
    let mut made = expression(&format!("(select * from (select 1) as {ROWS})"), Vec::new())?;
    put(&mut made, query);
    if let Expr::Subquery(made) = made {
        *query = made;
    }
    Ok(())
}

/// Rewrites `x = any(...)` and the like over a query, an array, or a text that is one.
fn any_or_all(expr: &mut Expr) -> Result<(), Box<Error>> {
    if let Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } = expr
        && let Some(query) = array_of(right)
    {
        **right = Expr::Subquery(query);
    }
    if let Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } = expr
        && matches!(&**right, Expr::Value(value) if value.value == Value::Null)
    {
        *expr = expression("cast(null as boolean)", Vec::new())?;
        return Ok(());
    }
    let was_text = match expr {
        Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } => array_literals::read_untyped(right)?,
        _ => false,
    };
    if let Some(compared) = one_by_one(expr, was_text)? {
        *expr = compared;
        return Ok(());
    }
    match expr {
        // The elements of an array literal are compared like single values.
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } if written_out(right).is_some() => {
            let list = decimals(written_out(right).unwrap_or_default())?;
            *expr = Expr::Nested(Box::new(Expr::InList { expr: Box::new(take(left)), list, negated: false }));
        }
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } if written_out(right).is_some() => {
            let list = decimals(written_out(right).unwrap_or_default())?;
            *expr = Expr::Nested(Box::new(Expr::InList { expr: Box::new(take(left)), list, negated: true }));
        }
        // By its name, this is the function of ours, which takes decimals of other digits.
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } if !matches!(**right, Expr::Subquery(_)) => {
            *expr = expression("array_has(__1, __2)", vec![take(right), take(left)])?;
        }
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } if !matches!(**right, Expr::Subquery(_)) => {
            *expr = expression("(not array_has(__1, __2))", vec![take(right), take(left)])?;
        }
        // The engine evaluates `all` of a list with nulls correctly.
        Expr::AnyOp { left, compare_op, right, .. } if !matches!(**right, Expr::Subquery(_)) => {
            let Some(compare_op) = opposite(compare_op) else { return Ok(()) };
            let (left, right) = (Box::new(take(left)), Box::new(take(right)));
            let all = Expr::Nested(Box::new(Expr::AllOp { left, compare_op, right }));
            *expr = Expr::Nested(Box::new(Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(all) }));
        }
        Expr::AnyOp { left, compare_op, right, .. } => {
            let Expr::Subquery(query) = &mut **right else { return Ok(()) };
            let (op, query, left) = (compare_op.clone(), query.clone(), take(left));
            *expr = any(left, &op, query)?;
        }
        Expr::AllOp { left, compare_op, right } => {
            let Expr::Subquery(query) = &mut **right else { return Ok(()) };
            let (op, query, left) = (compare_op.clone(), query.clone(), take(left));
            *expr = all(left, &op, query)?;
        }
        _ => {}
    }
    Ok(())
}

/// Casts the decimals among the elements of an array to what they are. A `real` is compared with them in double
/// precision, while beside those of a list they would be taken for reals.
fn decimals(mut elements: Vec<Expr>) -> Result<Vec<Expr>, Box<Error>> {
    for element in &mut elements {
        if let Expr::Value(ValueWithSpan { value: Value::Number(digits, false), .. }) = element
            && let Some((whole, fraction)) = digits.split_once('.').filter(|_| is_plain_number(digits))
        {
            let words = format!("({digits}::decimal({}, {}))", whole.len() + fraction.len(), fraction.len());
            *element = expression(&words, Vec::new())?;
        }
    }
    Ok(elements)
}

fn is_plain_number(digits: &str) -> bool {
    digits.len() <= casts::LITERAL_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Compares a value by `<` and its kin with each element of an array that is written out, if these are few: the engine
/// would look for the least and the greatest, which not all types have. The elements of an array that `was_text` have
/// no type of their own by which it could do that.
fn one_by_one(expr: &mut Expr, was_text: bool) -> Result<Option<Expr>, Box<Error>> {
    let is_all = matches!(expr, Expr::AllOp { .. });
    let (Expr::AnyOp { left, compare_op, right, .. } | Expr::AllOp { left, compare_op, right }) = expr else {
        return Ok(None);
    };
    // Without elements there is nothing that would give them a type.
    if was_text && matches!(&**right, Expr::Array(array) if array.elem.is_empty()) {
        let words = if is_all { "(__1 is null or true)" } else { "(__1 is null and false)" };
        return expression(words, vec![take(left)]).map(Some);
    }
    let is_list = if is_all { BinaryOperator::NotEq } else { BinaryOperator::Eq };
    let Some(elements) = written_out(right).filter(|_| *compare_op != is_list) else { return Ok(None) };
    // What is compared is copied for each element, and would be again where these nest.
    if elements.len() > SQL_UNTYPED_ELEMENTS_MAX || !is_simple(left) {
        if !was_text {
            return Ok(None);
        }
        let message = format!(
            "an array that is a text needs a type where more than {SQL_UNTYPED_ELEMENTS_MAX} elements are compared, or \
             something computed"
        );
        return Err(refused(message, "cast it, as in `x < any('{1,2}'::int[])`"));
    }
    // A quoted value takes the type that the elements have together, and not that of each.
    if !was_text && is_quoted(left) {
        return Ok(None);
    }
    let words: Vec<String> = (2..elements.len() + 2).map(|number| format!("__1 {compare_op} __{number}")).collect();
    let parts = [take(left)].into_iter().chain(elements).collect();
    expression(&format!("({})", words.join(if is_all { " and " } else { " or " })), parts).map(Some)
}

/// Returns whether an expression is a column or a value, which may be cast or have a sign.
pub(super) fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Interval(_) => true,
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } | Expr::Cast { expr: inner, .. } => is_simple(inner),
        _ => false,
    }
}

/// Drops the order and the limit of an `exists`, which don't affect it; an offset does, but the engine ignores it, so
/// the rows are counted.
fn exists(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Exists { subquery, negated } = expr else { return Ok(()) };
    let skipped = skipped(subquery);
    if skipped.is_none() && !is_limited_to_some(subquery) {
        return Ok(());
    }
    (subquery.order_by, subquery.limit_clause) = (None, None);
    if let Some(skipped) = skipped {
        let not = if *negated { "not " } else { "" };
        *expr = expression(&format!("({not}__1 > {skipped})"), vec![number_of_rows(subquery.clone())?])?;
    }
    Ok(())
}

/// Returns the query of `array(select ...)`, whose values are compared one by one.
fn array_of(expr: &Expr) -> Option<Box<Query>> {
    match expr {
        Expr::Nested(inner) => array_of(inner),
        Expr::Function(Function { name, args: FunctionArguments::Subquery(query), .. })
            if name.to_string().eq_ignore_ascii_case("array") =>
        {
            Some(query.clone())
        }
        _ => None,
    }
}

/// Returns the elements of an array literal, if none is an array; `None` for any other expression and for an empty
/// array. Those of an array of `numeric` have digits of their own.
pub(super) fn written_out(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Nested(inner) => written_out(inner),
        Expr::Cast { expr: array, data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)), .. }
            if matches!(**element, DataType::Numeric(ExactNumberInfo::None)) =>
        {
            let mut elements = written_out(array)?;
            elements.iter_mut().for_each(casts::read_number);
            let are_constant = |element: &Expr| matches!(element, Expr::Value(_) | Expr::Nested(_) | Expr::Cast { .. });
            elements.iter().all(are_constant).then_some(elements)
        }
        Expr::Array(array)
            if !array.elem.is_empty() && !array.elem.iter().any(|item| matches!(item, Expr::Array(_))) =>
        {
            Some(array.elem.clone())
        }
        _ => None,
    }
}

/// Returns the negated comparison, except for `=`, which becomes an `in`.
fn opposite(op: &BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    match op {
        NotEq => Some(Eq),
        Lt => Some(GtEq),
        LtEq => Some(Gt),
        Gt => Some(LtEq),
        GtEq => Some(Lt),
        _ => None,
    }
}

fn any(left: Expr, op: &BinaryOperator, query: Box<Query>) -> Result<Expr, Box<Error>> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let holds = match op {
        Eq => return Ok(Expr::InSubquery { expr: Box::new(left), subquery: query, negated: false }),
        // True if the value is less than the greatest.
        Lt | LtEq => format!("__1 {op} __4"),
        Gt | GtEq => format!("__1 {op} __3"),
        NotEq => "__1 <> __3 or __1 <> __4".to_owned(),
        other => return Err(refused(format!("`{other} any` is not supported"), "use `exists`")),
    };
    decided(&format!("when __2 = 0 then false when {holds} then true"), &holds, left, &query)
}

fn all(left: Expr, op: &BinaryOperator, query: Box<Query>) -> Result<Expr, Box<Error>> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let holds = match op {
        NotEq => return Ok(Expr::InSubquery { expr: Box::new(left), subquery: query, negated: true }),
        Lt | LtEq => format!("__1 {op} __3"),
        Gt | GtEq => format!("__1 {op} __4"),
        Eq => "__1 = __3 and __1 = __4".to_owned(),
        other => return Err(refused(format!("`{other} all` is not supported"), "use `not exists`")),
    };
    decided(&format!("when __2 = 0 then true when not ({holds}) then false"), &holds, left, &query)
}

/// Combines the certain results, then null if a null might decide, then the comparison. `__1` stands for the left side,
/// `__2` for the number of rows, `__3` for the least value, `__4` for the greatest and `__5` for the nulls.
fn decided(known: &str, holds: &str, left: Expr, query: &Query) -> Result<Expr, Box<Error>> {
    let parts = vec![
        left,
        value("count(*)", query)?,
        value("min(v)", query)?,
        value("max(v)", query)?,
        value("count(*) - count(v)", query)?,
    ];
    expression(&format!("(case {known} when __5 > 0 then null else {holds} end)"), parts)
}

/// Rewrites `in` of a row and a query with as many columns, as a condition: it may be false instead of unknown.
fn row_in(columns: Vec<Expr>, query: &Query, negated: bool) -> Result<Expr, Box<Error>> {
    let (own, equal) = row_words(&columns, query)?;
    let found = if negated { format!("({equal}) is not false") } else { equal };
    let not = if negated { "not " } else { "" };
    let words = format!("({not}exists (select 1 from (select 1) as {ROWS}({own}) where {found}))");
    let mut made = expression(&words, columns)?;
    put(&mut made, query);
    Ok(made)
}

/// Returns the column names of the query of such an `in`, and the SQL by which they equal the row.
fn row_words(columns: &[Expr], query: &Query) -> Result<(String, String), Box<Error>> {
    let is_wild = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    if let SetExpr::Select(select) = &*query.body
        && !select.projection.iter().any(is_wild)
    {
        same_width(columns.len(), select.projection.len())?;
    }
    let own: Vec<String> = (1..=columns.len()).map(|number| format!("{ROWS}_{number}")).collect();
    let equal: Vec<String> =
        own.iter().enumerate().map(|(number, column)| format!("{ROWS}.{column} = __{}", number + 1)).collect();
    Ok((own.join(", "), equal.join(" and ")))
}

/// Rewrites `in` of a row and a query, as a value: it is unknown if the row is not found, but would be if a null had
/// another value. Other expressions are left as they are.
pub(super) fn row_as_value(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::InSubquery { expr: value, subquery, negated } = expr else { return Ok(()) };
    let Some(columns) = row(value).map(<[Expr]>::to_vec) else { return Ok(()) };
    let (own, equal) = row_words(&columns, subquery)?;
    let number = |condition: &str| -> Result<Expr, Box<Error>> {
        let words = format!("(select count(*) from (select 1) as {ROWS}({own}) where {condition})");
        let mut made = expression(&words, columns.clone())?;
        put(&mut made, subquery);
        Ok(made)
    };
    let parts = vec![number(&equal)?, number(&format!("({equal}) is null"))?];
    let words = "(case when __1 > 0 then true when __2 > 0 then null else false end)";
    let found = expression(words, parts)?;
    *expr = if *negated { expression("(not __1)", vec![found])? } else { found };
    Ok(())
}

/// Returns whether an expression is `in` of a row and a query, in any parentheses.
fn is_row_in(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_row_in(inner),
        Expr::InSubquery { expr: value, .. } => row(value).is_some(),
        _ => false,
    }
}

fn innermost(expr: &mut Expr) -> &mut Expr {
    match expr {
        Expr::Nested(inner) => innermost(inner),
        expr => expr,
    }
}

/// Rewrites `select x from t ... order by y limit 1`, also with an `offset`, to an aggregate, which the engine can
/// decorrelate.
fn first(query: &mut Query) {
    let is_one = |limit: &Expr| match limit {
        Expr::Value(value) => matches!(&value.value, Value::Number(digits, _) if digits == "1"),
        _ => false,
    };
    let skipped = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit: Some(limit), offset, limit_by })
            if limit_by.is_empty() && is_one(limit) =>
        {
            match offset.as_ref().map(|offset| whole(&offset.value)) {
                None => 0,
                Some(Some(skipped)) => skipped,
                Some(None) => return,
            }
        }
        _ => return,
    };
    let keys = match query.order_by.as_ref().map(|order| &order.kind) {
        None => String::new(),
        Some(OrderByKind::Expressions(keys)) => {
            // A position or an alias is not an expression over the rows.
            if keys.iter().any(|key| matches!(&key.expr, Expr::Value(_))) {
                return;
            }
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            format!(" order by {}", keys.join(", "))
        }
        Some(_) => return,
    };
    if query.with.is_some() || !matches!(&*query.body, SetExpr::Select(select) if is_plain(select)) {
        return;
    }
    let SetExpr::Select(select) = &mut *query.body else { return };
    let [SelectItem::UnnamedExpr(item)] = select.projection.as_mut_slice() else { return };
    let words = match skipped {
        0 => format!("first_value(__1{keys})"),
        skipped => format!("nth_value(__1, {}{keys})", skipped + 1),
    };
    if let Ok(made) = expression(&words, vec![item.clone()]) {
        *item = made;
        query.order_by = None;
        query.limit_clause = None;
    }
}

/// Returns whether a query is `select from ...`.
fn has_no_columns(query: &Query) -> bool {
    matches!(&*query.body, SetExpr::Select(select) if select.projection.is_empty())
}

/// Returns the value of an integer literal.
fn whole(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the number of rows that a query skips, if it has an offset and at most a limit above 0.
fn skipped(query: &Query) -> Option<u32> {
    let Some(LimitClause::LimitOffset { limit, offset: Some(offset), limit_by }) = &query.limit_clause else {
        return None;
    };
    let is_some = limit.as_ref().is_none_or(|limit| whole(limit) != Some(0));
    if is_some && limit_by.is_empty() { whole(&offset.value) } else { None }
}

/// Returns a subquery that counts the rows of a query.
fn number_of_rows(mut query: Box<Query>) -> Result<Expr, Box<Error>> {
    if query.with.is_none()
        && let SetExpr::Select(select) = &mut *query.body
        && is_plain(select)
    {
        select.projection = vec![SelectItem::UnnamedExpr(expression("count(*)", Vec::new())?)];
        return Ok(Expr::Subquery(query));
    }
    value("count(*)", &query)
}

/// Returns whether a query has neither an offset nor a limit of 0.
fn is_limited_to_some(query: &Query) -> bool {
    match &query.limit_clause {
        None => true,
        Some(LimitClause::LimitOffset { limit: Some(Expr::Value(limit)), offset: None, limit_by }) => {
            limit_by.is_empty() && matches!(&limit.value, Value::Number(digits, _) if digits != "0")
        }
        Some(_) => false,
    }
}

//! Comparisons of wide decimals and of integers with numeric literals. The engine coerces both sides to a type that has
//! the digits of both, and no type has more than 76: `d < 1` would be refused if all digits of `d` are fractional. So
//! the literal is converted to the type of the other side: to the same value, to the next lower one, or to the minimum
//! or maximum.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, i256};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator, binary_expr, lit};

use super::{TypeOf, is_comparison};

/// A decimal type.
#[derive(Clone, Copy, Debug)]
struct Decimals {
    precision: u8,
    scale: i8,
    /// Whether the type has 256 bits.
    is_long: bool,
}

impl Decimals {
    fn of(data_type: &DataType) -> Option<Self> {
        match *data_type {
            DataType::Decimal128(precision, scale @ 0..) => Some(Self { precision, scale, is_long: false }),
            DataType::Decimal256(precision, scale @ 0..) => Some(Self { precision, scale, is_long: true }),
            // As many digits as the maximum of the type has.
            DataType::Int8 | DataType::UInt8 => Some(Self { precision: 3, scale: 0, is_long: false }),
            DataType::Int16 | DataType::UInt16 => Some(Self { precision: 5, scale: 0, is_long: false }),
            DataType::Int32 | DataType::UInt32 => Some(Self { precision: 10, scale: 0, is_long: false }),
            DataType::Int64 | DataType::UInt64 => Some(Self { precision: 20, scale: 0, is_long: false }),
            _ => None,
        }
    }

    fn literal(self, value: Option<i256>) -> Expr {
        let Self { precision, scale, is_long } = self;
        lit(if is_long {
            ScalarValue::Decimal256(value, precision, scale)
        } else {
            ScalarValue::Decimal128(value.and_then(i256::to_i128), precision, scale)
        })
    }

    /// Returns the greatest value.
    fn most(self) -> Option<i256> {
        power(u32::from(self.precision))?.checked_sub(i256::ONE)
    }

    /// Returns whether no type of the engine can hold the digits of this type and of all the numbers.
    fn is_too_narrow_for(self, numbers: &[NumericLiteral]) -> bool {
        let all = || numbers.iter().map(|number| number.own).chain([self]);
        let whole = all().map(|of| i16::from(of.precision) - i16::from(of.scale)).max().unwrap_or(0);
        let behind = all().map(|of| i16::from(of.scale)).max().unwrap_or(0);
        let is_long = all().any(|of| of.is_long);
        let most = if is_long { DECIMAL256_MAX_PRECISION } else { DECIMAL128_MAX_PRECISION };
        // Of several widths, the engine takes the digits of one.
        whole + behind > i16::from(most) || is_long && !all().all(|of| of.is_long)
    }

    /// Returns the position of the number among the values of the type.
    fn place(self, number: &NumericLiteral) -> Option<NumberPosition> {
        let most = self.most()?;
        let beyond = if number.value.is_negative() { NumberPosition::Below } else { NumberPosition::Above };
        let more = i32::from(self.scale) - i32::from(number.own.scale);
        let factor = power(more.unsigned_abs())?;
        let (value, is_whole) = if more >= 0 {
            let Some(value) = number.value.checked_mul(factor) else { return Some(beyond) };
            (value, true)
        } else {
            let rest = number.value.checked_rem(factor)?;
            let value = number.value.checked_div(factor)?;
            (if rest.is_negative() { value.checked_sub(i256::ONE)? } else { value }, rest == i256::ZERO)
        };
        Some(if value > most {
            NumberPosition::Above
        } else if value < -most {
            NumberPosition::Below
        } else if is_whole {
            NumberPosition::At(value)
        } else {
            NumberPosition::Behind(value)
        })
    }
}

fn power(exponent: u32) -> Option<i256> {
    i256::from_i128(10).checked_pow(exponent)
}

/// A numeric literal.
#[derive(Debug)]
struct NumericLiteral {
    value: i256,
    own: Decimals,
}

impl NumericLiteral {
    fn of(expr: &Expr) -> Option<Self> {
        // The engine gives any integer this many digits.
        let whole = |value: i128| Self {
            value: i256::from_i128(value),
            own: Decimals { precision: 20, scale: 0, is_long: false },
        };
        let own = |precision, scale, is_long| Decimals { precision, scale, is_long };
        Some(match expr {
            Expr::Negative(inner) => {
                let number = Self::of(inner)?;
                Self { value: -number.value, ..number }
            }
            Expr::Literal(ScalarValue::Int32(Some(value)), _) => whole(i128::from(*value)),
            Expr::Literal(ScalarValue::Int64(Some(value)), _) => whole(i128::from(*value)),
            Expr::Literal(ScalarValue::UInt64(Some(value)), _) => whole(i128::from(*value)),
            Expr::Literal(ScalarValue::Decimal128(Some(value), precision, scale @ 0..), _) => {
                Self { value: i256::from_i128(*value), own: own(*precision, *scale, false) }
            }
            Expr::Literal(ScalarValue::Decimal256(Some(value), precision, scale @ 0..), _) => {
                Self { value: *value, own: own(*precision, *scale, true) }
            }
            _ => return None,
        })
    }
}

/// Position of a number among the values of a type.
#[derive(Clone, Copy, Debug)]
enum NumberPosition {
    Below,
    At(i256),
    /// Between this value and the next.
    Behind(i256),
    Above,
}

/// Rewrites a comparison whose digits no type of the engine can hold: the literal becomes a value of the other side's
/// type.
pub(super) fn compared(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match sides(&left, op, &right, type_of) {
            Some(other) => Transformed::yes(other),
            None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
        },
        Expr::Between(Between { expr, negated, low, high }) => match ends(&expr, &low, &high, type_of) {
            Some((low, high)) => {
                Transformed::yes(Expr::Between(Between { expr, negated, low: Box::new(low), high: Box::new(high) }))
            }
            None => Transformed::no(Expr::Between(Between { expr, negated, low, high })),
        },
        Expr::InList(InList { expr, list, negated }) => match listed(&expr, &list, negated, type_of) {
            Some(other) => Transformed::yes(other),
            None => Transformed::no(Expr::InList(InList { expr, list, negated })),
        },
        other => Transformed::no(other),
    }
}

/// Rewrites an operator and its operands in the same way; returns `None` if the engine's coercion is correct.
pub(super) fn sides(left: &Expr, op: Operator, right: &Expr, type_of: TypeOf<'_>) -> Option<Expr> {
    if !is_comparison(op) {
        return None;
    }
    let found = |of: &Expr, number: &Expr| {
        let (all, number) = beside(of, [number].into_iter(), type_of)?;
        Some((all, all.place(number.first()?)?))
    };
    match (found(left, right), found(right, left)) {
        (Some((all, place)), _) => compare(left, op, all, place),
        (_, Some((all, place))) => compare(right, swapped(op), all, place),
        _ => None,
    }
}

/// Returns the type of one side and the literals of the other if their digits together exceed every type.
fn beside<'e>(
    of: &Expr,
    numbers: impl Iterator<Item = &'e Expr>,
    type_of: TypeOf<'_>,
) -> Option<(Decimals, Vec<NumericLiteral>)> {
    let numbers = numbers.map(NumericLiteral::of).collect::<Option<Vec<_>>>()?;
    if NumericLiteral::of(of).is_some() {
        return None;
    }
    let all = Decimals::of(&type_of(of)?)?;
    all.is_too_narrow_for(&numbers).then_some((all, numbers))
}

fn swapped(op: Operator) -> Operator {
    match op {
        Operator::Lt => Operator::Gt,
        Operator::LtEq => Operator::GtEq,
        Operator::Gt => Operator::Lt,
        Operator::GtEq => Operator::LtEq,
        other => other,
    }
}

fn compare(side: &Expr, op: Operator, all: Decimals, place: NumberPosition) -> Option<Expr> {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    let below = match place {
        NumberPosition::At(value) => return Some(binary_expr(side.clone(), op, all.literal(Some(value)))),
        NumberPosition::Behind(value) => matches!(op, Lt | LtEq | Gt | GtEq).then_some(value),
        NumberPosition::Below | NumberPosition::Above => None,
    };
    if let Some(below) = below {
        let op = if matches!(op, Lt | LtEq) { LtEq } else { Gt };
        return Some(binary_expr(side.clone(), op, all.literal(Some(below))));
    }
    let holds = match op {
        Eq => false,
        NotEq => true,
        IsDistinctFrom => return Some(lit(true)),
        IsNotDistinctFrom => return Some(lit(false)),
        Lt | LtEq => matches!(place, NumberPosition::Above),
        _ => matches!(place, NumberPosition::Below),
    };
    always(side, holds, all)
}

/// Returns an expression that is `holds` for every value, and null for null.
fn always(side: &Expr, holds: bool, all: Decimals) -> Option<Expr> {
    let op = if holds { Operator::LtEq } else { Operator::Gt };
    Some(binary_expr(side.clone(), op, all.literal(Some(all.most()?))))
}

/// Returns the least and the greatest value between two numbers, or the maximum and the minimum of the type if there is
/// none.
fn ends(side: &Expr, low: &Expr, high: &Expr, type_of: TypeOf<'_>) -> Option<(Expr, Expr)> {
    let (all, numbers) = beside(side, [low, high].into_iter(), type_of)?;
    let [low, high] = numbers.as_slice() else { return None };
    let most = all.most()?;
    let low = match all.place(low)? {
        NumberPosition::Below => Some(-most),
        NumberPosition::At(value) => Some(value),
        NumberPosition::Behind(value) => Some(value.checked_add(i256::ONE)?),
        NumberPosition::Above => None,
    };
    let high = match all.place(high)? {
        NumberPosition::Below => None,
        NumberPosition::At(value) | NumberPosition::Behind(value) => Some(value),
        NumberPosition::Above => Some(most),
    };
    let (low, high) = low.zip(high).unwrap_or((most, -most));
    Some((all.literal(Some(low)), all.literal(Some(high))))
}

/// Reduces an `in` list to the values that can be equal.
fn listed(side: &Expr, list: &[Expr], negated: bool, type_of: TypeOf<'_>) -> Option<Expr> {
    let is_null = |part: &&Expr| matches!(part, Expr::Literal(value, _) if value.is_null());
    let (all, numbers) = beside(side, list.iter().filter(|part| !is_null(part)), type_of)?;
    let mut found = Vec::with_capacity(list.len());
    for number in &numbers {
        if let NumberPosition::At(value) = all.place(number)? {
            found.push(all.literal(Some(value)));
        }
    }
    found.extend(list.iter().filter(is_null).map(|_| all.literal(None)));
    if found.is_empty() {
        return always(side, negated, all);
    }
    Some(Expr::InList(InList { expr: Box::new(side.clone()), list: found, negated }))
}

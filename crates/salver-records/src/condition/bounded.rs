//! Numbers beside types of PostgreSQL that compare with their own values alone, and with no other number: `oid`, and
//! `money` at its ends. A number that such a type can't have lies between two of its values, or beyond all of them.

use salver_model::records::ColumnInfo;

use super::predicate::Literal;
use crate::dialect::Dialect;
use crate::statement::Bind;

/// The largest amount of `money`, in whole units.
const MONEY_LAST: f64 = 92_233_720_368_547_758.0;

/// Returns what the number `bind` is beside a column of such a type; `None` where it compares as it is.
pub(super) fn beside(dialect: Dialect, column: &ColumnInfo, bind: &Bind) -> Option<Literal> {
    match (dialect, column.own_type()) {
        (Dialect::Postgres, "oid") => object_identifier(bind),
        (Dialect::Postgres, "money") => amount(bind),
        _ => None,
    }
}

fn object_identifier(bind: &Bind) -> Option<Literal> {
    let (whole, past) = match bind {
        Bind::Int(value) => (*value, false),
        Bind::Text(text) => floor(text)?,
        _ => return None,
    };
    if whole < 0 {
        return Some(Literal::Below);
    }
    if u32::try_from(whole).is_err() {
        return Some(Literal::Above);
    }
    Some(if past { Literal::Past(Bind::Int(whole)) } else { Literal::Is(Bind::Int(whole)) })
}

/// Returns the whole number at or below a decimal, and whether it is below it.
#[expect(clippy::cast_possible_truncation, reason = "what is far out stays far out")]
fn floor(text: &str) -> Option<(i64, bool)> {
    let number: f64 = text.parse().ok()?;
    let whole = number.floor() as i64;
    // Digits that a float does not keep count, too.
    let has_more = || {
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        !text.contains(['e', 'E']) && fraction.bytes().any(|digit| digit != b'0')
    };
    match number.fract() == 0.0 && has_more() {
        true if text.starts_with('-') => Some((whole - 1, true)),
        true => Some((whole, true)),
        false => Some((whole, number.fract() != 0.0)),
    }
}

fn amount(bind: &Bind) -> Option<Literal> {
    let Bind::Text(text) = bind else { return None };
    match text.parse::<f64>().ok()? {
        // It is above all numbers in PostgreSQL.
        number if number.is_nan() || number >= MONEY_LAST => Some(Literal::Above),
        number if number <= -MONEY_LAST => Some(Literal::Below),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{amount, object_identifier};
    use crate::condition::Literal;
    use crate::statement::Bind;

    #[test]
    fn numbers_between_and_beyond() {
        let text = |text: &str| Bind::Text(text.to_owned());
        for (bind, expected) in [
            (Bind::Int(7), Literal::Is(Bind::Int(7))),
            (Bind::Int(-1), Literal::Below),
            (Bind::Int(4_294_967_296), Literal::Above),
            (text("1e1"), Literal::Is(Bind::Int(10))),
            (text("1.5"), Literal::Past(Bind::Int(1))),
            (text("7.0"), Literal::Is(Bind::Int(7))),
            (text("7.00000000000000000001"), Literal::Past(Bind::Int(7))),
            (text("-0.5"), Literal::Below),
            (text("1e300"), Literal::Above),
            (text("99999999999999999999"), Literal::Above),
        ] {
            assert_eq!(object_identifier(&bind), Some(expected), "{bind:?}");
        }
        assert_eq!(amount(&text("1.5")), None);
        assert_eq!(amount(&text("NaN")), Some(Literal::Above));
        assert_eq!(amount(&text("-1e18")), Some(Literal::Below));
    }
}

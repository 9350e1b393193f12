//! Numbers beside types of PostgreSQL that compare with their own values alone, and with no other number: `oid`, and
//! `money` at its ends. A number that such a type can't have lies between two of its values, or beyond all of them.

use salver_model::records::ColumnInfo;

use super::predicate::Literal;
use crate::dialect::Dialect;
use crate::statement::Bind;

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
    let number: f64 = text.parse().ok()?;
    // It is above all numbers in PostgreSQL.
    if number.is_nan() {
        return Some(Literal::Above);
    }
    let is_amount = match cents(text) {
        Some((cents, is_whole)) if number < 0.0 => cents < FIRST_CENTS || cents == FIRST_CENTS && is_whole,
        Some((cents, is_whole)) => cents < LAST_CENTS || cents == LAST_CENTS && is_whole,
        None => number.abs() < 9.2e16,
    };
    match is_amount {
        true => None,
        false if number < 0.0 => Some(Literal::Below),
        false => Some(Literal::Above),
    }
}

/// The cents of the least amount of `money`, without their sign.
const FIRST_CENTS: u128 = 1 << 63;
/// The cents of the largest amount of `money`.
const LAST_CENTS: u128 = FIRST_CENTS - 1;

/// Returns the cents of a plain decimal without their sign, and whether there is nothing behind them; `None` for a
/// number with an exponent or with too many digits.
fn cents(text: &str) -> Option<(u128, bool)> {
    let digits = text.trim_start_matches(['-', '+']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (cents, behind) = fraction.split_at(fraction.len().min(2));
    let cents = format!("{whole}{cents:0<2}").parse().ok()?;
    Some((cents, behind.bytes().all(|digit| digit == b'0')))
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
        for (least, greatest) in [("-92233720368547758.08", "92233720368547758.07"), ("-1", "1e3")] {
            assert_eq!((amount(&text(least)), amount(&text(greatest))), (None, None));
        }
        for beyond in ["92233720368547758.08", "92233720368547758.071", "92233720368547760"] {
            assert_eq!(amount(&text(beyond)), Some(Literal::Above), "{beyond}");
        }
        assert_eq!(amount(&text("-92233720368547758.09")), Some(Literal::Below));
    }
}

//! Decimal placeholders for MySQL.

use super::Sql;
use crate::statement::Bind;

/// Appends the placeholder of a number that is sent to MySQL as text, cast to as many digits as it has: fewer would
/// change the number.
pub(crate) fn push_decimal(bind: Bind, sql: &mut Sql) {
    /// The limits of MySQL's decimals.
    const MYSQL_DIGITS: usize = 65;
    const MYSQL_PLACES: usize = 30;
    let Bind::Text(text) = &bind else {
        sql.bind(bind);
        return;
    };
    let unsigned = text.trim_start_matches(['-', '+']);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let plain = unsigned.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let (digits, places) = (whole.len() + fraction.len(), fraction.len());
    if !plain || digits > MYSQL_DIGITS || places > MYSQL_PLACES {
        // It differs from every decimal: as a float it compares correctly.
        sql.push("(").bind(bind).push(" + 0e0)");
        return;
    }
    sql.push("CAST(").bind(bind).push(&format!(" AS DECIMAL({},{places}))", digits.max(1)));
}

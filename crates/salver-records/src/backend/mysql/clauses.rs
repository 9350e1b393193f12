//! The outline of a statement: its words and commas outside quotes and parentheses, as far as needed to rewrite
//! statements that Salver itself generates. This is not an SQL parser; it leaves alone whatever it does not know.

use std::ops::Range;

/// A token outside quotes and parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A bare word or number.
    Word(Range<usize>),
    /// A comma.
    Comma(usize),
    /// From `(` to its `)`.
    Group(Range<usize>),
}

/// Returns the marks of `sql` in order, or `None` when a quote or parenthesis is left open.
pub(super) fn marks(sql: &str) -> Option<Vec<Mark>> {
    let bytes = sql.as_bytes();
    let mut marks = Vec::new();
    let mut depth = 0usize;
    let mut opened = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\'' | b'"' | b'`' => {
                at = after_quote(bytes, at)?;
                continue;
            }
            b'(' => {
                if depth == 0 {
                    opened = at;
                }
                depth += 1;
            }
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    marks.push(Mark::Group(opened..at + 1));
                }
            }
            b',' if depth == 0 => marks.push(Mark::Comma(at)),
            _ if depth == 0 && is_word(byte) => {
                let end = bytes[at..].iter().position(|byte| !is_word(*byte)).map_or(bytes.len(), |length| at + length);
                // A word after a dot is a name, even if it looks like a keyword.
                if at == 0 || bytes[at - 1] != b'.' {
                    marks.push(Mark::Word(at..end));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(marks)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || !byte.is_ascii()
}

/// Returns the position after the quoted text that opens at `at`. A doubled quote closes it and opens the next at once.
fn after_quote(bytes: &[u8], mut at: usize) -> Option<usize> {
    let quote = bytes[at];
    at += 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// A `SELECT` split into parts.
#[derive(Debug)]
pub(super) struct Select<'a> {
    /// The select list, without aliases.
    pub(super) items: Vec<&'a str>,
    /// Everything from `FROM` on, or empty.
    pub(super) rest: &'a str,
    /// Whether it has an `ORDER BY` and no `LIMIT`, so that an enclosing statement would ignore the order.
    pub(super) needs_bound: bool,
    /// Whether it is a set operation, whose order can only name the columns of its first select.
    pub(super) is_set: bool,
    /// Whether its expressions can be wrapped without changing its rows and their order.
    pub(super) is_plain: bool,
}

/// Splits a `SELECT`; returns `None` for another statement, or one that can't be a subquery.
pub(super) fn select(sql: &str) -> Option<Select<'_>> {
    let marks = marks(sql)?;
    let words: Vec<(usize, String)> = marks
        .iter()
        .enumerate()
        .filter_map(|(index, mark)| match mark {
            Mark::Word(range) => Some((index, sql[range.clone()].to_ascii_uppercase())),
            _ => None,
        })
        .collect();
    let has = |word: &str| words.iter().any(|(_, own)| own == word);
    if words.first().is_none_or(|(index, word)| *index != 0 || !matches!(word.as_str(), "SELECT" | "WITH")) {
        return None;
    }
    if has("INTO") || has("FOR") || has("LOCK") {
        return None;
    }
    let needs_bound = has("ORDER") && !has("LIMIT") && !has("FETCH");
    let from = words.iter().find(|(_, word)| word == "FROM").map(|(index, _)| *index);
    let is_set = has("UNION") || has("EXCEPT") || has("INTERSECT");
    let is_plain = words[0].1 == "SELECT"
        && !is_set
        && from.is_some()
        && !["DISTINCT", "ALL", "GROUP", "HAVING", "WINDOW", "STRAIGHT_JOIN"].iter().any(|word| has(word))
        && !orders_by_place(sql, &marks);
    let (items, rest) = match from.and_then(|from| marks.get(from)) {
        Some(Mark::Word(range)) if is_plain => (items(sql, &marks, range.start), &sql[range.start..]),
        _ => (Vec::new(), ""),
    };
    Some(Select { items, rest, needs_bound, is_set, is_plain })
}

/// Returns whether it orders by the position of a column in the list, like `ORDER BY 2`.
fn orders_by_place(sql: &str, marks: &[Mark]) -> bool {
    let mut in_order = false;
    let mut begins = false;
    for mark in marks {
        match mark {
            Mark::Word(range) => {
                let word = &sql[range.clone()];
                match word.to_ascii_uppercase().as_str() {
                    "ORDER" => in_order = true,
                    "LIMIT" => in_order = false,
                    "BY" => begins = true,
                    _ if in_order && begins && word.bytes().all(|byte| byte.is_ascii_digit()) => return true,
                    _ => begins = false,
                }
            }
            Mark::Comma(_) => begins = true,
            Mark::Group(_) => begins = false,
        }
    }
    false
}

/// Returns the expressions between the first word and `end`, without aliases.
fn items<'a>(sql: &'a str, marks: &[Mark], end: usize) -> Vec<&'a str> {
    let mut items = Vec::new();
    let mut start = match marks.first() {
        Some(Mark::Word(select)) => select.end,
        _ => 0,
    };
    let mut stop = None;
    for mark in marks.iter().skip(1) {
        match mark {
            Mark::Word(range) if range.start < end && sql[range.clone()].eq_ignore_ascii_case("AS") => {
                stop = Some(range.start);
            }
            Mark::Comma(at) if *at < end => {
                items.push(sql[start..stop.take().unwrap_or(*at)].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(sql[start..stop.unwrap_or(end)].trim());
    items
}

/// Splits an `INSERT` of one row: up to `VALUES`, the row in its parentheses, and the rest.
pub(super) fn insert(sql: &str) -> Option<(&str, &str, &str)> {
    let marks = marks(sql)?;
    let at = marks
        .iter()
        .position(|mark| matches!(mark, Mark::Word(range) if sql[range.clone()].eq_ignore_ascii_case("VALUES")))?;
    let Some(Mark::Group(row)) = marks.get(at + 1) else { return None };
    Some((&sql[..row.start], &sql[row.clone()], &sql[row.end..]))
}

#[cfg(test)]
mod tests {
    use super::{insert, select};

    #[test]
    fn a_select_in_parts() {
        let sql =
            "SELECT t.`a,b` AS `from`, COALESCE(x, '(''\\' , FROM'), ? FROM `t` AS t WHERE `order` = 1 ORDER BY t.`a`";
        let parts = select(sql).unwrap();
        assert_eq!(parts.items, ["t.`a,b`", "COALESCE(x, '(''\\' , FROM')", "?"]);
        assert_eq!(parts.rest, "FROM `t` AS t WHERE `order` = 1 ORDER BY t.`a`");
        assert!(parts.needs_bound && parts.is_plain);
        let by_place = select("SELECT a, b FROM t ORDER BY a, 2").unwrap();
        assert!(by_place.needs_bound && !by_place.is_plain);
        let plain = select("SELECT a, b FROM t ORDER BY a DESC, b LIMIT 3").unwrap();
        assert!(plain.is_plain && !plain.needs_bound);
        assert!(!select("SELECT DISTINCT a FROM t").unwrap().is_plain);
        assert!(!select("SELECT a FROM (SELECT 1 AS a) x GROUP BY a").unwrap().is_plain);
        assert!(select("SELECT a FROM (SELECT 1 AS a GROUP BY a) x").unwrap().is_plain);
        assert!(select("SELECT a FROM t FOR UPDATE").is_none());
        assert!(select("UPDATE t SET a = 1").is_none());
        assert!(select("SELECT ')' FROM t WHERE (a").is_none());
    }

    #[test]
    fn an_insert_in_parts() {
        let sql = "INSERT INTO `values` (`a`, `b`) VALUES (?, f(?, ')')) ON DUPLICATE KEY UPDATE `a` = VALUES(`a`)";
        let (head, row, tail) = insert(sql).unwrap();
        assert_eq!(head, "INSERT INTO `values` (`a`, `b`) VALUES ");
        assert_eq!(row, "(?, f(?, ')'))");
        assert_eq!(tail, " ON DUPLICATE KEY UPDATE `a` = VALUES(`a`)");
        assert!(insert("INSERT INTO t SELECT 1").is_none());
    }
}

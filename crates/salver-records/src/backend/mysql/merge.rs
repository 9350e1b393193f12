//! Merges several reads into one statement, which takes one round trip and sees one snapshot.
//!
//! Each read becomes a branch of a `UNION ALL`: its index, then its columns, each as the bytes of its text, so that the
//! union does not coerce columns of different types. For two reads:
//!
//! ```sql
//! SELECT 0, <a as bytes>, <b as bytes> FROM ... UNION ALL SELECT 1, <c as bytes>, NULL FROM ...
//! ```

use std::fmt::Write;

use salver_model::records::ColumnKind;

use super::clauses::select;
use crate::statement::Read;

/// Most reads in one statement.
const MERGED_READS: usize = 48;
/// Most placeholders of one statement.
pub(super) const PLACEHOLDERS: usize = 65_535;
/// Most columns of one statement.
const MERGED_COLUMNS: usize = 4_000;
/// A limit above any row count, which keeps the order of a branch.
const NO_BOUND: &str = " LIMIT 18446744073709551615";

/// Merges `reads` into one statement with their placeholders in order; returns `None` when they can't be merged.
pub(super) fn merged(reads: &[Read]) -> Option<String> {
    let width = reads.iter().map(|read| read.kinds.len()).max()?;
    let placeholders: usize = reads.iter().map(|read| read.binds.len()).sum();
    if reads.len() > MERGED_READS || placeholders > PLACEHOLDERS || width >= MERGED_COLUMNS {
        return None;
    }
    let mut sql = String::with_capacity(reads.iter().map(|read| read.sql.len() * 2 + 64).sum());
    for (index, read) in reads.iter().enumerate() {
        if index > 0 {
            sql.push_str(" UNION ALL ");
        }
        branch(index, read, width, &mut sql)?;
    }
    Some(sql)
}

fn branch(index: usize, read: &Read, width: usize, sql: &mut String) -> Option<()> {
    let parts = select(&read.sql)?;
    let bound = if parts.needs_bound { NO_BOUND } else { "" };
    let in_place = parts.is_plain
        && parts.items.len() == read.kinds.len()
        && parts.items.iter().all(|item| !item.is_empty() && !item.ends_with('*'));
    let _ = write!(sql, "(SELECT {index}");
    if in_place {
        for (item, kind) in parts.items.iter().zip(read.kinds.iter()) {
            as_bytes(item, *kind, sql);
        }
    } else {
        for column in 0..read.kinds.len() {
            as_bytes(&format!("c{column}"), read.kinds[column], sql);
        }
    }
    for _ in read.kinds.len()..width {
        sql.push_str(", NULL");
    }
    if in_place {
        let _ = write!(sql, " {}{bound})", parts.rest);
    } else {
        // Only a common table expression can name the columns of a subquery. Its own name has a space, as none of
        // Salver's names has.
        sql.push_str(" FROM (WITH `salver part` (");
        for column in 0..read.kinds.len() {
            let _ = write!(sql, "{}c{column}", if column > 0 { ", " } else { "" });
        }
        let (before, after) = if parts.is_set { ("SELECT * FROM (", ") AS whole") } else { ("", "") };
        let _ = write!(sql, ") AS ({before}{}{bound}{after}) SELECT * FROM `salver part`{bound}) AS part)", read.sql);
    }
    Some(())
}

/// Appends a value as the bytes of its text.
fn as_bytes(value: &str, kind: ColumnKind, sql: &mut String) {
    let (before, after) = match kind {
        // The sum makes a number of a `BIT`, whose text would be its bytes.
        ColumnKind::Integer | ColumnKind::BigInt | ColumnKind::Boolean => ("CAST((", ") + 0 AS BINARY)"),
        // The product makes a `DOUBLE` of a `FLOAT`, whose text has too few digits; a sum would lose the sign of zero.
        // Without the length the longest numbers may be truncated.
        ColumnKind::Float | ColumnKind::Double => ("CAST(CAST((", ") * 1e0 AS CHAR(32)) AS BINARY)"),
        ColumnKind::Varbinary | ColumnKind::Blob => ("CAST(", " AS BINARY)"),
        _ => ("CAST(CONVERT(", " USING utf8mb4) AS BINARY)"),
    };
    sql.push_str(", ");
    sql.push_str(before);
    sql.push_str(value);
    sql.push_str(after);
}

//! Values of SQLite that are no texts in columns that are declared as texts of some form (`uuid`, `json`, `string`):
//! what SQLite doesn't know as the name of a text type makes a number of a text that is one. They compare as their
//! texts, like all others there, for which no index can be used. An order of all rows is worth looking for them first:
//! in an index, that is two look-ups.

use salver_model::records::ColumnKind;
use salver_model::{Query, Result};

use super::batches::BatchSink;
use super::{RecordsTable, column, select};
use crate::dialect::{Dialect, Sql};
use crate::statement::Read;

/// Returns whether a column that the rows are ordered by has a number or bytes among its texts.
pub(super) async fn are_in_the_order(table: &RecordsTable, query: &Query) -> Result<bool> {
    if table.dialect != Dialect::Sqlite || !select::is_ordered(query) {
        return Ok(false);
    }
    let info = &table.info;
    let sorted = query.sort.iter().filter_map(|sort| info.column(&sort.column.to_string()));
    let possible = |index: &usize| column::makes_numbers(table.dialect, &info.columns[*index]);
    let columns: Vec<usize> = sorted.chain(info.key.iter().copied()).filter(possible).collect();
    if columns.is_empty() {
        return Ok(false);
    }
    // SQLite orders numbers before all texts, and bytes behind them.
    let mut sql = Sql::new(table.dialect);
    sql.push("SELECT ");
    let mut first = true;
    for index in columns {
        let name = &info.columns[index].real_name;
        sql.separate(&mut first, " OR ").push("EXISTS (SELECT 1 FROM ").name(&info.real_name).push(" WHERE ");
        sql.name(name).push(" < '' OR ").name(name).push(" >= x'')");
    }
    let probe = Read { sql: sql.text.into(), binds: sql.binds, kinds: [ColumnKind::BigInt].into(), point: false };
    let found = table.known.backend.read(vec![probe], BatchSink::counting(), None).await?;
    Ok(found.total() != Some(0))
}

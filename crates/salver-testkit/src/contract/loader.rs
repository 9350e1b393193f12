//! The contract of the `Loader` port, clause by clause.

use salver_model::ports::{Loader, Table};
use salver_model::{Code, Query, Rows};

use super::collected;

/// Runs the suite. `change` changes what the source contains, and `damage` makes it unreadable; after `damage`,
/// `change` makes it readable again.
///
/// # Panics
/// When the contract is broken.
pub async fn run(loader: &dyn Loader, mut change: impl FnMut(), mut damage: impl FnMut()) {
    let version = loader.probe().await.expect("a version");
    let first = loader.load().await.expect("a table");
    assert_eq!(first.describe().version, version, "the table has another version than its source");
    assert_eq!(first.describe().name, *loader.name());
    assert_eq!(loader.probe().await.expect("a version"), version, "nothing changed, and the version is another");
    let rows = count(&*first).await;
    for _ in 0..2 {
        change();
        let newer = loader.probe().await.expect("a version");
        assert_ne!(newer, version, "the source changed, and the version is the same");
        let second = loader.load().await.expect("a table");
        assert_eq!(second.describe().version, newer, "the table has another version than its source");
        assert_ne!(count(&*second).await, rows, "the suite needs a change in the number of rows");
        damage();
        let Err(refused) = loader.load().await else { panic!("a damaged source loads") };
        assert!(!refused.message.is_empty() && refused.hint.is_some(), "an error without a way out: {refused:?}");
    }
    // A table that is read where it lies may be gone with its source; it never has other rows.
    match first.read(&Query::default()).await {
        Ok(read) => assert_eq!(number(read).await, rows, "a table changed with its source"),
        Err(error) => assert_eq!(error.code, Code::EntryUnavailable, "{error:?}"),
    }
}

async fn count(table: &dyn Table) -> usize {
    number(table.read(&Query::default()).await.expect("rows")).await
}

async fn number(rows: Rows) -> usize {
    collected(rows.batches).await.expect("rows").iter().map(|batch| batch.num_rows()).sum()
}

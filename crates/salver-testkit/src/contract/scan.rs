//! The contract of the `Scan` port, clause by clause.

use salver_model::Version;
use salver_model::ports::{Held, Scan};

use super::held::{all, reads, text};

/// Runs the suite on `scan`, which has some rows, and to which `grow` adds some more each time.
///
/// # Panics
/// When the contract is broken.
pub async fn run(scan: &dyn Scan, mut grow: impl AsyncFnMut()) {
    let first = scan.hold();
    assert!(first.describe().rows.is_some_and(|rows| rows > 0), "the suite needs some rows");
    reads(&*first).await;
    let before = all(&*first).await;
    let same = scan.hold();
    assert_eq!(same.describe().version, first.describe().version, "nothing came, and the version is another");
    for _ in 0..3 {
        let earlier = scan.hold();
        let early = all(&*earlier).await;
        grow().await;
        let later = scan.hold();
        assert_ne!(later.describe().version, earlier.describe().version, "rows came, and the version is the same");
        reads(&*later).await;
        let late = all(&*later).await;
        assert!(late.len() > early.len(), "rows that came do not show");
        assert_eq!(all(&*earlier).await, early, "held rows have changed");
        // Columns may have come too; the earlier ones have their names and values still.
        let columns = columns_named(&*later, &*earlier);
        let kept = text(&*later, &columns).await;
        assert_eq!(kept[..early.len()], early, "rows that were there have changed");
        let again = scan.hold_at(earlier.describe().version);
        let again = again.unwrap_or_else(|| panic!("the rows of an earlier version are gone"));
        assert_eq!(again.describe().version, earlier.describe().version);
        assert_eq!(again.describe().rows, earlier.describe().rows);
        assert_eq!(text(&*again, &columns_named(&*again, &*earlier)).await, early, "rows of an earlier version differ");
    }
    assert_eq!(all(&*first).await, before, "held rows have changed");
    let unknown = Version(first.describe().version.0 ^ 0x5a17_e25a_17e2_5a17);
    assert!(scan.hold_at(unknown).is_none(), "rows of a version that never was");
}

/// Where the columns of `wanted` are in `held`.
fn columns_named(held: &dyn Held, wanted: &dyn Held) -> Vec<usize> {
    let schema = &held.describe().schema;
    let names = wanted.describe().schema.fields().iter().map(|field| field.name());
    names.map(|name| schema.index_of(name).unwrap_or_else(|error| panic!("{error}"))).collect()
}

//! The reference passes its own contract suite.

use std::sync::Arc;

use salver_model::ports::Table;
use salver_testkit::{MemoryTable, contract};

#[tokio::test]
async fn memory_table_keeps_the_contract() {
    contract::table::run(async |rows, key| {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        Arc::new(MemoryTable::new("sample", rows).with_key(&key)) as Arc<dyn Table>
    })
    .await;
}

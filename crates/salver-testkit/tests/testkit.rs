//! The reference passes its own contract suite, and the servers are there when they are asked for.

use std::sync::Arc;

use salver_model::ports::Table;
use salver_testkit::{MemoryTable, contract};

mod testkit {
    mod servers;
}

#[tokio::test]
async fn memory_table_keeps_the_contract() {
    contract::table::run(async |rows, key| {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        Arc::new(MemoryTable::new("sample", rows).with_key(&key)) as Arc<dyn Table>
    })
    .await;
}

//! The contract of the port.

use std::sync::Arc;

use salver_model::SqlQuery;
use salver_model::ports::{SqlEngine, Table};

use super::generated::{self, Catalog, collect};

#[tokio::test(flavor = "multi_thread")]
async fn any_table_can_be_joined_through_its_port() {
    /// Hides what it holds, as a table of another crate would.
    #[derive(Debug)]
    struct Foreign(salver_datasets::Dataset);

    #[async_trait::async_trait]
    impl Table for Foreign {
        fn describe(&self) -> &salver_model::Description {
            self.0.describe()
        }

        fn read<'a>(
            &'a self,
            query: &'a salver_model::Query,
        ) -> salver_model::ports::MaybeReady<'a, salver_model::Result<salver_model::Rows>> {
            self.0.read(query)
        }

        async fn hold(&self, parts: usize) -> salver_model::Result<Arc<dyn salver_model::ports::Held>> {
            self.0.hold(parts).await
        }

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    let (engine, _dir) = generated::engine();
    let data = generated::rows(500, 9);
    let near = generated::resident(&generated::spec("near", &[]), &data, &engine);
    let far = Foreign(generated::resident(&generated::spec("far", &[]), &data, &engine));
    let tables: Arc<Catalog> = Arc::new(Catalog(vec![Arc::new(near), Arc::new(far)]));
    let run = |text: &'static str| {
        let (engine, tables) = (Arc::clone(&engine), Arc::clone(&tables));
        async move {
            let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
            collect(engine.run(tables, &query).await.unwrap()).await.unwrap()
        }
    };
    let same = [
        (
            "select * from near where id < 40 and text is not null order by id",
            "select * from far where id < 40 and text is not null order by id",
        ),
        ("select count(*) as n from near where flag", "select count(*) as n from far where flag"),
        (
            "select id from near where small in (1, 2) order by id limit 7",
            "select id from far where small in (1, 2) order by id limit 7",
        ),
    ];
    for (one, other) in same {
        assert_eq!(format!("{:?}", run(one).await.columns()), format!("{:?}", run(other).await.columns()), "{one}");
    }
    let joined = run("select n.id from near n join far f on n.id = f.id where f.id between 10 and 19").await;
    assert_eq!(joined.num_rows(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn datasets_in_memory_keep_the_contract() {
    let (engine, _dir) = generated::engine();
    salver_testkit::contract::table::run(async |rows: arrow::array::RecordBatch, key: Vec<String>| {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        Arc::new(generated::resident(&generated::spec("t", &key), &rows, &engine)) as Arc<dyn Table>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn datasets_in_parquet_keep_the_contract() {
    let (engine, _dir) = generated::engine();
    salver_testkit::contract::table::run(async |rows: arrow::array::RecordBatch, key: Vec<String>| {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        Arc::new(generated::parquet(&generated::spec("t", &key), &rows, 2, &engine)) as Arc<dyn Table>
    })
    .await;
}

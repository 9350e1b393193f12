//! Long lists come in pieces, and are the same as short ones.

use futures::StreamExt;
use salver_model::ports::Database;
use salver_model::records::{DocumentBody, RecordRead};
use salver_testkit::servers::Kind;

use super::fixture::{Ask, World, table};

const MANY: &str = "create table many (id integer not null primary key, word varchar(20) not null);
insert into many (id, word) with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
select i, 'word' from n";

fn many(kind: Kind) -> String {
    match kind {
        Kind::Mariadb => format!("set max_recursive_iterations = 100000; {MANY}"),
        _ => MANY.to_owned(),
    }
}

#[tokio::test]
async fn in_pieces() {
    for kind in Kind::ALL {
        let world = World::with(kind, &many(kind), |_| {});
        let document = world.database.read(&world.caller, &RecordRead::List(Box::new(table("many")))).await.unwrap();
        let DocumentBody::Stream(mut pieces) = document.body else { panic!("{kind:?}: not a stream") };
        let mut whole = Vec::new();
        let mut count = 0;
        while let Some(piece) = pieces.next().await {
            let piece = piece.unwrap();
            assert!(piece.len() < 256 * 1024, "{kind:?}");
            whole.extend(piece);
            count += 1;
        }
        assert!(count > 4, "{kind:?}: {count}");
        let rows: Vec<String> = (1..=20_000).map(|id| format!(r#"{{"id":{id},"word":"word"}}"#)).collect();
        assert!(whole == format!(r#"{{"records":[{}]}}"#, rows.join(",")).into_bytes(), "{kind:?}");
        // Pages far behind are whole.
        let page = world.list(&table("many").include("id").page(10_000, 2)).await;
        assert_eq!(page, r#"{"records":[{"id":19999},{"id":20000}],"results":20000}"#, "{kind:?}");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_stops_the_work() {
    for kind in Kind::ALL {
        let world = World::with(kind, &many(kind), |spec| spec.connections_max = 1);
        for _ in 0..10 {
            let document =
                world.database.read(&world.caller, &RecordRead::List(Box::new(table("many")))).await.unwrap();
            let DocumentBody::Stream(mut pieces) = document.body else { panic!("{kind:?}: not a stream") };
            assert!(pieces.next().await.unwrap().unwrap().starts_with(b"{\"records\":[{"));
        }
        // The only connection is free again.
        assert_eq!(world.records(&table("users").include("id").size(1)).await, r#"[{"id":1}]"#, "{kind:?}");
    }
}

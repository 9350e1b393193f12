//! Reads by key of many callers at the same time, which go together: each gets its own row, and nobody an old one.

use std::sync::Arc;

use salver_testkit::servers::Kind;

use super::fixture::{World, create, update};

/// Callers at the same time, more than go into one statement.
const CALLERS: usize = 200;
/// Rounds of change and read of each caller who changes.
const ROUNDS: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_gets_his_own_row() {
    for kind in Kind::ALL {
        let world = Arc::new(World::plain(kind));
        let names: Vec<String> = (3..=60).map(|id| format!(r#"{{"name":"user {id}"}}"#)).collect();
        world.change(create("users", &format!("[{}]", names.join(",")))).await.unwrap();
        let mut expected = Vec::new();
        for key in 0..=70 {
            expected.push(world.row("users", &key.to_string()).await);
        }
        assert_eq!(expected[60], r#"{"id":60,"name":"user 60"}"#);
        assert_eq!(expected[61], "Record '61' not found");
        let expected = Arc::new(expected);
        let callers = (0..CALLERS).map(|caller| {
            let (world, expected) = (Arc::clone(&world), Arc::clone(&expected));
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    // Some ask for the same, some for what is not there.
                    let key = (caller * 7 + round * 3) % expected.len();
                    assert_eq!(world.row("users", &key.to_string()).await, expected[key], "{kind:?}");
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_a_row_from_before_his_own_change() {
    for kind in Kind::ALL {
        let world = Arc::new(World::plain(kind));
        let changing = (1..=2).map(|user| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    let name = format!("{user} in {round}");
                    let key = user.to_string();
                    world.change(update("users", &key, &format!(r#"{{"name":"{name}"}}"#))).await.unwrap();
                    assert_eq!(world.row("users", &key).await, format!(r#"{{"id":{user},"name":"{name}"}}"#));
                }
            })
        });
        let changing: Vec<_> = changing.collect();
        let reading = (0..16).map(|caller| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                loop {
                    let row = world.row("users", &(caller % 2 + 1).to_string()).await;
                    assert!(row.starts_with("{\"id\":"), "{row}");
                }
            })
        });
        let reading: Vec<_> = reading.collect();
        for one in changing {
            one.await.unwrap();
        }
        for one in reading {
            assert!(!one.is_finished(), "a reader failed");
            one.abort();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_goes_away_holds_up_nobody() {
    for kind in Kind::ALL {
        let world = Arc::new(World::plain(kind));
        for round in 0..ROUNDS {
            let callers = (0..30).map(|_| {
                let world = Arc::clone(&world);
                tokio::spawn(async move { world.row("users", "2").await })
            });
            let callers: Vec<_> = callers.collect();
            // The first is the one whose end the others wait for.
            for (at, caller) in callers.iter().enumerate().filter(|(at, _)| at % 3 == 0) {
                if at > round % 30 {
                    tokio::task::yield_now().await;
                }
                caller.abort();
            }
            for (at, caller) in callers.into_iter().enumerate() {
                match caller.await {
                    Ok(row) => assert_eq!(row, r#"{"id":2,"name":"bob"}"#),
                    Err(gone) => assert!(gone.is_cancelled() && at % 3 == 0, "{gone}"),
                }
            }
        }
    }
}

//! Several keys and records at once: all or none, and what is told of each.

use salver_model::Code;

use salver_testkit::servers::Kind;

use super::fixture::{World, codes, create, delete, done, increment, undone, update};

#[tokio::test]
async fn arrays_are_answered_as_arrays() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let body = r#"[{"user_id":1,"title":"a"},{"user_id":2,"title":"b","visitors":4}]"#;
        assert_eq!(world.change(create("posts", body)).await.unwrap(), "[4,5]");
        assert_eq!(world.change(update("posts", "4", r#"[{"title":"A"}]"#)).await.unwrap(), "[1]");
        assert_eq!(world.change(update("posts", "4,99", r#"[{"title":"A"},{"title":"B"}]"#)).await.unwrap(), "[1,0]");
        assert_eq!(
            world.change(increment("posts", "5,5", r#"[{"visitors":1},{"visitors":"2"}]"#)).await.unwrap(),
            "[1,1]"
        );
        assert!(world.row("posts", "5").await.contains(r#""visitors":7"#));
        assert_eq!(world.change(delete("posts", "4,5,99")).await.unwrap(), "[1,1,0]");
        assert_eq!(world.change(create("posts", "[]")).await.unwrap(), "[]");
    }
}

#[tokio::test]
async fn one_bad_part_undoes_all_and_each_is_told_of() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let body = r#"[{"user_id":1,"title":"a"},{"user_id":99,"title":"b"},{"user_id":1,"title":"c"}]"#;
        let parts = world.undone(create("posts", body)).await;
        assert_eq!(codes(&parts), [None, Some(Code::Integrity), None]);
        let body = r#"[{"user_id":1,"title":"a"},{"user_id":"x","title":"b"},{"id":1,"user_id":1,"title":"c"}]"#;
        let parts = world.undone(create("posts", body)).await;
        assert_eq!(codes(&parts), [None, Some(Code::Invalid), Some(Code::DuplicateKey)]);
        let invalid = parts[1].as_ref().unwrap();
        assert_eq!(invalid.message, "Input validation failed for 'posts'");
        assert_eq!(invalid.details, [("user_id".to_owned(), "invalid integer".to_owned())]);
        assert_eq!(world.list("posts", &["id"]).await, r#"{"records":[{"id":1},{"id":2},{"id":3}]}"#);
    }
}

#[tokio::test]
async fn as_many_keys_as_records() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        for body in [r#"{"title":"x"}"#, r#"[{"title":"x"}]"#, r#"[{"title":"x"},{"title":"y"},{"title":"z"}]"#] {
            let error = world.fails(update("posts", "1,2", body)).await;
            assert_eq!(error.code, Code::ArgumentCount, "{body}");
            assert_eq!(error.message, "Argument count mismatch in '1,2'");
        }
    }
}

#[tokio::test]
async fn what_says_nothing_changes_nothing() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        assert_eq!(world.change(update("posts", "1", r#"{"id":9,"nonsense":1}"#)).await.unwrap(), "0");
        assert_eq!(world.change(update("posts", "99", r#"{"title":"x"}"#)).await.unwrap(), "0");
        assert_eq!(world.change(update("posts", "abc", r#"{"title":"x"}"#)).await.unwrap(), "0");
        assert_eq!(world.change(increment("posts", "1", r#"{"title":1,"visitors":"many"}"#)).await.unwrap(), "0");
        assert_eq!(world.change(delete("posts", "abc")).await.unwrap(), "0");
        let mut change = update("posts", "1", r#"{"title":"x","body":"y"}"#);
        change.exclude = Some(vec!["title".to_owned(), "posts.body".to_owned()]);
        assert_eq!(world.change(change).await.unwrap(), "0");
        assert!(world.row("posts", "1").await.starts_with(r#"{"id":1,"user_id":1,"title":"first","body":null"#));
    }
}

#[tokio::test]
async fn increments_add() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        assert_eq!(world.change(update("posts", "1", r#"{"price":"23.01"}"#)).await.unwrap(), "1");
        assert_eq!(world.change(increment("posts", "1", r#"{"price":"0.10","visitors":-4}"#)).await.unwrap(), "1");
        let row = world.row("posts", "1").await;
        assert!(row.contains(r#""price":"23.11""#) && row.contains(r#""visitors":-4,"#), "{row}");
        assert_eq!(world.fails(increment("posts", "1", r#"{"visitors":1.5}"#)).await.code, Code::Invalid);
    }
}

#[tokio::test]
async fn several_tables_with_references() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let changes = vec![
            create("users", r#"{"name":"eve"}"#),
            create("posts", r#"[{"user_id":{"$back":[0,"id"]},"title":"p"},{"user_id":1,"title":"q"}]"#),
            update("users", "1", r#"{"name":"anna"}"#),
            create("tags", r#"{"name":{"$back":[2,"name"]},"uses":{"$back":[1,"id"]}}"#),
        ];
        let changed = world.transact(changes).await.unwrap();
        assert_eq!(done(changed).unwrap(), r#"[3,[4,5],1,"anna"]"#);
        assert_eq!(world.list("tags", &["name", "uses"]).await, r#"{"records":[{"name":"anna","uses":4}]}"#);
        assert!(world.row("posts", "4").await.contains(r#""user_id":3"#));

        let changes =
            vec![create("users", r#"{"name":"zoe"}"#), delete("users", "1"), create("tags", r#"{"name":"t"}"#)];
        let parts = undone(world.transact(changes).await.unwrap());
        assert_eq!(codes(&parts), [None, Some(Code::Integrity), None], "{kind:?}");
        assert_eq!(
            world.list("users", &["name"]).await,
            r#"{"records":[{"name":"anna"},{"name":"bob"},{"name":"eve"}]}"#
        );

        let error = world.transact(vec![create("users", "{}"), create("nowhere", "{}")]).await.unwrap_err();
        assert_eq!(error.code, Code::UnknownTable);
        assert!(error.hint.unwrap().contains("operation 1"));
    }
}

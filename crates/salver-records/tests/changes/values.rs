//! Values on their way in: what is stored, and what is refused rather than altered.

use salver_model::Code;
use salver_model::records::{ChangeKind, Field};

use salver_testkit::servers::Kind;

use super::fixture::{World, create, update};

#[tokio::test]
async fn values_of_every_kind() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let body = r#"{"user_id":"1","title":"größe","body":null,"price":"1.5","done":"yes","icon":"4oKsIABhYmMACg1cYgA",
        "made":"2020-01-02T03:04:05.000Z","score":" 23.45e-1 ","place":"POINT(1 2)","twice":9,"nonsense":1}"#;
        assert_eq!(world.change(create("posts", body)).await.unwrap(), "4");
        assert_eq!(
            world.row("posts", "4").await,
            concat!(
                r#"{"id":4,"user_id":1,"title":"größe","body":null,"price":"1.50","done":true,"#,
                r#""icon":"4oKsIABhYmMACg1cYgA=","made":"2020-01-02 03:04:05","visitors":0,"score":2.345,"place":"POINT(1 2)","twice":0}"#
            )
        );
    }
}

#[tokio::test]
async fn keys_are_answered() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        assert_eq!(world.change(create("tags", r#"{"name":"a/b"}"#)).await.unwrap(), r#""a\/b""#);
        assert_eq!(world.change(create("posts", r#"{"id":null,"user_id":1,"title":"x"}"#)).await.unwrap(), "4");
        assert_eq!(world.change(create("posts", r#"{"id":77,"user_id":1,"title":"x"}"#)).await.unwrap(), "77");
        assert_eq!(world.change(create("posts", r#"{"id":"80","user_id":1,"title":"x"}"#)).await.unwrap(), "80");
        assert_eq!(
            world.change(create("members", r#"{"name":"ann","team":1}"#)).await.unwrap(),
            r#"{"team":1,"name":"ann"}"#
        );
        assert_eq!(world.change(update("members", "1~ann", r#"{"role":"boss"}"#)).await.unwrap(), "1");
        assert_eq!(world.row("members", "1,ann").await, r#"{"team":1,"name":"ann","role":"boss"}"#);
        assert_eq!(world.fails(update("members", "1", r#"{"role":"boss"}"#)).await.code, Code::ArgumentCount);
    }
}

/// SQLite keeps times as texts: the key that is answered is the one that is stored, and leads to the row.
#[tokio::test]
async fn a_key_that_is_a_time_is_answered_as_it_is_stored() {
    let world = World::plain(Kind::Sqlite);
    let _ = world.made.run("create table days (k datetime primary key, n integer)");
    let _ = world.made.run("create table shifts (day date, at time, n integer, primary key (day, at))");
    for (n, time) in ["2024-01-01T10:00:00", "2024-01-02T10:00:00Z", "2024-01-03 10:00:00"].into_iter().enumerate() {
        let key = world.change(create("days", &format!(r#"{{"k":"{time}","n":{n}}}"#))).await.unwrap();
        let stored = format!("2024-01-0{} 10:00:00", n + 1);
        assert_eq!(key, format!("\"{stored}\""));
        assert_eq!(world.row("days", &stored).await, format!(r#"{{"k":"{stored}","n":{n}}}"#));
        assert_eq!(world.change(update("days", &stored, r#"{"n":9}"#)).await.unwrap(), "1");
    }
    let key = world.change(create("shifts", r#"{"day":"2024-01-01","at":"08:00","n":1}"#)).await.unwrap();
    assert_eq!(key, r#"{"day":"2024-01-01","at":"08:00:00"}"#);
    assert_eq!(world.row("shifts", "2024-01-01,08:00:00").await, r#"{"day":"2024-01-01","at":"08:00:00","n":1}"#);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_column() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        for (body, column, why) in [
            (r#"{"user_id":"two"}"#, "user_id", "invalid integer"),
            (r#"{"user_id":1.5}"#, "user_id", "invalid integer"),
            (r#"{"user_id":""}"#, "user_id", "invalid integer"),
            (r#"{"title":"123456789012345678901"}"#, "title", "string too long"),
            (r#"{"title":{"a":1}}"#, "title", "invalid varchar"),
            (r#"{"price":"1.234"}"#, "price", "decimal too precise"),
            (r#"{"price":"123456789"}"#, "price", "decimal too large"),
            (r#"{"price":"x"}"#, "price", "invalid decimal"),
            (r#"{"icon":"!"}"#, "icon", "invalid base64"),
            (r#"{"made":"2020-02-30 00:00:00"}"#, "made", "invalid timestamp"),
            (r#"{"made":"9999-12-31T23:00:00-02:00"}"#, "made", "invalid timestamp"),
            (r#"{"done":"maybe"}"#, "done", "invalid boolean"),
            (r#"{"icon":1234}"#, "icon", "invalid base64"),
            (r#"{"score":"1e999"}"#, "score", "invalid float"),
            (r#"{"place":"POINT(1"}"#, "place", "invalid geometry"),
        ] {
            let error = world.fails(update("posts", "1", body)).await;
            assert_eq!(
                (error.code, error.message.as_str()),
                (Code::Invalid, "Input validation failed for 'posts'"),
                "{body}"
            );
            assert_eq!(error.details, [(column.to_owned(), why.to_owned())], "{body}");
        }
        // The other ends of what fits.
        for body in [
            r#"{"user_id":" 2 "}"#,
            r#"{"user_id":2.0}"#,
            r#"{"price":-99999999.99}"#,
            r#"{"title":12.50}"#,
            r#"{"made":"2020-01-02"}"#,
            // Where there is no place for a zone it is UTC.
            r#"{"made":"2020-02-03T00:00:00+02:00"}"#,
        ] {
            assert_eq!(world.change(update("posts", "1", body)).await.unwrap(), "1", "{body}");
        }
        assert!(world.row("posts", "1").await.starts_with(r#"{"id":1,"user_id":2,"title":"12.5""#));
    }
}

#[tokio::test]
async fn the_database_refuses_in_its_own_right() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        assert_eq!(world.fails(create("posts", r#"{"user_id":1}"#)).await.code, Code::Integrity);
        assert_eq!(world.fails(create("posts", r#"{"user_id":9,"title":"x"}"#)).await.code, Code::Integrity);
        assert_eq!(world.fails(create("users", r#"{"id":1,"name":"x"}"#)).await.code, Code::DuplicateKey);
        assert_eq!(world.fails(create("logs", r#"{"line":"x"}"#)).await.code, Code::NoPrimaryKey);
        let error = world.fails(create("titles", r#"{"title":"x"}"#)).await;
        assert_eq!((error.code, error.message.as_str()), (Code::Unsupported, "Operation 'create' not supported"));
        assert_eq!(world.fails(create("nowhere", "{}")).await.message, "Table 'nowhere' not found");
    }
}

#[tokio::test]
async fn null_and_empty_are_not_the_same() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        assert_eq!(world.change(update("posts", "1", r#"{"icon":"","body":""}"#)).await.unwrap(), "1");
        assert!(world.row("posts", "1").await.contains(r#""body":"","price":null,"done":null,"icon":"""#));
        assert_eq!(world.change(update("posts", "1", r#"{"icon":null}"#)).await.unwrap(), "1");
        assert!(world.row("posts", "1").await.contains(r#""icon":null"#));
    }
}

#[tokio::test]
async fn strict_requests_are_told_of_unknown_columns() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let mut change = create("users", r#"{"nam":"x"}"#);
        change.strict = true;
        let error = world.fails(change).await;
        assert_eq!((error.code, error.message.as_str()), (Code::InvalidColumn, "Column 'nam' not found"));
        assert_eq!(error.hint.as_deref(), Some("did you mean `name`?"));
        let mut change = update("posts", "1", r#"{"done":"maybe"}"#);
        change.strict = true;
        assert_eq!(world.fails(change).await.details[0].1, "invalid boolean");
        let mut change = update("posts", "1", r#"{"twice":4}"#);
        change.strict = true;
        assert_eq!(world.fails(change).await.code, Code::InvalidColumn);
    }
}

#[tokio::test]
async fn a_reference_needs_something_to_refer_to() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let mut change = create("posts", r#"{"title":"x"}"#);
        change.records[0].push(("user_id".to_owned(), Field::Back { change: 0, column: "id".to_owned() }));
        assert_eq!(change.kind, ChangeKind::Create);
        assert_eq!(world.fails(change).await.code, Code::InvalidRequest);
    }
}

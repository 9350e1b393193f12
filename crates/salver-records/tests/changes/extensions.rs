//! What goes beyond PHP-CRUD-API: rows answered, upserts, changes by condition, entity tags.

use salver_model::Code;
use salver_model::ports::Database;
use salver_model::records::{Change, ChangeKind, Condition, Operator, RecordQuery, RecordRead};

use salver_testkit::servers::Kind;

use super::fixture::{World, create, delete, increment, update, upsert};

fn returning(mut change: Change, columns: &[&str]) -> Change {
    change.returning = Some(columns.iter().map(|column| (*column).to_owned()).collect());
    change
}

fn test(path: &[&str], operator: Operator, value: &str) -> Condition {
    Condition::Test {
        path: path.iter().map(|part| (*part).to_owned()).collect(),
        operator,
        negated: false,
        value: value.to_owned(),
    }
}

fn by(mut change: Change, condition: Condition, max: Option<u64>) -> Change {
    change.filter = Some(condition);
    change.affected_max = max;
    change
}

#[tokio::test]
async fn rows_are_answered_when_asked_for() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let change = returning(create("posts", r#"{"user_id":1,"title":"x"}"#), &["id", "visitors"]);
        assert_eq!(world.change(change).await.unwrap(), r#"{"id":4,"visitors":0}"#);
        let change = returning(create("users", r#"[{"name":"x"},{"name":"y"}]"#), &["*"]);
        assert_eq!(world.change(change).await.unwrap(), r#"[{"id":3,"name":"x"},{"id":4,"name":"y"}]"#);
        let change = returning(update("users", "3", r#"{"name":"z"}"#), &["name", "id"]);
        assert_eq!(world.change(change).await.unwrap(), r#"{"name":"z","id":3}"#);
        let change = returning(update("users", "3", "{}"), &["name"]);
        assert_eq!(world.change(change).await.unwrap(), r#"{"name":"z"}"#);
        let change = returning(increment("posts", "4", r#"{"visitors":2}"#), &["visitors", "twice"]);
        assert_eq!(world.change(change).await.unwrap(), r#"{"visitors":2,"twice":4}"#);
        let change = returning(update("users", "99", r#"{"name":"z"}"#), &["name"]);
        assert_eq!(world.change(change).await.unwrap(), "null");
        let change = returning(delete("users", "3,99"), &["name"]);
        assert_eq!(world.change(change).await.unwrap(), r#"[{"name":"z"},null]"#);
        let error = world.fails(returning(delete("users", "4"), &["nam"])).await;
        assert_eq!((error.code, error.hint.as_deref()), (Code::InvalidColumn, Some("did you mean `name`?")));
    }
}

#[tokio::test]
async fn upserts_by_primary_key() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        assert_eq!(world.change(upsert("tags", &[], false, r#"{"name":"a","uses":1}"#)).await.unwrap(), r#""a""#);
        assert_eq!(
            world.change(upsert("tags", &[], false, r#"[{"name":"a","uses":2},{"name":"b"}]"#)).await.unwrap(),
            r#"["a","b"]"#
        );
        assert_eq!(world.change(upsert("tags", &[], true, r#"{"name":"a","uses":3}"#)).await.unwrap(), r#""a""#);
        assert_eq!(
            world.list("tags", &["name", "uses"]).await,
            r#"{"records":[{"name":"a","uses":2},{"name":"b","uses":0}]}"#
        );
        // Without its key a row is new.
        assert_eq!(world.change(upsert("users", &[], false, r#"{"name":"new"}"#)).await.unwrap(), "3");
        let mut change = upsert("users", &[], false, r#"{"id":9,"name":"seven"}"#);
        change.keys = vec![vec!["7".to_owned()]];
        assert_eq!(world.change(change).await.unwrap(), "7");
        assert_eq!(world.row("users", "7").await, r#"{"id":7,"name":"seven"}"#);
    }
}

#[tokio::test]
async fn upserts_by_another_key() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let put = |ignore, body| upsert("emails", &["address"], ignore, body);
        assert_eq!(world.change(put(false, r#"{"address":"a@b","nick":"a","n":1}"#)).await.unwrap(), "1");
        assert_eq!(world.change(put(false, r#"{"address":"a@b","nick":"b","n":2}"#)).await.unwrap(), "1");
        assert_eq!(world.change(put(true, r#"{"address":"a@b","n":3}"#)).await.unwrap(), "1");
        assert_eq!(world.row("emails", "1").await, r#"{"id":1,"address":"a@b","nick":"b","n":2}"#);
        let change = returning(put(false, r#"{"address":"c@d","nick":"c"}"#), &["nick", "n"]);
        assert_eq!(world.change(change).await.unwrap(), r#"{"nick":"c","n":null}"#);
        // Another key in the way is no reason to change its row.
        assert_eq!(world.fails(put(false, r#"{"address":"e@f","nick":"b"}"#)).await.code, Code::DuplicateKey);
        assert_eq!(world.fails(put(false, r#"{"nick":"b"}"#)).await.code, Code::InvalidRequest);
        assert_eq!(world.fails(upsert("emails", &["n"], false, r#"{"n":1}"#)).await.code, Code::InvalidRequest);
    }
}

#[tokio::test]
async fn changes_by_condition_within_bounds() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let ann = || test(&["users", "name"], Operator::Equal, "ann");
        let change = by(update("posts", "", r#"{"visitors":5}"#), ann(), Some(1));
        let error = world.fails(change).await;
        assert_eq!(error.code, Code::TooManyAffected);
        assert_eq!(
            world.list("posts", &["visitors"]).await,
            r#"{"records":[{"visitors":0},{"visitors":0},{"visitors":0}]}"#
        );
        let change = by(update("posts", "", r#"{"visitors":5}"#), ann(), Some(2));
        assert_eq!(world.change(change).await.unwrap(), "2");
        let one = |path: &str, value| {
            returning(
                by(increment("posts", "", r#"{"visitors":1}"#), test(&[path], Operator::Equal, value), Some(9)),
                &["id", "visitors"],
            )
        };
        assert_eq!(
            world.change(one("user_id", "1")).await.unwrap(),
            r#"[{"id":1,"visitors":6},{"id":2,"visitors":6}]"#
        );
        // MySQL answers no rows that it changes, and can't find them again behind such a change.
        let moving = world.change(one("visitors", "6")).await;
        if kind == Kind::Mariadb {
            assert_eq!(moving.unwrap_err().code, Code::Unsupported);
        } else {
            assert_eq!(moving.unwrap(), r#"[{"id":1,"visitors":7},{"id":2,"visitors":7}]"#);
        }
        let change = by(delete("posts", ""), test(&["id"], Operator::In, "1,3"), Some(2));
        assert_eq!(
            world.change(returning(change, &["title"])).await.unwrap(),
            r#"[{"title":"first"},{"title":"third"}]"#
        );
        let change = by(delete("posts", ""), test(&["id"], Operator::Equal, "99"), Some(0));
        assert_eq!(world.change(change).await.unwrap(), "0");
    }
}

#[tokio::test]
async fn conditions_are_taken_at_their_word() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let all = || test(&["id"], Operator::Greater, "0");
        assert_eq!(world.fails(by(delete("posts", ""), all(), None)).await.code, Code::InvalidRequest);
        // An unknown column must not make the condition wider.
        let wide = Condition::All(vec![all(), test(&["titel"], Operator::Equal, "x")]);
        let error = world.fails(by(delete("posts", ""), wide, Some(100))).await;
        assert_eq!(error.hint.as_deref(), Some("did you mean `title`?"));
        assert_eq!(world.list("posts", &["id"]).await, r#"{"records":[{"id":1},{"id":2},{"id":3}]}"#);
    }
}

#[tokio::test]
async fn entity_tags_guard_a_row() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let query = RecordQuery { table: "users".to_owned(), ..RecordQuery::default() };
        let read = RecordRead::Keys { query: Box::new(query), keys: vec![vec!["1".to_owned()]], many: false };
        let tag = world.database.read(&world.caller, &read).await.unwrap().tag.unwrap();
        let guarded = |tag: &str, body: &str| {
            let mut change = update("users", "1", body);
            change.if_match = Some(tag.to_owned());
            change
        };
        assert_eq!(world.change(guarded(&tag, r#"{"name":"anna"}"#)).await.unwrap(), "1");
        assert_eq!(world.fails(guarded(&tag, r#"{"name":"annika"}"#)).await.code, Code::PreconditionFailed);
        assert_eq!(world.row("users", "1").await, r#"{"id":1,"name":"anna"}"#);
        assert_eq!(world.change(guarded("*", r#"{"name":"ann"}"#)).await.unwrap(), "1");
        let mut change = delete("users", "99");
        change.if_match = Some("*".to_owned());
        assert_eq!(world.fails(change).await.code, Code::PreconditionFailed);
        let mut change = Change::new(ChangeKind::Delete, "users");
        change.keys = vec![vec!["1".to_owned()], vec!["2".to_owned()]];
        change.if_match = Some(tag);
        assert_eq!(world.fails(change).await.code, Code::InvalidRequest);
    }
}
